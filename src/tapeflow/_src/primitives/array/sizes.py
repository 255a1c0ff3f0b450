"""Tensors of sizes that are known only when a function runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import InvalidArgumentError, invalid
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.sizes.algebra import Algebra
from tapeflow._src.core.sizes.dims import Atom, Dim, is_dynamic
from tapeflow._src.core.sizes.extremes import larger, smaller
from tapeflow._src.core.sizes.guards import Guard
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.table import TABLE, calls, primitive


def tensor_of(size: Dim, dtype: Any = None) -> Tensor:
    """A size as a scalar tensor, int32 unless told."""
    number = _TENSORS.evaluated(size, _of_atom)
    return _cast(number, dtypes.int32 if dtype is None else as_dtype(dtype))


def vector_of(shape: tuple[Any, ...], dtype: DType = dtypes.int32) -> Tensor:
    """A shape as a tensor."""
    if not is_dynamic(shape):
        return Tensor(np.array(shape, dtype.np_dtype))
    return moving.stack(*[convert_to_tensor(size, dtype) for size in shape], axis=0)


def _of_atom(atom: Atom) -> Tensor:
    tensor, axis, position = atom.origin
    if axis is not None:
        return calls.getitem(moving.shape_of(tensor, dtype=dtypes.int64), index=(axis,))
    if tensor._array.ndim:
        tensor = calls.getitem(tensor, index=(position,))
    return _cast(tensor, dtypes.int64)


def _with(a: Tensor, b: Tensor) -> Tensor:
    return moving.select(binary.equal(a, convert_to_tensor(1, dtypes.int64)), b, a)


_TENSORS = Algebra(
    {
        "//": binary.floor_divide,
        "%": binary.floor_mod,
        "min": binary.minimum,
        "max": binary.maximum,
        "with": _with,
    },
    number=lambda n: convert_to_tensor(n, dtypes.int64),
)


def _cast(x: Tensor, dtype: DType) -> Tensor:
    if x.dtype is dtype:
        return x
    return (moving.cast if dtype.is_differentiable else moving.cast_to_discrete)(x, dtype=dtype)


# Kernels that compute with sizes while a function is traced.


def _each(choose: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    pairwise = np.frompyfunc(choose, 2, 1)
    return lambda x, y: pairwise(x, y)


def _reduced(choose: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def kernel(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
        if len(axis) != x.ndim:
            return x
        out = np.empty((1,) * x.ndim if keepdims else (), object)
        out[...] = reduce(choose, x.reshape(-1).tolist())
        return out

    return kernel


EXTREMES: dict[str, Callable[..., Any]] = {
    "minimum": _each(smaller),
    "maximum": _each(larger),
    "min": _reduced(smaller),
    "max": _reduced(larger),
    "floor_divide": _each(operator.floordiv),
    "floor_mod": _each(operator.mod),
}
"""For primitives whose own kernels would ask which size is larger, or whether one is 0."""


# What a trace has taken for granted of sizes that follow from values.


def _check_kernel(*, comparison: str, a: int, b: int, answer: bool) -> tuple[()]:
    if (a == b if comparison == "==" else a < b) != answer:
        raise InvalidArgumentError(
            None,
            None,
            f"tf.function: a size that follows from values is {a} here, and the function was traced for "
            f"{Guard(comparison, 'a size', b, answer)}. Write the operation with tf.cond, or give the tensor a shape "
            "(tf.ensure_shape).",
        )
    return ()


primitive("size_check", "", _check_kernel, result=lambda **_: (), outputs=None)
size_check = TABLE.pop("size_check")  # it computes nothing


# What a program asks for.


def _shape_kernel(*, message: str, shape: Sequence[int], wanted: Sequence[int | None]) -> tuple[()]:
    given, asked = TensorShape(shape), TensorShape(wanted)
    if not asked.is_compatible_with(given):
        raise invalid(message.replace("{given}", str(given)).replace("{wanted}", str(asked)))
    return ()


primitive("shape_check", "", _shape_kernel, result=lambda **_: (), outputs=None)
shape_check = TABLE.pop("shape_check")
