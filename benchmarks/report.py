"""Turn measurements into the tables in the terminal, `results.md` and the README's block."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from statistics import median

from rich.table import Table
from rows import (
    CHECKED,
    CHECKED_COLUMNS,
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
    PEERS,
    ROWS,
    Workload,
)

GPU_TABLE = Path(__file__).parent / "gpu/table.md"  # what was measured where there is one
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
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
    return [table for table in (eager, compiled, keras) if table.row_count]


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


# In Markdown.


def eager_table(numbers: Numbers) -> str:
    headings = [numbers.heading(library, name) for library, name in EAGER_COLUMNS.items()]
    body = []
    for row, about in EAGER.items():
        ours, *theirs = [numbers.cell_with_ratio(library, row) for library in EAGER_COLUMNS]
        body.append([about.title, f"**{ours}**", *theirs])
    return _markdown(headings, body)


def compiled_table(numbers: Numbers, columns: Mapping[str, str] = COMPILED_COLUMNS) -> str:
    body = []
    for row in COMPILED_ROWS:
        ours, *theirs = [numbers.cell(library, row) for library in columns]
        body.append([ROWS[row].title, f"**{ours}**", *theirs, *numbers.comparison(row)])
    return _markdown([*columns.values(), "vs. best", "aim"], body)


def keras_table(numbers: Numbers) -> str:
    body = []
    for row, about in KERAS.items():
        ours, *theirs = [numbers.cell(library, row) for library in KERAS_COLUMNS]
        body.append([about.title, f"**{ours}**", *theirs, *numbers.comparison(row)])
    return _markdown([*KERAS_COLUMNS.values(), "vs. best", "aim"], body)


def checked_table(numbers: Numbers) -> str:
    body = [
        [about.title, *(numbers.cell(library, row) for library in CHECKED_COLUMNS)]
        for row, about in CHECKED.items()
    ]
    return _markdown(list(CHECKED_COLUMNS.values()), body)


def _markdown(headings: list[str], body: list[list[str]]) -> str:
    lines = [["", *headings], ["---", *["---:"] * len(headings)], *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _spread_table(numbers: Numbers, columns: Mapping[str, str], rows: Iterable[str]) -> str:
    body = [[ROWS[row].title, *(numbers.spread(lib, row) for lib in columns)] for row in rows]
    return _markdown(list(columns.values()), body)


def _descriptions(workloads: Mapping[str, Workload]) -> str:
    return "\n".join(f"- **{about.title}**: {about.description}." for about in workloads.values())


def _variants_table(numbers: Numbers) -> str:
    """Return the times of workloads that were written in two ways, both of them."""
    body = []
    for row, about in VARIANTS.items():
        for name in (about.variant_of or row, row):
            for end in ("", FIRST):
                cells = []
                for library in about.libraries:
                    found = numbers.measured.get((library, name + end))
                    cells.append(quantity(median(found), about) if found else "–")
                body.append([ROWS[name + end].title, *cells])
    columns = {library: NAMES[library] for row in VARIANTS.values() for library in row.libraries}
    return _markdown(list(columns.values()), body)


def results_page(numbers: Numbers, reports: dict[str, str], rounds: int) -> str:
    """Return `results.md`: the tables, what was run, the spread, and on which machine."""
    rounds_text = "one round" if rounds == 1 else f"{rounds} rounds"
    executors = "\n\n".join(
        f"{ROWS[row].title}:\n\n```text\n{text}\n```" for row, text in reports.items()
    )
    return f"""# Benchmark results

Written by `make bench`, on the CPU, every library with its own default threads.

## Eager

In brackets: how many times faster tapeflow is, or how many times less memory it takes.

{eager_table(numbers)}

{_descriptions(EAGER)}

## Compiled

`tf.function` in tapeflow and in TensorFlow, there also with `jit_compile=True` ("TensorFlow XLA"),
`torch.compile`, PyTorch without it, and `jax.jit` with donated buffers. The last columns: how many
times faster tapeflow is than the best peer in the row, or, in a first call, than the faster of
TensorFlow XLA and torch.compile; and what it aims at.

{compiled_table(numbers, ALL_COMPILED)}

{_descriptions(COMPILED)}
- **first call**: from the call to its results, in a fresh process that has imported the library, with no
  compiled programs on the disk. tapeflow begins on NumPy and compiles later, in the calls that the
  reports below show, when a function has run for about as long as that will take; with
  `jit_compile=True` ("tapeflow XLA") it compiles in the first call.

The two ways of writing the LSTM:

{_variants_table(numbers)}

## What the checks cost

A function whose executor is chosen refuses on XLA, too, what eager mode refuses; `jit_compile=True` does as XLA does.
Both columns are XLA.

{checked_table(numbers)}

{_descriptions(CHECKED)}

## Keras

The same script on four backends; times are those of one batch. The loops use `tf.GradientTape`, which two of them
have.

{keras_table(numbers)}

{_descriptions(KERAS)}

## How

Each number is the median of {rounds_text}, or of the first alone where it took more than a minute to
measure. A round measures each library in a fresh process; a time is that of the best batch of calls
within a second, after a warm-up: of 0.3 s in eager mode, and when compiled until the speed is stable
and tapeflow has chosen its executor. Each call waits for all its results. The libraries take turns.
That all of them compute the same numbers, over several training steps, is checked in the same run,
for tapeflow with the executor that it chose, too.

## What tapeflow chose

What `fn.report()` says after the last round: the executors that were tried, and which one stayed.

{executors}

## Spread over the rounds

{_spread_table(numbers, EAGER_COLUMNS, EAGER)}

{_spread_table(numbers, COMPILED_COLUMNS, COMPILED_ROWS)}

{_spread_table(numbers, KERAS_COLUMNS, KERAS)}

## Machine

{machine(numbers.versions)}

{GPU_TABLE.read_text().strip()}
"""


def readme_block(numbers: Numbers) -> str:
    return f"""Eager mode; in brackets: how many times faster tapeflow is, or how many times less memory it takes:

{eager_table(numbers)}

Compiled with `tf.function` (TensorFlow XLA: with `jit_compile=True`). The last columns: how many times
faster tapeflow is than the best of the others, or, in a first call, than the faster of TensorFlow XLA
and torch.compile; and what it aims at:

{compiled_table(numbers)}

Keras, the same script on four backends, the time of one batch; the last columns: how many times faster
tapeflow is than the best of the others, and what it aims at:

{keras_table(numbers)}

On {processor()}, {os.cpu_count()} cores, {date.today():%d %B %Y}; made by `make bench`, which says
[what was run and how](benchmarks/results.md)."""


def update_readme(readme: Path, block: str) -> None:
    """Replace what stands between the two markers."""
    text = readme.read_text()
    if BEGIN not in text or END not in text:
        raise ValueError(f"{readme.name} must contain the markers {BEGIN} and {END}.")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    readme.write_text(f"{before}{BEGIN}\n{block}\n{END}{after}")


def quantity(number: float, about: Workload) -> str:
    if about.in_bytes:
        return f"{number / 2**20:.0f} MiB"
    amount, unit = (number, "s") if number >= 1 else (number * 1e3, "ms")
    return f"{significant(amount)} {unit}"


def significant(number: float) -> str:
    """Return about three significant digits, trailing zeros kept."""
    digits = 0 if number >= 100 else 1 if number >= 10 else 2
    return f"{number:.{digits}f}"


def machine(versions: Versions) -> str:
    ours = versions["tapeflow"]
    peers = ", ".join(f"{EAGER_COLUMNS[peer]} {versions[peer]['library']}" for peer in PEERS)
    xla = f" (XLA through jax {ours['jax']})" if ours.get("jax") else ""
    lines = [
        f"{processor()}, {os.cpu_count()} cores, {memory()}",
        f"{platform.system()}, {platform.machine()}",
        f"Python {ours['python']}, NumPy {ours['numpy']}",
        f"tapeflow {ours['library']}{xla}, {peers} (with Python {versions['torch']['python']})",
        f"{date.today():%d %B %Y}",
    ]
    return "\n".join(f"- {line}" for line in lines)


def processor() -> str:
    """Return the CPU's name as its maker gives it, where the system tells."""
    commands = {
        "Linux": (["lscpu"], "Model name:"),
        "Darwin": (["sysctl", "machdep.cpu.brand_string"], "machdep.cpu.brand_string:"),
    }
    command, label = commands.get(platform.system(), ([], ""))
    try:
        lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    except (OSError, IndexError, ValueError):
        lines = []
    for line in lines:
        if line.strip().startswith(label):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def memory() -> str:
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{size / 2**30:.0f} GiB of memory"
