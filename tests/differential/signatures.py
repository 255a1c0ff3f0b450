"""Compares the parameters of public functions: their names, order and defaults."""

from __future__ import annotations

import inspect
from typing import Any

from tests.differential.tables import SIGNATURES

from tapeflow._src.core.missing import namespaces, public_names

MISSING = object()
POSITIONS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def differing_signatures(ours: Any, theirs: Any) -> list[str]:
    """One line for each public function whose parameters differ."""
    lines = []
    for place, module in namespaces():
        for name in public_names(module):
            label = f"{place}.{name}"
            if (
                label in SIGNATURES
            ):  # not even asked for: what is a layer needs Keras, and that is TensorFlow's here
                continue
            here, there = getattr(module, name), find(theirs, label)
            if there is MISSING:
                lines.append(f"{label}: TensorFlow has no such name")
            elif inspect.isfunction(here) and callable(there):
                a, b = parameters(here), parameters(there)
                if b is not None and a != b:
                    lines.append(f"{label}({', '.join(a or [])}), but there ({', '.join(b)})")
    return lines


def find(library: Any, label: str) -> Any:
    for part in label.split(".")[1:]:
        library = getattr(library, part, MISSING)
    return library


def parameters(function: Any) -> list[str] | None:
    """The parameters as text; the name of the op, which nothing reads, without its default."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [described(parameter) for parameter in found]


def described(parameter: inspect.Parameter) -> str:
    if parameter.kind not in POSITIONS or parameter.name == "name":
        return str(parameter.replace(annotation=inspect.Parameter.empty)).partition("=")[0]
    if parameter.default is inspect.Parameter.empty:
        return parameter.name
    default = None if type(parameter.default) is object else parameter.default  # "not given"
    default = list(default) if type(default) is tuple else default
    if callable(default):
        text = default.__name__
    else:
        text = repr(default.name) if hasattr(default, "as_numpy_dtype") else repr(default)
    return f"{parameter.name}={text}"
