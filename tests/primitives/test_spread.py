"""Elementwise kernels on large arrays give on several threads what they give on one, bit for bit."""

from __future__ import annotations

import functools
import math
import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.system.workers import Workers
from tapeflow._src.primitives import sharing, spread as spreading
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.nn import soft_rows
from tapeflow._src.primitives.spread import spread, spread_function

SPREAD = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "log",
    "log1p",
    "sin",
    "sinh",
    "tan",
    "tanh",
    "digamma",
    "elu",
    "erf",
    "erfc",
    "erfinv",
    "gelu_tanh",
    "gelu_tanh_gradient",
    "lgamma",
    "selu",
    "sigmoid",
    "silu",
    "softplus",
]
SHAPES = {
    "alike": [(300, 700), (300, 700)],
    "flat": [(210_001,), (210_001,)],
    "number first": [(), (300, 701)],
    "number last": [(300, 701), (1, 1)],
    "a row": [(300, 701), (701,)],
    "rows of two dimensions": [(90, 7, 33), (7, 33)],
    "one row of many": [(1, 200_000), (200_000,)],
    "a column": [(300, 701), (300, 1)],
    "both": [(500, 1), (1, 500)],
    "more dimensions": [(200_000,), (1, 1)],
}


@pytest.fixture
def parts(monkeypatch):
    """The sizes of what kernels were called with, where small arrays are cut, too, and the block is small."""
    monkeypatch.setattr(spreading, "LARGE", 1000)
    monkeypatch.setattr(sharing, "_ELEMENTS", 1000)
    monkeypatch.setattr(spreading, "_BLOCK", 5000)
    seen = []
    plain = sharing.side_by_side

    def side_by_side(task, size, elements):
        seen.append(size)
        plain(task, size, elements)

    monkeypatch.setattr(spreading, "side_by_side", side_by_side)
    return seen


def drawn(shape, dtype, seed):
    found = np.random.default_rng(seed).normal(size=shape) * 2
    if found.size > 9:
        found.reshape(-1)[:9] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e30, -1e-30]
    with np.errstate(all="ignore"):
        return found.astype(dtype)


def same_bits(x, y):
    assert x.dtype == y.dtype and x.shape == y.shape
    np.testing.assert_array_equal(x, y)
    if x.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(x)[x == 0], np.signbit(y)[y == 0])


def alike(kernel, arrays):
    """Compares a kernel with itself on one thread; whether it was refused."""
    with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(spreading, "LARGE", math.inf)
        try:
            expected = kernel(*arrays)
        except (TypeError, ValueError) as refused:
            patch.undo()
            with pytest.raises(type(refused)):
                kernel(*arrays)
            return True
        patch.undo()
        same_bits(kernel(*arrays), expected)
    return False


@pytest.mark.parametrize("dtype", ["f", "d", "e", "F", "i"])
@pytest.mark.parametrize("name", SPREAD)
def test_every_row(parts, name, dtype):
    row = TABLE[name]
    arrays = [drawn((257, 801), dtype, i) for i in range(len(row.inputs))]
    refused = alike(spread_function(row.kernel), arrays)
    assert parts or refused


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
def test_shapes(parts, shapes):
    kernel = spread(lambda x, y: np.exp(x) - y * 2)
    alike(kernel, [drawn(shape, "f", i) for i, shape in enumerate(shapes)])


@pytest.mark.parametrize("name", ["softmax", "softmax_gradient", "log_softmax"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("shape", [(9, 400, 133), (1, 1, 150_000), (400, 133, 9), (150_000, 1, 1)])
def test_rows(parts, monkeypatch, name, axis, shape):
    monkeypatch.setattr(soft_rows, "is_quicker", lambda: False)
    row = TABLE[name]
    arrays = [drawn(shape, "f", i) for i in range(len(row.inputs))]
    alike(functools.partial(row.kernel, axis=axis), arrays)
    assert bool(parts) == (axis in (2, -1))


@pytest.mark.parametrize("dtype", ["d", "e", "i"])
def test_rows_of_other_dtypes(parts, dtype):
    refused = alike(
        functools.partial(TABLE["softmax"].kernel, axis=1), [drawn((900, 70), dtype, 0)]
    )
    assert refused == (dtype == "i")


def test_which_shapes_are_cut(parts):
    kernel = spread(np.subtract)
    for name, shapes in SHAPES.items():
        kernel(*[np.zeros(shape, np.float32) for shape in shapes])
        assert bool(parts) == (name not in ("a column", "both", "more dimensions")), name
        parts.clear()


@pytest.mark.parametrize("shapes", [SHAPES["one row of many"], SHAPES["flat"]])
def test_blocks_are_as_large_for_one_row_as_for_a_vector(parts, shapes):
    calls = []

    @spread
    def kernel(x, y):
        calls.append(x.size)
        return x - y

    x = np.zeros(shapes[0], np.float32)
    kernel(x, np.zeros(shapes[1], np.float32) if len(shapes) > 1 else x)
    assert len(calls) < 100


@pytest.mark.parametrize(
    "changed",
    [np.transpose, lambda x: x[::2], lambda x: x[:, ::-1], lambda x: x.astype(">f4")],
)
def test_memory_with_gaps_or_in_another_order(parts, changed):
    x = changed(drawn((400, 600), "f", 0))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(spread_function(np.exp)(x), np.exp(x))


def test_what_waits_for_memory_is_left_alone():
    assert spread_function(np.add) is np.add
    assert spread_function(np.maximum) is np.maximum


def test_other_dtypes_are_refused_in_the_ops_words():
    with pytest.raises(tf.errors.InvalidArgumentError, match="exp"):
        tf.exp(tf.ones([2000, 2000], tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="softplus"):
        tf.nn.softplus(tf.ones([2000, 2000], tf.complex64))


def test_large_arrays_go_by_several_threads_and_small_ones_by_one(monkeypatch):
    seen = []

    @spread
    def kernel(x):
        seen.append(threading.current_thread())
        return x + 1

    two = Workers(2)
    monkeypatch.setattr(sharing, "allowed_threads", lambda: 2)
    monkeypatch.setattr(sharing, "workers", lambda: two)
    for size, threads in ((spreading.LARGE, 2), (spreading.LARGE - 1, 1)):
        x = np.zeros(size, np.float32)
        seen.clear()
        np.testing.assert_array_equal(kernel(x), x + 1)
        assert len({*seen}) == threads


def test_a_failure_in_a_part_is_raised_and_the_next_call_works(parts):
    @spread
    def kernel(x):
        if x.size > 1 and x[-1] > 1:
            raise ValueError("too much")
        return x * 2

    x = np.zeros(300_000)
    x[-1] = 2
    with pytest.raises(ValueError, match="too much"):
        kernel(x)
    x[-1] = 1
    np.testing.assert_array_equal(kernel(x), x * 2)


def test_gradients_of_large_tensors():
    x = tf.constant(np.linspace(-3, 3, 2**20, dtype=np.float64).reshape(1024, -1))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sigmoid(x) + tf.exp(-x) * x
    s = 1 / (1 + np.exp(-x.numpy()))
    expected = s * (1 - s) + np.exp(-x.numpy()) * (1 - x.numpy())
    np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-9, atol=1e-12)
