"""Whether anybody but a variable can see its value: then it must not be overwritten."""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import Any


def references_if_alone(make: Callable[[], Any], slot: str, named: bool) -> tuple[int, int]:
    """How many references Python counts to a tensor that only a variable holds, and to its memory.

    They are counted as programs count them: the tensor has a name there, and is in a list of all inputs and in one of
    those that are passed on; its memory is in a list.

    Args:
      make: makes a tensor.
      slot: the attribute under which it keeps its memory.
      named: whether programs have a name for the memory, too.
    """
    tensor = make()
    variable, given, chosen = [tensor], [tensor], [tensor]
    memories = [getattr(tensor, slot)]
    del tensor
    x = chosen[0]
    if named:
        memory = getattr(x, slot)
        counts = getrefcount(x), getrefcount(memory)
    else:
        counts = getrefcount(x), getrefcount(getattr(x, slot))
    del variable, given, memories
    return counts
