"""Which public functions take ragged tensors, and what they do with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites import dispatch
from tapeflow._src.core.composites.dispatch import NOT_HANDLED
from tapeflow._src.ops import elementwise_apis as apis
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.control import functional as rows_of_tensors
from tapeflow._src.ops.elementwise import arithmetic
from tapeflow._src.ops.indexing import counting, gathering as of_tensors, scattering, segments
from tapeflow._src.ops.linalg import products
from tapeflow._src.ops.nn import activations, dropout, losses
from tapeflow._src.ops.reduction import reducing as reductions
from tapeflow._src.ragged import functional, gathering, joining, others, reducing, shape
from tapeflow._src.ragged.broadcasting import elementwise, operand
from tapeflow._src.ragged.spec import RaggedTensorSpec
from tapeflow._src.ragged.tensor import RaggedTensor

Function = Callable[..., Any]


def on_values(*functions: Function) -> None:
    """Lets functions take a ragged tensor first: they are computed on its values."""
    for function in functions:
        dispatch.register(function, _on_values, first=False)


def on_matched_values(*functions: Function) -> None:
    """Lets functions take ragged tensors first and second: their values are matched."""
    for function in functions:
        dispatch.register(function, _on_matched_values, first=False)


def instead(function: Function, other: Function) -> None:
    """Lets another function answer where ragged tensors are among the arguments."""

    def handler(_: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return other(*args, **kwargs) if _has_ragged((args, kwargs)) else NOT_HANDLED

    dispatch.register(function, handler, first=False)


def _has_ragged(structure: Any) -> bool:
    leaves = nest.flatten(structure)
    kinds = (RaggedTensor, RaggedTensorSpec, shape.DynamicRaggedShape)
    return any(isinstance(x, kinds) for x in leaves)


def _on_values(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    (x,), rest, named = dispatch.first_arguments(function, 1, args, kwargs)
    if not isinstance(x, RaggedTensor) or _has_ragged((rest, named)):
        return NOT_HANDLED
    return x.with_flat_values(function(x.flat_values, *rest, **named))


def _on_matched_values(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    (x, y), rest, named = dispatch.first_arguments(function, 2, args, kwargs)
    ragged = [v for v in (x, y) if isinstance(v, RaggedTensor)]
    if not ragged:
        return NOT_HANDLED
    x, y = operand(x, ragged[0].dtype), operand(y, ragged[0].dtype)
    return elementwise(lambda a, b: function(a, b, *rest, **named), x, y)


def _checked(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An assertion about two tensors, on matched values."""
    (x, y), rest, named = dispatch.first_arguments(function, 2, args, kwargs)
    if not isinstance(x, RaggedTensor) and not isinstance(y, RaggedTensor):
        return NOT_HANDLED
    return elementwise(lambda a, b: function(a, b, *rest, **named), operand(x), operand(y))


_INSTEAD: dict[Function, Function] = {
    shaping.expand_dims: joining.expand_dims,
    shaping.squeeze: joining.squeeze,
    shaping.rank: others.rank,
    shaping.size: others.size,
    shaping.reshape: shape.reshape,
    shaping.shape: shape.shape,
    shaping.broadcast_to: shape.broadcast_to,
    creation.ones: shape.ones,
    creation.zeros: shape.zeros,
    creation.fill: shape.fill,
    moving.concat: joining.concat,
    moving.stack: joining.stack,
    moving.tile: joining.tile,
    moving.reverse: joining.reverse,
    moving.split: others.split,
    of_tensors.gather: gathering.gather,
    of_tensors.gather_nd: gathering.gather_nd,
    of_tensors.where: gathering.where,
    of_tensors.one_hot: others.one_hot,
    scattering.dynamic_partition: others.dynamic_partition,
    arithmetic.add_n: others.add_n,
    products.matmul: others.matmul,
    activations.embedding_lookup: others.embedding_lookup,
    losses.softmax: others.softmax,
    rows_of_tensors.map_fn: functional.map_fn,
    reductions.reduce_sum: reducing.reduce_sum,
    reductions.reduce_mean: reducing.reduce_mean,
    reductions.reduce_max: reducing.reduce_max,
    reductions.reduce_min: reducing.reduce_min,
    reductions.reduce_prod: reducing.reduce_prod,
    reductions.reduce_any: reducing.reduce_any,
    reductions.reduce_all: reducing.reduce_all,
    reductions.reduce_variance: reducing.reduce_variance,
    reductions.reduce_std: reducing.reduce_std,
    reductions.cumsum: reducing.cumsum,
    counting.bincount: reducing.bincount,
    segments.unsorted_segment_sum: reducing.unsorted_segments(segments.unsorted_segment_sum),
    segments.unsorted_segment_max: reducing.unsorted_segments(segments.unsorted_segment_max),
    segments.unsorted_segment_min: reducing.unsorted_segments(segments.unsorted_segment_min),
    segments.unsorted_segment_prod: reducing.unsorted_segments(segments.unsorted_segment_prod),
    segments.unsorted_segment_mean: reducing.unsorted_segments(segments.unsorted_segment_mean),
    segments.unsorted_segment_sqrt_n: reducing.unsorted_segments(segments.unsorted_segment_sqrt_n),
}


def register_all() -> None:
    """Done once, when this folder is imported."""
    on_values(*apis.UNARY, shaping.bitcast, dropout.dropout, dropout.stateless_dropout)
    on_matched_values(*apis.BINARY)
    for function in apis.ASSERTIONS:
        dispatch.register(function, _checked, first=False)
    for function, other in _INSTEAD.items():
        instead(function, other)
