"""Primitives that move elements about without computing with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core.dtypes import DType
from tapeflow.core.shapes import broadcast_shapes
from tapeflow.core.tensor import Tensor
from tapeflow.primitives import indexing, reduction
from tapeflow.primitives.rules import ANY, BOOL, check_dtype, check_same_dtype, invalid
from tapeflow.primitives.table import ArraySpec, primitive

Shape = tuple[int, ...]

# Shape alone.


def _reshape_result(x: ArraySpec, *, shape: Shape) -> ArraySpec:
    size = int(np.prod(x.shape, dtype=np.int64))
    if size != int(np.prod(shape, dtype=np.int64)):
        raise invalid(
            f"reshape: the tensor has {size} elements (shape {list(x.shape)}), and the requested shape {list(shape)} "
            f"holds {int(np.prod(shape, dtype=np.int64))}. One dimension may be -1, to be worked out."
        )
    return ArraySpec(shape, x.dtype)


reshape = primitive(
    "reshape",
    "x",
    lambda x, *, shape: x.reshape(shape),
    result=_reshape_result,
    gradients={"x": lambda g, x_shape: reshape(g, shape=x_shape)},
)


def _transpose_result(x: ArraySpec, *, perm: Shape) -> ArraySpec:
    if sorted(perm) != list(range(len(x.shape))):
        raise invalid(
            f"transpose: perm {list(perm)} is not a permutation of the dimensions of shape {list(x.shape)}"
        )
    return ArraySpec(tuple(x.shape[i] for i in perm), x.dtype)


def _inverse(perm: Shape) -> Shape:
    out = [0] * len(perm)
    for position, source in enumerate(perm):
        out[source] = position
    return tuple(out)


transpose = primitive(
    "transpose",
    "x",
    lambda x, *, perm: x.transpose(perm),
    result=_transpose_result,
    gradients={"x": lambda g, perm: transpose(g, perm=_inverse(perm))},
)


def _broadcast_result(x: ArraySpec, *, shape: Shape) -> ArraySpec:
    try:
        fits = broadcast_shapes(x.shape, shape) == tuple(shape)
    except ValueError:
        fits = False
    if not fits:
        raise invalid(f"broadcast_to: shape {list(x.shape)} cannot be broadcast to {list(shape)}")
    return ArraySpec(tuple(shape), x.dtype)


broadcast_to = primitive(
    "broadcast_to",
    "x",
    lambda x, *, shape: np.broadcast_to(x, shape),
    result=_broadcast_result,
    gradients={"x": lambda g, x_shape: reduction.sum_to(g, x_shape)},
)

# Passing through.


def _like(x: ArraySpec) -> ArraySpec:
    return x


identity = primitive("identity", "x", lambda x: x, result=_like, gradients={"x": lambda g: g})
stop_gradient = primitive("stop_gradient", "x", lambda x: x, result=_like)
zeros_like = primitive("zeros_like", "x", np.zeros_like, result=_like)
ones_like = primitive("ones_like", "x", np.ones_like, result=_like)


def _cast_kernel(x: Any, *, dtype: DType) -> Any:
    if x.dtype.kind == "c" and not dtype.is_complex:
        x = x.real
    return x.astype(dtype.np_dtype)


def _cast_result(x: ArraySpec, *, dtype: DType) -> ArraySpec:
    check_dtype("cast", "x", x, ANY - {"string"})
    return ArraySpec(x.shape, dtype)


cast = primitive(
    "cast",
    "x",
    _cast_kernel,
    result=_cast_result,
    gradients={"x": lambda g, x_dtype: cast(g, dtype=x_dtype)},
)
# The same to a dtype that has no gradients, where the path of differentiation ends.
cast_to_discrete = primitive("cast_to_discrete", "x", _cast_kernel, result=_cast_result)


def _select_result(condition: ArraySpec, a: ArraySpec, b: ArraySpec) -> ArraySpec:
    from tapeflow.primitives.rules import broadcast_or_raise

    check_dtype("where", "condition", condition, BOOL)
    check_same_dtype("where", a, b)
    return ArraySpec(broadcast_or_raise("where", condition, a, b), a.dtype)


def _masked(g: Tensor, condition: Tensor, shape: Shape, keep: bool) -> Tensor:
    zero = zeros_like(g)
    g = select(condition, g, zero) if keep else select(condition, zero, g)
    return reduction.sum_to(g, shape)


select = primitive(
    "select",
    "condition a b",
    np.where,
    result=_select_result,
    gradients={
        "a": lambda g, condition, a_shape: _masked(g, condition, a_shape, True),
        "b": lambda g, condition, b_shape: _masked(g, condition, b_shape, False),
    },
)

# Joining and parting.


def _same_dtypes(op: str, xs: tuple[ArraySpec, ...]) -> None:
    for x in xs[1:]:
        check_same_dtype(op, xs[0], x)


def _concat_result(*xs: ArraySpec, axis: int) -> ArraySpec:
    _same_dtypes("concat", xs)
    rest = [x.shape[:axis] + x.shape[axis + 1 :] for x in xs]
    if any(r != rest[0] for r in rest) or any(len(x.shape) != len(xs[0].shape) for x in xs):
        shapes = ", ".join(str(list(x.shape)) for x in xs)
        raise invalid(f"concat: shapes {shapes} must be equal but for dimension {axis}")
    total = sum(x.shape[axis] for x in xs)
    first = xs[0].shape
    return ArraySpec((*first[:axis], total, *first[axis + 1 :]), xs[0].dtype)


def _concat_kernel(*xs: Any, axis: int) -> Any:
    if any(x.dtype != xs[0].dtype for x in xs[1:]):
        raise TypeError("different dtypes")
    return np.concatenate(xs, axis)


def _concat_gradient(g: Tensor, i: int, xs_shapes: tuple[Shape, ...], axis: int) -> Tensor:
    start = sum(shape[axis] for shape in xs_shapes[:i])
    index = (slice(None),) * axis + (slice(start, start + xs_shapes[i][axis]),)
    return indexing.getitem(g, index=index)


concat = primitive(
    "concat", "*xs", _concat_kernel, result=_concat_result, gradients={"xs": _concat_gradient}
)


def _stack_result(*xs: ArraySpec, axis: int) -> ArraySpec:
    _same_dtypes("stack", xs)
    if any(x.shape != xs[0].shape for x in xs):
        shapes = ", ".join(str(list(x.shape)) for x in xs)
        raise invalid(f"stack: all tensors must have one shape, got {shapes}")
    shape = xs[0].shape
    return ArraySpec((*shape[:axis], len(xs), *shape[axis:]), xs[0].dtype)


def _stack_kernel(*xs: Any, axis: int) -> Any:
    if any(x.dtype != xs[0].dtype for x in xs[1:]):
        raise TypeError("different dtypes")
    return np.stack(xs, axis)


stack = primitive(
    "stack",
    "*xs",
    _stack_kernel,
    result=_stack_result,
    gradients={
        "xs": lambda g, i, axis: indexing.getitem(g, index=(slice(None),) * axis + (i,))
    },
)


def _unstack_result(x: ArraySpec, *, axis: int) -> tuple[ArraySpec, ...]:
    return (ArraySpec(x.shape[:axis] + x.shape[axis + 1 :], x.dtype),) * x.shape[axis]


unstack = primitive(
    "unstack",
    "x",
    lambda x, *, axis: tuple(np.moveaxis(x, axis, 0)),
    result=_unstack_result,
    gradients={"x": lambda g, axis: stack(*g, axis=axis)},
    outputs=None,
)


def _split_result(x: ArraySpec, *, sizes: Shape, axis: int) -> tuple[ArraySpec, ...]:
    if sum(sizes) != x.shape[axis]:
        raise invalid(
            f"split: sizes {list(sizes)} add up to {sum(sizes)}, and dimension {axis} of shape {list(x.shape)} is "
            f"{x.shape[axis]}"
        )
    return tuple(ArraySpec((*x.shape[:axis], n, *x.shape[axis + 1 :]), x.dtype) for n in sizes)


def _split_kernel(x: Any, *, sizes: Shape, axis: int) -> tuple[Any, ...]:
    if sum(sizes) != x.shape[axis]:
        raise ValueError("sizes do not add up")
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))


split = primitive(
    "split",
    "x",
    _split_kernel,
    result=_split_result,
    gradients={"x": lambda g, axis: concat(*g, axis=axis)},
    outputs=None,
)

# Repeating, padding, reversing.


def _tile_result(x: ArraySpec, *, multiples: Shape) -> ArraySpec:
    if len(multiples) != len(x.shape) or any(m < 0 for m in multiples):
        raise invalid(
            f"tile: multiples {list(multiples)} must have one non-negative number for each of the "
            f"{len(x.shape)} dimensions of shape {list(x.shape)}"
        )
    return ArraySpec(tuple(d * m for d, m in zip(x.shape, multiples, strict=True)), x.dtype)


def _tile_kernel(x: Any, *, multiples: Shape) -> Any:
    if len(multiples) != x.ndim or any(m < 0 for m in multiples):
        raise ValueError("multiples do not fit")
    return np.tile(x, multiples)


def _tile_gradient(g: Tensor, x_shape: Shape, multiples: Shape) -> Tensor:
    """Folds each dimension into (copies, size) and sums the copies."""
    folded = tuple(n for pair in zip(multiples, x_shape, strict=True) for n in pair)
    copies = tuple(range(0, len(folded), 2))
    return reduction.sum_(reshape(g, shape=folded), axis=copies, keepdims=False)


tile = primitive(
    "tile", "x", _tile_kernel, result=_tile_result, gradients={"x": _tile_gradient}
)

Paddings = tuple[tuple[int, int], ...]


def _pad_result(x: ArraySpec, value: ArraySpec, *, paddings: Paddings) -> ArraySpec:
    check_same_dtype("pad", x, value)
    if len(paddings) != len(x.shape) or any(n < 0 for pair in paddings for n in pair):
        raise invalid(
            f"pad: paddings {[list(p) for p in paddings]} must have a non-negative pair for each of the "
            f"{len(x.shape)} dimensions of shape {list(x.shape)}"
        )
    return ArraySpec(tuple(d + a + b for d, (a, b) in zip(x.shape, paddings, strict=True)), x.dtype)


def _pad_kernel(x: Any, value: Any, *, paddings: Paddings) -> Any:
    if len(paddings) != x.ndim or x.dtype != value.dtype:
        raise ValueError("paddings do not fit")
    return np.pad(x, paddings, constant_values=value[()])


def _inside(shape: Shape, paddings: Paddings) -> tuple[slice, ...]:
    return tuple(slice(a, a + d) for d, (a, _) in zip(shape, paddings, strict=True))


def _pad_value_gradient(g: Tensor, x_shape: Shape, paddings: Paddings) -> Tensor:
    axes = tuple(range(len(x_shape)))
    inner = indexing.getitem(g, index=_inside(x_shape, paddings))
    total: Callable[..., Tensor] = reduction.sum_
    return total(g, axis=axes, keepdims=False) - total(inner, axis=axes, keepdims=False)


pad = primitive(
    "pad",
    "x value",
    _pad_kernel,
    result=_pad_result,
    gradients={
        "x": lambda g, x_shape, paddings: indexing.getitem(g, index=_inside(x_shape, paddings)),
        "value": _pad_value_gradient,
    },
)

reverse = primitive(
    "reverse",
    "x",
    lambda x, *, axis: np.flip(x, axis),
    result=lambda x, *, axis: x,
    gradients={"x": lambda g, axis: reverse(g, axis=axis)},
)
