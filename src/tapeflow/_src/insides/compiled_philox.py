"""Philox's blocks by machine code: that of the package randomgen, where it is installed.

NumPy goes over the words of a block in some sixty passes, each of which wants Python's lock. The generator needs one
and leaves the lock to others meanwhile. What it gives goes through NumPy's `Generator.integers`, of which nobody
promises that integers of the whole range are the generator's words, one after the other: so that is looked at first.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.system.loading import loaded
from tapeflow._src.insides.fallback import slower

Words = Callable[[int], np.ndarray]
"""Gives the words of the next blocks, so many, as pairs in a row for each block."""

Maker = Callable[[int, int], Words]
"""Begins at a counter, with a key."""

_WORTH_IT = 2**14
"""Blocks of a draw from which on it takes less time to begin a generator than it saves."""

_WORTH_IMPORTING = 2**22
"""Blocks that were drawn without it from which on it would have saved about the time of its import."""

_COUNTERS = 2**128


class _Library:
    """What is known of the package."""

    def __init__(self) -> None:
        self.drawn = 0  # blocks that could have been the generator's; threads that count at once may lose some
        self.asked = False
        self.found: dict[bool, Maker] = {}  # by whether the first word of a pair is its upper half
        self.lock = threading.Lock()  # is never waited for

    def ask(self, known: Callable[[int, int], tuple[int, ...]]) -> None:
        """Imports it, unless that is under way: in another thread, or where a signal handler has come between."""
        if self.lock.acquire(blocking=False):
            try:
                if not self.asked:
                    self.found = _checked(known)
                    self.asked = True
            finally:
                self.lock.release()


_library = _Library()


def compiled(
    blocks: int, upper_first: bool, known: Callable[[int, int], tuple[int, ...]]
) -> Maker | None:
    """What makes the words of a draw of so many blocks, if that is worth it and there is something that can.

    Args:
      blocks: how many there are in the draw.
      upper_first: whether the first word of a pair is to be its upper half, and not the lower one.
      known: gives the words of the block with a key and a counter; what is made is compared with it.
    """
    if blocks < _WORTH_IT:
        return None
    if not _library.asked:
        _library.drawn += blocks
        if _library.drawn < _WORTH_IMPORTING:
            return None
        _library.ask(known)
    return _library.found.get(upper_first)


def _checked(known: Callable[[int, int], tuple[int, ...]]) -> dict[bool, Maker]:
    """The makers whose words are as they should be."""
    try:
        philox = loaded("randomgen").Philox
        integers = loaded("numpy.random").Generator
    except ModuleNotFoundError:
        slower("randomgen is not installed", _INSTEAD)
        return {}
    except Exception as error:
        slower(f"randomgen cannot be imported ({error})", _INSTEAD)
        return {}
    found: dict[bool, Maker] = {}
    for upper_first, dtype in ((False, np.uint32), (True, np.uint64)):
        make = functools.partial(_begun, philox, integers, np.dtype(dtype))
        try:
            right = all(_agrees(make, upper_first, counter, known) for counter in _TRIED)
        except Exception as error:
            slower(f"randomgen does not work as expected ({error})", _INSTEAD)
            return {}
        if right:
            found[upper_first] = make
        else:
            slower("randomgen's words are others than expected", _INSTEAD)
    return found


_INSTEAD = "NumPy draws random bits, in up to twice the time"


def _begun(philox: Any, generator: Any, dtype: np.dtype, counter: int, key: int) -> Words:
    # It counts before it makes a block.
    begun = philox(key=key, counter=(counter - 1) % _COUNTERS, number=4, width=32)
    integers, last, per_block = generator(begun).integers, np.iinfo(dtype).max, 16 // dtype.itemsize

    def words(blocks: int) -> np.ndarray:
        made = integers(0, last, per_block * blocks, dtype, endpoint=True)
        return made.view(np.uint64).reshape(blocks, 2)

    return words


# Counters around what a word of them holds, and a key with two words.
_TRIED = (0, 2**32 - 2, 2**64 - 2, 2**96 - 2, 2**128 - 2, 0x0F1E2D3C_4B5A6978_8796A5B4_C3D2E1F0)
_KEY = 0xFEDCBA98_76543210
_LENGTHS = (1, 4, 0, 2)  # of what is taken one after the other


def _agrees(
    make: Maker, upper_first: bool, counter: int, known: Callable[[int, int], tuple[int, ...]]
) -> bool:
    words = make(counter, _KEY)
    for blocks in _LENGTHS:
        for pairs in words(blocks).tolist():
            w0, w1, w2, w3 = known(_KEY, counter % _COUNTERS)
            if upper_first:
                w0, w1, w2, w3 = w1, w0, w3, w2
            if pairs != [w0 | w1 << 32, w2 | w3 << 32]:
                return False
            counter += 1
    return True
