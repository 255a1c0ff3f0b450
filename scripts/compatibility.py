"""Writes the generated parts of docs/compatibility.md.

    python scripts/compatibility.py            writes the page
    python scripts/compatibility.py --check    says whether it is up to date
    python scripts/compatibility.py --record   first notes TensorFlow's public names; needs TensorFlow

The names are kept in docs/tensorflow_names.json, so that the page can be written without TensorFlow.
What lies between a `<!-- name -->` and the next `<!-- end -->` of the page is generated.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/compatibility.md"
NAMES = ROOT / "docs/tensorflow_names.json"
# Other things than TensorFlow 2's own names: Keras, older names, raw ops, runtimes, and what is there by accident.
LEFT_OUT = (
    *("tf.keras", "tf.initializers", "tf.losses", "tf.metrics", "tf.optimizers"),
    *("tf.compat", "tf.raw_ops", "tf.tpu", "tf.lite", "tf.dtensor", "tf.experimental.dtensor"),
    *("tf.security", "tf.python", "tf.core", "tf.tools"),
)

# What `make differential` and the recorded cases accept is said there.
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description="Writes the lists in docs/compatibility.md.")
    parser.add_argument("--record", action="store_true", help="note TensorFlow's names first")
    parser.add_argument("--check", action="store_true", help="only compare, and fail if it is old")
    options = parser.parse_args()
    if options.record:
        NAMES.write_text(json.dumps(recorded(), indent=1) + "\n", encoding="utf-8")
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if options.check:
        return int(new != old)
    PAGE.write_text(new, encoding="utf-8")
    return 0


def recorded() -> dict[str, Any]:
    """TensorFlow's public names, by namespace."""
    import tensorflow

    return {"version": tensorflow.__version__, "names": dict(walked("tf", tensorflow))}


def walked(place: str, module: Any) -> Iterator[tuple[str, list[str]]]:
    """The names of a namespace, and of those inside of it."""
    names = [name for name in public(module) if f"{place}.{name}" not in LEFT_OUT]
    yield place, names
    for name in names:
        if isinstance(inside := getattr(module, name), ModuleType):
            yield from walked(f"{place}.{name}", inside)


def public(module: Any) -> Iterator[str]:
    """The names of a namespace, without those that are there by accident."""
    for name in sorted(dir(module)):
        value = getattr(module, name)
        accident = isinstance(value, ModuleType) and "tensorflow" not in value.__name__
        if not name.startswith("_") and not accident:
            yield name


def page(old: str) -> str:
    """The page with its generated parts written anew."""
    parts = {"table": table(), "differences": differences(), "cases": cases()}
    for name, text in parts.items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        old, count = re.subn(pattern, lambda m, t=text: f"{m[1]}{t}{m[2]}", old, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"{PAGE.name} has {count} places for {name!r}")
    return old


def table() -> str:
    """For each namespace, which of TensorFlow's names are there, and which are not."""
    import tapeflow

    facts = json.loads(NAMES.read_text(encoding="utf-8"))["names"]
    found = {place: split(tapeflow, place, names) for place, names in facts.items()}
    all_there = sum(not_spaces(facts, place, there) for place, (there, _) in found.items())
    everything = sum(not_spaces(facts, place, names) for place, names in facts.items())
    share = all_there / everything
    lines = [f"Of {everything} names, {all_there} are there: {share:.1%}.", ""]
    lines += ["| namespace | TensorFlow's names | there |", "| --- | ---: | ---: |"]
    lines += [f"| `{p}` | {len(names)} | {len(found[p][0])} |" for p, names in facts.items()]
    for place, (there, absent) in found.items():
        lines += ["", f"### `{place}`", ""]
        lines += [f"There: {listed(there)}"] if there else []
        lines += [""] if there and absent else []
        lines += [f"Not there: {listed(absent)}"] if absent else []
    return "\n".join(lines) + "\n"


def not_spaces(facts: dict[str, list[str]], place: str, names: list[str]) -> int:
    """How many names are those of things, and not of namespaces."""
    return sum(f"{place}.{name}" not in facts for name in names)


def split(library: Any, place: str, names: list[str]) -> tuple[list[str], list[str]]:
    """The names that the library has, and those it has not."""
    module = find(library, place)
    there = [name for name in names if has(module, name)]
    return there, [name for name in names if name not in there]


def has(module: Any, name: str) -> bool:
    """Whether a namespace offers a name; what it merely imported is not on offer."""
    from tapeflow._src.core.missing import namespace_of

    value = getattr(module, name, None) if module is not None else None
    if isinstance(value, ModuleType):
        return namespace_of(value) is not None
    return value is not None or name in getattr(module, "__dict__", {})


def find(library: Any, place: str) -> Any:
    """The module that stands for a namespace, or None."""
    for part in place.split(".")[1:]:
        library = getattr(library, part, None)
    return library


def listed(names: list[str]) -> str:
    """Names in one sentence."""
    return ", ".join(f"`{name}`" for name in names) + "."


def differences() -> str:
    """What `make differential` accepts, each with its reason."""
    from tests.differential.accepted import ACCEPTED
    from tests.differential.tables import SIGNATURES

    lines = [f"- **{entry.title}.** {entry.why}" for entry in ACCEPTED]
    names = [f"`{name}` ({why})" for name, why in SIGNATURES.items()]
    lines.append(f"- **Names and parameters.** {', '.join(names)}.")
    return "\n".join(lines) + "\n"


def cases() -> str:
    """What the recorded cases accept: the reasons, and the cases that show them."""
    from tests.conformance.accepted import ACCEPTED

    reasons: dict[str, list[str]] = {}
    for case, accepted in ACCEPTED.items():
        reasons.setdefault(accepted.why, []).append(case)
    lines = [f"- {why[0].upper()}{why[1:]}: {listed(found)}" for why, found in reasons.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
