"""Normal numbers have the bits of the C library's functions, in whatever order they are computed."""

import math

import numpy as np
import pytest

from tapeflow._src.primitives.random import normals as tables
from tapeflow._src.primitives.random.normals import normals32

ALL = 2**23  # words that give different numbers
PART = 2**20


def logarithms(u):
    part = (u.view(np.int32) - np.int32(tables.LOG_FIRST)) >> np.int32(tables.LOG_SHIFT)
    part -= np.int32(tables.LOG_OFFSET)
    r = tables.LOG_FACTORS[part] * u.astype(np.float64) - 1
    a, b, c = tables.LOG_COEFFICIENTS
    return (((a * r + b) * r + c) * (r * r) + (r + tables.LOG_TERMS[part])).astype(np.float32)


def sines_and_cosines(angles):
    x = angles.astype(np.float64)
    quarters = np.rint(x * (2 / math.pi))
    x -= quarters * (math.pi / 2)
    square = x * x
    sine = x + x * (square * np.polyval(tables.SINE[::-1], square))
    cosine = np.polyval(tables.COSINE[::-1], square)
    both = np.stack([sine, cosine], 1).astype(np.float32)
    odd, minus = quarters % 2 == 1, np.stack([quarters, quarters + 1], 1) % 4 >= 2
    both[odd] = both[odd, ::-1]
    return np.where(minus, -both, both)


def step_by_step(first, second):
    """What TensorFlow computes of two words, one thing after the other."""
    u, v = (
        (w & np.uint32(0x7FFFFF)).astype(np.float32) * np.float32(2.0**-23) for w in (first, second)
    )
    radius = np.sqrt(np.float32(-2) * logarithms(np.maximum(u, np.float32(tables.SMALLEST))))
    angle = (v.astype(np.float64) * math.tau).astype(np.float32)
    return sines_and_cosines(angle) * radius[:, None]


def check(first, second):
    expected = step_by_step(first, second).view(np.int32)
    for swapped in (0, 1):
        words = np.stack([second, first] if swapped else [first, second], 1).reshape(-1)
        out = words.view(np.float32)
        normals32(words, out, swapped)
        np.testing.assert_array_equal(out.view(np.int32).reshape(-1, 2), expected)


def test_a_sample_of_all_words():
    words = np.arange(0, 2**32, 2**32 // 10007, dtype=np.uint32)
    check(words, np.roll(words, 1234))


@pytest.mark.parametrize("edge", [0, 1, 2, 2**20, 3 * 2**20, 5 * 2**20, 7 * 2**20, ALL // 2, ALL])
def test_words_about_the_ends_of_parts(edge):
    words = np.arange(edge - 100, edge + 100).astype(np.uint32)
    check(words, words[::-1].copy())


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", range(0, ALL, PART))
def test_all_words(start):
    words = np.arange(start, start + PART, dtype=np.uint32)
    # A sine of zero leaves the radius as it is.
    check(words, np.zeros_like(words))
    check(np.full_like(words, 0xFF2345E7), words)
