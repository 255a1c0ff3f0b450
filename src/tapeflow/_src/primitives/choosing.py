"""`np.where` of large arrays, by the bits of their elements.

NumPy branches at each element, and a processor cannot foresee a condition that holds here and there: it takes ten
times as long as where it always holds. Masks of bits take the same time whatever they choose, and move elements as
they are, NaN and infinities too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.primitives.spread import spread

_BITS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
_WORTH_IT = 2**12  # elements


@spread
def chosen(condition: Any, a: Any, b: Any) -> Any:
    """The elements of `a` where the bools of `condition` hold, and of `b` elsewhere."""
    arrays = condition, a, b
    bits = _BITS.get(a.dtype.itemsize)
    if bits is None or a.dtype != b.dtype or a.dtype.hasobject:
        return np.where(condition, a, b)
    if any(type(x) is not np.ndarray for x in arrays):  # numbers, or on a device
        return np.where(condition, a, b)
    if max(condition.size, a.size, b.size) < _WORTH_IT or condition.size == 1:
        return np.where(condition, a, b)
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    dtype, mask = a.dtype, (condition.view(np.int8) != 0).view(np.int8)  # any byte but 0 is true
    a, b = a.view(bits), b.view(bits)
    if b.size == 1 and not b.any():
        found = _masked(np.negative(mask), a, shape)
    elif a.size == 1 and not a.any():
        found = _masked(mask - np.int8(1), b, shape)
    else:
        found = _masked(np.negative(mask), a ^ b, shape)
        found ^= b
    return found.view(dtype).reshape(shape)  # a number may have had more dimensions


def _masked(mask: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """`x` where all bits of the mask are set, and 0 where none is."""
    mask = mask.astype(x.dtype)
    return np.bitwise_and(mask, x, out=mask if mask.shape == shape else None)
