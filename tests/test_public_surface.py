"""Every public name explains itself: a docstring with an example, types, TensorFlow's parameters."""

from __future__ import annotations

import enum
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conformance import record_signatures

import tapeflow as tf
from tapeflow.core.missing import namespaces, public_names

SIGNATURES: dict[str, list[str]] = json.loads(record_signatures.PATH.read_text(encoding="utf-8"))

# Ours has one more: whether to note down what `explain` needs.
_TAPE = ["persistent=False", "watch_accessed_variables=True", "debug=None"]
OTHER_PARAMETERS = {
    "tf.GradientTape": _TAPE,
    "tf.autodiff.GradientTape": _TAPE,
    # In TensorFlow hidden in **kwargs.
    "tf.meshgrid": ["*args", "indexing='xy'", "name=None"],
    "tf.print": [
        *("*inputs", "output_stream=None", "end='\\n'", "sep=' '", "summarize=None", "name=None")
    ],
}
NOT_CALLED = {"tf.Tensor", "tf.DType", "tf.dtypes.DType"}  # users get these, and do not make them


def _public() -> Iterator[tuple[str, Any]]:
    for place, module in namespaces():
        for name in public_names(module):
            value = vars(module)[name]
            if inspect.isfunction(value) or inspect.isclass(value):
                yield f"{place}.{name}", value


PUBLIC = dict(_public())
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

# Errors and enumerations are shown where they are used.
NO_EXAMPLE = {name for name in PUBLIC if name not in CALLABLE}


def _parameters(value: Any) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(value).parameters.values())
    return parameters[1:] if parameters and parameters[0].name in ("self", "cls") else parameters


@pytest.mark.parametrize("name", sorted({**PUBLIC, **METHODS}))
def test_docstring_begins_with_one_sentence(name):
    text = inspect.getdoc({**PUBLIC, **METHODS}[name])
    assert text, "there is no docstring"
    first, _, _ = text.partition("\n\n")
    assert "\n" not in first, "the first sentence is longer than its line"
    assert first.endswith((".", ":"))


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - NO_EXAMPLE))
def test_docstring_shows_an_example(name):
    assert ">>> " in (inspect.getdoc(PUBLIC[name]) or "")


@pytest.mark.parametrize("name", sorted({**CALLABLE, **METHODS}))
def test_parameters_have_types(name):
    untyped = [
        p.name for p in _parameters({**CALLABLE, **METHODS}[name]) if p.annotation is p.empty
    ]
    assert not untyped


@pytest.mark.parametrize(
    "name", sorted({**CALLABLE, **METHODS}.keys() & SIGNATURES.keys() - NOT_CALLED)
)
def test_parameters_are_those_of_tensorflow(name):
    wanted = OTHER_PARAMETERS.get(name, SIGNATURES[name])
    ours = record_signatures.parameters({**CALLABLE, **METHODS}[name]) or []
    assert len(ours) == len(wanted) and all(map(_agree, ours, wanted)), f"{ours} != {wanted}"


def _agree(ours: str, wanted: str) -> bool:
    """A default that could not be recorded (`...`) may be anything here, as long as there is one."""
    unknown = wanted.endswith("=...")
    return ours.startswith(wanted.removesuffix("...")) if unknown else ours == wanted


def test_the_walk_finds_what_is_there():
    assert PUBLIC["tf.reduce_sum"] is tf.reduce_sum
    assert PUBLIC["tf.math.sin"] is tf.math.sin
    assert "tf.Variable.assign" in METHODS


def test_importing_loads_no_more_than_it_must():
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
import ml_dtypes, numpy, optree
before = set(sys.modules)
import tapeflow
print(*sorted(set(sys.modules) - before))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in run.stdout.split() if name.partition(".")[0] != "tapeflow"}
    assert {name for name in loaded if name not in sys.stdlib_module_names} == set()
    assert not loaded & {"hashlib", "difflib", "argparse", "subprocess", "asyncio", "unittest"}
