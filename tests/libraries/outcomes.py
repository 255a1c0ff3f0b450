"""What became of a library's tests on TensorFlow and here, compared and written down."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.libraries.catalogue import LIBRARIES, Library

RESULTS = Path(__file__).resolve().parent / "results.json"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "libraries.md"
BEGIN, END = "<!-- libraries -->", "<!-- end -->"
TOLERANCE = 1e-4

Outcomes = dict[str, dict[str, Any]]


def read(file: Path) -> Outcomes:
    """The last that was written of each test.

    A process that ended before it ran a test leaves no file.
    """
    if not file.exists():
        return {}
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {line["test"]: line for line in lines}


def compared(library: Library, theirs: Outcomes, ours: Outcomes) -> dict[str, Any]:
    """How many tests pass on TensorFlow, how many of these here, and why the others do not."""
    passing = [name for name, line in theirs.items() if line["outcome"] == "passed"]
    failures = {}
    skipped = 0
    for name in passing:
        line = ours.get(name, {"outcome": "failed", "error": "was not run"})
        if line["outcome"] == "skipped":
            skipped += 1
        elif line["outcome"] == "failed":
            failures[name] = line.get("error", "")
        elif not alike(theirs[name].get("numbers", {}), line.get("numbers", {})):
            failures[name] = "other numbers than TensorFlow's"
    return {
        "version": library.package.partition("==")[2],
        "passing": len(passing),
        "pass here": len(passing) - len(failures) - skipped,
        "skipped here": skipped,
        "failing on both": sum(
            line["outcome"] == "failed" and ours.get(name, line)["outcome"] == "failed"
            for name, line in theirs.items()
        ),
        "failures": failures,
    }


def renewed(
    before: Mapping[str, Any], again: Mapping[str, Any], theirs: Outcomes
) -> dict[str, Any]:
    """A result after what failed here was run again. What did not pass on TensorFlow this time stays as it was."""
    left = {
        name: again["failures"].get(name, error)
        for name, error in before["failures"].items()
        if name in again["failures"] or theirs.get(name, {}).get("outcome") != "passed"
    }
    found = len(before["failures"]) - len(left)
    return {**before, "failures": left, "pass here": before["pass here"] + found}


def alike(first: Any, second: Any) -> bool:
    """Whether two records hold the same numbers, but for rounding."""
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(alike(first[k], second[k]) for k in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, float):
        return first == second or abs(first - second) <= TOLERANCE * max(abs(first), 1e-2)
    return first == second


def reason_for(library: Library, test: str, error: str) -> str:
    """Why a test fails here: what the catalogue says, or the error itself."""
    for part, reason in library.reasons.items():
        if part in test:
            return reason
    return f"not looked into yet: `{error.replace('|', '/')[:120]}`"


def kept() -> dict[str, Any]:
    """The results of all libraries."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def keep(name: str, result: dict[str, Any]) -> None:
    """Puts a library's result beside those of the others."""
    everything = kept()
    everything[name] = result
    text = json.dumps(everything, indent=1, sort_keys=True, ensure_ascii=False)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


def table(results: Mapping[str, Any]) -> str:
    """The table of docs/libraries.md, and the reasons below it."""
    lines = [
        "| library | version | what was run | pass on TensorFlow | of these here | skipped here | fail here |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    reasons = []
    for name, library in LIBRARIES.items():
        result = results.get(name)
        if result is None:
            continue
        cells = [library.title, result["version"], library.what, f"{result['passing']:,}"]
        cells += [f"{result['pass here']:,}", str(result["skipped here"] or "")]
        cells += [str(len(result["failures"]) or "")]
        lines.append(f"| {' | '.join(cells)} |")
        why = Counter(reason_for(library, t, error) for t, error in result["failures"].items())
        reasons += [f"- {library.title}, {n}: {reason}" for reason, n in why.items()]
    waiting = [library.title for name, library in LIBRARIES.items() if name not in results]
    if waiting:
        lines += ["", f"In the catalogue, and not run yet: {', '.join(waiting)}."]
    if reasons:
        lines += ["", "What fails, how often, and why:", "", *reasons]
    return "\n".join(lines)


def write() -> None:
    """Writes the table into the page."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END, 1)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{table(results)}\n{END}{after}", encoding="utf-8")
