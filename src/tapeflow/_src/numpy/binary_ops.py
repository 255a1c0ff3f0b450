"""Functions of pairs of elements, which broadcast, by NumPy's names."""

from __future__ import annotations

import math
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.numpy.dtypes import (
    array_of,
    default_float,
    numpys_float,
    promoted,
    result_dtype,
    to,
)
from tapeflow._src.numpy.unary import truth
from tapeflow._src.ops.array.creation import ones_like, zeros_like
from tapeflow._src.ops.elementwise import arithmetic, bits, functions, logic
from tapeflow._src.ops.indexing.gathering import where as choose
from tapeflow._src.ops.indexing.sequences import nextafter as nextafter_of
from tapeflow._src.primitives.elementwise import binary


def _floats(a: Any, b: Any) -> Any:
    wide = result_dtype(a, b)
    dtype = wide if wide.is_floating or wide.is_complex else numpys_float()
    return [to(array_of(x), dtype) for x in (a, b)]


def _doubles(a: Any, b: Any) -> Any:
    dtype = result_dtype(a, b, float)
    return [to(array_of(x), "complex128" if dtype.is_complex else "float64") for x in (a, b)]


def _ordered(a: Any, b: Any) -> Any:
    return [to(x, "int8") if x.dtype.is_bool else x for x in promoted(a, b)]


def _product(a: Tensor, b: Tensor) -> Tensor:
    return logic.logical_and(a, b) if a.dtype.is_bool else arithmetic.multiply(a, b)


def _quotient(a: Tensor, b: Tensor) -> Tensor:
    if not (a.dtype.is_floating or a.dtype.is_complex):
        # As in TensorFlow, small integers become small floats.
        small = a.dtype.size < 4 and not a.dtype.is_bool
        wide = "float32" if small else default_float() if a.dtype.is_bool else numpys_float()
        a, b = to(a, wide), to(b, wide)
    return arithmetic.divide(a, b)


def _larger(a: Tensor, b: Tensor) -> Tensor:
    return logic.logical_or(a, b) if a.dtype.is_bool else arithmetic.maximum(a, b)


def _smaller(a: Tensor, b: Tensor) -> Tensor:
    return logic.logical_and(a, b) if a.dtype.is_bool else arithmetic.minimum(a, b)


def _hypotenuse(a: Tensor, b: Tensor) -> Tensor:
    return arithmetic.sqrt(a * a + b * b)


def _log_sum(a: Tensor, b: Tensor) -> Tensor:
    largest = arithmetic.maximum(a, b)
    apart = arithmetic.abs(a - b)
    same = logic.is_nan(apart)  # of two infinities
    rest = functions.log1p(functions.exp(-choose(same, zeros_like(apart), apart)))
    return choose(same, a + b, largest + rest)


def _step(x: Tensor, middle: Tensor) -> Tensor:
    sides = choose(x < 0, zeros_like(x), ones_like(x))
    return choose(x == 0, middle, sides)


def _common_multiple(a: Tensor, b: Tensor) -> Tensor:
    divisor = binary.gcd(a, b)
    safe = choose(divisor == 0, ones_like(divisor), divisor)
    return arithmetic.abs(a // safe * b)


def _bitwise(logical: Any, bitwise: Any, a: Any, b: Any) -> Tensor:
    a, b = promoted(a, b)
    return (logical if a.dtype.is_bool else bitwise)(a, b)


@export("experimental.numpy.divmod")
def divmod(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """The quotient, rounded down, and the rest.

    >>> [int(x) for x in tf.experimental.numpy.divmod(7, 2)]
    [3, 1]
    """
    a, b = promoted(x1, x2)
    return arithmetic.floordiv(a, b), arithmetic.floormod(a, b)


@export("experimental.numpy.add")
def add(x1: Any, x2: Any) -> Tensor:
    """The sum.

    >>> tf.experimental.numpy.add(1, 2.5).numpy()
    np.float64(3.5)
    """
    a, b = promoted(x1, x2)
    return logic.logical_or(a, b) if a.dtype.is_bool else arithmetic.add(a, b)


@export("experimental.numpy.subtract")
def subtract(x1: Any, x2: Any) -> Tensor:
    """The difference.

    >>> tf.experimental.numpy.subtract(1, 2.5).numpy()
    np.float64(-1.5)
    """
    return arithmetic.subtract(*promoted(x1, x2))


@export("experimental.numpy.multiply")
def multiply(x1: Any, x2: Any) -> Tensor:
    """The product.

    >>> tf.experimental.numpy.multiply(2, 2.5).numpy()
    np.float64(5.0)
    """
    return _product(*promoted(x1, x2))


@export("experimental.numpy.true_divide")
def true_divide(x1: Any, x2: Any) -> Tensor:
    """The quotient, as a float.

    >>> tf.experimental.numpy.true_divide(1, 2).numpy()
    np.float64(0.5)
    """
    return _quotient(*promoted(x1, x2))


@export("experimental.numpy.divide")
def divide(x1: Any, x2: Any) -> Tensor:
    """The quotient, as a float.

    >>> tf.experimental.numpy.divide(1, 2).numpy()
    np.float64(0.5)
    """
    return _quotient(*promoted(x1, x2))


@export("experimental.numpy.floor_divide")
def floor_divide(x1: Any, x2: Any) -> Tensor:
    """The quotient, rounded down.

    >>> tf.experimental.numpy.floor_divide(7, 2).numpy()
    np.int64(3)
    """
    return arithmetic.floordiv(*promoted(x1, x2))


@export("experimental.numpy.mod")
def mod(x1: Any, x2: Any) -> Tensor:
    """The rest of a division, with the sign of the divisor.

    >>> tf.experimental.numpy.mod(7, 4).numpy()
    np.int64(3)
    """
    return arithmetic.floormod(*promoted(x1, x2))


@export("experimental.numpy.remainder")
def remainder(x1: Any, x2: Any) -> Tensor:
    """The rest of a division, with the sign of the divisor.

    >>> tf.experimental.numpy.remainder(7, 4).numpy()
    np.int64(3)
    """
    return arithmetic.floormod(*promoted(x1, x2))


@export("experimental.numpy.power")
def power(x1: Any, x2: Any) -> Tensor:
    """A number to the power of another.

    >>> tf.experimental.numpy.power(2, 3).numpy()
    np.int64(8)
    """
    return arithmetic.pow(*promoted(x1, x2))


@export("experimental.numpy.float_power")
def float_power(x1: Any, x2: Any) -> Tensor:
    """A number to the power of another: in TensorFlow, another name of `power`.

    >>> tf.experimental.numpy.float_power(2, 3).numpy()
    np.int64(8)
    """
    return arithmetic.pow(*promoted(x1, x2))


@export("experimental.numpy.maximum")
def maximum(x1: Any, x2: Any) -> Tensor:
    """The larger number.

    >>> tf.experimental.numpy.maximum(1, 2).numpy()
    np.int64(2)
    """
    return _larger(*promoted(x1, x2))


@export("experimental.numpy.minimum")
def minimum(x1: Any, x2: Any) -> Tensor:
    """The smaller number.

    >>> tf.experimental.numpy.minimum(1, 2).numpy()
    np.int64(1)
    """
    return _smaller(*promoted(x1, x2))


@export("experimental.numpy.arctan2")
def arctan2(x1: Any, x2: Any) -> Tensor:
    """The angle of a point.

    >>> tf.experimental.numpy.arctan2(0, 1).numpy()
    np.float64(0.0)
    """
    return functions.atan2(*_floats(x1, x2))


@export("experimental.numpy.hypot")
def hypot(x1: Any, x2: Any) -> Tensor:
    """The length of the longest side of a triangle.

    >>> tf.experimental.numpy.hypot(3, 4).numpy()
    np.float64(5.0)
    """
    return _hypotenuse(*_floats(x1, x2))


@export("experimental.numpy.logaddexp")
def logaddexp(x1: Any, x2: Any) -> Tensor:
    """The logarithm of the sum of exponentials.

    >>> tf.experimental.numpy.logaddexp(float("-inf"), 0.0).numpy()
    np.float64(0.0)
    """
    return _log_sum(*_floats(x1, x2))


@export("experimental.numpy.logaddexp2")
def logaddexp2(x1: Any, x2: Any) -> Tensor:
    """The same to base 2.

    >>> tf.experimental.numpy.logaddexp2(float("-inf"), 0.0).numpy()
    np.float64(0.0)
    """
    return _log_sum(*[x * math.log(2.0) for x in _floats(x1, x2)]) / math.log(2.0)


@export("experimental.numpy.heaviside")
def heaviside(x1: Any, x2: Any) -> Tensor:
    """0 below zero, 1 above it, and `x2` at it.

    >>> tf.experimental.numpy.heaviside(-1.0, 0.5).numpy()
    np.float64(0.0)
    """
    return _step(*_floats(x1, x2))


@export("experimental.numpy.nextafter")
def nextafter(x1: Any, x2: Any) -> Tensor:
    """The next number that can be represented.

    >>> tf.experimental.numpy.nextafter(1.0, 1.0).numpy()
    np.float64(1.0)
    """
    return nextafter_of(*_floats(x1, x2))


@export("experimental.numpy.gcd")
def gcd(x1: Any, x2: Any) -> Tensor:
    """The greatest common divisor.

    >>> tf.experimental.numpy.gcd(12, 18).numpy()
    np.int64(6)
    """
    return binary.gcd(*promoted(x1, x2))


@export("experimental.numpy.lcm")
def lcm(x1: Any, x2: Any) -> Tensor:
    """The least common multiple.

    >>> tf.experimental.numpy.lcm(4, 6).numpy()
    np.int64(12)
    """
    return _common_multiple(*promoted(x1, x2))


@export("experimental.numpy.equal")
def equal(x1: Any, x2: Any) -> Tensor:
    """Whether they are equal.

    >>> tf.experimental.numpy.equal(1, 1.0).numpy()
    np.True_
    """
    return logic.equal(*promoted(x1, x2))


@export("experimental.numpy.not_equal")
def not_equal(x1: Any, x2: Any) -> Tensor:
    """Whether they are not equal.

    >>> tf.experimental.numpy.not_equal(1, 1.0).numpy()
    np.False_
    """
    return logic.not_equal(*promoted(x1, x2))


@export("experimental.numpy.less")
def less(x1: Any, x2: Any) -> Tensor:
    """Whether the first is less.

    >>> tf.experimental.numpy.less(1, 2.0).numpy()
    np.True_
    """
    return logic.less(*_ordered(x1, x2))


@export("experimental.numpy.less_equal")
def less_equal(x1: Any, x2: Any) -> Tensor:
    """Whether the first is not larger.

    >>> tf.experimental.numpy.less_equal(1, 2.0).numpy()
    np.True_
    """
    return logic.less_equal(*_ordered(x1, x2))


@export("experimental.numpy.greater")
def greater(x1: Any, x2: Any) -> Tensor:
    """Whether the first is larger.

    >>> tf.experimental.numpy.greater(1, 2.0).numpy()
    np.False_
    """
    return logic.greater(*_ordered(x1, x2))


@export("experimental.numpy.greater_equal")
def greater_equal(x1: Any, x2: Any) -> Tensor:
    """Whether the first is not less.

    >>> tf.experimental.numpy.greater_equal(1, 2.0).numpy()
    np.False_
    """
    return logic.greater_equal(*_ordered(x1, x2))


@export("experimental.numpy.logical_and")
def logical_and(x1: Any, x2: Any) -> Tensor:
    """Whether both are true.

    >>> tf.experimental.numpy.logical_and(1, 0).numpy()
    np.False_
    """
    return logic.logical_and(truth(x1), truth(x2))


@export("experimental.numpy.logical_or")
def logical_or(x1: Any, x2: Any) -> Tensor:
    """Whether one or both are true.

    >>> tf.experimental.numpy.logical_or(1, 0).numpy()
    np.True_
    """
    return logic.logical_or(truth(x1), truth(x2))


@export("experimental.numpy.logical_xor")
def logical_xor(x1: Any, x2: Any) -> Tensor:
    """Whether one and only one is true.

    >>> tf.experimental.numpy.logical_xor(1, 0).numpy()
    np.True_
    """
    return logic.logical_xor(truth(x1), truth(x2))


@export("experimental.numpy.bitwise_and")
def bitwise_and(x1: Any, x2: Any) -> Tensor:
    """The bits that are set in both.

    >>> tf.experimental.numpy.bitwise_and(6, 3).numpy()
    np.int64(2)
    """
    return _bitwise(logic.logical_and, bits.bitwise_and, x1, x2)


@export("experimental.numpy.bitwise_or")
def bitwise_or(x1: Any, x2: Any) -> Tensor:
    """The bits that are set in one or both.

    >>> tf.experimental.numpy.bitwise_or(6, 3).numpy()
    np.int64(7)
    """
    return _bitwise(logic.logical_or, bits.bitwise_or, x1, x2)


@export("experimental.numpy.bitwise_xor")
def bitwise_xor(x1: Any, x2: Any) -> Tensor:
    """The bits that are set in one and only one.

    >>> tf.experimental.numpy.bitwise_xor(6, 3).numpy()
    np.int64(5)
    """
    return _bitwise(logic.logical_xor, bits.bitwise_xor, x1, x2)
