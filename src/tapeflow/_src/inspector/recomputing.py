"""What `tf.recompute_grad` around a block would gain: the curve of memory without what the block keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tapeflow._src.inspector.steps import BACKWARD, FORWARD, Alive, Step


class Saving(NamedTuple):
    """For a block: bytes at the peak, bytes kept, the share of time that is added, and its first step."""

    block: str
    peak: int
    kept: int
    time: float
    first: Step


def curve(steps: list[Step], arrays: list[Alive]) -> np.ndarray:
    """The bytes that are there at the end of each step, with what its kernel used meanwhile."""
    return _held(steps, arrays) + np.array([step.workspace for step in steps], np.int64)


def _held(steps: list[Step], arrays: list[Alive]) -> np.ndarray:
    change = np.zeros(len(steps) + 1, np.int64)
    for array in arrays:
        change[array.born] += array.bytes
        if array.died is not None and array.died <= len(steps):
            change[array.died] -= array.bytes
    return np.cumsum(change)[:-1]


def savings(steps: list[Step], arrays: list[Alive]) -> Iterator[Saving]:
    """What each block would save: those of all depths of name scopes."""
    if not steps:
        return
    held, points = _held(steps, arrays), curve(steps, arrays)
    whole = sum(step.time for step in steps) or 1
    users: dict[int, list[Step]] = {}
    for step in steps:
        for made in step.inputs:
            if isinstance(made, int):
                users.setdefault(made, []).append(step)
    walked: dict[int, list[int]] = {}
    for step in steps:
        if step.phase == BACKWARD and step.of is not None:
            walked.setdefault(step.of, []).append(step.number)
    for name, block in _blocks(steps).items():
        inside = {step.number for step in block}
        over = max(inside)
        back = [number for i in inside for number in walked.get(i, ())]
        again = min(back, default=len(steps))
        between = np.zeros(len(steps), np.int64)
        kept = 0
        for array in arrays:
            stays = len(steps) if array.died is None else array.died
            if array.born in inside and stays > over + 1 and not _leaves(array, inside, users):
                kept += array.bytes
                between[over + 1 : min(stays, again)] += array.bytes
        left = points - between
        most = int(left.max())
        if back:
            # To compute it again takes what it took the first time, on top of what is there when the walk arrives. Its
            # result is there twice then, because the tape after it holds the first one; and while its gradients are
            # computed the gradient by it stays, too, which its own walk would let go of.
            first, result = min(inside), block[-1].made
            took = int(points[first : over + 1].max()) - (int(held[first - 1]) if first else 0)
            there = int(held[again] - between[again - 1]) - steps[again].made
            most = max(most, there + took + result)
            most = max(most, int(points[again : max(back) + 1].max()) + 2 * result)
        saved = int(points.max()) - most
        yield Saving(name, saved, kept, sum(step.time for step in block) / whole, block[0])


def _leaves(array: Alive, inside: set[int], users: dict[int, list[Step]]) -> bool:
    """Whether a forward op outside of a block takes an array, which then has to be kept."""
    return any(
        step.phase == FORWARD and step.number not in inside for step in users.get(array.born, ())
    )


def _blocks(steps: list[Step]) -> dict[str, list[Step]]:
    found: dict[str, list[Step]] = {}
    for step in steps:
        if step.phase == FORWARD and step.scope:
            parts = step.scope.split("/")
            for depth in range(1, len(parts) + 1):
                found.setdefault("/".join(parts[:depth]), []).append(step)
    return found
