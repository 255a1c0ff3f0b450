"""Elementwise primitives of one input, each with its derivative."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.errors import DTypeError
from tapeflow._src.primitives.broadcasting import sum_to
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.elementwise.builders import conj, conjugate, unary
from tapeflow._src.primitives.rules import (
    BOOL,
    FLOAT,
    INT,
    NUMERIC,
    REAL,
    broadcast,
    check_dtype,
    invalid,
    predicate,
)
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.spread import spread, spread_function
from tapeflow._src.primitives.table import calls, primitive

# Arithmetic.


def _negative_result(x: ArraySpec) -> ArraySpec:
    check_dtype("negative", "x", x, NUMERIC)
    if x.dtype.is_unsigned:
        raise invalid(
            f"negative: {x.dtype.name} has no negative numbers. Use tf.cast to change the dtype."
        )
    return x


def refusing(kinds: str, kernel: Any) -> Any:
    """A kernel that fails for dtypes NumPy would take and TensorFlow does not."""
    kernel = spread_function(kernel)

    def checked(x: Any) -> Any:
        if x.dtype.kind in kinds:
            raise TypeError(f"no kernel for {x.dtype}")
        return kernel(x)

    return checked


def _sign_gradient(g: Any, x: Any) -> Any:
    """0 on the real line; a complex sign, x / |x|, still turns with its argument."""
    if not x.dtype.is_complex:
        return calls.zeros_like(g)
    y = sign(x)
    turned = g - conjugate(g) * y * y
    size = abs_(x) * 2
    return binary.divide_no_nan(turned, make_complex(size, calls.zeros_like(size)))


def _round_kernel(x: Any) -> Any:
    return x if x.dtype.kind in "iu" else np.rint(x)


negative = unary(
    "negative", refusing("u", operator.neg), gradient=lambda g: -g, result=_negative_result
)
square = unary("square", np.square, accepts=NUMERIC, derivative=lambda x: x * 2)
# Where the gradient is 0 it stays 0, at the root of 0 too; its own derivative by `g` does not.
sqrt = unary("sqrt", np.sqrt, gradient=lambda g, y: binary.multiply_no_nan(0.5 / conj(y), g))
rsqrt = unary(
    "rsqrt", lambda x: x.dtype.type(1) / np.sqrt(x), derivative=lambda y: y * y * y * -0.5
)
cbrt = unary(
    "cbrt", refusing("iubc", np.cbrt), accepts=FLOAT, derivative=lambda y: reciprocal(square(y) * 3)
)
reciprocal = unary("reciprocal", lambda x: x.dtype.type(1) / x, derivative=lambda y: -(y * y))
sign = unary("sign", np.sign, accepts=NUMERIC, gradient=_sign_gradient)
floor = unary("floor", refusing("iub", np.floor), accepts=FLOAT)
ceil = unary("ceil", refusing("iub", np.ceil), accepts=FLOAT)
rint = unary("rint", refusing("iubc", np.rint), accepts=FLOAT)
round_ = unary("round", refusing("bc", _round_kernel), accepts=REAL)
invert = unary("invert", refusing("b", np.invert), accepts=INT)
logical_not = unary("logical_not", refusing("O", np.logical_not), accepts=BOOL)

# Exponentials and logarithms.

exp = unary("exp", np.exp, derivative=lambda y: y)
expm1 = unary("expm1", np.expm1, derivative=lambda y: y + 1)
log = unary("log", np.log, derivative=lambda x: reciprocal(x))
log1p = unary("log1p", np.log1p, derivative=lambda x: reciprocal(x + 1))

# Trigonometric and hyperbolic functions.

sin = unary("sin", np.sin, derivative=lambda x: cos(x))
cos = unary("cos", np.cos, derivative=lambda x: -sin(x))
tan = unary("tan", np.tan, derivative=lambda y: y * y + 1)
asin = unary("asin", np.arcsin, derivative=lambda x: rsqrt(1 - x * x))
acos = unary("acos", np.arccos, derivative=lambda x: -rsqrt(1 - x * x))
atan = unary("atan", np.arctan, derivative=lambda x: reciprocal(x * x + 1))
sinh = unary("sinh", np.sinh, derivative=lambda x: cosh(x))
cosh = unary("cosh", np.cosh, derivative=lambda x: sinh(x))
tanh = unary("tanh", np.tanh, derivative=lambda y: 1 - y * y)
asinh = unary("asinh", np.arcsinh, derivative=lambda y: reciprocal(cosh(y)))
acosh = unary("acosh", np.arccosh, derivative=lambda y: reciprocal(sinh(y)))
atanh = unary("atanh", np.arctanh, derivative=lambda x: reciprocal(1 - x * x))

# Activations.


def by_single(kernel: Any) -> Any:
    """A kernel that computes half precision in float32: exponentials and powers overflow where the result does not."""

    @functools.wraps(kernel)
    def run(*arrays: Any) -> Any:
        dtype = arrays[0].dtype
        if dtype.itemsize != 2 or dtype.kind in "iu" or any(x.dtype != dtype for x in arrays):
            return kernel(*arrays)
        return kernel(*[x.astype(np.float32) for x in arrays]).astype(dtype)

    return spread(run)


@by_single
def _sigmoid_kernel(x: Any) -> Any:
    """1 / (1 + exp(-x)): where exp overflows to inf, the quotient is the 0 it should be."""
    one = x.dtype.type(1)
    return one / (one + np.exp(-x))


@spread
def _softplus_kernel(x: Any) -> Any:
    """log(1 + exp(x)), as max(x, 0) + log1p(exp(-|x|)) so that exp cannot overflow."""
    return np.maximum(x, x.dtype.type(0)) + np.log1p(np.exp(-np.abs(x)))


sigmoid = unary("sigmoid", _sigmoid_kernel, derivative=lambda y: y * (1 - y))
softplus = unary(
    "softplus", refusing("c", _softplus_kernel), accepts=FLOAT, derivative=lambda x: sigmoid(x)
)
softsign = unary(
    "softsign",
    refusing("c", lambda x: x / (x.dtype.type(1) + np.abs(x))),
    accepts=FLOAT,
    derivative=lambda x: reciprocal(square(abs_(x) + 1)),
)


def _relu_kernel(x: Any) -> Any:
    """NumPy finds the larger of two arrays up to three times faster than that of an array and a scalar."""
    if x.dtype.kind in "bc":
        raise TypeError(f"no kernel for {x.dtype}")
    zeros = x.shape if x.size <= 2**16 else x.shape[-1:]
    return np.maximum(x, np.zeros(zeros, x.dtype))


relu = unary(
    "relu",
    _relu_kernel,
    accepts=REAL,
    gradient=lambda g, y: binary.relu_gradient(g, y),
)

# Parts of complex numbers, whose result has another dtype.


def _real_dtype(op: str) -> Any:
    def rule(x: ArraySpec) -> ArraySpec:
        check_dtype(op, "x", x, NUMERIC)
        return ArraySpec(x.shape, x.dtype.real_dtype)

    return rule


def _abs_gradient(g: Any, x: Any) -> Any:
    if not x.dtype.is_complex:
        return g * sign(x)
    return make_complex(g, calls.zeros_like(g)) * sign(x)


abs_ = primitive(
    "abs",
    "x",
    refusing("b", np.abs),
    result=_real_dtype("abs"),
    gradients={"x": lambda g, x: _abs_gradient(g, x)},
)
real = primitive(
    "real",
    "x",
    refusing("bO", lambda x: np.real(x).copy() if x.ndim else x.real),
    result=_real_dtype("real"),
    gradients={
        "x": lambda g, x_dtype: make_complex(g, calls.zeros_like(g)) if x_dtype.is_complex else g
    },
)
imag = primitive(
    "imag",
    "x",
    refusing("bO", lambda x: np.imag(x).copy() if x.ndim else x.imag),
    result=_real_dtype("imag"),
    gradients={
        "x": lambda g, x_dtype: (
            make_complex(calls.zeros_like(g), g) if x_dtype.is_complex else calls.zeros_like(g)
        )
    },
)


def _complex_kernel(a: Any, b: Any) -> Any:
    if a.dtype != b.dtype or a.dtype.kind != "f" or a.dtype.itemsize < 4:
        raise TypeError(f"no kernel for {a.dtype} and {b.dtype}")
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), "c8" if a.dtype == np.float32 else "c16")
    out.real = a
    out.imag = b
    return out


def _complex_result(a: ArraySpec, b: ArraySpec) -> ArraySpec:
    shape = broadcast("complex", FLOAT)(a, b).shape
    if a.dtype not in (dtypes.float32, dtypes.float64):
        raise DTypeError(
            None, None, f"complex: takes float32 or float64 tensors, got {a} and {b}. Use tf.cast."
        )
    return ArraySpec(shape, dtypes.complex64 if a.dtype is dtypes.float32 else dtypes.complex128)


make_complex = primitive(
    "complex",
    "a b",
    _complex_kernel,
    result=_complex_result,
    gradients={
        "a": lambda g, a_shape: sum_to(real(g), a_shape),
        "b": lambda g, b_shape: sum_to(imag(g), b_shape),
    },
)

# The angle in the complex plane. On the real line it is a step, which has no gradient.

angle = primitive(
    "angle",
    "x",
    refusing("bO", np.angle),
    result=_real_dtype("angle"),
    gradients={"x": lambda g, x: make_complex(calls.zeros_like(g), g) / conjugate(x)},
)
angle_of_real = unary(
    "angle_of_real",
    refusing("iubc", lambda x: np.where(x < 0, x.dtype.type(np.pi), x.dtype.type(0))),
    accepts=FLOAT,
)

# Questions.

is_nan = primitive("is_nan", "x", refusing("iubc", np.isnan), result=predicate("is_nan", FLOAT))
is_inf = primitive("is_inf", "x", refusing("iubc", np.isinf), result=predicate("is_inf", FLOAT))
is_finite = primitive(
    "is_finite", "x", refusing("iubc", np.isfinite), result=predicate("is_finite", FLOAT)
)
