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


# What follows computes the same numbers in fewer passes of NumPy's, each of which costs as much as the work of a
# thousand numbers. Whether they are the same is a matter of arithmetic, which has the same bits on all processors, and
# a test goes through all words. Where a constant is an array, NumPy need not make one.


def _double(value: float) -> np.ndarray:
    return np.array(value, np.float64)


def _integer(value: int) -> np.ndarray:
    return np.array(value, np.int32)


_FRACTION = _integer(0x7FFFFF)  # the bits of a word that count
_ONE = 2.0**-23  # the lowest of them

# Minus twice the logarithm, for which r = z / c - 1 is scaled by s, so that the power of four has the factor one:
# with R = s r it is R^2 ((R + p)^2 + q) - 2 / s R + the term of the part. As s has few bits, R is exact near u = 1,
# where it is all there is. The other coefficients make up for what it then is next to the fourth root.
_A, _B, _C = (-2 * x for x in LOG_COEFFICIENTS)
_S = round(_A**0.25 * 2**25) / 2**25
_P = _B / (2 * _S**3)
_Q = _C / _S**2 - _P**2
_SCALE, _SHIFT, _REST, _SLOPE = _double(_S), _double(_P), _double(_Q), _double(-2 / _S)
# Parts are found by the bits of u as an integer times `_ONE`, in double precision. What is below them all is 0, which
# no other number shares the first part with: its term makes up for the rest.
_PART_FIRST = np.array(_double(0.5 * float(np.uint32(LOG_FIRST).view(np.float32))).view(np.int64))
_PART_SHIFT = np.array(LOG_SHIFT + 52 - 23)
_FACTORS = LOG_FACTORS * (_S * _ONE)
_TERMS = -2 * LOG_TERMS
_TERMS[0] = -2 * math.log(np.float32(SMALLEST)) - (((_P - _S) ** 2 + _Q) * -_S - 2 / _S) * -_S

_ANGLE, _QUARTER = _double(math.tau * _ONE), _double(math.pi / 2)
_SINE, _COSINE = [_double(x) for x in SINE], [_double(x) for x in COSINE]
_EIGHTH, _TO_QUARTERS = _integer(2**20), _integer(21)  # of a turn, and from its parts to quarters
_ODD_FIRST, _LOWER_FIRST, _TO_ALL = _integer(10), _integer(9), _integer(31)
_SIGN = _integer(-(2**31))

_PART = 8192  # pairs of words that one thread works on at a time: what they need stays in the cache


def _room(pairs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Doubles, floats and integers for a part."""
    floats = np.empty((3, pairs), np.float32)
    return np.empty((3, pairs)), floats, np.empty((2, pairs), np.int32)


_rooms = Rooms(_room)


def normals32(words: np.ndarray, out: np.ndarray, first: int = 0) -> None:
    """Writes single-precision normals, as many as there are words, which is an even number.

    Args:
      words: what they are made of. Normals may be written in their places.
      out: where they are written.
      first: which word of a pair counts as the first one.
    """
    most = at_a_time(_PART)
    pairs, results = words.view(np.int32).reshape(-1, 2), out.reshape(-1, 2)
    doubles, floats, integers = room = _rooms.take(most)
    for start in range(0, len(pairs), most):
        part, result = pairs[start : start + most], results[start : start + most]
        n = len(part)
        columns = doubles[:, :n], floats[:, :n], integers[:, :n]
        _radius(part[:, first], *columns)
        _directions(part[:, 1 - first], *columns, result)
    _rooms.give_back(most, room)


def unit32(words: np.ndarray, out: np.ndarray) -> None:
    """Writes what the lower 23 bits of words say after the binary point. The words are used up."""
    np.bitwise_and(words, np.uint32(0x7FFFFF), words)
    np.bitwise_or(words, np.uint32(0x3F800000), words)
    np.subtract(words.view(np.float32), np.float32(1), out)


def _radius(words: np.ndarray, doubles: Any, floats: Any, integers: Any) -> None:
    """Writes the roots of minus twice the logarithms into `floats[0]`."""
    x, r, y = doubles
    radius, whole = floats[0], integers[0]
    np.bitwise_and(words, _FRACTION, whole)
    x[...] = whole
    part = y.view(np.int64)
    np.subtract(x.view(np.int64), _PART_FIRST, part)
    np.right_shift(part, _PART_SHIFT, part)
    _FACTORS.take(part, None, r, "clip")
    np.multiply(r, x, r)
    np.subtract(r, _SCALE, r)
    _TERMS.take(part, None, x, "clip")
    np.add(r, _SHIFT, y)
    np.multiply(y, y, y)
    np.add(y, _REST, y)
    np.multiply(y, r, y)
    np.add(y, _SLOPE, y)
    np.multiply(y, r, y)
    np.add(y, x, y)
    radius[...] = y
    np.sqrt(radius, radius)


def _directions(
    words: np.ndarray, doubles: Any, floats: Any, integers: Any, out: np.ndarray
) -> None:
    """Writes the radius times sine and cosine of an angle, given as a part of a turn, into two columns."""
    x, square, y = doubles
    radius, sine, cosine = floats
    turn, mask = integers
    np.bitwise_and(words, _FRACTION, turn)
    x[...] = turn
    np.multiply(x, _ANGLE, x)
    sine[...] = x
    x[...] = sine
    # From the nearest quarter of the turn on.
    np.add(turn, _EIGHTH, turn)
    np.right_shift(turn, _TO_QUARTERS, mask)
    y[...] = mask
    np.multiply(y, _QUARTER, y)
    np.subtract(x, y, x)
    np.multiply(x, x, square)
    np.multiply(square, _SINE[2], y)
    for coefficient in _SINE[1::-1]:
        np.add(y, coefficient, y)
        np.multiply(y, square, y)
    np.multiply(y, x, y)
    np.add(y, x, y)
    sine[...] = y
    np.multiply(square, _COSINE[4], y)
    for coefficient in _COSINE[3:0:-1]:
        np.add(y, coefficient, y)
        np.multiply(y, square, y)
    np.add(y, _COSINE[0], y)
    cosine[...] = y
    # After an odd number of quarters the sine is the cosine, and the cosine minus the sine; after two more both have
    # the other sign, and so has the radius. It is done with bits: where a mask has none set, nothing changes.
    bits, others, flip = sine.view(np.int32), cosine.view(np.int32), square.view(np.int32)
    flip = flip[: len(mask)]
    np.left_shift(turn, _ODD_FIRST, mask)
    np.right_shift(mask, _TO_ALL, mask)
    np.bitwise_xor(bits, others, flip)
    np.bitwise_and(flip, mask, flip)
    np.bitwise_xor(bits, flip, bits)
    np.bitwise_xor(others, flip, others)
    np.bitwise_and(mask, _SIGN, mask)
    np.bitwise_xor(others, mask, others)
    np.left_shift(turn, _LOWER_FIRST, turn)
    np.bitwise_and(turn, _SIGN, turn)
    np.bitwise_xor(radius.view(np.int32), turn, radius.view(np.int32))
    np.multiply(sine, radius, out[:, 0])
    np.multiply(cosine, radius, out[:, 1])


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


def second_normals64(pairs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The second ones of these normals alone."""
    radius, angle = _radius_and_angle(unit64(pairs))
    return np.multiply(np.cos(angle, angle), radius, radius if out is None else out)


def _radius_and_angle(units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    radius = np.maximum(units[:, 0], SMALLEST)
    np.log(radius, radius)
    np.multiply(radius, -2, radius)
    return np.sqrt(radius, radius), units[:, 1] * math.tau
