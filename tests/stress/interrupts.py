"""Interruptions over the public entry points: afterwards everything is as it was, and goes on."""

from __future__ import annotations

import gc
import time
import traceback
from typing import Any

from tests.stress import interrupt_entries, interrupt_files
from tests.stress.dice import Dice
from tests.stress.entries import ENTRIES, Entry
from tests.stress.interrupting import (
    after_time,
    at_place,
    in_another_thread,
    places_of,
    surroundings,
    threads,
    wait_for_threads,
)
from tests.stress.run import counts
from tests.stress.scenarios import Broken

del interrupt_entries, interrupt_files  # they add their entries when they are imported


def run_case(seed: int, case: int) -> str | None:
    """Interrupts one entry point a few times."""
    names = sorted(ENTRIES)
    name = names[case % len(names)]
    dice = Dice("interrupts", seed, case)
    kind = ENTRIES[name]
    try:
        entry = kind(dice)
        with entry.engine_running():
            return _interrupted(name, kind, entry, dice)
    except Broken as broken:
        return f"{name}: {broken}"
    except Exception:
        return f"{name}: {traceback.format_exc()}"


def _interrupted(name: str, kind: Any, entry: Entry, dice: Dice) -> str | None:
    shown = f"{name} on {entry.engine}" if entry.engine else name
    if not entry.in_this_process:
        for _ in range(entry.turns):
            entry.run()
        return None
    # Once without an interruption, which also imports what is imported late; then to count and to time.
    entry.run()
    entry.check()
    if entry.cold:
        entry = kind(dice, entry.engine)
    places = places_of(entry.run)
    if entry.cold:
        entry = kind(dice, entry.engine)
    start = time.perf_counter()
    entry.run()
    seconds = time.perf_counter() - start
    before, running = surroundings(), threads()
    for _ in range(entry.turns):
        if entry.cold:
            entry = kind(dice, entry.engine)
        real = dice.chance(0.4)
        if real:
            outcome = after_time(entry.run, dice.random() * seconds)
        else:
            # Any instruction is as likely as any other, however often it is passed.
            outcome = at_place(entry.run, dice.choice(dice.choice(places)))
        counts["real signals" if real else "interruptions at places"] += outcome.happened
        gc.collect()
        text = f"{shown}, interrupted {outcome.where}"
        after = surroundings()
        changed = {k: (before[k], after[k]) for k in before if before[k] != after[k]}
        if changed:
            return f"{text}: not as before: {changed}"
        try:
            entry.check_values()
            entry.check()
        except Exception:
            return f"{text}, and then:\n{traceback.format_exc()}"
        problem = in_another_thread(entry.check)
        if problem is not None:
            return f"{text}: {problem}"
        entry.clean_up()
        left = wait_for_threads(running)
        if left:
            return f"{text}: threads that do not end: {left}"
    return None
