"""Random bits from a counter.

Bits come from Philox4x64-10, the counter-based generator of Salmon, Moraes, Dror and Shaw
("Parallel random numbers: as easy as 1, 2, 3", 2011). Block i of a draw is Philox of the key (key
0, key 1) at the counter (i, call, stream, 0), so any part of it can be computed anywhere, in any
order. Where 32 bits are enough, a 64-bit word gives its low half first.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

WORD = 2**64
_thread = threading.local()


def _philox() -> Any:
    """NumPy's Philox, one for each thread: setting its state is faster than making one.

    It is made at the first draw, because importing `np.random` takes a third as long as all of tapeflow.
    """
    try:
        return _thread.philox
    except AttributeError:
        _thread.philox = np.random.Philox(key=0)
        return _thread.philox


def random_bits(key: tuple[int, int], counter: tuple[int, int, int, int], n: int) -> np.ndarray:
    """The first `n` words of Philox4x64-10 from `counter` on, whose lowest word comes first."""
    # NumPy counts up before it computes a block, so it is set to the counter before.
    words = []
    borrow = 1
    for word in counter:
        words.append((word - borrow) % WORD)
        borrow = int(word < borrow)
    generator = _philox()
    generator.state = {
        "bit_generator": "Philox",
        "state": {"counter": np.array(words, np.uint64), "key": np.array(key, np.uint64)},
        "buffer": np.zeros(4, np.uint64),
        "buffer_pos": 4,
        "has_uint32": 0,
        "uinteger": 0,
    }
    return generator.random_raw(n)


def words64(state: Any, n: int) -> np.ndarray:
    """The first `n` words of a state."""
    key0, key1, call, stream = state.tolist()
    return random_bits((key0, key1), (0, call, stream, 0), n)


def words32(state: Any, n: int) -> np.ndarray:
    """The same as halves of words."""
    return words64(state, (n + 1) // 2).astype("<u8", copy=False).view("<u4")[:n]
