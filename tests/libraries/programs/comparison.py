"""What is compared of a program, where it is kept, and the table in docs/libraries.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from tests.libraries import environments
from tests.libraries.programs.sources import PROGRAMS

RESULTS = Path(__file__).with_name("results.json")
PAGE = environments.ROOT / "docs" / "libraries.md"
_BEGIN, _END = "<!-- programs -->", "<!-- end of programs -->"


def compared(there: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
    """How far the numbers are apart, and the seconds of processor time on both sides.

    >>> there = {"numbers": [0.5, 200.0], "seconds": [9.0, 4.0]}
    >>> compared(there, {"numbers": [0.5, 200.1], "seconds": [9.0, 2.0]})["difference"]
    0.0005
    """
    a, b = np.asarray(there["numbers"]), np.asarray(here["numbers"])
    if a.shape != b.shape:
        raise ValueError(f"TensorFlow gave {a.size} numbers, tapeflow {b.size}.")
    # Relative where a number is above one, as losses are sums as often as means.
    apart = np.abs(a - b) / np.maximum(np.abs(a), 1)
    return {
        "numbers": int(a.size),
        "difference": float(f"{apart.max():.0e}"),
        "seconds there": round(there["seconds"][1], 1),
        "seconds here": round(here["seconds"][1], 1),
    }


def _kept() -> dict[str, Any]:
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def keep(name: str, result: dict[str, Any]) -> None:
    """Writes a result beside those of the other programs."""
    text = json.dumps(_kept() | {name: result}, indent=2, sort_keys=True)
    RESULTS.write_text(text + "\n", encoding="utf-8")


def table(results: dict[str, Any]) -> str:
    """The rows, in the order of the programs, and which have none yet."""
    rows = [
        "| program | where from | lines | what is changed | numbers | apart | TensorFlow | tapeflow |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for name, program in PROGRAMS.items():
        if name in results:
            found = results[name]
            cells = (
                *(program.title, program.origin, f"{program.lines:,}", program.changed),
                *(f"{found['numbers']:,}", f"{found['difference']:.0e}"),
                *(f"{found[f'seconds {where}']:.1f} s" for where in ("there", "here")),
            )
            rows.append(f"| {' | '.join(cells)} |")
    missing = [program.title for name, program in PROGRAMS.items() if name not in results]
    if missing:
        rows += ["", f"In the list, and not run to the end yet: {'; '.join(missing)}."]
    return "\n".join(rows)


def write() -> None:
    """Writes the table into the page, between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    after = rest.partition(_END)[2]
    PAGE.write_text(f"{before}{_BEGIN}\n{table(_kept())}\n{_END}{after}", encoding="utf-8")
