"""Special functions: how precise they are, over their whole range, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

RNG = np.random.default_rng(17)
SMALL_AND_LARGE = np.concatenate([10.0 ** RNG.uniform(-8, 2.7, 300), RNG.uniform(0, 40, 300)])
ON_BOTH_SIDES = np.concatenate([-SMALL_AND_LARGE, SMALL_AND_LARGE])

special = tf.math.special

PRECISE = {
    "bessel_i0e": (special.bessel_i0e, scipy.special.i0e, ON_BOTH_SIDES),
    "bessel_i1e": (special.bessel_i1e, scipy.special.i1e, ON_BOTH_SIDES),
    "bessel_k0e": (special.bessel_k0e, scipy.special.k0e, SMALL_AND_LARGE),
    "bessel_k1e": (special.bessel_k1e, scipy.special.k1e, SMALL_AND_LARGE),
    "dawsn": (special.dawsn, scipy.special.dawsn, ON_BOTH_SIDES),
    "expint": (special.expint, scipy.special.expi, SMALL_AND_LARGE),
    "fresnel_cos": (special.fresnel_cos, lambda x: scipy.special.fresnel(x)[1], ON_BOTH_SIDES),
    "fresnel_sin": (special.fresnel_sin, lambda x: scipy.special.fresnel(x)[0], ON_BOTH_SIDES),
    "spence": (special.spence, scipy.special.spence, SMALL_AND_LARGE),
    "erfcinv": (tf.math.erfcinv, scipy.special.erfcinv, 10.0 ** RNG.uniform(-290, 0.3, 300)),
}


@pytest.mark.parametrize("name", list(PRECISE))
def test_relative_error_is_below_1e_11(name: str) -> None:
    ours, reference, x = PRECISE[name]
    np.testing.assert_allclose(ours(x).numpy(), reference(x), rtol=1e-11)


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1"])
def test_waves_are_precise_but_for_their_zeros(name: str) -> None:
    x = SMALL_AND_LARGE
    expected = getattr(scipy.special, name)(x)
    found = getattr(special, f"bessel_{name}")(x).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_zeta_and_polygamma_are_precise() -> None:
    s, q = RNG.uniform(1.01, 60, 300), 10.0 ** RNG.uniform(-2, 3, 300)
    np.testing.assert_allclose(tf.math.zeta(s, q).numpy(), scipy.special.zeta(s, q), rtol=1e-12)
    n = RNG.integers(0, 12, 300).astype(float)
    expected = scipy.special.polygamma(n.astype(int), q)
    np.testing.assert_allclose(tf.math.polygamma(n, q).numpy(), expected, rtol=1e-11)


def test_poles_of_zeta_are_infinite_where_both_sides_are() -> None:
    found = tf.math.zeta([2.0, 4.0, 3.0, 2.5, 1.0, 2.5], [0.0, -3.0, 0.0, 0.0, 0.0, -np.inf])
    np.testing.assert_array_equal(found, [np.inf, np.inf, np.nan, np.nan, np.inf, np.nan])


def test_incomplete_gamma_is_precise() -> None:
    a = 10.0 ** RNG.uniform(-3, 4, 300)
    x = a * np.exp(RNG.uniform(-3, 1.5, 300) / np.sqrt(1 + a / 5))
    lower, upper = scipy.special.gammainc(a, x), scipy.special.gammaincc(a, x)
    np.testing.assert_allclose(tf.math.igamma(a, x).numpy(), lower, rtol=1e-11, atol=1e-250)
    np.testing.assert_allclose(tf.math.igammac(a, x).numpy(), upper, rtol=1e-11, atol=1e-250)


def test_incomplete_beta_is_precise() -> None:
    a, b = 10.0 ** RNG.uniform(-2, 3, (2, 300))
    x = RNG.beta(a, b)
    expected = scipy.special.betainc(a, b, x)
    np.testing.assert_allclose(tf.math.betainc(a, b, x).numpy(), expected, rtol=1e-10, atol=1e-250)


GRADIENTS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "igamma": (tf.math.igamma, ([0.7, 3.0, 12.0], [1.1, 2.0, 15.0])),
    "igammac broadcast": (tf.math.igammac, ([[0.7], [3.0]], [1.1, 2.0, 5.0])),
    "zeta": (lambda q: tf.math.zeta(tf.constant([2.0, 3.5], tf.float64), q), ([0.7, 3.0],)),
    "polygamma": (lambda x: tf.math.polygamma(tf.constant(1.0, tf.float64), x), ([0.7, 3.0],)),
    "betainc": (
        lambda x: tf.math.betainc(
            tf.constant([1.5, 3.0], tf.float64), tf.constant(2.5, tf.float64), x
        ),
        ([0.2, 0.7],),
    ),
    "lbeta": (tf.math.lbeta, ([[0.5, 1.5, 2.0], [3.0, 0.2, 1.0]],)),
    "erfcinv": (tf.math.erfcinv, ([0.2, 0.9, 1.7],)),
}


@pytest.mark.parametrize("name", list(GRADIENTS))
def test_gradients(name: str) -> None:
    f, inputs = GRADIENTS[name]
    check_gradients(f, *inputs)


@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k1e", "y0", "y1"])
def test_gradients_of_bessel_functions(name: str) -> None:
    check_gradients(getattr(special, f"bessel_{name}"), [0.4, 1.7, 3.2])


def test_the_third_derivative_of_igamma_by_a() -> None:
    a, x = tf.constant(2.3, tf.float64), tf.constant(3.1, tf.float64)

    def derivative(order: int) -> Any:
        if order == 0:
            return lambda a: tf.math.igamma(a, x)

        def f(a: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(a)
                y = derivative(order - 1)(a)
            return tape.gradient(y, a)

        return f

    h = 1e-4
    expected = (derivative(2)(a + h) - derivative(2)(a - h)) / (2 * h)
    np.testing.assert_allclose(derivative(3)(a).numpy(), expected.numpy(), rtol=1e-6)


def test_parameters_of_betainc_have_no_gradient() -> None:
    a = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = tf.math.betainc(a, 3.0, 0.5)
    assert tape.gradient(y, a) is None


def test_slopes_at_zero() -> None:
    x = tf.constant([0.0])
    for f in (special.bessel_i1, special.bessel_i1e, special.bessel_j1):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x).numpy().tolist() == [0.5]


def test_betainc_names_the_shapes() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"betainc: .* got \[2\], \[3\], \[\]"):
        tf.math.betainc([1.0, 2.0], [1.0, 2.0, 3.0], 0.5)
