"""Every public name with what it stands for: found by the exports, read from the running library."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "scripts")]

from exports import NAMESPACES, exports  # noqa: E402

from tapeflow._src.core.context import Recorder  # noqa: E402

WIDTH = 88


@dataclass
class Entry:
    """One thing that users can name, under all of its names."""

    value: Any
    module: str
    own_name: str
    names: list[str] = field(default_factory=list)  # with `tf.`, the main one first

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        if inspect.isclass(self.value):
            return "exception" if issubclass(self.value, BaseException) else "class"
        return "function" if callable(self.value) and hasattr(self.value, "__name__") else "value"

    @property
    def doc(self) -> str:
        """Its docstring. A value has none of its own."""
        return (inspect.getdoc(self.value) or "") if self.kind != "value" else ""

    @property
    def summary(self) -> str:
        """The first sentence of its docstring, or what a value shows."""
        return self.doc.partition("\n\n")[0] if self.doc else f"`{shown(self.value)}`"

    @property
    def place(self) -> str:
        """The file and the line where it is defined, as `src/tapeflow/_src/core/tensor.py:12`."""
        return place_of(self.value, self.module, self.own_name)


@functools.cache
def entries() -> list[Entry]:
    """All of them, by their main names."""
    found: dict[tuple[str, str], Entry] = {}
    for public, module, name in exports():
        entry = found.get((module, name))
        if entry is None:
            value = getattr(importlib.import_module(module), name)
            entry = found[module, name] = Entry(value, module, name)
        entry.names.append(f"tf.{public}")
    for entry in found.values():
        entry.names.sort(key=_rank)
    return sorted(found.values(), key=lambda entry: entry.names[0].lower())


def _rank(name: str) -> tuple[bool, bool, int, str]:
    """The main name is not an old or an experimental one, and says the subject: `tf.math.sin` before `tf.sin`."""
    root = name.count(".") == 1
    return ("compat" in name, "experimental" in name, root and name[3:4].islower(), name)


@functools.cache
def classes() -> dict[type, Entry]:
    """The entries that are classes, by what they are."""
    return {entry.value: entry for entry in entries() if inspect.isclass(entry.value)}


@functools.cache
def by_name() -> dict[str, Entry]:
    """The entry of each public name."""
    return {name: entry for entry in entries() for name in entry.names}


def namespaces() -> dict[str, str]:
    """The public namespaces with what their docstrings say."""
    return {f"tf.{place}".rstrip("."): space.says for place, space in NAMESPACES.items()}


def shown(value: Any) -> str:
    """The `repr` of a value, without what differs from run to run."""
    text = repr(value)
    return text if " at 0x" not in text and len(text) < 200 else type(value).__name__


def signature(name: str, value: Any) -> str:
    """A call as it is declared, on several lines where one is too narrow."""
    if inspect.isclass(value):
        made = value.__init__ if "__init__" in vars(value) else None
        parameters = _parameters(made)[1:] if made else _parameters(value)
        returned = ""
    else:
        parameters = [p for p in _parameters(value) if p.name not in ("self", "cls")]
        returns = getattr(value, "__annotations__", {}).get("return")
        returned = "" if returns is None else f" -> {returns}"
    words = list(_written(parameters))
    line = f"{name}({', '.join(words)}){returned}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {word}," for word in words), f"){returned}"])


def _parameters(value: Any) -> list[inspect.Parameter]:
    if hasattr(value, "parameters"):  # of a raw op
        return list(value.parameters.values())
    try:
        return list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return []


def _written(parameters: list[inspect.Parameter]) -> Iterator[str]:
    starred = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        text = stars.get(parameter.kind, "") + parameter.name
        typed = parameter.annotation is not parameter.empty
        if typed:
            kind = parameter.annotation
            text += f": {kind if isinstance(kind, str) else getattr(kind, '__name__', kind)}"
        if parameter.default is not parameter.empty:
            text += (
                f" = {_default(parameter.default)}" if typed else f"={_default(parameter.default)}"
            )
        yield text


def _default(value: Any) -> str:
    if inspect.isfunction(value) or inspect.isclass(value):
        return value.__name__
    text = repr(value)
    return text if " at 0x" not in text and not text.startswith("<") else "..."


@dataclass(frozen=True)
class Member:
    """A method or a property of a class."""

    name: str
    value: Any
    is_property: bool
    prefix: str  # `classmethod` or `staticmethod`, if it is one

    @property
    def doc(self) -> str:
        """Its docstring."""
        return inspect.getdoc(self.value) or ""

    @property
    def place(self) -> str:
        """The file and line where it is defined."""
        return place_of(self.value.fget if isinstance(self.value, property) else self.value)


def members(kind: type) -> Iterator[tuple[type, Member]]:
    """The public methods and properties of a class, each with the class of ours that defines it."""
    recording = {name for name in vars(Recorder) if not name.startswith("_")}
    # What ops tell a tape by is not for its users.
    seen = recording if all(hasattr(kind, name) for name in recording) else set()
    for owner in kind.__mro__:
        if not owner.__module__.startswith("tapeflow"):
            continue
        for name, held in vars(owner).items():
            if name.startswith("_") or name in seen:
                continue
            seen.add(name)
            prefix = type(held).__name__ if isinstance(held, (classmethod, staticmethod)) else ""
            value = held.__func__ if prefix else held
            is_property = isinstance(value, (property, functools.cached_property))
            if isinstance(value, functools.cached_property):
                value = property(value.func)
            if is_property or inspect.isfunction(value):
                yield owner, Member(name, value, is_property, prefix)


def place_of(value: Any, module: str = "", name: str = "") -> str:
    """The file and the line where something is defined; `""` if that is not in this repository."""
    function = inspect.unwrap(value) if inspect.isfunction(value) else None
    if function is not None and name not in (_lines(module)[1] if module else ()):
        path, line = Path(function.__code__.co_filename), function.__code__.co_firstlineno
    elif not module and not inspect.isclass(value):  # what gets a property may be anything
        return ""
    else:
        if not module or (inspect.isclass(value) and name not in _lines(module)[1]):
            # It was imported there.
            module, name = value.__module__, value.__name__
        path, lines = _lines(module)
        line = lines.get(name, 1)
    return f"{path.relative_to(ROOT).as_posix()}:{line}" if path.is_relative_to(ROOT) else ""


@functools.cache
def _lines(module: str) -> tuple[Path, dict[str, int]]:
    """The file of a module, and the lines where its names begin."""
    path = Path(importlib.import_module(module).__file__ or "")
    lines: dict[str, int] = {}
    note: Callable[..., Any] = lines.setdefault
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            note(node.name, node.lineno)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        note(part.id, node.lineno)
    return path, lines
