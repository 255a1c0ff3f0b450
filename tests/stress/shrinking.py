"""Makes a failing program smaller, one change at a time, for as long as it still fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tests.stress.evaluator import is_valid
from tests.stress.scripts import Event, Given, Made, Program


def shrunk(program: Program, fails: Callable[[Program], bool], seconds: float = 20.0) -> Program:
    """The smallest program found in this time that fails, too."""
    end = time.monotonic() + seconds
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(program):
            if time.monotonic() > end:
                return program
            if is_valid(smaller) and fails(smaller):
                program, progress = smaller, True
                break
    return program


def _smaller(program: Program) -> Iterator[Program]:
    events, body = program.events, program.body
    for size in (8, 4, 2, 1):  # several at once, at first
        if size > 1 and len(events) < 2 * size:
            continue
        for i in range(len(events) - 1, -1, -size):
            yield program._replace(events=events[: max(0, i - size + 1)] + events[i + 1 :])
    for i in range(len(body) - 1, -1, -1):
        yield program._replace(body=body[:i] + body[i + 1 :])
    for i in range(len(program.returns)):
        fewer = program.returns[:i] + program.returns[i + 1 :]
        yield program._replace(returns=fewer)
    for i in range(len(program.variables)):
        yield program._replace(variables=program.variables[:i] + program.variables[i + 1 :])
    used = {name for line in body for name in line.operands} | set(program.returns)
    last = len(program.arrays) - 1
    if last >= 0 and f"p{last}" not in used:
        fewer = tuple(
            e._replace(given=e.given[:-1]) if e.kind in ("call", "slope") else e for e in events
        )
        yield program._replace(arrays=program.arrays[:-1], events=fewer)
    for size in sorted({d for m in (*program.variables, *program.arrays) for d in m.shape}):
        for other in (2, 3):
            if size > 3 and other < size:
                yield _with_size(program, size, other)
    for i, v in enumerate(program.variables):
        if v.layout != "c":
            yield program._replace(variables=_put(program.variables, i, v._replace(layout="c")))
    for i, a in enumerate(program.arrays):
        if a.layout != "c":
            yield program._replace(arrays=_put(program.arrays, i, a._replace(layout="c")))
    for i, event in enumerate(events):
        for j, given in enumerate(event.given):
            if given.form != "itself":
                plain = _put(event.given, j, Given("itself", given.name, {}))
                yield program._replace(events=_put(events, i, event._replace(given=plain)))


def _put(things: tuple, i: int, thing: object) -> tuple:
    return (*things[:i], thing, *things[i + 1 :])


def _with_size(program: Program, old: int, new: int) -> Program:
    def changed(m: Made) -> Made:
        return m._replace(shape=tuple(new if d == old else d for d in m.shape))

    def event(e: Event) -> Event:
        return e if e.made is None else e._replace(made=changed(e.made))

    return program._replace(
        variables=tuple(map(changed, program.variables)),
        arrays=tuple(map(changed, program.arrays)),
        events=tuple(map(event, program.events)),
    )
