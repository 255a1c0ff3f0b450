"""Special functions to the digits of a float32: shorter formulas than those for doubles, over all of an array at once.

Quotients of polynomials are fitted for the least relative error, which is below that of rounding, and most of them are
computed in float32. The gamma function's relatives have zeros, near which they need doubles, but few terms.
"""

from __future__ import annotations

import math

import numpy as np

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)
"""B(2k) for k = 1, 2, ..."""


def ratio(z: np.ndarray, top: tuple[float, ...], bottom: tuple[float, ...]) -> np.ndarray:
    """A quotient of polynomials, highest power first."""
    return polynomial(z, top) / polynomial(z, bottom)


def polynomial(z: np.ndarray, coefficients: tuple[float, ...]) -> np.ndarray:
    """Horner's rule, highest power first."""
    total = z * z.dtype.type(coefficients[0])
    for c in coefficients[1:-1]:
        total += z.dtype.type(c)
        total *= z
    return total + z.dtype.type(coefficients[-1])


# erfc without its factor exp(-x^2), which doubles have all digits of where x is a float32.

_ERFC = (
    (3.255389379e-02, 2.281481114e-01, 7.294471515e-01, 1.236449892e00, 1.0),
    (
        5.769955954e-02,
        4.044089345e-01,
        1.321323085e00,
        2.397863784e00,
        2.364829450e00,
        1.0,
    ),
)
_ERFC_END = 10.1  # smaller than any float32 from here on


def erfc(x: np.ndarray) -> np.ndarray:
    """The complement of erf, of doubles to the digits of a float32."""
    size = np.minimum(np.abs(x), _ERFC_END)
    tail = np.exp(-size * size) * ratio(size, *_ERFC)
    return np.where(x < 0, 2 - tail, tail)


# The inverse of erf, divided by its argument x, is a smooth function of w = -log(1 - x^2). Only erfcinv of tiny numbers
# gets to a large w, where it is one of the square root.

_ERFINV = (
    (
        2.355985455e-05,
        6.486529657e-04,
        7.829771419e-03,
        6.004445492e-02,
        3.082463435e-01,
        8.862269448e-01,
    ),
    (
        1.233931504e-06,
        1.767626183e-04,
        1.923365177e-03,
        3.219835803e-02,
        8.601995800e-02,
        1.000000000e00,
    ),
)
_ERFINV_FAR = (
    (-9.620182904e-01, -2.631398995e00, 2.209080125e00, -1.263556718e00),
    (-9.616209314e-01, -2.660300100e00, 1.000000000e00),
)
_FAR = np.float32(16.5)


def _inverse(x: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """`x` times that function, where `inside` is 1 - x^2."""
    w = -np.log(inside)
    near = x * ratio(np.minimum(w, _FAR), *_ERFINV)
    if not (far := w > _FAR).any():
        return near
    near[far] = x[far] * ratio(np.sqrt(w[far]), *_ERFINV_FAR)
    # Outside of the domain the logarithm is NaN; at its ends the quotient is that of two infinities.
    return np.where(inside == 0, np.copysign(np.float32(np.inf), x), near)


def erfinv(x: np.ndarray) -> np.ndarray:
    """The inverse of erf, for float32."""
    one = np.float32(1)
    return _inverse(x, (one - x) * (one + x))


def erfcinv(y: np.ndarray) -> np.ndarray:
    """The inverse of erfc, for float32."""
    return _inverse(np.float32(1) - y, y * (np.float32(2) - y))


# Modified Bessel functions of the first kind with the factor exp(-x): as they are (order 1: divided by x) up to 8, and
# in 1 / x, without the square root of x, from there on.

_I0 = (
    (1.249421464e-04, 6.757020773e-03, 1.718960964e-02, 2.115335838e-01, 9.269196835e-02, 1.0),
    (
        3.790912621e-03,
        3.263392533e-02,
        1.685412473e-01,
        5.542376452e-01,
        1.092690411e00,
        1.0,
    ),
)
_I1 = (
    (
        -2.237051927e-08,
        1.374369172e-05,
        8.415823430e-04,
        3.297234383e-03,
        4.634257494e-02,
        4.364472580e-02,
        4.999999994e-01,
    ),
    (
        4.295661870e-04,
        5.035127127e-03,
        3.626836478e-02,
        1.736740858e-01,
        5.549758226e-01,
        1.087289353e00,
        1.000000000e00,
    ),
)
_I0_FAR = (
    3.879670127e-01,
    -1.385061541e-02,
    3.378510206e-02,
    2.789880358e-02,
    4.986958596e-02,
    3.989422770e-01,
)
_I1_FAR = (
    -4.523715700e-01,
    9.696706812e-03,
    -4.615607742e-02,
    -4.657577991e-02,
    -1.496054473e-01,
    3.989422844e-01,
)
_I_END = np.float32(8)


def bessel_i0e(x: np.ndarray) -> np.ndarray:
    """The modified Bessel function of order 0 times exp(-|x|), for float32."""
    size = np.abs(x)
    found = ratio(np.minimum(size, _I_END), *_I0)
    return _with_far(found, size, _I0_FAR)


def bessel_i1e(x: np.ndarray) -> np.ndarray:
    """That of order 1, for float32."""
    size = np.abs(x)
    near = np.minimum(size, _I_END)
    found = near * ratio(near, *_I1)
    return np.copysign(_with_far(found, size, _I1_FAR), x)


def _with_far(found: np.ndarray, size: np.ndarray, coefficients: tuple[float, ...]) -> np.ndarray:
    if (far := size > _I_END).any():
        z = 1 / size[far]
        found[far] = polynomial(z, coefficients) * np.sqrt(z)
    return found


# The logarithm of the gamma function, and its derivative: Stirling's series after a few steps to the right, which are
# one product. So there is one formula for all positive numbers.

_STEPS = 7
_PRODUCT = tuple(np.poly(-np.arange(_STEPS)).tolist())  # x (x + 1) ... (x + 6)
_SLOPE = tuple(np.polyder(_PRODUCT).tolist())
_LGAMMA = tuple([b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI, 1)][::-1])
_DIGAMMA = tuple([b / (2 * k) for k, b in enumerate(BERNOULLI, 1)][::-1])


def lgamma_of_positive(x: np.ndarray) -> np.ndarray:
    """The logarithm of the gamma function of doubles, good to an absolute 1e-14 while that is small."""
    z = x + _STEPS
    series = polynomial(1 / (z * z), _LGAMMA) / z
    found = (z - 0.5) * np.log(z) - z + (0.5 * math.log(2 * math.pi) + series)
    found -= np.log(polynomial(x, _PRODUCT))
    found[(x == 1) | (x == 2)] = 0
    return found


def digamma_of_positive(x: np.ndarray) -> np.ndarray:
    """Its derivative, as precise."""
    z = x + _STEPS
    inverse = 1 / (z * z)
    near = np.minimum(x, 1e20)  # its powers are finite
    steps = polynomial(near, _SLOPE) / polynomial(near, _PRODUCT)
    return np.log(z) - 0.5 / z - inverse * polynomial(inverse, _DIGAMMA) - steps
