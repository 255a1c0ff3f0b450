"""What the parts with scenarios have in common: a table of them, an expectation, and threads that begin together."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence

from tests.stress.dice import Dice

THREADS = 16
_PATIENCE = 600.0  # seconds until threads that do not end are taken to wait for each other

Scenario = Callable[[Dice], None]
_tables: dict[str, dict[str, Scenario]] = {}


class Broken(AssertionError):
    """A promise that does not hold."""


def expect(condition: bool, message: str) -> None:
    """Breaks the scenario where the promise does not hold."""
    if not condition:
        raise Broken(message)


def scenario(part: str) -> Callable[[Scenario], Scenario]:
    """Puts a function into the table of a part."""

    def add(function: Scenario) -> Scenario:
        _tables.setdefault(part, {})[function.__name__] = function
        return function

    return add


def scenarios(part: str) -> dict[str, Scenario]:
    """The scenarios of a part by their names, in alphabetical order."""
    return dict(sorted(_tables[part].items()))


def together(workers: Sequence[Callable[[], None]]) -> None:
    """Runs all of them in threads of their own that begin at the same time. What one raises is raised."""
    barrier = threading.Barrier(len(workers))
    errors: list[str] = []

    def run(work: Callable[[], None]) -> None:
        barrier.wait()
        try:
            work()
        except Broken as broken:
            errors.append(str(broken))
        except BaseException:
            errors.append(traceback.format_exc(limit=-8))

    threads = [
        threading.Thread(target=run, args=(work,), name=f"stress {i}", daemon=True)
        for i, work in enumerate(workers)
    ]
    for thread in threads:
        thread.start()
    end = time.monotonic() + _PATIENCE
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    waiting = [t for t in threads if t.is_alive()]
    if waiting:
        frames = sys._current_frames()
        places = [
            "".join(traceback.format_stack(frames[t.ident])[-4:])
            for t in waiting
            if t.ident in frames
        ]
        text = "\n".join(dict.fromkeys(places))
        raise Broken(f"{len(waiting)} threads do not end:\n{text}")
    if errors:
        kinds = dict.fromkeys(errors)
        raise Broken(f"{len(errors)} of {len(threads)} threads failed:\n" + "\n".join([*kinds][:3]))
