"""Normal numbers from bits, by Box and Muller ("A note on the generation of random normal deviates", 1958).

Two words give a radius, sqrt(-2 log u), and an angle, 2 pi v, and those a sine and a cosine. TensorFlow leaves
logarithm, sine and cosine to the C library, so what is bit for bit the same depends on that. For single precision
this is what glibc computes since 2.28, on all processors: in double precision, by tables and polynomials that come
from Arm's optimized routines, and rounded at the end. All 2**23 arguments that can occur give the same bits. For
double precision they are NumPy's own functions, which differ from the C library's in the last place here and there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.primitives.random.pace import at_a_time
from tapeflow._src.primitives.random.rooms import Rooms

SMALLEST = 1e-7
"""What is used for u where it is less: the logarithm of 0 is infinite."""

# The logarithm: x is 2**k z with z from 0x3F330000, read as a number, up to twice that. This range has 16 parts, each
# with its own c near its middle: log x = log1p(z / c - 1) + log c + k log 2.
LOG_FIRST = 0x3F330000
LOG_SHIFT = 19
LOG_COEFFICIENTS = (-0.25089342214237154, 0.333456765744066, -0.4999997485802103)
_LOG_TABLE = (
    (1.398907162146528, -0.33569133332882284),
    (1.3403141896637998, -0.2929040563774074),
    (1.286432210124115, -0.2518726580937369),
    (1.2367150214269895, -0.21245868807117255),
    (1.1906977166711752, -0.17453945183745634),
    (1.1479821020556429, -0.1380057072319758),
    (1.1082251448272158, -0.10275976698545139),
    (1.0711297413057381, -0.06871392447020525),
    (1.036437278977283, -0.0357891387398228),
    (1.0, 0.0),
    (0.9492859795739057, 0.05204517742929496),
    (0.8951049428609004, 0.11081431298787942),
    (0.8476821620351103, 0.1652495223695143),
    (0.8050314851692001, 0.21687389031699977),
    (0.7664671008843108, 0.2659635028121397),
    (0.731428603316328, 0.3127556664073557),
)
_LEAST = -24  # k for the smallest u
# By k and the part: 1 / c over 2**k, and log c + k log 2.
LOG_FACTORS = np.array([[c * 2.0**-k for c, _ in _LOG_TABLE] for k in range(_LEAST, 1)]).reshape(-1)
LOG_TERMS = np.array(
    [[log + k * math.log(2) for _, log in _LOG_TABLE] for k in range(_LEAST, 1)]
).reshape(-1)
LOG_OFFSET = 16 * _LEAST

# Sine and cosine of up to a quarter of a quarter turn on both sides of a multiple of a quarter turn.
SINE = (-0.16666654943701084, 0.008332178146138854, -0.00019517298981385725)
COSINE = (
    1.0,
    -0.49999999725108224,
    0.041666623324344516,
    -0.001388676379437604,
    2.4390450703564542e-05,
)


_PART = 8192  # pairs of words that one thread works on at a time: what they need stays in the cache


def _room(pairs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Doubles, floats and integers for a part."""
    floats = np.empty((3, pairs), np.float32)
    return np.empty((4, pairs)), floats, np.empty((3, pairs), np.int32)


_rooms = Rooms(_room)


def normals32(words: np.ndarray, out: np.ndarray) -> None:
    """Writes single-precision normals, as many as there are words, which is an even number. The words are used up."""
    unit32(words, words.view(np.float32))
    most = at_a_time(_PART)
    doubles, floats, integers = room = _rooms.take(most)
    for start in range(0, words.size, 2 * most):
        part = words[start : start + 2 * most].view(np.float32).reshape(-1, 2)
        pairs = out[start : start + 2 * most].reshape(-1, 2)
        n = len(part)
        columns = doubles[:, :n], floats[:, :n], integers[:, :n]
        _radius(part[:, 0], *columns)
        _directions(part[:, 1], *columns, pairs)
    _rooms.give_back(most, room)


def unit32(words: np.ndarray, out: np.ndarray) -> None:
    """Writes what the lower 23 bits of words say after the binary point. The words are used up."""
    np.bitwise_and(words, np.uint32(0x7FFFFF), words)
    np.bitwise_or(words, np.uint32(0x3F800000), words)
    np.subtract(words.view(np.float32), np.float32(1), out)


def _radius(u: np.ndarray, doubles: Any, floats: Any, integers: Any) -> None:
    """Writes the roots of minus twice the logarithms into `floats[0]`."""
    x, r, y, term = doubles
    radius, part = floats[0], integers[0]
    radius[...] = u
    np.maximum(radius, np.float32(SMALLEST), out=radius)
    np.subtract(radius.view(np.int32), np.int32(LOG_FIRST), part)
    np.right_shift(part, np.int32(LOG_SHIFT), part)
    np.subtract(part, np.int32(LOG_OFFSET), part)
    x[...] = radius
    LOG_FACTORS.take(part, out=r, mode="clip")
    np.multiply(r, x, r)
    np.subtract(r, 1, r)
    a, b, c = LOG_COEFFICIENTS
    np.multiply(r, a, y)
    for coefficient in (b, c):
        np.add(y, coefficient, y)
        np.multiply(y, r, y)
    np.multiply(y, r, y)
    LOG_TERMS.take(part, out=term, mode="clip")
    np.add(r, term, r)
    np.add(y, r, y)
    radius[...] = y
    np.multiply(radius, np.float32(-2), radius)
    np.sqrt(radius, radius)


def _directions(v: np.ndarray, doubles: Any, floats: Any, integers: Any, out: np.ndarray) -> None:
    """Writes the radius times sine and cosine of an angle, given as a part of a turn, into two columns."""
    x, square, y, turns = doubles
    radius, sine, cosine = floats
    quarters, mask, flip = integers
    x[...] = v
    np.multiply(x, math.tau, x)
    sine[...] = x
    x[...] = sine
    np.multiply(x, 2 / math.pi, turns)
    np.rint(turns, turns)
    quarters[...] = turns
    np.multiply(turns, math.pi / 2, turns)
    np.subtract(x, turns, x)
    np.multiply(x, x, square)
    np.multiply(square, SINE[2], y)
    for coefficient in SINE[1::-1]:
        np.add(y, coefficient, y)
        np.multiply(y, square, y)
    np.multiply(y, x, y)
    np.add(y, x, y)
    sine[...] = y
    np.multiply(square, COSINE[4], y)
    for coefficient in COSINE[3:0:-1]:
        np.add(y, coefficient, y)
        np.multiply(y, square, y)
    np.add(y, COSINE[0], y)
    cosine[...] = y
    # After an odd number of quarter turns they change places. It is done with their bits: where a mask has none set,
    # nothing changes.
    both = [sine.view(np.int32), cosine.view(np.int32)]
    np.bitwise_and(quarters, np.int32(1), mask)
    np.negative(mask, mask)
    np.bitwise_xor(both[0], both[1], flip)
    np.bitwise_and(flip, mask, mask)
    for column, bits in enumerate(both):
        np.bitwise_xor(bits, mask, bits)
        np.bitwise_and(quarters, np.int32(2), flip)
        np.left_shift(flip, np.int32(30), flip)
        np.bitwise_xor(bits, flip, bits)
        np.multiply(bits.view(np.float32), radius, out[:, column])
        np.add(quarters, np.int32(1), quarters)


# Double precision.


def unit64(pairs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Numbers in [0, 1) of 52 bits, of pairs: the lower 20 of the first word, and then the second word.

    The first word of a pair is its upper half. The pairs are used up: without `out`, numbers are in their place.
    """
    pairs &= np.uint64(2**52 - 1)
    pairs |= np.uint64(1023 << 52)
    ones = pairs.view(np.float64)
    return np.subtract(ones, 1, ones if out is None else out)


def normals64(pairs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Double-precision normals of pairs of words, two in a row. The pairs are used up, as by `unit64`."""
    units = unit64(pairs)
    out = units if out is None else out
    radius, angle = _radius_and_angle(units)
    np.multiply(np.sin(angle), radius, out[:, 0])
    np.multiply(np.cos(angle, angle), radius, out[:, 1])
    return out


def second_normals64(pairs: np.ndarray) -> np.ndarray:
    """The second ones of these normals alone."""
    radius, angle = _radius_and_angle(unit64(pairs))
    return np.multiply(np.cos(angle, angle), radius, radius)


def _radius_and_angle(units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    radius = np.maximum(units[:, 0], SMALLEST)
    np.log(radius, radius)
    np.multiply(radius, -2, radius)
    return np.sqrt(radius, radius), units[:, 1] * math.tau
