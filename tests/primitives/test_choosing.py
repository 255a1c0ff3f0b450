"""`chosen` gives what `np.where` gives, bit for bit, for every dtype, shape and layout."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.primitives import spread as spreading
from tapeflow._src.primitives.choosing import chosen

DTYPES = ["?", "b", "h", "i", "q", "B", "Q", "e", "f", "d", "F", "D", ml_dtypes.bfloat16]
SHAPES = {
    "alike": [(90, 70), (90, 70), (90, 70)],
    "number last": [(90, 70), (90, 70), ()],
    "number first": [(90, 70), (), (90, 70)],
    "two numbers": [(90, 70), (), ()],
    "a number of two dimensions": [(90, 70), (1, 1), (90, 70)],
    "a row": [(90, 70), (90, 70), (70,)],
    "mask of columns": [(90, 1), (90, 70), (90, 70)],
    "mask of rows": [(70,), (90, 70), ()],
    "mask of more dimensions": [(3, 90, 70), (90, 70), (70,)],
    "all differ": [(90, 1, 1), (70, 1), (1, 9)],
    "one bool": [(), (90, 70), (90, 70)],
    "one bool of more dimensions": [(1, 1, 1), (90, 70), ()],
    "a number of more dimensions": [(5000,), (5000,), (1, 1)],
    "a number of more dimensions first": [(5000,), (1, 1, 1), (5000,)],
    "few": [(3, 2), (3, 2), ()],
    "empty": [(0, 5), (0, 5), (5,)],
    "empty beside many": [(0, 1), (1, 9000), ()],
}


def drawn(shape, dtype, seed):
    x = np.random.default_rng(seed).normal(size=shape) * 50
    if x.size > 9:
        x.reshape(-1)[:7] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0]
    with np.errstate(all="ignore"):
        return np.asarray(x).astype(dtype)


def bits(x):
    return np.ascontiguousarray(x).reshape(-1).view(np.uint8)


def alike(condition, a, b):
    expected, found = np.where(condition, a, b), chosen(condition, a, b)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(bits(found), bits(expected))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
def test_shapes_and_dtypes(shapes, dtype):
    condition = drawn(shapes[0], "f", 0) > 0
    alike(condition, drawn(shapes[1], dtype, 1), drawn(shapes[2], dtype, 2))


@pytest.mark.parametrize("number", [0.0, -0.0, np.nan, np.inf, 3.0])
@pytest.mark.parametrize("dtype", ["e", "f", "d", "F"])
def test_numbers(number, dtype):
    x = drawn((100, 100), dtype, 1)
    one = np.array(number, dtype)
    alike(drawn(x.shape, "f", 0) > 0, x, one)
    alike(drawn(x.shape, "f", 0) > 0, one, x)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("dtype", ["b", "f", "D"])
def test_zeros(shape, dtype):
    condition, x = drawn(shape[0], "f", 0) > 0, drawn(shape[1], dtype, 1)
    alike(condition, x, np.zeros_like(drawn(shape[2], dtype, 2)))
    alike(condition, np.zeros_like(x), drawn(shape[2], dtype, 2))


def test_bools_of_other_bytes_than_one():
    condition = np.arange(9000).astype(np.uint8).view(np.bool_)
    x, y = drawn((9000,), "f", 0), drawn((9000,), "f", 1)
    alike(condition, x, y)
    for zero in (np.float32(0), np.zeros((), "f")):
        alike(condition, x, zero)
        alike(condition, zero, x)


def test_two_dtypes():
    alike(drawn((90, 70), "f", 0) > 0, drawn((90, 70), "f", 1), drawn((90, 70), "d", 2))


@pytest.mark.parametrize("dtype", ["f", "d", "F", "h"])
@pytest.mark.parametrize(
    "changed", [np.transpose, lambda x: x[::2], lambda x: x[:, ::-1], np.asfortranarray]
)
def test_memory_with_gaps_or_in_another_order(changed, dtype):
    a, b = drawn((200, 300), dtype, 1), drawn((200, 300), dtype, 2)
    condition = drawn((200, 300), "f", 0) > 0
    alike(changed(condition), changed(a), changed(b))
    alike(changed(condition), changed(a), np.ascontiguousarray(changed(b)))
    alike(changed(condition), np.zeros((), dtype), changed(b))


@pytest.mark.parametrize("shapes", [SHAPES["number last"], SHAPES["alike"], SHAPES["a row"]])
def test_large_arrays_are_cut(monkeypatch, shapes):
    monkeypatch.setattr(spreading, "LARGE", 1000)
    monkeypatch.setattr(spreading, "_BLOCK", 5000)
    condition = drawn(shapes[0], "f", 0) > 0
    alike(condition, drawn(shapes[1], "f", 1), drawn(shapes[2], "f", 2))


def test_operands_stay_as_they_are():
    x = tf.constant(drawn((100, 100), "f", 0))
    before = x.numpy().copy()
    for zero in (0.0, 1.0):
        tf.where(x > 0, x, zero)
        tf.where(x > 0, zero, x)
    np.testing.assert_array_equal(bits(x.numpy()), bits(before))


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0, 1.5, -0.3, 1e-9])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_leaky_relu(alpha, dtype):
    x = drawn((100, 100), dtype, 0)
    x[0, 10:13] = np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    with np.errstate(all="ignore"):
        expected = np.where(x > 0, x, x * dtype(alpha))
        found = tf.nn.leaky_relu(x, alpha).numpy()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found[x == 0]), np.signbit(expected[x == 0]))
