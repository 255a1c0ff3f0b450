"""What a thread that works for another one takes over from it.

The replicas of a distributed step run in threads, one at a time (`distribute/lockstep.py`). To the program they are one
thread: what the first one is doing (which function it traces, what it has been asked to note) holds for them, too.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar

L = TypeVar("L", bound=threading.local)

_carried: list[threading.local] = []


def carried(state: L) -> L:
    """Makes the state of a thread part of what is taken over."""
    _carried.append(state)
    return state


def state_of_thread() -> list[dict[str, Any]]:
    """What this thread holds now. Lists are its own: scopes are put on them and taken off again."""
    return [
        {k: list(v) if type(v) is list else v for k, v in vars(state).items()} for state in _carried
    ]


def take_over(states: list[dict[str, Any]]) -> None:
    """Gives this thread what another one holds."""
    for state, values in zip(_carried, states, strict=False):
        vars(state).update(values)
