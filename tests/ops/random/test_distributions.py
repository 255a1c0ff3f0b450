"""Distributions with parameters: shape by Kolmogorov's and the chi-squared test, derivatives by quantiles.

The seeds are fixed, so these tests give the same result at every run.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import tapeflow as tf

SEED = [2024, 7]


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 2.5, 30.0, 1000.0])
def test_gamma_has_its_distribution(alpha):
    x = tf.random.stateless_gamma([20000], SEED, alpha, dtype=tf.float64).numpy()
    assert scipy.stats.kstest(x, scipy.stats.gamma(alpha).cdf).pvalue > 1e-3


def test_gamma_with_a_scale():
    x = tf.random.stateless_gamma([20000], SEED, 3.0, beta=4.0, dtype=tf.float64).numpy()
    assert scipy.stats.kstest(x, scipy.stats.gamma(3.0, scale=0.25).cdf).pvalue > 1e-3


@pytest.mark.parametrize("lam", [0.1, 3.0, 9.9, 10.0, 55.0, 5000.0])
def test_poisson_has_its_distribution(lam):
    x = tf.random.stateless_poisson([40000], SEED, lam, dtype=tf.int64).numpy()
    assert _fits(x, scipy.stats.poisson(lam)) > 1e-3


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.5), (7, 0.2), (7, 0.95), (40, 0.5), (100, 0.87), (5000, 0.001), (10**6, 0.3)]
)
def test_binomial_has_its_distribution(n, p):
    x = tf.random.stateless_binomial([40000], SEED, float(n), p, output_dtype=tf.int64).numpy()
    assert x.min() >= 0 and x.max() <= n
    assert _fits(x, scipy.stats.binom(n, np.float32(p))) > 1e-3


def _fits(x, distribution):
    """The p-value of the chi-squared test, in twenty cells of about the same probability."""
    edges = np.unique(distribution.ppf(np.arange(1, 20) / 20))
    cells = np.diff(np.concatenate([[0.0], distribution.cdf(edges), [1.0]]))
    counts = np.bincount(np.searchsorted(edges, x), minlength=len(cells))
    keep = cells > 0
    assert counts[~keep].sum() == 0
    return scipy.stats.chisquare(counts[keep], cells[keep] * len(x)).pvalue


@pytest.mark.parametrize(
    ("low", "high"),
    [(-2.0, 2.0), (-0.1, 5.0), (1.0, 1.5), (-9.0, -4.0), (20.0, 21.0), (40.0, 50.0)],
)
def test_bounded_normal_has_its_distribution(low, high):
    mean, deviation = 3.0, 2.0
    a, b = (tf.constant(mean + deviation * v, tf.float64) for v in (low, high))
    x = tf.random.stateless_parameterized_truncated_normal(
        [20000], SEED, tf.constant(mean, tf.float64), deviation, a, b
    ).numpy()
    if low < 30:  # SciPy's own distribution loses its digits further out
        expected = scipy.stats.truncnorm(low, high, mean, deviation).cdf
    else:
        expected = scipy.stats.expon(mean + 2 * low, 2 / (low + 1 / low)).cdf
    assert scipy.stats.kstest(x, expected).pvalue > 1e-3


@pytest.mark.parametrize("alpha", [0.05, 0.7, 1.0, 4.0, 60.0, 900.0])
def test_a_gamma_sample_moves_with_its_quantile(alpha):
    a = tf.fill([50], tf.constant(alpha, tf.float64))
    with tf.GradientTape() as tape:
        tape.watch(a)
        x = tf.random.stateless_gamma([50], SEED, a, dtype=tf.float64)
    got = tape.gradient(x, a).numpy()
    q = scipy.stats.gamma(alpha).sf(x.numpy())
    h = 1e-4 * alpha
    wanted = (scipy.stats.gamma(alpha + h).isf(q) - scipy.stats.gamma(alpha - h).isf(q)) / (2 * h)
    assert np.allclose(got, wanted, rtol=1e-5)


def test_the_second_derivative_of_a_gamma_sample():
    alpha = 2.5
    a = tf.fill([50], tf.constant(alpha, tf.float64))
    with tf.GradientTape() as outer:
        outer.watch(a)
        with tf.GradientTape() as inner:
            inner.watch(a)
            x = tf.random.stateless_gamma([50], SEED, a, dtype=tf.float64)
        first = inner.gradient(x, a)
    got = outer.gradient(first, a).numpy()
    q = scipy.stats.gamma(alpha).sf(x.numpy())
    h = 0.01
    at = [scipy.stats.gamma(alpha + d).isf(q) for d in (-h, 0.0, h)]
    assert np.allclose(got, (at[0] - 2 * at[1] + at[2]) / h**2, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32])
def test_gamma_derivatives_in_low_precision_are_finite(dtype):
    alpha = tf.constant([1e-3, 0.1, 1.0, 30.0], dtype)
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        x = tf.random.stateless_gamma([200, 4], SEED, alpha, dtype=dtype)
    g = tape.gradient(x, alpha)
    assert g.dtype is dtype and np.isfinite(g.numpy()).all()


def test_bounded_normal_derivatives_by_all_parameters():
    parameters = [tf.constant(v, tf.float64) for v in (0.3, 1.7, -1.0, 2.5)]

    with tf.GradientTape() as tape:
        tape.watch(parameters)
        x = tf.random.stateless_parameterized_truncated_normal([30], SEED, *parameters)
        y = tf.reduce_sum(x)
    gradients = tape.gradient(y, parameters)

    def distribution(mean, stddev, low, high):
        return scipy.stats.truncnorm((low - mean) / stddev, (high - mean) / stddev, mean, stddev)

    # A sample moves with its quantile.
    values = [float(p) for p in parameters]
    q = distribution(*values).cdf(x.numpy())
    h = 1e-5
    for i, got in enumerate(gradients):
        up, down = (
            distribution(*[v + (h * s if i == j else 0.0) for j, v in enumerate(values)]).ppf(q)
            for s in (1, -1)
        )
        assert abs(float(got) - (up - down).sum() / (2 * h)) < 1e-4


def test_stateful_draws_follow_the_global_seed():
    def draws():
        tf.random.set_seed(5)
        return [tf.random.gamma([3], 0.5).numpy(), tf.random.poisson([3], 20.0).numpy()]

    for a, b in zip(draws(), draws(), strict=True):
        assert (a == b).all()
    assert (tf.random.gamma([9], 0.5).numpy() != tf.random.gamma([9], 0.5).numpy()).any()


def test_an_element_does_not_depend_on_the_others():
    many = tf.random.stateless_gamma([8], SEED, [0.1, 3.0] * 4).numpy()
    other = tf.random.stateless_gamma([8], SEED, [0.1, 90.0] * 4).numpy()
    assert (many[::2] == other[::2]).all() and (many[1::2] != other[1::2]).all()


def test_seeds_of_seeds_are_independent():
    seeds = tf.random.split([1, 2], 100)
    assert len({tuple(s) for s in seeds.numpy().tolist()}) == 100
    means = [float(tf.reduce_mean(tf.random.stateless_normal([1000], s))) for s in seeds]
    assert scipy.stats.kstest(np.array(means) * 1000**0.5, "norm").pvalue > 1e-3
