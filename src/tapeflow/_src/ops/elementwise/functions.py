"""Functions of one number: exponentials, trigonometry, sigmoids, error and gamma functions.

Arithmetic is in `arithmetic`, comparison in `logic`. Each takes a tensor or what can be converted
to one, works on each element, keeps the dtype and has a gradient. `name` is accepted for
compatibility.
"""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.special import gamma, integrals


@export("exp", "math.exp")
def exp(x: Any, name: str | None = None) -> Tensor:
    """The exponential: e to the power `x`.

    >>> tf.math.exp(0.0).numpy()
    np.float32(1.0)
    """
    return unary.exp(x)


@export("math.expm1")
def expm1(x: Any, name: str | None = None) -> Tensor:
    """exp(x) - 1, precise for small `x`.

    >>> tf.math.expm1(0.0).numpy()
    np.float32(0.0)
    """
    return unary.expm1(x)


@export("math.log")
def log(x: Any, name: str | None = None) -> Tensor:
    """The natural logarithm: -inf at zero, NaN for negative numbers.

    >>> tf.math.log(1.0).numpy()
    np.float32(0.0)
    """
    return unary.log(x)


@export("math.log1p")
def log1p(x: Any, name: str | None = None) -> Tensor:
    """log(1 + x), precise for small `x`.

    >>> tf.math.log1p(0.0).numpy()
    np.float32(0.0)
    """
    return unary.log1p(x)


@export("sin", "math.sin")
def sin(x: Any, name: str | None = None) -> Tensor:
    """The sine of an angle in radians.

    >>> tf.math.sin(0.0).numpy()
    np.float32(0.0)
    """
    return unary.sin(x)


@export("cos", "math.cos")
def cos(x: Any, name: str | None = None) -> Tensor:
    """The cosine of an angle in radians.

    >>> tf.math.cos(0.0).numpy()
    np.float32(1.0)
    """
    return unary.cos(x)


@export("tan", "math.tan")
def tan(x: Any, name: str | None = None) -> Tensor:
    """The tangent of an angle in radians.

    >>> tf.math.tan(0.0).numpy()
    np.float32(0.0)
    """
    return unary.tan(x)


@export("asin", "math.asin")
def asin(x: Any, name: str | None = None) -> Tensor:
    """The inverse sine; NaN outside [-1, 1].

    >>> tf.math.asin(0.0).numpy()
    np.float32(0.0)
    """
    return unary.asin(x)


@export("acos", "math.acos")
def acos(x: Any, name: str | None = None) -> Tensor:
    """The inverse cosine; NaN outside [-1, 1].

    >>> tf.math.acos(1.0).numpy()
    np.float32(0.0)
    """
    return unary.acos(x)


@export("atan", "math.atan")
def atan(x: Any, name: str | None = None) -> Tensor:
    """The inverse tangent.

    >>> tf.math.atan(0.0).numpy()
    np.float32(0.0)
    """
    return unary.atan(x)


@export("sinh", "math.sinh")
def sinh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic sine.

    >>> tf.math.sinh(0.0).numpy()
    np.float32(0.0)
    """
    return unary.sinh(x)


@export("cosh", "math.cosh")
def cosh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic cosine.

    >>> tf.math.cosh(0.0).numpy()
    np.float32(1.0)
    """
    return unary.cosh(x)


@export("tanh", "math.tanh", "nn.tanh")
def tanh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent. Its gradient is computed from the result.

    >>> tf.math.tanh(0.0).numpy()
    np.float32(0.0)
    """
    return unary.tanh(x)


@export("asinh", "math.asinh")
def asinh(x: Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic sine.

    >>> tf.math.asinh(0.0).numpy()
    np.float32(0.0)
    """
    return unary.asinh(x)


@export("acosh", "math.acosh")
def acosh(x: Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic cosine; NaN below 1.

    >>> tf.math.acosh(1.0).numpy()
    np.float32(0.0)
    """
    return unary.acosh(x)


@export("atanh", "math.atanh")
def atanh(x: Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic tangent: infinite at -1 and 1, NaN beyond.

    >>> tf.math.atanh(0.0).numpy()
    np.float32(0.0)
    """
    return unary.atanh(x)


@export("atan2", "math.atan2")
def atan2(y: Any, x: Any, name: str | None = None) -> Tensor:
    """The angle of the point (`x`, `y`) seen from the origin, in (-pi, pi].

    >>> tf.math.atan2([1.0, 0.0], [0.0, -1.0]).numpy().round(4)
    array([1.5708, 3.1416], dtype=float32)
    """
    return binary.atan2(y, x)


@export("sigmoid", "math.sigmoid", "nn.sigmoid")
def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """The logistic function, 1 / (1 + exp(-x)).

    >>> tf.math.sigmoid(0.0).numpy()
    np.float32(0.5)
    """
    return unary.sigmoid(x)


@export("math.log_sigmoid")
def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of `sigmoid(x)`, computed so that it does not underflow.

    >>> tf.math.log_sigmoid([-100.0, 0.0]).numpy().round(4)
    array([-100.    ,   -0.6931], dtype=float32)
    """
    return unary.negative(unary.softplus(unary.negative(x)))


@export("math.softplus", "nn.softplus")
def softplus(features: Any, name: str | None = None) -> Tensor:
    """log(1 + exp(features)), a smooth ramp. It does not overflow.

    >>> tf.math.softplus([0.0, 100.0]).numpy().round(4)
    array([  0.6931, 100.    ], dtype=float32)
    """
    return unary.softplus(features)


@export("math.softsign", "nn.softsign")
def softsign(features: Any, name: str | None = None) -> Tensor:
    """The quotient `features / (1 + |features|)`, a sigmoid with long tails.

    >>> tf.math.softsign([-1.0, 0.0, 3.0]).numpy()
    array([-0.5 ,  0.  ,  0.75], dtype=float32)
    """
    return unary.softsign(features)


@export("math.erf")
def erf(x: Any, name: str | None = None) -> Tensor:
    """The error function, twice the area under a Gaussian from 0 to `x`.

    >>> tf.math.erf(0.0).numpy()
    np.float32(0.0)
    """
    return gamma.erf(x)


@export("math.erfc")
def erfc(x: Any, name: str | None = None) -> Tensor:
    """The complement `1 - erf(x)`, precise where that is tiny.

    >>> tf.math.erfc(0.0).numpy()
    np.float32(1.0)
    """
    return gamma.erfc(x)


@export("math.erfinv")
def erfinv(x: Any, name: str | None = None) -> Tensor:
    """The inverse of the error function.

    >>> tf.math.erfinv(0.0).numpy()
    np.float32(0.0)
    """
    return gamma.erfinv(x)


@export("math.lgamma")
def lgamma(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function.

    >>> tf.math.lgamma(1.0).numpy()
    np.float32(0.0)
    """
    return gamma.lgamma(x)


@export("math.digamma")
def digamma(x: Any, name: str | None = None) -> Tensor:
    """The derivative of `lgamma`.

    >>> tf.math.digamma(1.0).numpy().round(4)
    np.float32(-0.5772)
    """
    return gamma.digamma(x)


@export("math.ndtri")
def ndtri(x: Any, name: str | None = None) -> Tensor:
    """The quantile function of the normal distribution.

    >>> tf.math.ndtri(0.5).numpy()
    np.float32(0.0)
    """
    # By erfcinv and not by erfinv of 2x - 1, which forgets a small x. Subtracted from 0, not to give -0.0 at a half.
    return 0.0 - integrals.erfcinv(convert_to_tensor(x) * 2) * 1.4142135623730951
