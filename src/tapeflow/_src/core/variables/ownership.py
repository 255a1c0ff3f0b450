"""Whether anybody but a variable can see its value, or anybody at all an operand: if not, the memory may be used again.

Python counts the references to an object, and some of them are those of the very code that asks. How many these are
differs between versions of Python, so they are counted once, by the same code, for a tensor that is known to be alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.placement.remote import RemoteTensor
from tapeflow._src.core.tensor import Tensor


def references(values: list[Tensor], positions: Sequence[int]) -> list[int]:
    """How many references Python counts to some tensors of a list, and to their memory."""
    found = []
    for i in positions:
        tensor = values[i]
        kind = tensor.__class__
        memory: Any
        if kind is DeviceTensor:
            memory = tensor._buffer  # type: ignore[attr-defined]
        elif kind is RemoteTensor:
            # None, to which there are many references, if jax does not have the memory.
            memory = tensor._array._buffer
        else:
            memory = tensor._array
        found.append(getrefcount(tensor) + getrefcount(memory))
    return found


def are_private(values: list[Tensor], positions: Sequence[int]) -> list[bool]:
    """For each of some tensors, whether nobody has it, or its memory, but the list `values` and one other list."""
    return list(map(IF_ALONE.__ge__, references(values, positions)))


def _unseen(count: Callable[[], int]) -> int:
    """What is counted while no debugger looks on: one that reads the names of a function holds what they name."""
    trace, profile = sys.gettrace(), sys.getprofile()
    if trace is None and profile is None:
        return count()
    try:
        sys.settrace(None)
        sys.setprofile(None)
        return count()
    finally:
        sys.setprofile(profile)
        sys.settrace(trace)


def _calibrated() -> int:
    values = [Tensor(np.zeros(1))]
    other = [*values]
    (count,) = references(values, (0,))
    other.clear()
    return count


IF_ALONE = _unseen(_calibrated)


def references_in_passing(tensor: Tensor, array: np.ndarray) -> int:
    """How many references Python counts to an operand and its memory, for who was handed it by who was given it.

    No more than `IF_PASSING`, and nobody else has it: `w.assign_sub(rate * g)`. Both must have it as `_given` and
    `_asking` have it. Where Python counts as many for a tensor that the caller goes on to hold (3.14 lends the names of
    a function instead of counting them), `IF_PASSING` is 0.
    """
    return getrefcount(tensor) + getrefcount(array)


def _given(tensor: Tensor) -> int:
    return _asking(tensor)


def _asking(tensor: Tensor) -> int:
    operand = tensor
    array = operand._array
    return references_in_passing(operand, array)


def _calibrated_in_passing() -> int:
    held = Tensor(np.zeros(1))
    if_held = _given(held)
    if_passing = _given(Tensor(np.zeros(1)))
    return if_passing if if_passing < if_held else 0


IF_PASSING = _unseen(_calibrated_in_passing)
