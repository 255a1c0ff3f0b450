"""Whether anybody but a variable can see its value: if not, the memory may be used for the next one.

Python counts the references to an object, and some of them are those of the very code that asks. How many these are
differs between versions of Python, so they are counted once, by the same code, for a tensor that is known to be alone.
"""

from __future__ import annotations

from sys import getrefcount

import numpy as np

from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.placement.remote import RemoteTensor
from tapeflow._src.core.tensor import Tensor

_WITH_BUFFERS = (DeviceTensor, RemoteTensor)


def references(values: list[Tensor], i: int) -> int:
    """How many references Python counts to a tensor in a list, and to its memory."""
    tensor = values[i]
    memory = tensor._buffer if isinstance(tensor, _WITH_BUFFERS) else tensor._array
    return getrefcount(tensor) + getrefcount(memory)


def is_private(values: list[Tensor], i: int) -> bool:
    """Whether nobody has a tensor, or its memory, but the list `values` and one other list."""
    return references(values, i) <= IF_ALONE


def _calibrated() -> int:
    values = [Tensor(np.zeros(1))]
    other = [*values]
    count = references(values, 0)
    other.clear()
    return count


IF_ALONE = _calibrated()
