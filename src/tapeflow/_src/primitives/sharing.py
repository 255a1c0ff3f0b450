"""Work that is shared out between threads, each with a part of the result.

Small work is done by one thread and large work by threads that sleep when there is nothing to do (`Workers`); BLAS's
own threads, which spin, are left out of both. What is small is decided by size alone. A choice by measurement would
give other last digits on a busy machine than on a quiet one, because BLAS adds up in another order where it computes
another part.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeflow._src.core.system.workers import workers
from tapeflow._src.insides.blas_threads import one_blas_thread

# In multiplications. OpenBLAS itself uses one thread for products of a vector, and of a matrix, below these.
VECTOR_ALONE = 9216
MATRIX_ALONE = 2**18

_SHARED = 2**23  # takes longer than waking a thread: about a fifth of a millisecond
_PART = 2**22


def shared_out(task: Callable[[int, int], Any], size: int, work: int, multiple: int = 1) -> None:
    """Calls `task` with ranges that together are `range(size)`, side by side where that is worth it.

    Args:
      task: computes the part of a result between two indices.
      size: how many indices there are.
      work: the multiplications in all of it.
      multiple: ranges begin at multiples of this.
    """
    with one_blas_thread() as allowed:
        if work >= _SHARED:
            count = min(allowed, work // _PART, workers().count)
            parts = cuts(size, count, multiple)
            if len(parts) > 1:
                workers().run([functools.partial(task, i, j) for i, j in parts])
                return
        task(0, size)


def cuts(size: int, count: int, multiple: int = 1) -> list[tuple[int, int]]:
    """At most `count` ranges of about the same length that begin at multiples of `multiple`."""
    step = -(-size // count)
    step = -(-step // multiple) * multiple
    found = [(min(i * step, size), min((i + 1) * step, size)) for i in range(count)]
    return [(i, j) for i, j in found if i < j]
