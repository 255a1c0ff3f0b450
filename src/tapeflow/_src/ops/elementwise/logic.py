"""Comparing and deciding: the ops whose result is a bool for each element. None has a gradient.

`name` is accepted for compatibility.
"""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.primitives.elementwise import binary, unary


@export("equal", "math.equal")
def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x == y`, for each pair of elements.

    >>> tf.math.equal([1, 3], 3).numpy()
    array([False,  True])
    """
    return binary.equal(x, y)


@export("not_equal", "math.not_equal")
def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x != y`, for each pair of elements.

    >>> tf.math.not_equal([1, 3], 3).numpy()
    array([ True, False])
    """
    return binary.not_equal(x, y)


@export("less", "math.less")
def less(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x < y`, for each pair of elements.

    >>> tf.math.less([1, 3], 3).numpy()
    array([ True, False])
    """
    return binary.less(x, y)


@export("less_equal", "math.less_equal")
def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x <= y`, for each pair of elements.

    >>> tf.math.less_equal([1, 3], 3).numpy()
    array([ True,  True])
    """
    return binary.less_equal(x, y)


@export("greater", "math.greater")
def greater(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x > y`, for each pair of elements.

    >>> tf.math.greater([1, 3], 3).numpy()
    array([False, False])
    """
    return binary.greater(x, y)


@export("greater_equal", "math.greater_equal")
def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x >= y`, for each pair of elements.

    >>> tf.math.greater_equal([1, 3], 3).numpy()
    array([False,  True])
    """
    return binary.greater_equal(x, y)


def _bools(value: Any) -> Tensor:
    """Converts what is not a tensor to bools; tensors of another dtype are refused later."""
    if type(value) is Tensor:
        return value
    return convert_to_tensor(value, None if isinstance(value, Variable) else dtypes.bool_)


@export("logical_and", "math.logical_and")
def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether both are true, for each pair of bools.

    >>> tf.math.logical_and([True, False], True).numpy()
    array([ True, False])
    """
    return binary.logical_and(_bools(x), _bools(y))


@export("logical_or", "math.logical_or")
def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether one or both are true, for each pair of bools.

    >>> tf.math.logical_or([True, False], True).numpy()
    array([ True,  True])
    """
    return binary.logical_or(_bools(x), _bools(y))


@export("math.logical_xor")
def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """Whether one and only one is true, for each pair of bools.

    >>> tf.math.logical_xor([True, False], True).numpy()
    array([False,  True])
    """
    return binary.logical_xor(_bools(x), _bools(y))


@export("logical_not", "math.logical_not")
def logical_not(x: Any, name: str | None = None) -> Tensor:
    """The opposite of each bool.

    >>> tf.math.logical_not([True, False]).numpy()
    array([False,  True])
    """
    return unary.logical_not(_bools(x))


@export("math.is_nan")
def is_nan(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is NaN.

    >>> tf.math.is_nan([1.0, float("nan"), float("inf")]).numpy()
    array([False,  True, False])
    """
    return unary.is_nan(x)


@export("math.is_inf")
def is_inf(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is infinite, with either sign.

    >>> tf.math.is_inf([1.0, float("nan"), float("inf")]).numpy()
    array([False, False,  True])
    """
    return unary.is_inf(x)


@export("math.is_finite")
def is_finite(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is neither infinite nor NaN.

    >>> tf.math.is_finite([1.0, float("nan"), float("inf")]).numpy()
    array([ True, False, False])
    """
    return unary.is_finite(x)
