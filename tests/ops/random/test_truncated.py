"""Truncated normals are the first ones that fit of what their blocks give."""

import numpy as np
import pytest

from tapeflow._src.primitives.random.numbers import normals_of
from tapeflow._src.primitives.random.philox import array_of, blocks_at
from tapeflow._src.primitives.random.streams import PER_NUMBER
from tapeflow._src.primitives.random.truncated import truncated

KEY = 0x0123456789ABCDEF
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def one_after_the_other(counter, rows, dtype):
    """Each row of as many numbers as a block gives, of its own blocks."""
    width = 16 // dtype.itemsize
    found = []
    for row in range(rows):
        fitting, block = [], row * width * PER_NUMBER // 4
        while len(fitting) < width:
            numbers = np.array([block], np.uint64)
            drawn = normals_of(blocks_at(array_of(counter, KEY), numbers, dtype == F64), dtype)
            fitting += [x for x in drawn[0] if abs(x) < 2]
            block += 1
        found += fitting[:width]
    return np.array(found, dtype)


# A number of each precision was looked for that needs three blocks.
@pytest.mark.parametrize("dtype, row", [(F32, 0), (F64, 0), (F32, 92534), (F64, 7630)])
def test_what_does_not_fit_is_drawn_again(dtype, row):
    counter = row * (16 // dtype.itemsize) * PER_NUMBER // 4
    expected = one_after_the_other(counter, 100, dtype)
    drawn = truncated(array_of(counter, KEY), expected.size, dtype)
    np.testing.assert_array_equal(drawn, expected)
