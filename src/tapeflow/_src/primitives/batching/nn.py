"""Batching rules of the primitives of neural networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.batching.batch import Batch, rule
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.nn import activations, attention, softmax
from tapeflow._src.primitives.reduction import reducing

Axes = tuple[int, ...]


@rule("l2_loss")
def _l2_loss(batch: Batch, x: Tensor) -> Tensor:
    axes = tuple(range(1, len(x._array.shape) + 1))
    return reducing.sum_(unary.square(batch.data(x)), axis=axes, keepdims=False) * 0.5


@rule("variance_about_mean")
def _variance(batch: Batch, x: Tensor, mean: Tensor, *, axis: Axes, keepdims: bool) -> Tensor:
    about = batch.lifted(mean, len(x._array.shape))
    return activations.variance(
        batch.full(x), about, axis=tuple(i + 1 for i in axis), keepdims=keepdims
    )


@rule("in_top_k")
def _in_top_k(batch: Batch, targets: Tensor, predictions: Tensor, *, k: int) -> Tensor:
    rows, classes = predictions._array.shape
    flat = activations.in_top_k(
        moving.reshape(batch.full(targets), shape=(batch.size * rows,)),
        moving.reshape(batch.full(predictions), shape=(batch.size * rows, classes)),
        k=k,
    )
    return moving.reshape(flat, shape=(batch.size, rows))


# The gradients of cross entropies are products with `u`. A Jacobian has many `u` for one `x`: the other factor is
# computed once for all of them.


def _factored(
    batch: Batch, call: Callable[..., Any], u: Tensor, x: Tensor, labels: Tensor, axis: int
) -> Tensor:
    if batch.holds(x) or batch.holds(labels):
        return call(batch.full(u), batch.full(x), batch.full(labels))
    shape = u._array.shape
    spread = moving.reshape(batch.data(u), shape=(batch.size, *shape[:axis], 1, *shape[axis:]))
    return spread * call(patterns.full(shape, 1.0, u.dtype), x, labels)


@rule("sparse_softmax_cross_entropy_gradient")
def _sparse_gradient(batch: Batch, u: Tensor, x: Tensor, labels: Tensor) -> Tensor:
    last = len(x._array.shape) - 1
    return _factored(batch, softmax.sparse_softmax_cross_entropy_gradient, u, x, labels, last)


@rule("softmax_cross_entropy_gradient")
def _dense_gradient(batch: Batch, u: Tensor, x: Tensor, labels: Tensor, *, axis: int) -> Tensor:
    shared = not (batch.holds(x) or batch.holds(labels))

    def call(u: Tensor, x: Tensor, labels: Tensor) -> Tensor:
        at = axis if shared else axis + 1
        return softmax.softmax_cross_entropy_gradient(u, x, labels, axis=at)

    return _factored(batch, call, u, x, labels, axis)


@rule("attention")
def _attention(batch: Batch, *xs: Tensor, scale: float, causal: bool) -> Tensor:
    return attention.attention(*map(batch.full, xs), scale=scale, causal=causal)


@rule("attention_gradient")
def _attention_gradient(batch: Batch, *xs: Tensor, scale: float, causal: bool) -> Any:
    return attention.attention_gradient(*map(batch.full, xs), scale=scale, causal=causal)


@rule("biased_attention")
def _biased_attention(batch: Batch, *xs: Tensor, scale: float, causal: bool) -> Tensor:
    return attention.biased_attention(*_with_bias(batch, xs), scale=scale, causal=causal)


@rule("biased_attention_gradient")
def _biased_attention_gradient(batch: Batch, *xs: Tensor, scale: float, causal: bool) -> Any:
    return attention.biased_attention_gradient(*_with_bias(batch, xs), scale=scale, causal=causal)


def _with_bias(batch: Batch, xs: tuple[Tensor, ...]) -> list[Tensor]:
    """All operands with the batch in front. The bias, which may have fewer axes, gets those between."""
    *others, bias = map(batch.full, xs)
    rows, *sizes = bias._array.shape
    between = (1,) * (others[0].ndim - bias.ndim)
    return [*others, moving.reshape(bias, shape=(rows, *between, *sizes))]
