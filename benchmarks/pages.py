"""The pages that are written from what was measured on all kinds of machines: `results.md`, and the README's block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import machines
from report import (
    ALL_COMPILED,
    COMPILED_ROWS,
    NAMES,
    VARIANTS,
    Numbers,
    quantity,
    significant,
    slower,
)
from rows import (
    BUSY,
    CALL_COLUMNS,
    CALLS,
    CHECKED,
    CHECKED_COLUMNS,
    COMPILED,
    COMPILED_COLUMNS,
    COMPILED_PEERS,
    EAGER,
    EAGER_COLUMNS,
    FIRST,
    KERAS,
    KERAS_COLUMNS,
    MEMORY,
    MEMORY_COLUMNS,
    MOST_WHEN_BUSY,
    PEERS,
    ROWS,
    Workload,
)

GPU_TABLE = Path(__file__).parent / "gpu/table.md"  # what was measured where there is one
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"

Document = dict[str, Any]  # what was measured on a kind of machine: see `machines`


def numbers_of(document: Document) -> Numbers:
    """What was measured on a kind of machine while it was quiet."""
    rows = document["rows"].items()
    return Numbers(
        {(lib, row): values for row, about in rows for lib, values in about["values"].items()},
        document["versions"],
        {(lib, row): why for row, about in rows for lib, why in about.get("missing", {}).items()},
    )


def heading(document: Document, of: Iterable[str] = ()) -> str:
    """A machine in a line, with the dates of some rows, or of all."""
    rows = document["rows"]
    dates = [rows[row]["date"] for row in of if row in rows]
    return machines.heading(document["machine"], dates or [r["date"] for r in rows.values()])


# Tables of one kind of machine.


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


def memory_table(numbers: Numbers) -> str:
    body = []
    for row, about in MEMORY.items():
        ours, *theirs = [numbers.cell(library, row) for library in MEMORY_COLUMNS]
        body.append([about.title, f"**{ours}**", *theirs, *numbers.comparison(row)])
    return _markdown([*MEMORY_COLUMNS.values(), "vs. best", "aim"], body)


def checked_table(numbers: Numbers) -> str:
    return _plain_table(numbers, CHECKED, CHECKED_COLUMNS)


def calls_table(numbers: Numbers) -> str:
    return _plain_table(numbers, CALLS, CALL_COLUMNS)


def _plain_table(numbers: Numbers, rows: dict[str, Workload], columns: dict[str, str]) -> str:
    body = [
        [about.title, *(numbers.cell(library, row) for library in columns)]
        for row, about in rows.items()
    ]
    return _markdown(list(columns.values()), body)


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


def busy_table(document: Document) -> str:
    """Return the times beside busy processes, for the libraries that were measured so."""
    levels = sorted(document["busy"], key=int)
    libraries = [
        library
        for library in COMPILED_COLUMNS
        if any(
            library in row["values"] for level in levels for row in document["busy"][level].values()
        )
    ]
    body = []
    for row in BUSY:
        quiet = document["rows"].get(row, {"values": {}})["values"]
        cells = [
            slower(
                quiet.get(lib), document["busy"][n].get(row, {"values": {}})["values"].get(lib), row
            )
            for lib in libraries
            for n in levels
        ]
        if set(cells) != {"–"}:
            body.append([f"{'compiled: ' if row in COMPILED else ''}{ROWS[row].title}", *cells])
    headings = [f"{NAMES[library]}, {n} busy" for library in libraries for n in levels]
    return _markdown(headings, body)


# All kinds of machines.


def side_by_side(documents: list[Document]) -> str:
    """Return for each row what tapeflow takes on each kind of machine, and the best of the others."""
    every = [numbers_of(document) for document in documents]
    body = []
    for row in (*EAGER, *COMPILED_ROWS, *MEMORY, *KERAS):
        kind = "compiled: " if row in COMPILED_ROWS else "Keras: " if row in KERAS else ""
        cells = []
        for numbers in every:
            peers = (
                PEERS if row in EAGER else COMPILED_PEERS if row in COMPILED else ROWS[row].against
            )
            best, times = numbers.best(row, peers), numbers.ratio(row, peers)
            cells += [f"**{numbers.cell('tapeflow', row)}**"]
            cells += [f"{numbers.cell(best, row)} ({NAMES[best]})" if best else "–"]
            cells += ["–" if times is None else f"{significant(times)}×"]
        if {*cells} != {"**–**", "–"}:
            body.append([f"{kind}{ROWS[row].title}", *cells])
    titles = [document["machine"]["processor"] for document in documents]
    return _markdown([h for t in titles for h in (f"tapeflow, {t}", "best peer", "")], body)


def _for_each(
    documents: list[Document], table: Callable[[Numbers], str], rows: Iterable[str]
) -> str:
    """Return a table for each kind of machine, under its name."""
    rows = list(rows)
    return "\n\n".join(
        f"On {heading(document, rows)}:\n\n{table(numbers_of(document))}"
        for document in documents
        if any(row in document["rows"] for row in rows)
    )


def _busy(documents: list[Document]) -> str:
    found = [f"On {heading(d)}:\n\n{busy_table(d)}" for d in documents if d["busy"]]
    return "\n\n".join(found) or "Not measured yet."


def _executors(document: Document) -> str:
    texts = [
        f"{ROWS[row].title}:\n\n```text\n{text}\n```" for row, text in document["reports"].items()
    ]
    return f"On {heading(document)}:\n\n" + "\n\n".join(texts)


def _spreads(document: Document) -> str:
    if document["rounds"] == 1:
        return f"On {heading(document)}: one round."
    numbers = numbers_of(document)
    tables = [
        _spread_table(numbers, EAGER_COLUMNS, EAGER),
        _spread_table(numbers, COMPILED_COLUMNS, COMPILED_ROWS),
        _spread_table(numbers, KERAS_COLUMNS, KERAS),
    ]
    rounds = f"On {heading(document)}, {document['rounds']} rounds:\n\n"
    return rounds + "\n\n".join(tables)


def _machine(document: Document) -> str:
    machine, versions = document["machine"], document["versions"]
    ours = versions["tapeflow"]
    peers = ", ".join(
        f"{EAGER_COLUMNS[p]} {versions[p]['library']}" for p in PEERS if p in versions
    )
    xla = f" (XLA through jax {ours['jax']})" if ours.get("jax") else ""
    details = (
        f"{machine['memory']}; {machine['system']}; Python {ours['python']}, NumPy {ours['numpy']}"
    )
    return f"- {heading(document)}, {details}; tapeflow {ours['library']}{xla}, {peers}"


def results_page(documents: list[Document]) -> str:
    """Return `results.md`: the tables, what was run, the spread, and on which machines."""
    return f"""# Benchmark results

Written by `make bench` from the files in `benchmarks/measured`, one for each kind of machine; on the CPU, every library
with its own default threads.

## Machines

{_lines(map(_machine, documents))}

## Side by side

What tapeflow takes, the best of the others, and how many times less tapeflow takes.

{side_by_side(documents)}

## Eager

In brackets: how many times faster tapeflow is, or how many times less memory it takes.

{_for_each(documents, eager_table, EAGER)}

{_descriptions(EAGER)}

## Compiled

`tf.function` in tapeflow and in TensorFlow, there also with `jit_compile=True` ("TensorFlow XLA"),
`torch.compile`, PyTorch without it, and `jax.jit` with donated buffers. The last columns: how many
times faster tapeflow is than the best peer in the row, or, in a first call, than the faster of
TensorFlow XLA and torch.compile; and what it aims at.

{_for_each(documents, lambda numbers: compiled_table(numbers, ALL_COMPILED), COMPILED)}

{_descriptions(COMPILED)}
- **first call**: from the call to its results, in a fresh process that has imported the library, with no
  compiled programs on the disk. tapeflow begins on NumPy and compiles later, in the calls that the
  reports below show, when a function has run for about as long as that will take; with
  `jit_compile=True` ("tapeflow XLA") it compiles in the first call.

The two ways of writing the LSTM:

{_for_each(documents, _variants_table, VARIANTS)}

## Beside busy processes

Eager and compiled rows again while one and two other processes use a core each; in brackets: how many times the quiet
time. The aim: at most {MOST_WHEN_BUSY} times with one, on two cores.

{_busy(documents)}

## Memory

{_for_each(documents, memory_table, MEMORY) or "Not measured yet."}

The training steps of the rows above, on 8 times as many samples: the highest resident memory in a step, above that of
the same program with one sample. So what is held from step to step is counted; the library, its compiler and the
parameters are not.

## How cost grows

`python benchmarks/growth.py`, drawn by `python benchmarks/growth.py --draw`: [growth.svg](../docs/images/growth.svg).

## What the checks cost

A function whose executor is chosen refuses on XLA, too, what eager mode refuses; `jit_compile=True` does as XLA does.
Both columns are XLA.

{_for_each(documents, checked_table, CHECKED) or "Not measured yet."}

{_descriptions(CHECKED)}

## What a call costs

Small programs, so that the time is that of the call itself. All columns are XLA.

{_for_each(documents, calls_table, CALLS) or "Not measured yet."}

{_descriptions(CALLS)}

## Keras

The same script on four backends; times are those of one batch. The loops use `tf.GradientTape`, which two of them
have.

{_for_each(documents, keras_table, KERAS)}

{_descriptions(KERAS)}

## How

Each number is the median of the rounds, or of the first alone where it took more than a minute to
measure. A round measures each library in a fresh process; a time is that of the best batch of calls
within a second, after a warm-up: of 0.3 s in eager mode, and when compiled until the speed is stable
and tapeflow has chosen its executor. Each call waits for all its results. The libraries take turns.
That all of them compute the same numbers, over several training steps, is checked in the same run,
for tapeflow with the executor that it chose, too.

## What tapeflow chose

What `fn.report()` says after the last round: the executors that were tried, and which one stayed.

{_paragraphs(map(_executors, documents))}

## Spread over the rounds

{_paragraphs(map(_spreads, documents))}

{GPU_TABLE.read_text().strip()}
"""


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(texts)


def _paragraphs(texts: Iterable[str]) -> str:
    return "\n\n".join(texts)


def readme_block(documents: list[Document]) -> str:
    """Return the tables of the README: of the kind of machine on which most was measured, the newest of several."""
    shown = max(documents, key=lambda d: (len(d["rows"].keys() & README_ROWS), heading(d)))
    numbers = numbers_of(shown)
    return f"""\
Eager mode. The numbers in brackets say how many times faster tapeflow is, or how many times less memory it takes:

{eager_table(numbers)}

Compiled with `tf.function` ("TensorFlow XLA" is `jit_compile=True`). "vs. best" says how many times faster tapeflow
is than the best of the others or, for a first call, than the faster of TensorFlow XLA and torch.compile; "aim" is
the goal we set ourselves:

{compiled_table(numbers)}

Keras: the same script on four backends, and the time of one batch:

{keras_table(numbers)}

On {heading(shown)}; made by `make bench`.
[What was run, how, and on which other machines](benchmarks/results.md)."""


README_ROWS = {*EAGER, *COMPILED, *KERAS}


def update_readme(readme: Path, block: str) -> None:
    """Replace what stands between the two markers."""
    text = readme.read_text()
    if BEGIN not in text or END not in text:
        raise ValueError(f"{readme.name} must contain the markers {BEGIN} and {END}.")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    readme.write_text(f"{before}{BEGIN}\n{block}\n{END}{after}")
