"""Primitives that move elements about without computing with them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import UnimplementedError
from tapeflow._src.core.sizes.dims import atoms_of, is_dynamic
from tapeflow._src.core.sizes.extremes import agreed, bounds, surely_less
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.broadcasting import sum_to
from tapeflow._src.primitives.choosing import chosen
from tapeflow._src.primitives.rules import (
    ANY,
    BOOL,
    broadcast_or_raise,
    broadcasts,
    check_dtype,
    check_same_dtype,
    invalid,
)
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.storage import blank, owned
from tapeflow._src.primitives.table import calls, primitive

Shape = tuple[int, ...]

# Shape alone.


def _reshape_result(x: ArraySpec, *, shape: Shape) -> ArraySpec:
    size, wanted = math.prod(x.shape), math.prod(shape)
    # Of sizes that are not known yet the kernel finds out whether they fit.
    if not is_dynamic(size) and not is_dynamic(wanted) and size != wanted:
        raise invalid(
            f"reshape: Input to reshape is a tensor with {size} values, but the requested shape has {wanted}. The "
            f"shapes are {list(x.shape)} and {list(shape)}; one dimension may be -1, to be worked out."
        )
    return ArraySpec(tuple(None if _may_be_asked_for(d) else d for d in shape), x.dtype)


def _may_be_asked_for(size: Any) -> bool:
    """Whether a size follows from values, which may be -1 when the function runs: to be worked out."""
    if not is_dynamic(size) or bounds(size)[0] >= 0:
        return False
    return any(atom.origin[1] is None for atom in atoms_of(size))


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
            f"transpose: perm {list(perm)} is not a permutation of the dimensions of shape "
            f"{list(x.shape)}"
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
    broadcasts("broadcast_to", x.shape, shape)
    return ArraySpec(tuple(shape), x.dtype)


def _broadcast_kernel(x: Any, *, shape: Shape) -> Any:
    """A view, which takes no memory; or if that would be little, a copy, which takes less time."""
    if math.prod(shape) > 2048 or x.ndim > len(shape):
        check_room("broadcast_to", shape, x.dtype)
        return np.broadcast_to(x, shape)
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


broadcast_to = primitive(
    "broadcast_to",
    "x",
    _broadcast_kernel,
    result=_broadcast_result,
    gradients={"x": lambda g, x_shape: sum_to(g, x_shape)},
)

# Passing through.


def _like(x: ArraySpec) -> ArraySpec:
    return x


identity = primitive("identity", "x", lambda x: x, result=_like, gradients={"x": lambda g: g})
stop_gradient = primitive("stop_gradient", "x", lambda x: x, result=_like)
# The same to look at, and another tensor to whoever looks for repetitions: what is computed from it is computed again.
barrier = primitive("barrier", "x", lambda x: x, result=_like, gradients={"x": lambda g: g})


def _laid_out_gradient(g: Tensor, layout: Any) -> Tensor:
    return laid_out(g, layout=layout)


# The same value, of which a program that several devices compute has the parts where a layout says (`core.placement`).
laid_out = primitive(
    "laid_out",
    "x",
    lambda x, *, layout: x,
    result=lambda x, *, layout: x,
    gradients={"x": _laid_out_gradient},
)
zeros_like = primitive("zeros_like", "x", lambda x: blank(x.shape, x.dtype), result=_like)
ones_like = primitive(
    "ones_like",
    "x",
    lambda x: np.ones(x.shape, x.dtype),
    result=lambda x: x,
)

# What a tensor is like, which is known before its values are.

shape_of = primitive(
    "shape",
    "x",
    lambda x, *, dtype: np.array(x.shape, dtype.np_dtype),
    result=lambda x, *, dtype: ArraySpec((len(x.shape),), dtype),
)
size_of = primitive(
    "size",
    "x",
    lambda x, *, dtype: np.array(x.size, dtype.np_dtype),
    result=lambda x, *, dtype: ArraySpec((), dtype),
)


def _cast_kernel(x: Any, *, dtype: DType) -> Any:
    if x.dtype.kind == "O" or dtype is dtypes.string:
        raise TypeError("strings")
    if x.dtype.kind == "c" and not dtype.is_complex:
        x = x.real
    return x.astype(dtype.np_dtype)


def _cast_result(x: ArraySpec, *, dtype: DType) -> ArraySpec:
    if dtypes.string in (x.dtype, dtype):
        raise UnimplementedError(
            None,
            None,
            f"cast: Cast {x.dtype.name} to {dtype.name} is not supported: strings are not numbers. "
            "Use tf.strings.to_number or tf.strings.as_string.",
        )
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


def _bitcast_result(x: ArraySpec, *, dtype: DType) -> ArraySpec:
    check_dtype("bitcast", "input", x, ANY - {"string", "bool"})
    check_dtype("bitcast", "type", ArraySpec((), dtype), ANY - {"string", "bool"})
    have, want = x.dtype.size, dtype.size
    if have == want:
        return ArraySpec(x.shape, dtype)
    if have > want:
        return ArraySpec((*x.shape, have // want), dtype)
    if not x.shape or x.shape[-1] != want // have:
        raise invalid(
            f"bitcast: Cannot bitcast from {x.dtype.name} to {dtype.name}: the last dimension of "
            "shape "
            f"{list(x.shape)} must be {want // have}"
        )
    return ArraySpec(x.shape[:-1], dtype)


def _bitcast_kernel(x: Any, *, dtype: DType) -> Any:
    shape = _bitcast_result(ArraySpec(x.shape, dtypes.from_numpy(x.dtype)), dtype=dtype).shape
    return np.frombuffer(x.tobytes(), dtype.np_dtype).reshape(shape)


bitcast = primitive("bitcast", "x", _bitcast_kernel, result=_bitcast_result)


def _select_result(condition: ArraySpec, a: ArraySpec, b: ArraySpec) -> ArraySpec:
    check_dtype("where", "condition", condition, BOOL)
    check_same_dtype("where", a, b)
    return ArraySpec(broadcast_or_raise("where", condition, a, b), a.dtype)


def _masked(g: Tensor, condition: Tensor, shape: Shape, keep: bool) -> Tensor:
    zero = Tensor(blank((), g._array.dtype))
    g = select(condition, g, zero) if keep else select(condition, zero, g)
    return sum_to(g, shape)


def _select_kernel(condition: Any, a: Any, b: Any) -> Any:
    if condition.dtype != np.bool_ or a.dtype != b.dtype:
        raise TypeError("dtypes do not fit")  # np.where would find a common one
    return chosen(condition, a, b)


select = primitive(
    "select",
    "condition a b",
    _select_kernel,
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


def _shapes_text(xs: tuple[ArraySpec, ...]) -> str:
    return ", ".join(str(list(x.shape)) for x in xs)


def _common_shape(shapes: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The shape that all of them are. ValueError if they cannot be one."""
    return tuple([functools.reduce(agreed, sizes) for sizes in zip(*shapes, strict=True)])


def _concat_result(*xs: ArraySpec, axis: int) -> ArraySpec:
    _same_dtypes("concat", xs)
    if not xs[0].shape:
        raise invalid("concat: scalars have no dimension to join along. Use tf.stack.")
    try:
        rest = _common_shape([x.shape[:axis] + x.shape[axis + 1 :] for x in xs])
    except ValueError:
        raise invalid(
            f"concat: shapes {_shapes_text(xs)} must have one rank and be equal but for "
            f"dimension {axis}"
        ) from None
    return ArraySpec((*rest[:axis], sum(x.shape[axis] for x in xs), *rest[axis:]), xs[0].dtype)


def _joined(join: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy would find a common dtype; here different ones are a mistake."""

    def kernel(*xs: Any, axis: int) -> Any:
        dtype = xs[0].dtype
        for x in xs:
            if x.dtype is not dtype and x.dtype != dtype:
                raise TypeError("different dtypes")
        return join(xs, axis)

    return kernel


def _concat_gradient(g: Tensor, i: int, xs_shapes: tuple[Shape, ...], axis: int) -> Tensor:
    start = sum(shape[axis] for shape in xs_shapes[:i])
    index = (slice(None),) * axis + (slice(start, start + xs_shapes[i][axis]),)
    return calls.getitem(g, index=index)


concat = primitive(
    "concat",
    "*xs",
    _joined(np.concatenate),
    result=_concat_result,
    gradients={"xs": _concat_gradient},
)


def _stack_result(*xs: ArraySpec, axis: int) -> ArraySpec:
    _same_dtypes("stack", xs)
    try:
        shape = _common_shape([x.shape for x in xs])
    except ValueError:
        raise invalid(f"stack: all tensors must have one shape, got {_shapes_text(xs)}") from None
    return ArraySpec((*shape[:axis], len(xs), *shape[axis:]), xs[0].dtype)


stack = primitive(
    "stack",
    "*xs",
    _joined(np.stack),
    result=_stack_result,
    gradients={"xs": lambda g, i, axis: calls.getitem(g, index=(slice(None),) * axis + (i,))},
)


def _unstack_result(x: ArraySpec, *, axis: int) -> tuple[ArraySpec, ...]:
    if not x.shape:
        raise invalid("unstack: a scalar has no rows")
    return (ArraySpec(x.shape[:axis] + x.shape[axis + 1 :], x.dtype),) * x.shape[axis]


def _unstack_kernel(x: Any, *, axis: int) -> tuple[Any, ...]:
    lead = (slice(None),) * axis
    # The Ellipsis keeps what is left of a vector an array: a string must not become `bytes`.
    return tuple([owned(x[(*lead, i, ...)]) for i in range(x.shape[axis])])


unstack = primitive(
    "unstack",
    "x",
    _unstack_kernel,
    result=_unstack_result,
    gradients={"x": lambda g, axis: stack(*g, axis=axis)},
    outputs=None,
)


def _split_result(x: ArraySpec, *, sizes: Shape, axis: int) -> tuple[ArraySpec, ...]:
    if sum(sizes) != x.shape[axis]:
        raise invalid(
            f"split: sizes {list(sizes)} add up to {sum(sizes)}, and dimension {axis} of shape "
            f"{list(x.shape)} is "
            f"{x.shape[axis]}"
        )
    return tuple(ArraySpec((*x.shape[:axis], n, *x.shape[axis + 1 :]), x.dtype) for n in sizes)


def _split_kernel(x: Any, *, sizes: Shape, axis: int) -> tuple[Any, ...]:
    lead = (slice(None),) * axis
    pieces = []
    start = 0
    for size in sizes:
        pieces.append(owned(x[(*lead, slice(start, start + size))]))
        start += size
    if start != x.shape[axis]:
        raise ValueError("sizes do not add up")
    return tuple(pieces)


split = primitive(
    "split",
    "x",
    _split_kernel,
    result=_split_result,
    gradients={"x": lambda g, axis: concat(*g, axis=axis)},
    outputs=None,
)

# Padding.

Paddings = tuple[tuple[int, int], ...]


def _pad_result(x: ArraySpec, value: ArraySpec, *, paddings: Paddings) -> ArraySpec:
    check_same_dtype("pad", x, value)
    if value.shape:
        raise invalid(f"pad: constant_values must be a scalar, got shape {list(value.shape)}")
    if len(paddings) != len(x.shape) or any(surely_less(n, 0) for pair in paddings for n in pair):
        raise invalid(
            f"pad: paddings {[list(p) for p in paddings]} must have a non-negative pair for each "
            "of the "
            f"{len(x.shape)} dimensions of shape {list(x.shape)}"
        )
    return ArraySpec(tuple(d + a + b for d, (a, b) in zip(x.shape, paddings, strict=True)), x.dtype)


def _pad_kernel(x: Any, value: Any, *, paddings: Paddings) -> Any:
    shape = tuple([d + a + b for d, (a, b) in zip(x.shape, paddings, strict=True)])
    if x.dtype != value.dtype or value.ndim or any(n < 0 for pair in paddings for n in pair):
        raise ValueError("paddings do not fit")
    check_room("pad", shape, x.dtype)
    out = np.full(shape, value[()], x.dtype)
    out[_inside(x.shape, paddings)] = x
    return out


def _inside(shape: Shape, paddings: Paddings) -> tuple[slice, ...]:
    return tuple(slice(a, a + d) for d, (a, _) in zip(shape, paddings, strict=True))


def _pad_value_gradient(g: Tensor, x_shape: Shape, paddings: Paddings) -> Tensor:
    axes = tuple(range(len(x_shape)))
    inner = calls.getitem(g, index=_inside(x_shape, paddings))
    total: Callable[..., Tensor] = calls.sum
    return total(g, axis=axes, keepdims=False) - total(inner, axis=axes, keepdims=False)


pad = primitive(
    "pad",
    "x value",
    _pad_kernel,
    result=_pad_result,
    gradients={
        "x": lambda g, x_shape, paddings: calls.getitem(g, index=_inside(x_shape, paddings)),
        "value": _pad_value_gradient,
    },
)
