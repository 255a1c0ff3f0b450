"""Every public name explains itself: a docstring with an example, types, TensorFlow's parameters."""

from __future__ import annotations

import enum
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tapeflow as tf
from tapeflow.core.missing import namespaces, public_names

SIGNATURES = json.loads(
    Path(__file__).with_name("conformance").joinpath("signatures.json").read_text(encoding="utf-8")
)


def _public() -> Iterator[tuple[str, Any]]:
    for place, module in namespaces():
        for name in public_names(module):
            value = vars(module)[name]
            if inspect.isfunction(value) or inspect.isclass(value):
                yield f"{place}.{name}", value


PUBLIC = dict(_public())
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
CALLABLE = {
    name: value
    for name, value in PUBLIC.items()
    if not (inspect.isclass(value) and issubclass(value, (enum.Enum, Exception)))
}


def _methods() -> Iterator[tuple[str, Any]]:
    for name, kind in CALLABLE.items():
        if inspect.isclass(kind):
            for attribute, value in vars(kind).items():
                method = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
                if not attribute.startswith("_") and inspect.isfunction(method):
                    yield f"{name}.{attribute}", method


METHODS = dict(_methods())

# Errors say what happened when they are raised; there is nothing to show of them before that.
NO_EXAMPLE = {name for name, kind in CLASSES.items() if issubclass(kind, Exception)}


def _parameters(value: Any) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(value).parameters.values())
    return parameters[1:] if parameters and parameters[0].name in ("self", "cls") else parameters


@pytest.mark.parametrize("name", sorted({**PUBLIC, **METHODS}))
def test_docstring_begins_with_one_sentence(name):
    text = inspect.getdoc({**PUBLIC, **METHODS}[name])
    assert text, "there is no docstring"
    first, _, rest = text.partition("\n\n")
    assert "\n" not in first, "the first sentence is longer than its line"
    assert first.endswith((".", ":")) and first[0] == first[0].upper()


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - NO_EXAMPLE))
def test_docstring_shows_an_example(name):
    assert ">>> " in (inspect.getdoc(PUBLIC[name]) or "")


@pytest.mark.parametrize("name", sorted({**CALLABLE, **METHODS}))
def test_parameters_have_types(name):
    untyped = [
        p.name for p in _parameters({**CALLABLE, **METHODS}[name]) if p.annotation is p.empty
    ]
    assert not untyped


@pytest.mark.parametrize("name", sorted({**CALLABLE, **METHODS}.keys() & SIGNATURES.keys()))
def test_parameters_are_those_of_tensorflow(name):
    recorded = [p for p in SIGNATURES[name] if p not in ("self", "cls")]
    if name in OTHER_PARAMETERS:
        recorded = OTHER_PARAMETERS[name]
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    value = {**CALLABLE, **METHODS}[name]
    assert [stars.get(p.kind, "") + p.name for p in _parameters(value)] == recorded


# Where ours differ, with the reason.
OTHER_PARAMETERS: dict[str, list[str]] = {}


def test_the_walk_finds_what_is_there():
    assert PUBLIC["tf.reduce_sum"] is tf.reduce_sum
    assert PUBLIC["tf.math.sin"] is tf.math.sin
    assert "tf.Variable.assign" in METHODS
