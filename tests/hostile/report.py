"""The command: draws calls, has them made, and prints which are not answered well."""

from __future__ import annotations

import argparse
import collections
from typing import Any

from tests.differential.accepted import reason
from tests.differential.calls import Call
from tests.differential.compare import Difference, Looseness, differing
from tests.differential.draw import Dice
from tests.differential.report import matches
from tests.hostile.calls import drawn
from tests.hostile.documented import is_documented
from tests.hostile.pool import Worker
from tests.hostile.targets import entries

ENGINES = ("eager", "numpy", "xla", "hybrid")
WELL = ("result", "raised")
RANDOM = ("random", "shuffle", "dropout", "sampler", "make_seeds")  # other numbers at each call


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    found = {k: e for k, e in entries().items() if matches(k, e, options.ops)}
    tally = Tally(options)
    ours = Worker(engine=options.engine, gigabytes=options.gigabytes)
    theirs = Worker(options.peer, library="tensorflow", gigabytes=options.gigabytes)
    with ours, theirs:
        calls = drawn(found, options.seed, options.calls, options.value)
        for number, (label, call) in enumerate(calls):
            if number < options.skip:
                continue
            outcome = made(ours, call, number)
            tally.add(label, number, call, outcome)
            if options.peer and judged(label, outcome) in WELL:
                tally.compare(label, number, call, outcome, made(theirs, call, number))
    tally.show()
    return int(any(verdict not in WELL for verdict in tally.verdicts))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make hostile", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="other calls with every seed")
    parser.add_argument("--calls", type=int, default=20000, help="how many")
    parser.add_argument("--skip", type=int, default=0, help="how many of them are left out")
    parser.add_argument("--engine", choices=ENGINES, default="eager")
    parser.add_argument("--ops", default="", help="only these: math.*, or part of a name")
    parser.add_argument("--gigabytes", type=float, default=3.0, help="that a call may take")
    parser.add_argument("--value", default="", help="what hostile arguments are: nested(5000)")
    parser.add_argument("--trace", action="store_true", help="show where exceptions come from")
    parser.add_argument("--peer", default="", help="a Python with TensorFlow, to compare with")
    parser.add_argument("--show", action="store_true", help="show where only one gives a result")
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


class Tally:
    """What came of the calls, and how that compares with TensorFlow."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.verdicts: collections.Counter[str] = collections.Counter()
        self.compared: collections.Counter[str] = collections.Counter()

    def add(self, label: str, number: int, call: Call, outcome: dict[str, Any]) -> None:
        verdict = judged(label, outcome)
        self.verdicts[verdict] += 1
        if verdict not in WELL:
            print(f"\n{verdict} #{number} {label}: {shown(call)}")
            print("   ", outcome.get("message", "")[:300])
            if self.options.trace and "trace" in outcome:
                print(outcome["trace"])

    def compare(self, label: str, number: int, call: Call, ours: Any, theirs: Any) -> None:
        verdict = compared(call, ours, theirs)
        self.compared[verdict] += 1
        if verdict == "different" or (self.options.show and verdict.startswith("only")):
            print(f"\n{verdict} #{number} {label}: {shown(call)}")
            for library, outcome in (("here", ours), ("there", theirs)):
                kind = ".".join(outcome["raised"][0]) if "raised" in outcome else ""
                text = f"{kind} {outcome.get('message', outcome.get('result'))}"
                print(f"    {library}: {' '.join(text.split())[:300]}")

    def show(self) -> None:
        for title, counts in (("Answered", self.verdicts), ("Compared", self.compared)):
            if counts:
                print(f"\n{title}: {sum(counts.values())} calls")
                for verdict, count in counts.most_common():
                    print(f"  {count:6} {verdict}")


def compared(call: Call, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """How two outcomes differ, in a word."""
    if "died" in theirs:
        return f"TensorFlow {theirs['died']}"
    if "raised" in ours or "raised" in theirs:
        if "raised" in ours and "raised" in theirs:
            return "both raise"
        return (
            "only TensorFlow gives a result" if "raised" in ours else "only tapeflow gives a result"
        )
    loose = Looseness(call.entry.loose)
    values = call.entry.values and not any(word in str(call) for word in RANDOM)
    found = differing(ours["result"], theirs["result"], loose, values)
    if found is None:
        return "equal"
    excuse = reason(Difference(call, "result", *found[:3], path=found[3:]))
    return "different" if excuse is None else "different, as is accepted"


def shown(call: Call) -> str:
    text = str(call)
    return text if len(text) < 500 else text[:500] + "..."
