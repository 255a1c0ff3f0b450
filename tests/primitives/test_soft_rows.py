"""Softmax of large arrays by oneDNN is that of NumPy, row by row."""

import numpy as np
import pytest
from tests.common import in_threads

import tapeflow as tf
from tapeflow._src.core.context import quietly
from tapeflow._src.insides.onednn import softmaxes
from tapeflow._src.insides.onednn.library import Failed
from tapeflow._src.insides.onednn.softmaxes import Softmax, softmax_of
from tapeflow._src.primitives import sharing
from tapeflow._src.primitives.nn import attention, soft_rows

NOT_THERE = "oneDNN is not installed, or this processor has no AVX-512: NumPy computes softmax"


@pytest.fixture
def calls(monkeypatch):
    """Everything that suits the library is its own, a few rows at a time; which arrays it was given."""
    if softmax_of(1, 2) is None:
        pytest.skip(NOT_THERE)
    given = []

    def noted(original):
        def method(self, *arrays):
            given.append(arrays[0].shape)
            original(self, *arrays)

        return method

    monkeypatch.setattr(Softmax, "softmax", noted(Softmax.softmax))
    monkeypatch.setattr(Softmax, "gradient", noted(Softmax.gradient))
    monkeypatch.setattr(soft_rows, "WORTH_IT", 1)
    monkeypatch.setattr(soft_rows, "_BLOCK", 50)
    return given


def values(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32) * 3


def exact(x, axis=-1):
    x = np.asarray(x, np.float64)
    with np.errstate(invalid="ignore"):
        p = np.exp(x - x.max(axis, keepdims=True))
        return p / p.sum(axis, keepdims=True)


def exact_gradient(u, p):
    u, p = (np.asarray(x, np.float64) for x in (u, p))
    with np.errstate(invalid="ignore"):
        return p * (u - (u * p).sum(-1, keepdims=True))


SHAPES = [(2,), (37,), (5, 3), (31, 16), (4, 6, 17), (2, 3, 4, 33), (3, 130)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_and_gradients(calls, shape):
    x, u = values(*shape), values(*shape[::-1]).reshape(shape)
    before = x.copy(), u.copy()
    p = tf.nn.softmax(x)
    np.testing.assert_allclose(p, exact(x), rtol=1e-5, atol=1e-7)
    with tf.GradientTape() as tape:
        watched = tf.constant(x)
        tape.watch(watched)
        y = tf.nn.softmax(watched)
    found = tape.gradient(y, watched, output_gradients=tf.constant(u))
    np.testing.assert_allclose(found, exact_gradient(u, exact(x)), rtol=1e-4, atol=1e-6)
    assert found.dtype == p.dtype == tf.float32
    assert found.shape == p.shape == shape
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(u, before[1])
    rows = x.size // shape[-1]
    assert sum(int(np.prod(given[:-1])) for given in calls) == 3 * rows


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_in_place(calls, shape):
    x, u, p = values(*shape), values(*shape[::-1]).reshape(shape), exact(values(*shape))
    p = p.astype(np.float32)
    apart = soft_rows.softmax(x), soft_rows.gradient(u, p)
    assert soft_rows.softmax(x, in_place=True) is x
    assert soft_rows.gradient(u, p, in_place=True) is u
    np.testing.assert_array_equal(x, apart[0])
    np.testing.assert_array_equal(u, apart[1])


LEFT = {
    "other axis": lambda x: tf.nn.softmax(x, axis=0),
    "columns": lambda x: tf.nn.softmax(tf.transpose(x)),
    "every second": lambda x: tf.nn.softmax(tf.constant(x)[:, ::2]),
    "one column": lambda x: tf.nn.softmax(x[:, :1]),
    "nothing": lambda x: tf.nn.softmax(x[:0]),
    "no columns": lambda x: tf.nn.softmax(x[:, :0]),
    "double": lambda x: tf.nn.softmax(x.astype(np.float64)),
    "half": lambda x: tf.nn.softmax(x.astype(np.float16)),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_to_numpy(calls, monkeypatch, name):
    x = values(7, 6)
    found = LEFT[name](x)
    with monkeypatch.context() as patched:
        patched.setattr(soft_rows, "WORTH_IT", 2**60)
        np.testing.assert_array_equal(found, LEFT[name](x), strict=True)
    if name not in ("columns", "every second"):  # kernels may be given copies
        assert not calls


BAD = {"nan": [np.nan], "infinity": [np.inf], "both": [np.inf, np.nan], "minus infinity": [-np.inf]}


@pytest.mark.parametrize("columns", [2, 7, 16, 40, 129])
@pytest.mark.parametrize("name", BAD)
def test_nan_and_infinity_in_some_rows(calls, name, columns):
    x = values(columns + 3, columns)
    plain = np.asarray(soft_rows.softmax(x)).copy()
    bad = BAD[name]
    for i in range(columns):
        x[i, [(i + k) % columns for k in range(len(bad))]] = bad
    x[columns] = -np.inf
    for found in (
        quietly(soft_rows.softmax, x),
        quietly(soft_rows.softmax, x.copy(), in_place=True),
    ):
        np.testing.assert_allclose(found, exact(x), rtol=1e-5, atol=1e-7)
        # Other rows do not know of it.
        np.testing.assert_array_equal(found[columns + 1 :], plain[columns + 1 :])


@pytest.mark.parametrize("columns", [2, 7, 16, 40, 129])
def test_nan_and_infinity_in_gradients(calls, columns):
    for bad in (np.nan, np.inf, -np.inf, 0.0):
        for where in (0, 1):
            u, p = values(columns + 1, columns), exact(values(columns + 1, columns))
            p = p.astype(np.float32)
            p[::2, 0] = 0
            (u, p)[where][range(columns), range(columns)] = bad
            found = soft_rows.gradient(u, p)
            expected = exact_gradient(u, p)
            np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)


def test_large_and_small_numbers(calls):
    x = np.array([[3e38, -3e38, 0, 1], [-3e38] * 4, [1e-40, 0, -1e-40, 0]], np.float32)
    np.testing.assert_allclose(soft_rows.softmax(x), exact(x), rtol=1e-6)
    x = np.array([[0, -50, -80, -1e9]], np.float32)
    np.testing.assert_allclose(soft_rows.softmax(x), exact(x), rtol=1e-5)


def test_the_same_bits_however_it_is_shared(calls, monkeypatch):
    x, u = values(40, 24), values(24, 40).reshape(40, 24)
    first = soft_rows.softmax(x), soft_rows.gradient(u, soft_rows.softmax(x))
    for elements, block in ((1, 10), (1, 10**6), (2**20, 10**6)):
        monkeypatch.setattr(sharing, "_ELEMENTS", elements)
        monkeypatch.setattr(soft_rows, "_BLOCK", block)
        np.testing.assert_array_equal(soft_rows.softmax(x), first[0])
        np.testing.assert_array_equal(soft_rows.gradient(u, first[0]), first[1])


def test_second_derivatives(calls):
    x = values(5, 6)

    def curvature(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.sin(tf.nn.softmax(x) * 3.0))
            g = inner.gradient(y, x)
            z = tf.reduce_sum(g * g)
        return outer.gradient(z, x)

    wide = curvature(tf.constant(x, tf.float64))
    np.testing.assert_allclose(curvature(tf.constant(x)), wide, rtol=1e-3, atol=1e-5)
    assert calls


@pytest.mark.parametrize("causal", [False, True])
def test_attention(calls, causal):
    q, k, v, u = (tf.constant(x, tf.float32) for x in np.split(values(8, 3, 9, 12) / 3, 4))
    bias = tf.constant(values(9, 9))

    def everything(q, k, v, u, bias):
        with tf.GradientTape() as tape:
            tape.watch((q, k, v))
            y = attention.biased_attention(q, k, v, bias, scale=0.3, causal=causal)
        return [y, *tape.gradient(y, (q, k, v), output_gradients=u)]

    operands = (q, k, v, u, bias)
    wide = everything(*[tf.cast(x, tf.float64) for x in operands])
    for found, expected in zip(everything(*operands), wide, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    assert calls


def test_from_many_threads(calls):
    x = values(30, 20)
    expected = soft_rows.softmax(x)

    def many():
        for _ in range(20):
            np.testing.assert_array_equal(tf.nn.softmax(x), expected)

    in_threads(8, many)


def test_eager_and_in_functions_alike():
    x = values(300, 200)
    found = tf.nn.softmax(x)
    np.testing.assert_array_equal(tf.function(tf.nn.softmax, jit_compile=False)(x), found)
    np.testing.assert_allclose(found, exact(x), rtol=1e-5, atol=1e-7)


def test_a_shape_that_the_library_refuses(calls, monkeypatch):
    x, u = values(30, 20), values(20, 30).reshape(30, 20)
    monkeypatch.setattr(soft_rows, "softmax_of", lambda rows, columns: None)
    np.testing.assert_allclose(soft_rows.softmax(x), exact(x), rtol=1e-5)
    found = soft_rows.gradient(u, exact(x).astype(np.float32))
    np.testing.assert_allclose(found, exact_gradient(u, exact(x)), rtol=1e-4, atol=1e-6)
    assert not calls


def test_without_the_library(monkeypatch):
    def fails(*given):
        raise Failed(None, None, "no")

    monkeypatch.setattr(softmaxes, "Softmax", fails)
    softmax_of.cache_clear()
    try:
        x = values(300, 200)
        assert soft_rows.softmax(x) is None
        np.testing.assert_allclose(tf.nn.softmax(x), exact(x), rtol=1e-5, atol=1e-7)
    finally:
        softmax_of.cache_clear()
