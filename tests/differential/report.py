"""The command: draws calls, compares, and prints what differs."""

from __future__ import annotations

import argparse
import collections
import fnmatch
import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any

from tests.differential.accepted import reason
from tests.differential.calls import Call, Entry
from tests.differential.catalogue import CATALOGUE
from tests.differential.compare import Difference, compare, run
from tests.differential.programs import draw_program
from tests.differential.signatures import differing_signatures


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    entries = [e for label, e in CATALOGUE.items() if matches(label, e, options.ops)]
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    warnings.simplefilter("ignore")
    from rich.console import Console
    from rich.progress import track

    console = Console(soft_wrap=True)
    ours, theirs = libraries()
    signatures = [] if options.ops else differing_signatures(ours, theirs)
    tally = Tally(options.accepted)
    calls = list(drawn(entries, options))
    for call in track(calls, "Comparing", console=console, disable=not console.is_terminal):
        with_second = call.entry.second and call.seed % 3 == 0
        there = run(theirs, call, with_second)
        tally.add(call, compare(call, run(ours, call, with_second), there))
    tally.show(console, options.show, signatures)
    return int(bool(tally.differing or signatures))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make differential", description="Compares tapeflow with TensorFlow, call by call."
    )
    parser.add_argument("--seed", type=int, default=0, help="other calls with every seed")
    parser.add_argument("--count", type=int, default=6000, help="how many calls, about")
    parser.add_argument("--ops", default="", help="only these: math.*, or part of a name")
    parser.add_argument("--show", type=int, default=1, help="how many calls to show for each op")
    parser.add_argument("--accepted", action="store_true", help="show accepted differences, too")
    return parser.parse_args(arguments)


def libraries() -> tuple[Any, Any]:
    import tensorflow

    import tapeflow

    for library in (tensorflow, tapeflow):
        library.get_logger().setLevel(logging.ERROR)
    return tapeflow, tensorflow


def matches(label: str, entry: Entry, pattern: str) -> bool:
    return any(fnmatch.fnmatch(name, pattern) or pattern in name for name in (label, entry.name))


def drawn(entries: list[Entry], options: argparse.Namespace) -> Iterator[Call]:
    """Equally many calls of every entry, and a tenth as programs."""
    programs = 0 if options.ops not in ("", "programs") else max(1, options.count // 10)
    if entries:
        each = -(-(options.count - programs) // len(entries))
        for entry in entries:
            yield from (entry.draw(options.seed, number) for number in range(each))
    yield from (draw_program(options.seed, number) for number in range(programs))


class Tally:
    """What was compared, by namespace, and what differed, by op."""

    def __init__(self, all_shown: bool) -> None:
        self.all_shown = all_shown
        self.calls: collections.Counter[str] = collections.Counter()
        self.accepted: collections.Counter[str] = collections.Counter()
        self.differing: collections.Counter[str] = collections.Counter()
        self.reasons: collections.Counter[str] = collections.Counter()
        self.shown: dict[tuple[str, str, str], list[Difference]] = {}

    def add(self, call: Call, difference: Difference | None) -> None:
        place = namespace(call.entry)
        self.calls[place] += 1
        if difference is None:
            return
        why = reason(difference)
        if why is not None:
            self.accepted[place] += 1
            self.reasons[why] += 1
        else:
            self.differing[place] += 1
        if why is None or self.all_shown:
            aspect = f"{difference.aspect}{f' ({why})' if why else ''}"
            key = (call.entry.name, difference.step, aspect)
            self.shown.setdefault(key, []).append(difference)

    def show(self, console: Any, count: int, signatures: list[str]) -> None:
        from rich.markup import escape
        from rich.table import Table

        for (name, step, aspect), found in sorted(self.shown.items()):
            console.print(f"\n[bold]{escape(name)}[/bold]: {step}, {aspect}, {len(found)} calls")
            for difference in sorted(found, key=lambda d: len(str(d.call)))[:count]:
                console.print(f"  {escape(str(difference.call))}", highlight=False)
                console.print(f"    {escape(difference.summary)}", style="dim", highlight=False)
        for line in signatures:
            console.print(f"[bold]signature[/bold] {escape(line)}", highlight=False)
        if self.reasons:
            table = Table("calls", "accepted difference", title="Accepted")
            for why, number in self.reasons.most_common():
                table.add_row(str(number), escape(why))
            console.print(table)
        table = Table("namespace", "calls", "equal", "accepted", "different", title="Compared")
        for place in sorted(self.calls):
            table.add_row(place, *map(str, self.row(place)))
        totals = [sum(column) for column in zip(*map(self.row, self.calls), strict=True)]
        table.add_section()
        table.add_row("all", *map(str, totals))
        console.print(table)

    def row(self, place: str) -> tuple[int, int, int, int]:
        calls, accepted, wrong = (c[place] for c in (self.calls, self.accepted, self.differing))
        return calls, calls - accepted - wrong, accepted, wrong


def namespace(entry: Entry) -> str:
    if entry.name == "program":
        return "tapes"
    if entry.expression is not None:
        return "expressions"
    return "tf." + entry.name.rpartition(".")[0] if "." in entry.name else "tf"
