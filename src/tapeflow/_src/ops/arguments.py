"""Reading the integer arguments of ops: shapes, axes, counts.

They may be Python or NumPy numbers, tensors or variables, alone or in lists; the primitives want
plain ints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import TracingError, shown
from tapeflow._src.core.formatting import describe
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.sizes.dims import Dim
from tapeflow._src.core.system.memory import exhausted
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.rules import DTypeError, invalid

Shape = tuple[int, ...]


def ints(op: str, argument: str, value: Any, *, scalar: bool = False) -> Shape:
    """A vector of integers as a tuple; where `scalar` allows it, a single integer too.

    >>> ints("reshape", "shape", [2, tf.constant(3)])
    (2, 3)
    """
    kind = type(value)
    if kind is tuple or kind is list:
        for item in value:
            if type(item) is not int:
                break
        else:
            return tuple(value)
        if any(map(_unknown, value)):
            return tuple([integer(op, argument, item) for item in value])
    elif kind is TensorShape:
        return _static(value)
    array = _integers(op, argument, value)
    if array.ndim == 1:
        return tuple(array.tolist())
    if array.ndim == 0 and scalar:
        return (array.item(),)
    text = f"{op}: {argument} must be a vector of integers, got shape {list(array.shape)}"
    raise TracingError(None, None, text)


def integer(op: str, argument: str, value: Any) -> int:
    """A single integer.

    >>> integer("one_hot", "depth", tf.constant(3))
    3
    """
    if type(value) is not int:
        if type(value) is Dim:
            return value  # pyright: ignore[reportReturnType]
        array = _integers(op, argument, value)
        if array.size != 1:
            raise invalid(
                f"{op}: {argument} must be a single integer, got shape {list(array.shape)}"
            )
        value = array.reshape(()).item()
        if type(value) is Dim:
            return value  # pyright: ignore[reportReturnType]
    if -(2**63) <= value < 2**63:
        return value
    raise ValueError(f"{op}: {argument} does not fit in int64, got {shown(value)}")


def vector(op: str, argument: str, value: Any) -> Tensor:
    """A tensor of rank 1, whose elements may be known only when a function runs."""
    tensor = convert_to_tensor(value)
    if tensor.ndim != 1:
        raise invalid(f"{op}: {argument} must be a vector, got shape {tensor.shape}")
    return tensor


def real(op: str, argument: str, value: Any) -> Any:
    """A single real number, which may be a tensor: anything that can be compared with a number.

    >>> real("dropout", "rate", 0.5)
    0.5
    """
    if type(value) is float or type(value) is int:
        return value
    tensor = convert_to_tensor(value)
    if tensor.dtype.is_complex or not tensor.dtype.is_numeric or tensor._array.size != 1:
        raise TypeError(f"{op}: {argument} must be a real number, got {shown(value)}")
    return value


def number(op: str, argument: str, value: Any) -> float:
    """A real number as a float.

    >>> number("leaky_relu", "alpha", 2)
    2.0
    """
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{op}: {argument} must be a real number, got {shown(value)}") from None
    except OverflowError:
        raise ValueError(f"{op}: {argument} is too large for a float: {shown(value)}") from None


def element(tensor: Tensor, position: int) -> int:
    """An element of an integer tensor, which may be one that is known only when a function runs."""
    return tensor._elements().reshape(-1)[position]


def _unknown(value: Any) -> bool:
    """Whether a size is known only when a function runs."""
    return type(value) is Dim or (isinstance(value, Tensor) and value.symbolic)


def _static(shape: TensorShape) -> Shape:
    dims = shape._dims
    if dims is None or None in dims:
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    return dims  # pyright: ignore[reportReturnType]


def _integers(op: str, argument: str, value: Any) -> np.ndarray:
    if isinstance(value, (list, tuple)) and not value:
        return np.zeros(0, np.int32)
    tensor = value if type(value) is Tensor else convert_to_tensor(value)
    array = tensor._elements()
    if array.dtype.kind == "O" and tensor.dtype.is_integer:
        return array  # of ints and sizes that are not known yet
    if array.dtype.kind not in "iu":
        if not array.size and not isinstance(value, Tensor):
            return array.astype(np.int32)  # an empty list has no dtype of its own
        raise DTypeError(
            None,
            None,
            f"{op}: {argument} must be an int or several, int32 or int64, got {tensor.dtype.name} ({shown(value)})",
        )
    return array


def several(op: str, values: Any) -> list[Any]:
    """The items of an argument that is several tensors, or what else can be gone through.

    >>> several("concatenate", (x for x in (1, 2)))
    [1, 2]
    """
    try:
        return list(values)
    except MemoryError as error:  # it does not end, perhaps
        raise exhausted(op, error) from None


def axis_of(
    op: str,
    axis: Any,
    rank: int,
    *,
    argument: str = "axis",
    error: Callable[[str], Exception] = invalid,
) -> int:
    """One axis of a tensor of `rank`, counted from the front.

    >>> axis_of("gather", -1, 3)
    2
    """
    number = axis if type(axis) is int else integer(op, argument, axis)
    if not -rank <= number < rank:
        raise error(
            f"{op}: {argument} = {number} is not in the range [{-rank}, {rank}) of a tensor of "
            f"rank {rank}"
        )
    return number + rank if number < 0 else number


_ALL = tuple(tuple(range(rank)) for rank in range(65))  # for each rank that NumPy allows


def axes_of(op: str, axis: Any, x: Tensor) -> Shape:
    """One axis of `x` or several, counted from the front and in order; None stands for all of them.

    >>> axes_of("reduce_sum", [-1, 0], tf.zeros([2, 3, 4]))
    (0, 2)
    """
    rank = x._array.ndim
    if axis is None:
        return _ALL[rank]
    if type(axis) is int and -rank <= axis < rank:
        return (axis + rank if axis < 0 else axis,)
    numbers = [int(axis)] if type(axis) is bool else _integers(op, "axis", axis).ravel().tolist()
    for number in numbers:
        if not -rank <= number < rank:
            raise invalid(
                f"{op}: axis = {number} is not in the range [{-rank}, {rank}) of the input "
                f"{describe(x)}"
            )
    axes = tuple(sorted({number % rank for number in numbers}))
    if len(axes) != len(numbers):
        raise invalid(
            f"{op}: axis {shown(axis)} names a dimension of the input {describe(x)} twice"
        )
    return axes
