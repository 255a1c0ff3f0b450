"""Comparing and deciding: the ops whose result is a bool for each element. None has a gradient.

`name` is accepted for compatibility.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.tensor import Tensor
from tapeflow.core.variable import Variable
from tapeflow.primitives import binary, unary


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x == y`, for each pair of elements.

    >>> tf.math.equal([1, 3], 3).numpy()
    array([False,  True])
    """
    return binary.equal(x, y)


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x != y`, for each pair of elements.

    >>> tf.math.not_equal([1, 3], 3).numpy()
    array([ True, False])
    """
    return binary.not_equal(x, y)


def less(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x < y`, for each pair of elements.

    >>> tf.math.less([1, 3], 3).numpy()
    array([ True, False])
    """
    return binary.less(x, y)


def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x <= y`, for each pair of elements.

    >>> tf.math.less_equal([1, 3], 3).numpy()
    array([ True,  True])
    """
    return binary.less_equal(x, y)


def greater(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether `x > y`, for each pair of elements.

    >>> tf.math.greater([1, 3], 3).numpy()
    array([False, False])
    """
    return binary.greater(x, y)


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


def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether both are true, for each pair of bools.

    >>> tf.math.logical_and([True, False], True).numpy()
    array([ True, False])
    """
    return binary.logical_and(_bools(x), _bools(y))


def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether one or both are true, for each pair of bools.

    >>> tf.math.logical_or([True, False], True).numpy()
    array([ True,  True])
    """
    return binary.logical_or(_bools(x), _bools(y))


def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """Whether one and only one is true, for each pair of bools.

    >>> tf.math.logical_xor([True, False], True).numpy()
    array([False,  True])
    """
    return binary.logical_xor(_bools(x), _bools(y))


def logical_not(x: Any, name: str | None = None) -> Tensor:
    """The opposite of each bool.

    >>> tf.math.logical_not([True, False]).numpy()
    array([False,  True])
    """
    return unary.logical_not(_bools(x))


def is_nan(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is NaN.

    >>> tf.math.is_nan([1.0, float("nan"), float("inf")]).numpy()
    array([False,  True, False])
    """
    return unary.is_nan(x)


def is_inf(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is infinite, with either sign.

    >>> tf.math.is_inf([1.0, float("nan"), float("inf")]).numpy()
    array([False, False,  True])
    """
    return unary.is_inf(x)


def is_finite(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is neither infinite nor NaN.

    >>> tf.math.is_finite([1.0, float("nan"), float("inf")]).numpy()
    array([ True, False, False])
    """
    return unary.is_finite(x)
