"""What can be said of measurements in a cell, and the tables in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from rich.table import Table
from rows import (
    BUSY,
    COMPILED,
    COMPILED_COLUMNS,
    COMPILED_PEERS,
    EAGER,
    EAGER_COLUMNS,
    EXTRA_COLUMNS,
    FIRST,
    FIRST_CALLS,
    KERAS,
    KERAS_COLUMNS,
    MEMORY,
    MEMORY_COLUMNS,
    MOST_WHEN_BUSY,
    PEERS,
    ROWS,
    Workload,
)

ALL_COMPILED = COMPILED_COLUMNS | EXTRA_COLUMNS
NAMES = EXTRA_COLUMNS | COMPILED_COLUMNS | EAGER_COLUMNS
COMPILED_ROWS = [row for row, about in (COMPILED | FIRST_CALLS).items() if not about.variant_of]
VARIANTS = {row: about for row, about in COMPILED.items() if about.variant_of}

Key = tuple[str, str]
Versions = dict[str, dict[str, str]]


class Numbers:
    """What was measured for each library and row, and what can be said about it in a cell.

    Where a workload was written in two ways, its row has the numbers of the faster.
    """

    def __init__(
        self, measured: dict[Key, list[float]], versions: Versions, missing: dict[Key, str]
    ) -> None:
        self.measured = measured
        self.versions = versions
        self._missing = missing
        self.values = _with_faster_variants(measured)
        self._medians = {key: median(numbers) for key, numbers in self.values.items()}

    def heading(self, library: str, name: str) -> str:
        version = self.versions.get(library, {}).get("library", "")
        return f"{name} {version.split('+')[0]}".strip()

    def cell(self, library: str, row: str) -> str:
        number = self._medians.get((library, row))
        if number is None:
            return self._missing.get((library, row.removesuffix(FIRST)), "–")
        return quantity(number, ROWS[row])

    def cell_with_ratio(self, library: str, row: str) -> str:
        times = None if library == "tapeflow" else self.ratio(row, [library])
        text = self.cell(library, row)
        return text if times is None else f"{text} ({significant(times)}×)"

    def ratio(self, row: str, peers: Iterable[str]) -> float | None:
        """Return how many times less tapeflow needs than the best of them, if both are known."""
        ours = self._medians.get(("tapeflow", row))
        theirs = [self._medians[peer, row] for peer in peers if (peer, row) in self._medians]
        return min(theirs) / ours if ours is not None and theirs else None

    def best(self, row: str, peers: Iterable[str]) -> str | None:
        """Return which of these takes least, if one was measured."""
        found = {peer: self._medians[peer, row] for peer in peers if (peer, row) in self._medians}
        return min(found, key=found.__getitem__) if found else None

    def spread(self, library: str, row: str) -> str:
        numbers = self.values.get((library, row))
        if numbers is None:
            return "–"
        return f"{quantity(min(numbers), ROWS[row])} to {quantity(max(numbers), ROWS[row])}"

    def comparison(self, row: str) -> list[str]:
        """Return the two last cells of a compiled row: the ratio to the best peer, and its aim."""
        about = ROWS[row]
        reached = self.ratio(row, about.against)
        return [
            "–" if reached is None else f"{significant(reached)}×",
            "–" if about.aim is None else f"{about.aim:g}×",
        ]


def _with_faster_variants(measured: dict[Key, list[float]]) -> dict[Key, list[float]]:
    values = dict(measured)
    for row, about in VARIANTS.items():
        base = about.variant_of or row
        for library in about.libraries:
            this, other = (
                measured.get((library, r)) or measured.get((library, r + FIRST))
                for r in (row, base)
            )
            if this and (not other or median(this) < median(other)):
                for end in ("", FIRST):
                    if (library, row + end) in measured:
                        values[library, base + end] = measured[library, row + end]
    return values


# In the terminal.


def terminal_tables(numbers: Numbers, libraries: Iterable[str]) -> list[Table]:
    eager = _terminal_table(
        "Eager mode, CPU; in brackets: how many times tapeflow is better",
        [numbers.heading(lib, name) for lib, name in EAGER_COLUMNS.items() if lib in libraries],
    )
    for row, about in EAGER.items():
        shown = [numbers.cell_with_ratio(lib, row) for lib in EAGER_COLUMNS if lib in libraries]
        if set(shown) != {"–"}:
            eager.add_row(about.title, *shown)
    columns = {lib: name for lib, name in ALL_COMPILED.items() if lib in libraries}
    compiled = _terminal_table("Compiled, CPU", [*columns.values(), "vs. best", "aim"])
    for row in [*COMPILED_ROWS, *VARIANTS]:
        shown = [numbers.cell(library, row) for library in columns]
        if set(shown) != {"–"}:
            compiled.add_row(ROWS[row].title, *shown, *numbers.comparison(row))
    columns = {lib: name for lib, name in KERAS_COLUMNS.items() if lib in libraries}
    keras = _terminal_table("Keras, CPU", [*columns.values(), "vs. best", "aim"])
    for row in KERAS:
        shown = [numbers.cell(library, row) for library in columns]
        if set(shown) != {"–"}:
            keras.add_row(ROWS[row].title, *shown, *numbers.comparison(row))
    columns = {lib: name for lib, name in MEMORY_COLUMNS.items() if lib in libraries}
    memory = _terminal_table("Memory of a step, CPU", [*columns.values(), "vs. best", "aim"])
    for row in MEMORY:
        shown = [numbers.cell(library, row) for library in columns]
        if set(shown) != {"–"}:
            memory.add_row(ROWS[row].title, *shown, *numbers.comparison(row))
    return [table for table in (eager, compiled, memory, keras) if table.row_count]


def quick_table(measured: Mapping[Key, list[float]], before: dict[str, Any]) -> Table:
    """Return what tapeflow takes now, and what it and the best peer took on this kind of machine before."""
    table = _terminal_table("tapeflow", ["now", "before", "times as fast", "best peer before"])
    for row in BUSY:
        now = measured.get(("tapeflow", row))
        if now:
            stored = before["rows"].get(row, {"values": {}})["values"]
            ours = median(stored["tapeflow"]) if "tapeflow" in stored else None
            peers = [median(v) for library, v in stored.items() if library in ROWS[row].against]
            table.add_row(
                f"{'compiled: ' if row in COMPILED else ''}{ROWS[row].title}",
                quantity(median(now), ROWS[row]),
                "–" if ours is None else quantity(ours, ROWS[row]),
                "–" if ours is None else f"{significant(ours / median(now))}×",
                quantity(min(peers), ROWS[row]) if peers else "–",
            )
    return table


def busy_table(
    quiet: Mapping[Key, list[float]], busy: Mapping[Key, list[float]], count: int
) -> Table:
    """Return how many times longer each library takes beside busy processes."""
    libraries = [lib for lib in ALL_COMPILED if any(key[0] == lib for key in busy)]
    with_them = "one busy process" if count == 1 else f"{count} busy processes"
    names = [NAMES[library] for library in libraries]
    table = _terminal_table(f"Beside {with_them}: time, and how many times the quiet one", names)
    for row in BUSY:
        cells = [slower(quiet.get((lib, row)), busy.get((lib, row)), row) for lib in libraries]
        if set(cells) != {"–"}:
            table.add_row(f"{'compiled: ' if row in COMPILED else ''}{ROWS[row].title}", *cells)
    table.caption = f"at most {MOST_WHEN_BUSY}×, with one on two cores" if count == 1 else None
    return table


def slower(quiet: list[float] | None, busy: list[float] | None, row: str) -> str:
    """Return the time beside busy processes, and how many times the quiet one it is."""
    if not busy:
        return "–"
    text = quantity(median(busy), ROWS[row])
    return f"{text} ({significant(median(busy) / median(quiet))}×)" if quiet else text


def _terminal_table(title: str, headings: Iterable[str]) -> Table:
    table = Table(title=title)
    table.add_column("")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def target_lines(numbers: Numbers) -> list[str]:
    lines = []
    for row, about in ROWS.items():
        aims = [([peer], NAMES[peer], aim) for peer, aim in about.targets]
        if about.aim is not None and not about.variant_of:
            names = " and ".join(NAMES[peer] for peer in about.against)
            best = about.against in (COMPILED_PEERS, PEERS)
            whom = "the best peer" if best else names
            aims.insert(0, (list(about.against), whom, about.aim))
        for peers, name, aim in aims:
            reached = numbers.ratio(row, peers)
            if reached is not None:
                mark = "[green]reached[/green]" if reached >= aim else "[yellow]missed[/yellow]"
                kind = "Compiled: " if row in COMPILED else "Keras: " if row in KERAS else ""
                against = f"{kind}{about.title} against {name}"
                lines.append(f"{against}: {significant(reached)}×, aim {aim:g}× {mark}")
    return lines


def quantity(number: float, about: Workload) -> str:
    if about.in_bytes:
        return f"{number / 2**20:.0f} MiB"
    amount, unit = (number, "s") if number >= 1 else (number * 1e3, "ms")
    return f"{significant(amount)} {unit}"


def significant(number: float) -> str:
    """Return about three significant digits, trailing zeros kept."""
    digits = 0 if number >= 100 else 1 if number >= 10 else 2
    return f"{number:.{digits}f}"
