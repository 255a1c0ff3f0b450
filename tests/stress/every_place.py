"""`python -m tests.stress.every_place EagerStep [ENGINE]`: interrupts an entry point at each of its instructions.

For whoever mends one: `make stress` draws a few of them each time.
"""

from __future__ import annotations

import subprocess
import sys

from tests.stress.dice import Dice
from tests.stress.entries import ENTRIES
from tests.stress.interrupting import at_place
from tests.stress.interrupts import flaw_after, prepared, state_before
from tests.stress.places import places_of


def main(name: str, engine: str, start: int) -> int:
    """Interrupts at the places from one on, until one fails. The number of the next, or 0 if that was the last."""
    kind = ENTRIES[name]
    dice = Dice("every place", 0, 0)
    entry = kind(dice, engine)
    with entry.engine_running():
        entry = prepared(kind, entry, dice)
        places = [numbers[0] for numbers in places_of(entry.run)]
        before = state_before()
        for number in range(start, len(places)):
            if entry.cold:
                entry = kind(dice, entry.engine)
            outcome = at_place(entry.run, places[number])
            flaw = flaw_after(entry, outcome, before)
            if flaw is not None:
                print(f"{number} of {len(places)}: {flaw}", flush=True)
                return number + 1
        print(f"{len(places)} instructions of {name} {entry.engine}", flush=True)
    return 0


def outside(arguments: list[str]) -> int:
    """A process sees one failure; then another goes on."""
    start, failures = 0, 0
    while True:
        command = [
            sys.executable,
            "-m",
            "tests.stress.every_place",
            "--from",
            str(start),
            *arguments,
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        lines = done.stdout.splitlines()
        print("\n".join(lines[:-1]), flush=True)
        if not lines or not lines[-1].startswith("next "):
            print(f"the process ended with status {done.returncode}\n{done.stdout}")
            return 1
        start = int(lines[-1].split()[1])
        if not start:
            break
        failures += 1
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    if sys.argv[1] == "--from":
        print("next", main(sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else "", int(sys.argv[2])))
    else:
        raise SystemExit(outside(sys.argv[1:]))
