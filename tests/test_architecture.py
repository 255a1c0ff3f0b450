"""The house: layers whose arrows point down, rooms that can be found, files that fit in a reader's head.

Every import is read, those inside of functions and for type checkers too. There is no list of exceptions.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import tapeflow  # noqa: F401  # binds late
from tapeflow._src.core.late import Late, late

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"

# The lowest first. The public files are all that is not in `_src`. Keras's backend is written with public names, as a
# program of a user is, so it stands on them.
LAYERS = [
    "tapeflow._src.core",
    "tapeflow._src.insides",
    "tapeflow._src.primitives",
    "tapeflow._src.ops",
    "tapeflow._src.autodiff",
    "tapeflow._src.graph",
    "tapeflow._src.engines",
    "tapeflow._src.function",
    "tapeflow._src.config",
    "tapeflow._src.profiler",
    "tapeflow._src.io",
    "tapeflow._src.extension",
    "tapeflow._src.ragged",
    "tapeflow._src.strings",
    "tapeflow._src.sparse",
    "tapeflow._src.lookup",
    "tapeflow._src.queues",
    "tapeflow._src.linear_operators",
    "tapeflow._src.numpy",
    "tapeflow._src.raw_ops",
    "tapeflow._src.compat",
    "tapeflow._src.parsing",
    "tapeflow._src.tensorflow_files",
    "tapeflow._src.data",
    "tapeflow._src.train",
    "tapeflow._src.distribute",
    "tapeflow._src.saved_model",
    "tapeflow._src.exporting",
    "tapeflow._src.summary",
    "tapeflow._src.inspector",
    "tapeflow._src.tools",
    "tapeflow._src.keras",
    "tapeflow",
    "tapeflow._src.keras.backend",
]
MOST_LINES = 450
MOST_FILES = 25


class Arrow(NamedTuple):
    """One import."""

    file: str
    line: int
    source: str  # the module that imports
    target: str  # what is imported from
    name: str


def files() -> list[Path]:
    return sorted(p for p in (SOURCE / "tapeflow").rglob("*.py") if "_examples" not in p.parts)


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in files()}


@functools.cache
def arrows() -> list[Arrow]:
    return list(read_arrows())


def statements(block: ast.AST) -> Iterator[ast.AST]:
    """All statements of a block, those inside of others too."""
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        for node in getattr(block, field, ()):
            yield node
            yield from statements(node)


def read_arrows() -> Iterator[Arrow]:
    for module, path in MODULES.items():
        file = str(path.relative_to(ROOT))
        for node in statements(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not node.level, (
                    f"{file}:{node.lineno}: relative imports hide where they point"
                )
                if (node.module or "").partition(".")[0] == "tapeflow":
                    for alias in node.names:
                        full = f"{node.module}.{alias.name}"
                        target = full if full in MODULES else node.module or ""
                        yield Arrow(file, node.lineno, module, target, alias.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.partition(".")[0] == "tapeflow":
                        yield Arrow(file, node.lineno, module, alias.name, "")


def layer(module: str) -> int:
    """The number of the layer whose name is the longest that a module's begins with."""
    if module == "tapeflow._src":
        return 0
    found = [i for i, name in enumerate(LAYERS) if f"{module}.".startswith(f"{name}.")]
    assert found, module
    longest = max(found, key=lambda i: len(LAYERS[i]))
    known = LAYERS[longest] != "tapeflow" or not module.startswith("tapeflow._src.")
    assert known, f"{module} is in no layer: add it to LAYERS"
    return longest


def test_arrows_point_down():
    up = [
        f"{a.file}:{a.line}: {LAYERS[layer(a.source)]} knows {a.target}"
        for a in arrows()
        if layer(a.target) > layer(a.source)
    ]
    assert up == []


def rooms() -> dict[Path, dict[str, set[str]]]:
    """For each folder the arrows between the folders inside of it."""
    found: dict[Path, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for arrow in arrows():
        source, target = (MODULES[m].parent.parts for m in (arrow.source, arrow.target))
        same = next(
            (i for i, (a, b) in enumerate(zip(source, target, strict=False)) if a != b),
            min(len(source), len(target)),
        )
        if same < min(len(source), len(target)):
            found[Path(*source[:same])][source[same]].add(target[same])
    return found


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """Rooms that lead back to where one started, if there are any."""
    done: set[str] = set()

    def walk(room: str, path: list[str]) -> list[str]:
        if room in path:
            return [*path[path.index(room) :], room]
        if room not in done:
            for other in sorted(arrows.get(room, ())):
                if found := walk(other, [*path, room]):
                    return found
            done.add(room)
        return []

    return next((found for room in sorted(arrows) if (found := walk(room, []))), [])


def test_rooms_side_by_side_form_no_circle():
    circles = {str(f.relative_to(ROOT)): found for f, a in rooms().items() if (found := circle(a))}
    assert circles == {}


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert circle({"a": {"b", "c"}, "b": {"c"}}) == []


def test_private_names_stay_at_home():
    away = [
        f"{a.file}:{a.line}: {a.name} of {a.target}"
        for a in arrows()
        if a.name.startswith("_") and not a.name.startswith("__")
    ]
    assert away == []


def test_what_is_called_late_is_there():
    names = {
        f"{module}:{node.lineno}": node.attr
        for module, path in MODULES.items()
        if module.startswith("tapeflow._src.primitives.")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "calls"
    }
    assert names
    folders = {place.rpartition(".")[0] for place in names} - {"tapeflow._src.primitives"}
    # Also in a program that has loaded no more than what is imported at once, and the folder of the caller.
    code = f"""
import importlib, tapeflow
from tapeflow._src.primitives.table import calls
for module in {sorted(MODULES)!r}:
    if module.rpartition(".")[0] in {folders!r}:
        importlib.import_module(module)
for place, name in {names!r}.items():
    assert hasattr(calls, name), f"{{place}} calls {{name}}"
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert [n for n in Late.__annotations__ if not callable(getattr(late, n))] == []


MAKES_CODE = {
    "engines.numpy.program": "of known names alone: tests/saved_model/test_damage.py",
    "primitives.table": "of the parameters of our own rules",
    "function.autograph.transpiler": "of the user's own source",
    "extension.extension_type": "of the annotations of a user's class",
    "keras.hook": "of Keras's files",
    "tools.cli": "of the user's script",
}
"""Where text becomes Python, and what it is made of. Nothing of it may come from a file of a stranger."""


def test_code_is_made_in_known_places_only():
    found = set()
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in {"exec", "eval", "compile"}:
                found.add(module.removeprefix("tapeflow._src."))
            # What these read may hold code of any kind.
            assert not (
                isinstance(node, ast.Import | ast.ImportFrom)
                and {"pickle", "marshal", "shelve"}
                & {getattr(node, "module", None), *(alias.name for alias in node.names)}
            ), module
    assert found == MAKES_CODE.keys()


def test_files_fit_in_a_readers_head():
    long = {
        str(path.relative_to(ROOT)): count
        for path in files()
        if (count := len(path.read_text("utf-8").splitlines())) > MOST_LINES
    }
    assert long == {}


def test_folders_can_be_looked_through():
    counts: dict[str, int] = defaultdict(int)
    for path in files():
        counts[str(path.parent.relative_to(ROOT))] += 1
    assert {folder: n for folder, n in counts.items() if n > MOST_FILES} == {}


def test_public_files_are_what_the_exports_say():
    command = [sys.executable, ROOT / "scripts/exports.py", "--check"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    "module", ["tapeflow._src.function.tracing.tracer", "tapeflow.math.special"]
)
def test_no_name_collides_with_a_module(module: str):
    code = f"import tapeflow, {module} as m; import sys; assert m is sys.modules[{module!r}]"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
