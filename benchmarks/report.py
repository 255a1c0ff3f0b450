"""Turn measurements into the table in the terminal, `results.md` and the README's block."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median

from rich.table import Table

NAMES = {"tapeflow": "tapeflow", "tensorflow": "TensorFlow", "torch": "PyTorch", "jax": "JAX"}
PEERS = ("tensorflow", "torch", "jax")
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


@dataclass(frozen=True)
class Workload:
    """What a row is called, how it is described, and what tapeflow aims at."""

    title: str
    description: str
    targets: tuple[tuple[str, float], ...] = ()
    in_bytes: bool = False
    libraries: tuple[str, ...] = ("tapeflow", *PEERS)


WORKLOADS = {
    "import": Workload(
        "import",
        "wall time of a fresh `python -c 'import ...'`, the start of the interpreter included, "
        "bytecode and disk cache warm",
        (("tensorflow", 15),),
    ),
    "chain": Workload(
        "200 × (sin, mul)",
        "`y = sin(y) * x` 200 times on a 4×4 float32 matrix, forward and backward",
        (("tensorflow", 15), ("torch", 1.5)),
    ),
    "mlp": Workload(
        "MLP training step",
        "784-256-256-10, relu, softmax cross-entropy with integer labels, batch 64: "
        "forward, backward and SGD",
        (("tensorflow", 4), ("torch", 1.2)),
    ),
    "rnn": Workload(
        "RNN, 20 steps",
        "vanilla tanh cell of width 32, batch 16, forward and backward",
    ),
    "deep_mlp": Workload(
        "peak memory, 50 layers",
        "forward and backward through 50 relu layers of width 512 at batch 2048: "
        "the highest resident memory above what was there before",
        in_bytes=True,
    ),
    "jacobian_cnn": Workload(
        "Jacobian, CNN",
        "`tape.jacobian` of the 64×10 scores of two 3×3 convolutions (8 and 16 channels) and a dense "
        "layer on 12×12 images, with respect to all weights",
        (("tensorflow", 1),),
        libraries=("tapeflow", "tensorflow"),
    ),
    "jacobian_cnn:memory": Workload(
        "Jacobian, CNN: peak memory",
        "the same: the highest resident memory above what was there before",
        (("tensorflow", 1),),
        in_bytes=True,
        libraries=("tapeflow", "tensorflow"),
    ),
    "jacobian_lstm": Workload(
        "Jacobian, LSTM",
        "`tape.jacobian` of the 64×10 scores of an LSTM of width 32 after 10 steps, written by hand, "
        "with respect to all weights",
        (("tensorflow", 1),),
        libraries=("tapeflow", "tensorflow"),
    ),
    "jacobian_lstm:memory": Workload(
        "Jacobian, LSTM: peak memory",
        "the same: the highest resident memory above what was there before",
        (("tensorflow", 1),),
        in_bytes=True,
        libraries=("tapeflow", "tensorflow"),
    ),
}

Key = tuple[str, str]
Medians = dict[Key, float]
Versions = dict[str, dict[str, str]]


def terminal_table(medians: Medians, versions: Versions, libraries: Iterable[str]) -> Table:
    table = Table(title="Eager mode, CPU; in brackets: how many times tapeflow is better")
    table.add_column("")
    for library in libraries:
        table.add_column(heading(library, versions), justify="right")
    for workload, about in WORKLOADS.items():
        cells = [cell(medians, library, workload) for library in libraries]
        if any(text != "–" for text in cells):
            table.add_row(about.title, *cells)
    return table


def target_lines(medians: Medians) -> list[str]:
    lines = []
    for workload, about in WORKLOADS.items():
        for peer, aim in about.targets:
            reached = ratio(medians, peer, workload)
            if reached is not None:
                mark = "[green]reached[/green]" if reached >= aim else "[yellow]missed[/yellow]"
                against = f"{about.title} against {NAMES[peer]}"
                lines.append(f"{against}: {significant(reached)}×, aim {aim}× {mark}")
    return lines


def markdown_table(medians: Medians, versions: Versions) -> str:
    rows = [["", *(heading(library, versions) for library in NAMES)], ["---", *["---:"] * 4]]
    for workload, about in WORKLOADS.items():
        cells = [cell(medians, library, workload) for library in NAMES]
        rows.append([about.title, f"**{cells[0]}**", *cells[1:]])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def results_page(values: dict[Key, list[float]], versions: Versions, rounds: int) -> str:
    """Return `results.md`: the table, what was run, the spread, and on which machine."""
    medians = {key: median(numbers) for key, numbers in values.items()}
    rounds_text = "one round" if rounds == 1 else f"{rounds} rounds"
    described = "\n".join(f"- **{w.title}**: {w.description}." for w in WORKLOADS.values())
    spread = [["", *NAMES.values()], ["---", *["---:"] * 4]]
    for workload, about in WORKLOADS.items():
        ranges = []
        for library in NAMES:
            if (library, workload) not in values:
                ranges.append("–")
                continue
            numbers = values[library, workload]
            low, high = quantity(min(numbers), about), quantity(max(numbers), about)
            ranges.append(f"{low} to {high}")
        spread.append([about.title, *ranges])
    spread_table = "\n".join("| " + " | ".join(row) + " |" for row in spread)
    return f"""# Benchmark results

Written by `make bench`. Eager mode, on the CPU, every library with its own default threads. In
brackets: how many times faster tapeflow is, or how many times less memory it takes.

{markdown_table(medians, versions)}

{described}

Each number is the median of {rounds_text}. A round measures each library in a fresh process;
for the times in eager mode that is the best batch of calls within a second, after a warm-up. The
libraries take turns. That all of them compute the same numbers is checked in the same run.

## Spread over the rounds

{spread_table}

## Machine

{machine(versions)}
"""


def readme_block(medians: Medians, versions: Versions) -> str:
    return f"""{markdown_table(medians, versions)}

In brackets: how many times faster tapeflow is, or how many times less memory it takes. Eager mode
on {processor()}, {os.cpu_count()} cores, {date.today():%d %B %Y}; made by `make bench`, which says
[what was run and how](benchmarks/results.md)."""


def update_readme(readme: Path, block: str) -> None:
    """Replace what stands between the two markers."""
    text = readme.read_text()
    if BEGIN not in text or END not in text:
        raise ValueError(f"{readme.name} must contain the markers {BEGIN} and {END}.")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    readme.write_text(f"{before}{BEGIN}\n{block}\n{END}{after}")


def heading(library: str, versions: Versions) -> str:
    version = versions.get(library, {}).get("library", "")
    return f"{NAMES[library]} {version.split('+')[0]}".strip()


def cell(medians: Medians, library: str, workload: str) -> str:
    if (library, workload) not in medians:
        return "–"
    text = quantity(medians[library, workload], WORKLOADS[workload])
    times = ratio(medians, library, workload)
    return text if library == "tapeflow" or times is None else f"{text} ({significant(times)}×)"


def ratio(medians: Medians, peer: str, workload: str) -> float | None:
    """Return how many times less tapeflow needs, or None if one of the two is missing."""
    ours, theirs = medians.get(("tapeflow", workload)), medians.get((peer, workload))
    return None if ours is None or theirs is None else theirs / ours


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
    peers = ", ".join(f"{NAMES[peer]} {versions[peer]['library']}" for peer in PEERS)
    lines = [
        f"{processor()}, {os.cpu_count()} cores, {memory()}",
        f"{platform.system()}, {platform.machine()}",
        f"Python {ours['python']}, NumPy {ours['numpy']}",
        f"tapeflow {ours['library']}, {peers} (with Python {versions['torch']['python']})",
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
