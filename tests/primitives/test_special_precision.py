"""Special functions of float32 and of half precision by formulas of their own: all digits, and the edges of doubles."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import scipy.special

import tapeflow as tf

RNG = np.random.default_rng(8)
ANYWHERE = np.concatenate(
    [4 * RNG.normal(size=20000), 1000 * RNG.random(20000), 10.0 ** RNG.uniform(-44, 38, 20000)]
)
POSITIVE = np.concatenate([np.abs(ANYWHERE), 1 + 6e-8 * np.arange(-300, 300)])
POSITIVE = np.concatenate([POSITIVE, 2 + 1.2e-7 * np.arange(-300, 300)])
INSIDE = np.concatenate(
    [RNG.random(20000), 10.0 ** RNG.uniform(-44, 0, 20000), 1 - 10.0 ** RNG.uniform(-7, 0, 20000)]
)
EDGES = [0.0, -0.0, 1.0, 2.0, -1.0, -2.0, np.inf, -np.inf, np.nan, -0.5, 0.5, 1.5, 1e-45, 3e38]

# The function, a reference in doubles, where, and how many units of the last digit it may be off.
FUNCTIONS = {
    "erfc": (tf.math.erfc, scipy.special.erfc, ANYWHERE, 1),
    "erfinv": (tf.math.erfinv, scipy.special.erfinv, np.concatenate([INSIDE, -INSIDE]), 8),
    "erfcinv": (tf.math.erfcinv, scipy.special.erfcinv, 2 * INSIDE, 8),
    "ndtri": (tf.math.ndtri, scipy.special.ndtri, INSIDE, 8),
    "bessel_i0e": (tf.math.bessel_i0e, scipy.special.i0e, ANYWHERE, 12),
    "bessel_i1e": (tf.math.bessel_i1e, scipy.special.i1e, ANYWHERE, 12),
    "lgamma": (tf.math.lgamma, scipy.special.gammaln, POSITIVE, 2),
    "digamma": (tf.math.digamma, scipy.special.psi, POSITIVE, 2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_has_its_digits(name):
    function, reference, x, units = FUNCTIONS[name]
    x = x.astype(np.float32)
    with np.errstate(over="ignore"):
        expected = reference(x.astype(np.float64))
        rounded = expected.astype(np.float32)
    found = function(x).numpy()
    assert found.dtype == np.float32
    finite = np.isfinite(rounded)
    digit = np.spacing(np.maximum(np.abs(rounded[finite]), np.float32(1e-38)))
    assert (np.abs(found[finite] - expected[finite]) <= units * digit).all()
    np.testing.assert_array_equal(found[~finite], rounded[~finite])


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_edges_are_those_of_doubles(name, dtype):
    function = FUNCTIONS[name][0]
    with np.errstate(over="ignore"):
        x = np.array(EDGES, np.float32).astype(dtype)
        expected = function(x.astype(np.float64)).numpy().astype(np.float32).astype(dtype)
    found = function(x).numpy()
    assert found.dtype == dtype
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(found, expected, rtol={2: 1e-2, 4: 2e-6}[np.dtype(dtype).itemsize])
    special = ~np.isfinite(expected) | (expected == 0) | (expected == 1)
    np.testing.assert_array_equal(found[special], expected[special])
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_shapes_and_many_elements(name):
    function = FUNCTIONS[name][0]
    x = RNG.random((700, 1000), np.float32)
    whole = function(x).numpy()
    np.testing.assert_allclose(whole[3], function(x[3]), rtol=1e-6)
    np.testing.assert_allclose(function(x[::-2, ::3]), whole[::-2, ::3], rtol=1e-6)
    np.testing.assert_allclose(function(x[0, 0]), whole[0, 0], rtol=1e-6)
    assert function(x[:0]).shape == [0, 1000]
