"""A cast there and back is left out only where it changes no number: every pair of dtypes, and every kind of number."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from tests.graph.passes.tracing import bits, check_same, names, traced

import tapeflow as tf
from tapeflow._src.graph.passes.dead_code import without_dead_code
from tapeflow._src.graph.passes.simplification import simplified

INTEGERS = [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64]
FLOATS = [
    tf.dtypes.float8_e4m3fn,
    tf.dtypes.float8_e5m2,
    tf.float16,
    tf.bfloat16,
    tf.float32,
    tf.float64,
]
COMPLEX = [tf.complex64, tf.complex128]
DTYPES = [tf.bool, *INTEGERS, *FLOATS, *COMPLEX]


def _numbers(dtype):
    """All numbers of a small dtype; of a large one those at which something begins or ends."""
    kind = dtype.as_numpy_dtype
    if dtype.is_bool:
        return np.array([False, True])
    if dtype.size <= 2:
        return np.arange(2 ** (8 * dtype.size), dtype=f"uint{8 * dtype.size}").view(kind)
    if dtype.is_integer:
        edges = [s * 2**k + i for k in range(65) for i in (-1, 0, 1) for s in (1, -1)]
        return np.array([n for n in edges if dtype.min <= n <= dtype.max], kind)
    if dtype.is_floating:
        info = np.finfo(kind)
        ends = [info.max, info.tiny, info.smallest_subnormal, 1 + info.eps, 1 / 3, 0.0, np.inf]
        return np.array([*ends, *(-x for x in ends), np.nan], kind)
    parts = _numbers(dtype.real_dtype)
    return np.array([complex(a, b) for a in parts for b in parts], kind)


@pytest.fixture(autouse=True)
def _quiet():
    """A cast that loses the imaginary part says so, many times here."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(level)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
def test_there_and_back_is_what_it_is_without_passes(dtype):
    numbers = _numbers(dtype)
    for other in DTYPES:
        graph = traced(
            lambda x, other=other: tf.cast(tf.cast(x, other), dtype),
            tf.TensorSpec(numbers.shape, dtype),
        )
        check_same(graph, without_dead_code(simplified(graph)), numbers)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.name)
@pytest.mark.sample(5)
def test_there_and_back_on_xla(dtype):
    pytest.importorskip("jax")
    others = DTYPES if dtype.is_integer or dtype.is_bool else [*FLOATS, *COMPLEX]
    x = tf.constant(_numbers(dtype))

    def there_and_back(x):
        return [tf.cast(tf.cast(x, other), dtype) for other in others]

    compiled = tf.function(there_and_back, jit_compile=True)(x)
    for other, ours, xlas in zip(others, there_and_back(x), compiled, strict=True):
        ours, xlas = bits(ours.numpy()), bits(xlas.numpy())
        if dtype.is_integer and other not in INTEGERS:
            # What an integer is that has become an infinity, or too large, is up to XLA.
            there = np.real(tf.cast(x, other)).astype(np.float64)
            held = (there >= dtype.min) & (there < float(dtype.max) + (dtype.size < 8))
            ours, xlas = ours[..., held], xlas[..., held]
        np.testing.assert_array_equal(ours, xlas, f"{dtype.name} to {other.name} and back")


@pytest.mark.parametrize(
    ("dtype", "wide", "left"),
    [
        (tf.int32, tf.float64, 0),
        (tf.uint8, tf.bfloat16, 0),
        (tf.bfloat16, tf.float32, 0),
        (tf.float32, tf.complex64, 0),
        (tf.int64, tf.float64, 2),
        (tf.uint64, tf.float64, 2),
        (tf.int64, tf.complex128, 2),
        (tf.int8, tf.dtypes.float8_e4m3fn, 2),
        (tf.int32, tf.float32, 2),
    ],
)
def test_what_is_left_out(dtype, wide, left):
    graph = traced(lambda x: tf.cast(tf.cast(x, wide), dtype), tf.TensorSpec([2], dtype))
    assert len(names(without_dead_code(simplified(graph)))) == left


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("dtype", [tf.int64, tf.uint64])
def test_a_large_integer_loses_its_last_digit_in_a_function_too(dtype, jit_compile):
    if jit_compile:
        pytest.importorskip("jax")
    x = tf.constant([2**53 + 1], dtype)
    there_and_back = tf.function(
        lambda x: tf.cast(tf.cast(x, tf.float64), dtype), jit_compile=jit_compile
    )
    assert there_and_back(x).numpy().tolist() == [2**53]
