"""Special functions beyond `erf` and `lgamma`: zeta, incomplete gamma and beta, Bessel, integrals."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.rules import invalid
from tapeflow._src.primitives.special import bessel, gamma, incomplete, integrals

# The gamma function and its relatives.


@export("math.polygamma")
def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The derivative number `a` of `digamma`, at `x`. It has a gradient with respect to `x`.

    >>> tf.math.polygamma(1.0, 1.0).numpy().round(4)
    np.float32(1.6449)
    """
    return integrals.polygamma_n(a, x)


@export("math.zeta")
def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """The zeta function of Hurwitz, the sum of (q + k) ** -x over k = 0, 1, 2, ...

    >>> tf.math.zeta(2.0, 1.0).numpy().round(4)
    np.float32(1.6449)

    Args:
      x: the exponent: infinite at 1, NaN below. It has no gradient, as in TensorFlow.
      q: where the sum begins.
      name: accepted for compatibility.
    """
    return integrals.zeta(x, q)


@export("math.igamma")
def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The lower incomplete gamma function P(a, x), from 0 to 1: a gamma distribution below `x`.

    >>> tf.math.igamma(1.0, 2.0).numpy().round(4)
    np.float32(0.8647)

    It has gradients of every order with respect to both arguments.
    """
    return incomplete.igamma(*coerce(a, x), n=0)


@export("math.igammac")
def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The upper incomplete gamma function, `1 - igamma(a, x)`, precise where that is tiny.

    >>> tf.math.igammac(1.0, 2.0).numpy().round(4)
    np.float32(0.1353)
    """
    return incomplete.igammac(*coerce(a, x), n=0)


@export("math.betainc")
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


@export("math.lbeta")
def lbeta(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the beta function of the numbers in the last dimension.

    >>> tf.math.lbeta([1.0, 1.0, 1.0]).numpy().round(4)
    np.float32(-0.6931)
    """
    x = convert_to_tensor(x)
    last = (x._array.ndim - 1,)
    total = reducing.sum_(x, axis=last, keepdims=False)
    return reducing.sum_(gamma.lgamma(x), axis=last, keepdims=False) - gamma.lgamma(total)


@export("math.erfcinv")
def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """The inverse of `erfc`, precise for tiny `x`; NaN outside of [0, 2].

    >>> tf.math.erfcinv([1e-10, 1.5]).numpy().round(4)
    array([ 4.5728, -0.4769], dtype=float32)
    """
    return integrals.erfcinv(x)


# Bessel functions.


@export("math.bessel_i0", "math.special.bessel_i0")
def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0. It grows like `exp(|x|)`.

    >>> tf.math.bessel_i0(1.0).numpy().round(4)
    np.float32(1.2661)
    """
    return bessel.bessel_i0(x)


@export("math.bessel_i0e", "math.special.bessel_i0e")
def bessel_i0e(x: Any, name: str | None = None) -> Tensor:
    """The scaled `exp(-|x|) * bessel_i0(x)`, which does not overflow.

    >>> tf.math.bessel_i0e(1.0).numpy().round(4)
    np.float32(0.4658)
    """
    return bessel.bessel_i0e(x)


@export("math.bessel_i1", "math.special.bessel_i1")
def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 1.

    >>> tf.math.bessel_i1(1.0).numpy().round(4)
    np.float32(0.5652)
    """
    return bessel.bessel_i1(x)


@export("math.bessel_i1e", "math.special.bessel_i1e")
def bessel_i1e(x: Any, name: str | None = None) -> Tensor:
    """The scaled `exp(-|x|) * bessel_i1(x)`, which does not overflow.

    >>> tf.math.bessel_i1e(1.0).numpy().round(4)
    np.float32(0.2079)
    """
    return bessel.bessel_i1e(x)


@export("math.special.bessel_j0")
def bessel_j0(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 0.

    >>> tf.math.special.bessel_j0(1.0).numpy().round(4)
    np.float32(0.7652)
    """
    return bessel.bessel_j0(x)


@export("math.special.bessel_j1")
def bessel_j1(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind, of order 1.

    >>> tf.math.special.bessel_j1(1.0).numpy().round(4)
    np.float32(0.4401)
    """
    return bessel.bessel_j1(x)


@export("math.special.bessel_k0")
def bessel_k0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 0; infinite up to 0.

    >>> tf.math.special.bessel_k0(1.0).numpy().round(4)
    np.float32(0.421)
    """
    return bessel.bessel_k0(x)


@export("math.special.bessel_k0e")
def bessel_k0e(x: Any, name: str | None = None) -> Tensor:
    """The scaled `exp(x) * bessel_k0(x)`, which does not underflow.

    >>> tf.math.special.bessel_k0e(1.0).numpy().round(4)
    np.float32(1.1445)
    """
    return bessel.bessel_k0e(x)


@export("math.special.bessel_k1")
def bessel_k1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind, of order 1; infinite up to 0.

    >>> tf.math.special.bessel_k1(1.0).numpy().round(4)
    np.float32(0.6019)
    """
    return bessel.bessel_k1(x)


@export("math.special.bessel_k1e")
def bessel_k1e(x: Any, name: str | None = None) -> Tensor:
    """The scaled `exp(x) * bessel_k1(x)`, which does not underflow.

    >>> tf.math.special.bessel_k1e(1.0).numpy().round(4)
    np.float32(1.6362)
    """
    return bessel.bessel_k1e(x)


@export("math.special.bessel_y0")
def bessel_y0(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 0; minus infinity up to 0.

    >>> tf.math.special.bessel_y0(1.0).numpy().round(4)
    np.float32(0.0883)
    """
    return bessel.bessel_y0(x)


@export("math.special.bessel_y1")
def bessel_y1(x: Any, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind, of order 1; minus infinity up to 0.

    >>> tf.math.special.bessel_y1(1.0).numpy().round(4)
    np.float32(-0.7812)
    """
    return bessel.bessel_y1(x)


# Integrals.


@export("math.special.dawsn")
def dawsn(x: Any, name: str | None = None) -> Tensor:
    """Dawson's integral: `exp(-x ** 2)` times the integral of `exp(t ** 2)` from 0 to `x`.

    >>> tf.math.special.dawsn(1.0).numpy().round(4)
    np.float32(0.5381)
    """
    return integrals.dawsn(x)


@export("math.special.expint")
def expint(x: Any, name: str | None = None) -> Tensor:
    """The exponential integral Ei, of `exp(t) / t` up to `x`; NaN for negative `x`.

    >>> tf.math.special.expint(1.0).numpy().round(4)
    np.float32(1.8951)
    """
    return integrals.expint(x)


@export("math.special.fresnel_cos")
def fresnel_cos(x: Any, name: str | None = None) -> Tensor:
    """Fresnel's integral of `cos(pi / 2 * t ** 2)` from 0 to `x`.

    >>> tf.math.special.fresnel_cos(1.0).numpy().round(4)
    np.float32(0.7799)
    """
    return integrals.fresnel_cos(x)


@export("math.special.fresnel_sin")
def fresnel_sin(x: Any, name: str | None = None) -> Tensor:
    """Fresnel's integral of `sin(pi / 2 * t ** 2)` from 0 to `x`.

    >>> tf.math.special.fresnel_sin(1.0).numpy().round(4)
    np.float32(0.4383)
    """
    return integrals.fresnel_sin(x)


@export("math.special.spence")
def spence(x: Any, name: str | None = None) -> Tensor:
    """The dilogarithm of `1 - x`: the integral of `log(t) / (1 - t)` from 1 to `x`.

    >>> tf.math.special.spence([0.0, 0.5]).numpy().round(4)
    array([1.6449, 0.5822], dtype=float32)
    """
    return integrals.spence(x)
