"""Paths from a source to a target through the events of a journal, with what stands in the way.

Events are in the order in which they happened, so one walk from first to last finds the best path
to every tensor: the one with the fewest obstacles, and of these the shortest.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tapeflow._src.autodiff.explain.journal import Entry, Escape, Event, Operation

MANY = 1000
"""How far paths are counted."""

# A guess is worse than any number of known obstacles.
_KNOWN, _GUESSED = 1, 10**6


class Reason(enum.StrEnum):
    """Why a source is connected to the target, or not.

    A reason equals its name as a string:

    >>> Reason.NEVER_USED == "never_used"
    True
    """

    CONNECTED = "connected"
    NEVER_USED = "never_used"
    BEFORE_TAPE = "before_tape"
    NOT_WATCHED = "not_watched"
    NOT_TRAINABLE = "not_trainable"
    CUT = "cut"
    LEFT_TENSORFLOW = "left_tensorflow"
    ASSIGNED = "assigned"
    PAUSED = "paused"
    RESET = "reset"
    NOT_FLOATING = "not_floating"
    TARGET_OUTSIDE = "target_outside"
    NO_PATH = "no_path"


class Hop(NamedTuple):
    """One step of a path."""

    source: int
    event: Operation | Entry
    obstacle: Reason | None = None
    position: int = 0  # of the input through which the path comes
    escape: Escape | None = None  # how the value left, if it came back at this step
    certain: bool = True


class Route(NamedTuple):
    """The best way to a tensor."""

    cost: int
    length: int
    last: Hop | None


class Start(NamedTuple):
    """Where paths begin: the identities of a source."""

    ids: set[int]
    watched_by_itself: bool  # as trainable variables are
    epoch: int  # how often the tape has been reset


def obstacle(op: Operation, position: int, output: int, start: Start) -> Reason | None:
    """Why the tape did not record the step from an input of `op` to an output."""
    unfollowed = op.inputs[position] in start.ids and not op.tracked[position]
    if unfollowed and not start.watched_by_itself:
        return Reason.NOT_WATCHED
    if op.name == "assign":
        return Reason.ASSIGNED
    if op.ends[position] is not None or output in op.dead:
        return Reason.CUT
    if op.paused:
        return Reason.PAUSED
    if op.epoch < start.epoch:
        return Reason.RESET
    return Reason.BEFORE_TAPE if unfollowed else None


def routes(
    events: Iterable[Event], start: Start, follows: Callable[[Escape, Entry], bool | None]
) -> dict[int, Route]:
    """The best route to each tensor that depends on the start in any way.

    Args:
      events: what happened, in order.
      start: where the routes begin.
      follows: whether a value that entered was computed from one that escaped before: surely
        (True), perhaps (False) or not (None).
    """
    best = {i: Route(0, 0, None) for i in start.ids}
    escapes: list[Escape] = []
    for event in events:
        if isinstance(event, Operation):
            for position, source in enumerate(event.inputs):
                if source in best:
                    for output in event.outputs:
                        hop = Hop(source, event, obstacle(event, position, output, start), position)
                        _offer(best, output, hop, _KNOWN if hop.obstacle else 0)
        elif isinstance(event, Escape):
            if event.tensor in best:
                escapes.append(event)
        elif isinstance(event, Entry) and not event.literal:
            for escape in escapes:
                sure = follows(escape, event)
                if sure is not None:
                    hop = Hop(escape.tensor, event, Reason.LEFT_TENSORFLOW, 0, escape, sure)
                    _offer(best, event.tensor, hop, _KNOWN if sure else _GUESSED)
    return best


def _offer(best: dict[int, Route], tensor: int, hop: Hop, cost: int) -> None:
    before = best[hop.source]
    route = Route(before.cost + cost, before.length + 1, hop)
    if tensor not in best or route[:2] < best[tensor][:2]:
        best[tensor] = route


def hops(best: dict[int, Route], target: int) -> list[Hop]:
    """The steps of the best route to `target`, first to last."""
    path = []
    hop = best[target].last
    while hop is not None:
        path.append(hop)
        hop = best[hop.source].last
    return path[::-1]


def count(events: Iterable[Event], start: Start, targets: Iterable[int]) -> int:
    """The number of paths without obstacles, as far as `MANY`."""
    paths = dict.fromkeys(start.ids, 1)
    for event in events:
        if isinstance(event, Operation):
            for output in event.outputs:
                if output in start.ids:
                    continue
                total = sum(
                    paths.get(source, 0)
                    for position, source in enumerate(event.inputs)
                    if obstacle(event, position, output, start) is None
                )
                if total:
                    paths[output] = min(total, MANY)
    return min(sum(paths.get(t, 0) for t in targets), MANY)


def ancestors(events: Sequence[Event], targets: Iterable[int]) -> set[int]:
    """Everything that `targets` were computed from, whether or not it was recorded."""
    found = set(targets)
    for event in reversed(events):
        if isinstance(event, Operation) and not found.isdisjoint(event.outputs):
            found.update(event.inputs)
    return found
