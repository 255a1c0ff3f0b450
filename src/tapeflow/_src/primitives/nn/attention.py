"""Attention as one primitive: nothing as large as queries times keys is kept for the backward pass.

The weights are computed again there, as fused attention on a GPU does, which the XLA engine calls for this primitive.
There are two of them, without and with a bias, which is added to the scores: a mask is a bias, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import from_numpy
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.broadcasting import sum_to
from tapeflow._src.primitives.linalg.products import matmul
from tapeflow._src.primitives.linalg.shared_products import product
from tapeflow._src.primitives.nn import soft_rows
from tapeflow._src.primitives.nn.softmax import (
    narrow,
    softmax,
    softmax_gradient,
    softmax_gradient_in_p,
    wide,
)
from tapeflow._src.primitives.rules import FLOAT, check_dtype, check_same_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive


def _result(q: ArraySpec, k: ArraySpec, v: ArraySpec, *, scale: float, causal: bool) -> ArraySpec:
    op = "scaled_dot_product_attention"
    check_dtype(op, "query", q, FLOAT)
    check_same_dtype(op, q, k)
    check_same_dtype(op, q, v)
    fits = (
        len(q.shape) == len(k.shape) == len(v.shape) >= 2
        and q.shape[:-2] == k.shape[:-2] == v.shape[:-2]
        and q.shape[-1] == k.shape[-1]
        and k.shape[-2] == v.shape[-2]
    )
    if not fits:
        raise invalid(
            f"{op}: query [..., queries, width], key [..., keys, width] and value [..., keys, width] do not fit "
            f"together, got {q}, {k} and {v}"
        )
    return ArraySpec((*q.shape[:-1], v.shape[-1]), q.dtype)


def _biased_result(
    q: ArraySpec, k: ArraySpec, v: ArraySpec, b: ArraySpec, *, scale: float, causal: bool
) -> ArraySpec:
    result = _result(q, k, v, scale=scale, causal=causal)
    op = "scaled_dot_product_attention"
    check_same_dtype(op, q, b)
    scores = (*q.shape[:-1], k.shape[-2])
    missing = len(scores) - len(b.shape)
    if missing < 0 or any(m not in (1, n) for m, n in zip(b.shape, scores[missing:], strict=True)):
        raise invalid(
            f"{op}: a mask or bias of shape {list(b.shape)} does not broadcast to the scores {list(scores)}, one for "
            f"each query and key (query: {q}, key: {k})"
        )
    return result


def _gradient_result(
    u: ArraySpec, q: ArraySpec, k: ArraySpec, v: ArraySpec, *, scale: float, causal: bool
) -> tuple[ArraySpec, ...]:
    _result(q, k, v, scale=scale, causal=causal)
    return q, k, v


def _biased_gradient_result(
    u: ArraySpec, q: ArraySpec, k: ArraySpec, v: ArraySpec, b: ArraySpec, **attrs: Any
) -> tuple[ArraySpec, ...]:
    _biased_result(q, k, v, b, **attrs)
    return q, k, v


# The kernels. `bias` is one array or none.


def _weights(q: Any, k: Any, bias: Any, scale: float, causal: bool) -> Any:
    scores = product(q * q.dtype.type(scale), k.swapaxes(-1, -2))
    for b in bias:
        scores += b
    if causal:
        rows, columns = scores.shape[-2:]
        hidden = np.arange(columns) > np.arange(rows)[:, None]
        np.copyto(scores, -np.inf, where=hidden)
    if soft_rows.softmax(scores, in_place=True) is not None:
        return scores
    if scores.shape[-1]:
        scores -= np.maximum.reduce(scores, axis=-1, keepdims=True)
    np.exp(scores, scores)
    scores /= np.add.reduce(scores, axis=-1, keepdims=True)
    return scores


def _kernel(q: Any, k: Any, v: Any, *bias: Any, scale: float, causal: bool) -> Any:
    operands = (q, k, v, *bias)
    if any(x.dtype != q.dtype for x in operands):
        raise TypeError("different dtypes")
    check = _biased_result if bias else _result
    check(*[ArraySpec(x.shape, from_numpy(x.dtype)) for x in operands], scale=scale, causal=causal)
    p = _weights(wide(q), wide(k), map(wide, bias), scale, causal)
    return narrow(product(p, wide(v)), q)


def _gradient_kernel(u: Any, q: Any, k: Any, v: Any, *bias: Any, scale: float, causal: bool) -> Any:
    like = q
    u, q, k, v = (wide(x) for x in (u, q, k, v))
    p = _weights(q, k, map(wide, bias), scale, causal)
    of_v = product(p.swapaxes(-1, -2), u)
    s = product(u, v.swapaxes(-1, -2))
    if soft_rows.gradient(s, p, in_place=True) is None:
        s -= np.add.reduce(s * p, axis=-1, keepdims=True)
        s *= p
    s *= s.dtype.type(scale)
    of_q, of_k = product(s, k), product(s.swapaxes(-1, -2), q)
    return narrow(of_q, like), narrow(of_k, like), narrow(of_v, like)


# Gradients, for which `weights` is written with primitives.


def _product(a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    return matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def _soft(q: Tensor, k: Tensor, bias: tuple[Tensor, ...], scale: float, causal: bool) -> Tensor:
    scores = _product(q * scale, k, transpose_b=True)
    for b in bias:
        scores = scores + b
    rows, columns = scores._array.shape[-2:]
    if causal:
        seen = patterns.triangle(rows, columns)
        scores = moving.select(seen, scores, Tensor(np.array(-np.inf, scores._array.dtype)))
    return softmax(scores, axis=scores._array.ndim - 1)


def _second(
    g: Any,
    wanted: Sequence[Any],
    operands: tuple[Tensor, ...],
    scale: float,
    causal: bool,
) -> list[Tensor | None]:
    """The derivative of the gradient: what its inputs and the weights give by the rules for products and softmax.

    With P the weights, D = u vᵀ and S = softmax_gradient(D, P), the gradient is
    (scale S k, scale Sᵀ q, Pᵀ u); a, b and c are the gradients of these three.
    """
    (u, q, k, v, *bias), (a, b, c) = operands, g
    of_u, of_q, of_k, of_v, *of_bias = wanted
    p = _soft(q, k, tuple(bias), scale, causal)
    axis = p._array.ndim - 1
    of_s = (_product(a, k, transpose_b=True) + _product(q, b, transpose_b=True)) * scale
    parts: list[Tensor | None] = [None] * len(wanted)
    if of_u or of_v:
        of_d = softmax_gradient(of_s, p, axis=axis)
        if of_u:
            parts[0] = _product(of_d, v) + _product(p, c)
        if of_v:
            parts[3] = _product(of_d, u, transpose_a=True)
    if of_q or of_k or any(of_bias):
        d = _product(u, v, transpose_b=True)
        s = softmax_gradient(d, p, axis=axis)
        of_p = softmax_gradient_in_p(of_s, d, p, axis) + _product(u, c, transpose_b=True)
        of_scores = softmax_gradient(of_p, p, axis=axis)
        if of_q:
            parts[1] = (_product(of_scores, k) + _product(s, b)) * scale
        if of_k:
            both = _product(of_scores, q, transpose_a=True) + _product(s, a, transpose_a=True)
            parts[2] = both * scale
        if any(of_bias):
            parts[4] = sum_to(of_scores, bias[0]._array.shape)
    return parts


attention_gradient = primitive(
    "attention_gradient",
    "u q k v",
    _gradient_kernel,
    result=_gradient_result,
    gradients={
        "u q k v": lambda g, wanted, u, q, k, v, scale, causal: _second(
            g, wanted, (u, q, k, v), scale, causal
        )
    },
    outputs=3,
)
biased_attention_gradient = primitive(
    "biased_attention_gradient",
    "u q k v b",
    _gradient_kernel,
    result=_biased_gradient_result,
    gradients={
        "u q k v b": lambda g, wanted, u, q, k, v, b, scale, causal: _second(
            g, wanted, (u, q, k, v, b), scale, causal
        )
    },
    outputs=3,
)


def _first_with_bias(
    g: Tensor,
    wanted: Sequence[Any],
    q: Tensor,
    k: Tensor,
    v: Tensor,
    b: Tensor,
    scale: float,
    causal: bool,
) -> list[Tensor | None]:
    parts: list[Tensor | None] = [None] * 4
    if any(wanted[:3]):
        parts[:3] = biased_attention_gradient(g, q, k, v, b, scale=scale, causal=causal)
    if wanted[3]:
        p = _soft(q, k, (b,), scale, causal)
        of_p = _product(g, v, transpose_b=True)
        of_scores = softmax_gradient(of_p, p, axis=p._array.ndim - 1)
        parts[3] = sum_to(of_scores, b._array.shape)
    return parts


attention = primitive(
    "attention",
    "q k v",
    _kernel,
    result=_result,
    gradients={
        "q k v": lambda g, wanted, q, k, v, scale, causal: attention_gradient(
            g, q, k, v, scale=scale, causal=causal
        )
    },
)
biased_attention = primitive(
    "biased_attention",
    "q k v b",
    _kernel,
    result=_biased_result,
    gradients={"q k v b": _first_with_bias},
)
