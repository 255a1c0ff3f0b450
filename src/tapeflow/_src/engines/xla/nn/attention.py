"""Attention: on a GPU in half precision the fused kernels of cuDNN, elsewhere products and a softmax."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp

from tapeflow._src.engines.xla.linalg.products import product
from tapeflow._src.engines.xla.lowerings import lowering
from tapeflow._src.engines.xla.remembered import remembered


def _composed(q: Any, k: Any, v: Any, *bias: Any, scale: float, causal: bool) -> Any:
    wide = jnp.float32 if q.dtype.itemsize == 2 else q.dtype
    einsum = functools.partial(jnp.einsum, preferred_element_type=wide)
    scores = product(functools.partial(einsum, "...qd,...kd->...qk"), q, k) * scale
    for b in bias:
        scores = scores + b
    if causal:
        rows, columns = scores.shape[-2:]
        seen = jnp.arange(columns) <= jnp.arange(rows)[:, None]
        scores = jnp.where(seen, scores, -jnp.inf)
    weights = jax.nn.softmax(scores, axis=-1).astype(v.dtype)
    return product(functools.partial(einsum, "...qk,...kd->...qd"), weights, v).astype(q.dtype)


def _fused(q: Any, k: Any, v: Any, *bias: Any, scale: float, causal: bool) -> Any:
    # cuDNN wants [batch, time, heads, width], and a bias of the rank of the scores.
    batch = q.shape[:-3]
    parts = [x.reshape(-1, *x.shape[-3:]).swapaxes(1, 2) for x in (q, k, v)]
    scores = (*q.shape[:-1], k.shape[-2])
    b = jnp.broadcast_to(bias[0], scores).reshape(-1, *scores[-3:]) if bias else None
    y = jax.nn.dot_product_attention(
        *parts, bias=b, scale=scale, is_causal=causal, implementation="cudnn"
    )
    y = y.swapaxes(1, 2)
    return y.reshape(*batch, *y.shape[1:])


def _can_fuse(q: Any, k: Any, v: Any, *bias: Any) -> bool:
    return (
        q.dtype in (jnp.bfloat16, jnp.float16)
        and all(x.size for x in (q, k, v))
        and q.ndim >= 3
        and q.shape[-1] == v.shape[-1]
        and q.shape[-1] % 8 == 0
        and q.shape[-1] <= 128
        and q.shape[-2] > 1
        and k.shape[-2] > 1
        and not (bias and (q.shape[-2] % 2 or k.shape[-2] % 2))
        and jax.default_backend() == "gpu"
    )


def _with_pullback(operands: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, Any]:
    compute = _fused if _can_fuse(*operands) else _composed
    return remembered(
        ("attention", *attrs.values()),
        operands,
        lambda: jax.vjp(lambda *operands: compute(*operands, **attrs), *operands),
    )


@lowering("attention", "biased_attention")
def _attention(*operands: Any, **attrs: Any) -> Any:
    return _with_pullback(operands, attrs)[0]


@lowering("attention_gradient", "biased_attention_gradient")
def _attention_gradient(u: Any, *operands: Any, **attrs: Any) -> tuple[Any, Any, Any]:
    return _with_pullback(operands, attrs)[1](u)[:3]
