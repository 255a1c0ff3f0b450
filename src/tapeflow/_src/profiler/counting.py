"""What a profile adds up to: total and own times, by op or by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tapeflow._src.profiler.profile import Event, Profile
from tapeflow._src.profiler.ways import is_librarys

BETWEEN = "(Python between ops)"


class Timed(NamedTuple):
    """An event with what it took itself, and what passed in its thread before it."""

    event: Event
    own: int
    before: int


class Row(NamedTuple):
    """What events of one kind add up to. Times are in nanoseconds."""

    name: str
    phase: str
    calls: int
    total: int
    own: int
    bytes: int


def timed(profile: Profile) -> list[Timed]:
    """The events in order, each with its own time: without those that ran inside of it."""
    found: list[Timed] = []
    threads: dict[int, list[Event]] = {}
    for event in profile.events:
        threads.setdefault(event.thread, []).append(event)
    for events in threads.values():
        found += _in_thread(events, profile.begin)
    return sorted(found, key=lambda each: each.event.begin)


def _in_thread(events: list[Event], begin: int) -> Iterable[Timed]:
    inside: dict[int, int] = {}  # the number of an event -> the time of those directly inside of it
    before: dict[int, int] = {}
    order = sorted(range(len(events)), key=lambda i: (events[i].begin, -events[i].end))
    open_ones: list[int] = []
    last = begin
    for i in order:
        event = events[i]
        while open_ones and events[open_ones[-1]].end <= event.begin:
            last = max(last, events[open_ones.pop()].end)
        if open_ones:
            around = open_ones[-1]
            inside[around] = inside.get(around, 0) + event.end - event.begin
        before[i] = max(0, event.begin - last)
        last = event.begin
        open_ones.append(i)
    for i in order:
        event = events[i]
        yield Timed(event, event.end - event.begin - inside.get(i, 0), before[i])


def by_op(profile: Profile) -> list[Row]:
    """A row for each op and phase, and one for the time between them; they add up to the whole, in one thread."""
    found = timed(profile)
    rows = _rows(found, lambda t: [((t.event.name, t.event.phase), t.own)])
    thread = _main(found)
    main = [t for t in found if t.event.thread == thread]
    between = profile.end - profile.begin - sum(t.own for t in main if not _is_around(t.event))
    rows = [row for row in rows if row.own or row.calls]
    rows.append(Row(BETWEEN, "", 0, max(0, between), max(0, between), 0))
    return sorted(rows, key=lambda row: -row.own)


def by_line(profile: Profile) -> list[Row]:
    """A row for each line and phase. Its own time is that of the ops that it calls, its total has the Python, too.

    What a line of a library calls, such as Keras, counts for the layer that is running, or for the line that called it.
    """
    found = [t for t in timed(profile) if t.event.places and not _is_around(t.event)]

    def lines(t: Timed) -> list[tuple[tuple[str, str], int]]:
        users = [str(place) for place in t.event.places if not is_librarys(place.file)]
        first = str(t.event.places[0])
        if is_librarys(t.event.places[0].file):
            first = t.event.scope or next(iter(users), first)
        places = dict.fromkeys([first, *users])
        return [((place, t.event.phase), t.own if i == 0 else 0) for i, place in enumerate(places)]

    return sorted(_rows(found, lines, gaps=True), key=lambda row: (-row.own, -row.total))


def _is_around(event: Event) -> bool:
    """Whether an event only names what happens inside of it."""
    return event.kind == "annotation"


def _main(found: list[Timed]) -> int:
    """The thread that did the most."""
    spent: dict[int, int] = {}
    for event in (t.event for t in found):
        spent[event.thread] = spent.get(event.thread, 0) + event.end - event.begin
    return max(spent, key=lambda thread: spent[thread], default=0)


def _rows(
    found: list[Timed], keys: Callable[[Timed], list[tuple[Any, int]]], gaps: bool = False
) -> list[Row]:
    rows: dict[Any, list[int]] = {}
    for t in found:
        # What is around others counts their time in its own total, by op; a line counts what it leads to.
        took = t.own + t.before if gaps else t.event.end - t.event.begin
        for number, (key, own) in enumerate(keys(t)):
            row = rows.setdefault(key, [0, 0, 0, 0])
            row[0] += number == 0
            row[1] += took
            row[2] += own
            row[3] += t.event.bytes if number == 0 else 0
    return [Row(*key, *row) for key, row in rows.items()]
