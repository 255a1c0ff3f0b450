"""Arithmetic on each element: sums, products, powers, rounding, and parts of complex numbers.

The ops of two arguments broadcast, and both must have one dtype; Python numbers take that of the
tensor beside them. `name` is accepted for compatibility.
"""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.methods import QUOTIENT, true_divide
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.elementwise.builders import coerce, conj as conjugated
from tapeflow._src.primitives.rules import NUMERIC, DTypeError, check_dtype
from tapeflow._src.primitives.specs import ArraySpec


@export("add", "math.add")
def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The sum of two tensors.

    `x` decides the dtype: it is an error if `y` is a tensor of another.

    >>> tf.math.add([1, 2], 3).numpy()
    array([4, 5], dtype=int32)
    """
    if type(x) is not Tensor:
        x = convert_to_tensor(x)
    if type(y) is not Tensor:
        y = convert_to_tensor(y, dtype_hint=x.dtype)
    return binary.add(x, y)


@export("subtract", "math.subtract")
def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The difference `x - y`.

    >>> tf.math.subtract([3, 5], 1).numpy()
    array([2, 4], dtype=int32)
    """
    return binary.subtract(x, y)


@export("multiply", "math.multiply")
def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The product `x * y`.

    >>> tf.math.multiply([3, 5], [2, 3]).numpy()
    array([ 6, 15], dtype=int32)
    """
    return binary.multiply(x, y)


@export("divide", "math.divide")
def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The quotient `x / y`. Integers divide as floats.

    >>> tf.math.divide([7, 6], 2).numpy()
    array([3.5, 3. ])
    """
    return true_divide(x, y)


@export("truediv", "math.truediv")
def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The quotient `x / y`. Integers divide as floats.

    `x` decides the dtype: it is an error if `y` is a tensor of another.

    >>> tf.math.truediv([7, 6], 2).numpy()
    array([3.5, 3. ])
    """
    if type(x) is not Tensor:
        x = convert_to_tensor(x)
    if type(y) is not Tensor:
        y = convert_to_tensor(y, dtype_hint=x.dtype)
    return true_divide(x, y)


@export("math.floordiv")
def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The quotient `x / y` rounded down. There is no gradient.

    >>> tf.math.floordiv([7, -7], 2).numpy()
    array([ 3, -4], dtype=int32)
    """
    return binary.floor_divide(x, y)


@export("math.floormod")
def floormod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """What `x // y` leaves: it has the sign of `y`.

    >>> tf.math.floormod([7, -7], 3).numpy()
    array([1, 2], dtype=int32)
    """
    return binary.floor_mod(x, y)


mod = floormod


@export("math.divide_no_nan")
def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The quotient `x / y`, and 0 where `y` is 0. Integers divide as floats.

    >>> tf.math.divide_no_nan([3.0, 1.0], [2.0, 0.0]).numpy()
    array([1.5, 0. ], dtype=float32)
    """
    x, y = coerce(x, y)
    wide = QUOTIENT.get(x.dtype)
    if wide is not None and x.dtype is y.dtype:
        x, y = moving.cast(x, dtype=wide), moving.cast(y, dtype=wide)
    return binary.divide_no_nan(x, y)


@export("math.multiply_no_nan")
def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The product `x * y`, and 0 where `y` is 0, even if `x` is infinite or NaN.

    >>> tf.math.multiply_no_nan([3.0, float("nan")], [2.0, 0.0]).numpy()
    array([6., 0.], dtype=float32)
    """
    x = convert_to_tensor(x)
    return binary.multiply_no_nan(x, convert_to_tensor(y, dtype=x.dtype))


@export("math.reciprocal_no_nan")
def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """The reciprocal `1 / x`, and 0 where `x` is 0.

    >>> tf.math.reciprocal_no_nan([2.0, 0.0]).numpy()
    array([0.5, 0. ], dtype=float32)
    """
    x = convert_to_tensor(x)
    return binary.divide_no_nan(moving.ones_like(x), x)


@export("pow", "math.pow")
def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The power `x ** y`.

    >>> tf.math.pow([2, 3], 3).numpy()
    array([ 8, 27], dtype=int32)
    """
    return binary.power(x, y)


@export("maximum", "math.maximum")
def maximum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The greater of two. Where they are equal the gradient goes to `x`.

    >>> tf.math.maximum([1.0, 5.0], 3.0).numpy()
    array([3., 5.], dtype=float32)
    """
    return binary.maximum(x, y)


@export("minimum", "math.minimum")
def minimum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The lesser of two. Where they are equal the gradient goes to `x`.

    >>> tf.math.minimum([1.0, 5.0], 3.0).numpy()
    array([1., 3.], dtype=float32)
    """
    return binary.minimum(x, y)


@export("math.squared_difference")
def squared_difference(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The square of `x - y`.

    >>> tf.math.squared_difference([1.0, 5.0], 3.0).numpy()
    array([4., 4.], dtype=float32)
    """
    return binary.squared_difference(x, y)


@export("math.xlogy")
def xlogy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The product `x * log(y)`, and 0 where `x` is.

    >>> tf.math.xlogy([0.0, 2.0], [0.0, 1.0]).numpy()
    array([0., 0.], dtype=float32)
    """
    return binary.xlogy(x, y)


@export("math.xlog1py")
def xlog1py(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The product `x * log(1 + y)`, and 0 where `x` is.

    >>> tf.math.xlog1py([0.0, 2.0], [-1.0, 0.0]).numpy()
    array([0., 0.], dtype=float32)
    """
    return binary.xlog1py(x, y)


@export("math.xdivy")
def xdivy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The quotient `x / y`, and 0 where `x` is.

    >>> tf.math.xdivy([0.0, 2.0], [0.0, 4.0]).numpy()
    array([0. , 0.5], dtype=float32)
    """
    return binary.xdivy(x, y)


@export("negative", "math.negative")
def negative(x: Any, name: str | None = None) -> Tensor:
    """The negative, `-x`.

    >>> tf.math.negative([1, -2]).numpy()
    array([-1,  2], dtype=int32)
    """
    return unary.negative(x)


@export("abs", "math.abs")
def abs(x: Any, name: str | None = None) -> Tensor:
    """The absolute value; of complex numbers, the modulus as a real number.

    >>> tf.math.abs([-1.5, 2.0]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    return unary.abs_(x)


@export("sign", "math.sign")
def sign(x: Any, name: str | None = None) -> Tensor:
    """The sign: -1, 0 or 1; for complex numbers `x / |x|`.

    >>> tf.math.sign([-3, 0, 5]).numpy()
    array([-1,  0,  1], dtype=int32)
    """
    return unary.sign(x)


@export("square", "math.square")
def square(x: Any, name: str | None = None) -> Tensor:
    """The square `x * x`.

    >>> tf.math.square([-3, 4]).numpy()
    array([ 9, 16], dtype=int32)
    """
    return unary.square(x)


@export("sqrt", "math.sqrt")
def sqrt(x: Any, name: str | None = None) -> Tensor:
    """The square root; NaN for negative numbers. The gradient at zero is infinite.

    >>> tf.math.sqrt([4.0, 9.0]).numpy()
    array([2., 3.], dtype=float32)
    """
    return unary.sqrt(x)


@export("math.rsqrt")
def rsqrt(x: Any, name: str | None = None) -> Tensor:
    """The reciprocal of the square root.

    >>> tf.math.rsqrt([4.0, 16.0]).numpy()
    array([0.5 , 0.25], dtype=float32)
    """
    return unary.rsqrt(x)


@export("math.reciprocal")
def reciprocal(x: Any, name: str | None = None) -> Tensor:
    """The reciprocal `1 / x`.

    >>> tf.math.reciprocal([4.0, -2.0]).numpy()
    array([ 0.25, -0.5 ], dtype=float32)
    """
    return unary.reciprocal(x)


@export("floor", "math.floor")
def floor(x: Any, name: str | None = None) -> Tensor:
    """The largest whole number that is not greater. There is no gradient.

    >>> tf.math.floor([1.7, -1.2]).numpy()
    array([ 1., -2.], dtype=float32)
    """
    return unary.floor(x)


@export("math.ceil")
def ceil(x: Any, name: str | None = None) -> Tensor:
    """The smallest whole number that is not less. There is no gradient.

    >>> tf.math.ceil([1.2, -1.7]).numpy()
    array([ 2., -1.], dtype=float32)
    """
    return unary.ceil(x)


@export("round", "math.round")
def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole number, and the even one of two. There is no gradient.

    >>> tf.math.round([0.5, 1.5, 2.6]).numpy()
    array([0., 2., 3.], dtype=float32)
    """
    return unary.round_(x)


@export("math.rint")
def rint(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole number, and the even one of two. There is no gradient.

    >>> tf.math.rint([0.5, 1.5, 2.6]).numpy()
    array([0., 2., 3.], dtype=float32)
    """
    return unary.rint(x)


@export("add_n", "math.add_n")
def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of a list of tensors of one shape and dtype, without the intermediate sums.

    >>> tf.math.add_n([tf.constant([1, 2]), tf.constant([3, 4]), tf.constant([5, 6])]).numpy()
    array([ 9, 12], dtype=int32)
    """
    tensors = [convert_to_tensor(x) for x in inputs]
    if not tensors:
        raise ValueError(
            "add_n: inputs must be an iterable of at least one tensor or IndexedSlices with "
            "the same dtype and shape."
        )
    return binary.add_n(*tensors)


@export("scalar_mul", "math.scalar_mul")
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a tensor or `tf.IndexedSlices`.

    >>> tf.math.scalar_mul(2.0, tf.constant([1.0, 2.0])).numpy()
    array([2., 4.], dtype=float32)
    """
    if isinstance(x, IndexedSlices):
        return IndexedSlices(scalar_mul(scalar, x.values), x.indices, x.dense_shape)
    x = convert_to_tensor(x)
    scalar = convert_to_tensor(scalar, dtype=x.dtype)
    if scalar.ndim:
        raise ValueError(
            f"scalar_mul: the input scalar must be a 0-D value. Received shape {scalar.shape}."
        )
    return binary.multiply(scalar, x)


# Complex numbers.


@export("complex", "dtypes.complex")
def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """A complex tensor from its real and imaginary parts: both float32, or both float64.

    >>> tf.complex([1.0, 2.0], [3.0, -4.0]).numpy()
    array([1.+3.j, 2.-4.j], dtype=complex64)
    """
    a, b = convert_to_tensor(real), convert_to_tensor(imag)
    if a.dtype is not b.dtype or a.dtype not in (dtypes.float32, dtypes.float64):
        raise DTypeError(
            None,
            None,
            f"complex: real and imag must be both float32 or both float64, got {a.dtype.name} "
            f"and {b.dtype.name}. "
            "Use tf.cast to change the dtype.",
        )
    return unary.make_complex(a, b)


@export("math.real")
def real(input: Any, name: str | None = None) -> Tensor:
    """The real part. A real tensor is returned as it is.

    >>> tf.math.real([1 + 2j]).numpy()
    array([1.])
    """
    x = _numeric("real", input)
    return unary.real(x) if x.dtype.is_complex else x


@export("math.imag")
def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part, 0 for a real tensor.

    >>> tf.math.imag([1 + 2j]).numpy()
    array([2.])
    """
    x = _numeric("imag", input)
    return unary.imag(x) if x.dtype.is_complex else moving.zeros_like(x)


@export("math.conj")
def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate. A real tensor is returned as it is.

    >>> tf.math.conj([1 + 2j]).numpy()
    array([1.-2.j])
    """
    return conjugated(_numeric("conj", x))


@export("math.angle")
def angle(input: Any, name: str | None = None) -> Tensor:
    """The angle of a complex number in the plane.

    That of a real one is 0 or pi, and has no gradient.

    >>> tf.math.angle([1 + 1j, -1 + 0j]).numpy()
    array([0.78539816, 3.14159265])
    """
    x = convert_to_tensor(input)
    return unary.angle(x) if x.dtype.is_complex else unary.angle_of_real(x)


def _numeric(op: str, value: Any) -> Tensor:
    x = convert_to_tensor(value)
    check_dtype(op, "input", ArraySpec(x._array.shape, x.dtype), NUMERIC)
    return x


export_value("mod", "math.mod")
