"""The command: draws calls, has them made, and prints which are not answered well."""

from __future__ import annotations

import argparse
import collections
from typing import Any

from tests.differential.calls import Call
from tests.differential.draw import Dice
from tests.differential.report import matches
from tests.hostile.calls import drawn
from tests.hostile.documented import is_documented
from tests.hostile.pool import Worker
from tests.hostile.targets import entries

ENGINES = ("eager", "numpy", "xla", "hybrid")


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    found = {k: e for k, e in entries().items() if matches(k, e, options.ops)}
    counts: collections.Counter[str] = collections.Counter()
    with Worker(engine=options.engine, gigabytes=options.gigabytes) as worker:
        calls = drawn(found, options.seed, options.calls, options.value)
        for number, (label, call) in enumerate(calls):
            if number < options.skip:
                continue
            outcome = made(worker, call, number)
            verdict = judged(label, outcome)
            counts[verdict] += 1
            if verdict not in ("result", "raised"):
                print(f"\n{verdict} #{number} {label}: {shown(call)}")
                print("   ", outcome.get("message", "")[:300])
                if options.trace and "trace" in outcome:
                    print(outcome["trace"])
    print(dict(counts))
    return int(any(v not in ("result", "raised") for v in counts))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make hostile", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="other calls with every seed")
    parser.add_argument("--calls", type=int, default=20000, help="how many")
    parser.add_argument("--skip", type=int, default=0, help="how many of them are left out")
    parser.add_argument("--engine", choices=ENGINES, default="eager")
    parser.add_argument("--ops", default="", help="only these: math.*, or part of a name")
    parser.add_argument("--gigabytes", type=float, default=3.0, help="that a call may take")
    parser.add_argument(
        "--value", default="", help="what hostile arguments are, such as nested(5000)"
    )
    parser.add_argument("--trace", action="store_true", help="show where exceptions come from")
    return parser.parse_args(arguments)


def made(worker: Worker, call: Call, number: int) -> dict[str, Any]:
    dice = Dice(call.seed, number)
    return worker.call(call, gradient=dice.chance(0.3), unknown=dice.chance(0.3))


def judged(label: str, outcome: dict[str, Any]) -> str:
    """`result`, `raised`, or what is wrong."""
    if "died" in outcome:
        return f"DIED ({outcome['died']})"
    if "raised" not in outcome:
        return "result"
    if is_documented(label, outcome["raised"]):
        return "raised"
    return f"UNDOCUMENTED {'.'.join(outcome['raised'][0])}"


def shown(call: Call) -> str:
    text = str(call)
    return text if len(text) < 500 else text[:500] + "..."
