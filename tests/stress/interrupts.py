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
    Interrupted,
    after_time,
    at_place,
    in_another_thread,
    surroundings,
    threads,
    wait_for_threads,
)
from tests.stress.places import places_of
from tests.stress.run import counts
from tests.stress.scenarios import Broken

del interrupt_entries, interrupt_files  # they add their entries when they are imported


def run_case(seed: int, case: int) -> str | None:
    """Interrupts one entry point a few times."""
    names = sorted(ENTRIES)
    turn, number = divmod(case, len(names))
    # So that those at the end are not always the ones without time.
    Dice("entries", seed, turn).shuffle(names)
    name = names[number]
    dice = Dice("interrupts", seed, case)
    kind = ENTRIES[name]
    try:
        entry = kind(dice)
        with entry.engine_running():
            flaw = _interrupted(kind, entry, dice)
    except Broken as broken:
        return f"{name}: {broken}"
    except Exception:
        return f"{name}: {traceback.format_exc()}"
    return None if flaw is None else f"{name} {entry.engine}: {flaw}"


def _interrupted(kind: type[Entry], entry: Entry, dice: Dice) -> str | None:
    if not entry.in_this_process:
        for _ in range(entry.turns):
            entry.run()
        return None
    entry = prepared(kind, entry, dice)
    places = places_of(entry.run)
    if entry.cold:
        entry = kind(dice, entry.engine)
    start = time.perf_counter()
    entry.run()
    seconds = time.perf_counter() - start
    before = state_before()
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
        flaw = flaw_after(entry, outcome, before)
        if flaw is not None:
            return flaw
    return None


def prepared(kind: type[Entry], entry: Entry, dice: Dice) -> Entry:
    """An entry point that has run once without an interruption, which imports what is imported late."""
    entry.run()
    entry.check()
    return kind(dice, entry.engine) if entry.cold else entry


def state_before() -> tuple[dict[str, Any], set[str]]:
    """What has to be the same after an interruption. What there is now is not looked at by `gc.collect` any more."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    return surroundings(), threads()


def flaw_after(
    entry: Entry, outcome: Interrupted, before: tuple[dict[str, Any], set[str]]
) -> str | None:
    """What is not as it should be after an interruption, in words."""
    text = f"interrupted {outcome.where}"
    gc.collect()
    state, running = before
    after = surroundings()
    changed = {k: (state[k], after[k]) for k in state if state[k] != after[k]}
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
    return f"{text}: threads that do not end: {left}" if left else None
