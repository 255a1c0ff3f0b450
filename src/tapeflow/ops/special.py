"""Special functions beyond `erf` and `lgamma`: zeta, incomplete gamma and beta, Bessel, integrals."""

from __future__ import annotations

from typing import Any

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.tensor import Tensor
from tapeflow.primitives import bessel, incomplete, reduction, special, special_functions
from tapeflow.primitives.elementwise import coerce
from tapeflow.primitives.rules import invalid

# The gamma function and its relatives.


def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The derivative number `a` of `digamma`, at `x`. It has a gradient with respect to `x`.

    >>> tf.math.polygamma(1.0, 1.0).numpy().round(4)
    np.float32(1.6449)
    """
    return special_functions.polygamma_n(a, x)


def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """The zeta function of Hurwitz, the sum of (q + k) ** -x over k = 0, 1, 2, ...

    >>> tf.math.zeta(2.0, 1.0).numpy().round(4)
    np.float32(1.6449)

    Args:
      x: the exponent: infinite at 1, NaN below. It has no gradient, as in TensorFlow.
      q: where the sum begins.
      name: accepted for compatibility.
    """
    return special_functions.zeta(x, q)


def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The lower incomplete gamma function P(a, x), from 0 to 1: a gamma distribution below `x`.

    >>> tf.math.igamma(1.0, 2.0).numpy().round(4)
    np.float32(0.8647)

    It has gradients of every order with respect to both arguments.
    """
    return incomplete.igamma(*coerce(a, x), n=0)


def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The upper incomplete gamma function, `1 - igamma(a, x)`, precise where that is tiny.

    >>> tf.math.igammac(1.0, 2.0).numpy().round(4)
    np.float32(0.1353)
    """
    return incomplete.igammac(*coerce(a, x), n=0)


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The incomplete beta function, from 0 to 1: how much of a beta distribution is below `x`.

    >>> tf.math.betainc(2.0, 3.0, 0.5).numpy()
    np.float32(0.6875)

    Args:
      a: the first parameter, of the shape of the others, or a scalar. It has no gradient.
      b: the second parameter. It has no gradient.
      x: from 0 to 1.
      name: accepted for compatibility.
    """
    tensors = [v for v in (x, a, b) if isinstance(v, Tensor)]
    a, _ = coerce(a, tensors[0] if tensors else x)
    a, b = coerce(a, b)
    a, x = coerce(a, x)
    shapes = [v._array.shape for v in (a, b, x)]
    several = [shape for shape in shapes if shape]
    if any(shape != several[0] for shape in several):
        texts = ", ".join(str(list(shape)) for shape in shapes)
        raise invalid(f"betainc: a, b and x must have one shape, or be scalars; got {texts}")
    return incomplete.betainc(a, b, x)


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the beta function of the numbers in the last dimension.

    >>> tf.math.lbeta([1.0, 1.0, 1.0]).numpy().round(4)
    np.float32(-0.6931)
    """
    x = convert_to_tensor(x)
    last = (x._array.ndim - 1,)
    total = reduction.sum_(x, axis=last, keepdims=False)
    return reduction.sum_(special.lgamma(x), axis=last, keepdims=False) - special.lgamma(total)


def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """The inverse of `erfc`, precise for tiny `x`; NaN outside of [0, 2].

    >>> tf.math.erfcinv([1e-10, 1.5]).numpy().round(4)
    array([ 4.5728, -0.4769], dtype=float32)
    """
    return special_functions.erfcinv(x)


# Bessel functions.


def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0. It grows like `exp(|x|)`.

    >>> tf.math.bessel_i0(1.0).numpy().round(4)
    np.float32(1.2661)
    """
    return bessel.bessel_i0(x)


def bessel_i0e(x: Any, name: str | None = None) -> Tensor:
    """The scaled `exp(-|x|) * bessel_i0(x)`, which does not overflow.

    >>> tf.math.bessel_i0e(1.0).numpy().round(4)
    np.float32(0.4658)
    """
    return bessel.bessel_i0e(x)


def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1.

    >>> tf.math.bessel_i1(1.0).numpy().round(4)
    np.float32(0.5652)
    """
    return bessel.bessel_i1(x)


def bessel_i1e(x: Any, name: str | None = None) -> Tensor:
    """The scaled `exp(-|x|) * bessel_i1(x)`, which does not overflow.

    >>> tf.math.bessel_i1e(1.0).numpy().round(4)
    np.float32(0.2079)
    """
    return bessel.bessel_i1e(x)


def bessel_j0(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 0.

    >>> tf.math.special.bessel_j0(1.0).numpy().round(4)
    np.float32(0.7652)
    """
    return bessel.bessel_j0(x)


def bessel_j1(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 1.

    >>> tf.math.special.bessel_j1(1.0).numpy().round(4)
    np.float32(0.4401)
    """
    return bessel.bessel_j1(x)


def bessel_k0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 0; infinite up to 0.

    >>> tf.math.special.bessel_k0(1.0).numpy().round(4)
    np.float32(0.421)
    """
    return bessel.bessel_k0(x)


def bessel_k0e(x: Any, name: str | None = None) -> Tensor:
    """The scaled `exp(x) * bessel_k0(x)`, which does not underflow.

    >>> tf.math.special.bessel_k0e(1.0).numpy().round(4)
    np.float32(1.1445)
    """
    return bessel.bessel_k0e(x)


def bessel_k1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 1; infinite up to 0.

    >>> tf.math.special.bessel_k1(1.0).numpy().round(4)
    np.float32(0.6019)
    """
    return bessel.bessel_k1(x)


def bessel_k1e(x: Any, name: str | None = None) -> Tensor:
    """The scaled `exp(x) * bessel_k1(x)`, which does not underflow.

    >>> tf.math.special.bessel_k1e(1.0).numpy().round(4)
    np.float32(1.6362)
    """
    return bessel.bessel_k1e(x)


def bessel_y0(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 0; minus infinity up to 0.

    >>> tf.math.special.bessel_y0(1.0).numpy().round(4)
    np.float32(0.0883)
    """
    return bessel.bessel_y0(x)


def bessel_y1(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 1; minus infinity up to 0.

    >>> tf.math.special.bessel_y1(1.0).numpy().round(4)
    np.float32(-0.7812)
    """
    return bessel.bessel_y1(x)


# Integrals.


def dawsn(x: Any, name: str | None = None) -> Tensor:
    """Dawson's integral: `exp(-x ** 2)` times the integral of `exp(t ** 2)` from 0 to `x`.

    >>> tf.math.special.dawsn(1.0).numpy().round(4)
    np.float32(0.5381)
    """
    return special_functions.dawsn(x)


def expint(x: Any, name: str | None = None) -> Tensor:
    """The exponential integral Ei, of `exp(t) / t` up to `x`; NaN for negative `x`.

    >>> tf.math.special.expint(1.0).numpy().round(4)
    np.float32(1.8951)
    """
    return special_functions.expint(x)


def fresnel_cos(x: Any, name: str | None = None) -> Tensor:
    """Fresnel's integral of `cos(pi / 2 * t ** 2)` from 0 to `x`.

    >>> tf.math.special.fresnel_cos(1.0).numpy().round(4)
    np.float32(0.7799)
    """
    return special_functions.fresnel_cos(x)


def fresnel_sin(x: Any, name: str | None = None) -> Tensor:
    """Fresnel's integral of `sin(pi / 2 * t ** 2)` from 0 to `x`.

    >>> tf.math.special.fresnel_sin(1.0).numpy().round(4)
    np.float32(0.4383)
    """
    return special_functions.fresnel_sin(x)


def spence(x: Any, name: str | None = None) -> Tensor:
    """The dilogarithm of `1 - x`: the integral of `log(t) / (1 - t)` from 1 to `x`.

    >>> tf.math.special.spence([0.0, 0.5]).numpy().round(4)
    array([1.6449, 0.5822], dtype=float32)
    """
    return special_functions.spence(x)
