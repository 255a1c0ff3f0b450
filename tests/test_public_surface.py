"""Every public name explains itself: a docstring with an example, types, TensorFlow's parameters."""

from __future__ import annotations

import enum
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from tests.conformance import record_signatures

import tapeflow as tf
from tapeflow._src.core.missing import namespaces, public_names

SIGNATURES: dict[str, list[str]] = json.loads(record_signatures.PATH.read_text(encoding="utf-8"))

# Ours has one more: whether to note down what `explain` needs.
_TAPE = ["persistent=False", "watch_accessed_variables=True", "debug=None"]
OTHER_PARAMETERS = {
    "tf.GradientTape": _TAPE,
    "tf.autodiff.GradientTape": _TAPE,
    "tf.Graph": ["name=None"],
    # In TensorFlow hidden in **kwargs.
    "tf.nn.RNNCellDeviceWrapper": ["cell", "device", "**kwargs"],
    "tf.nn.RNNCellDropoutWrapper": [
        *("cell", "input_keep_prob=1.0", "output_keep_prob=1.0", "state_keep_prob=1.0"),
        *("variational_recurrent=False", "input_size=None", "dtype=None", "seed=None"),
        *("dropout_state_filter_visitor=None", "**kwargs"),
    ],
    "tf.nn.RNNCellResidualWrapper": ["cell", "residual_fn=None", "**kwargs"],
    "tf.meshgrid": ["*args", "indexing='xy'", "name=None"],
    "tf.print": [
        *("*inputs", "output_stream=None", "end='\\n'", "sep=' '", "summarize=None", "name=None")
    ],
}
NOT_CALLED = {
    "tf.Tensor",
    "tf.DType",
    "tf.dtypes.DType",
    "tf.Operation",
}  # users get these, and do not make them


def _public() -> Iterator[tuple[str, Any]]:
    for place, module in namespaces():
        for name in public_names(module):
            value = getattr(module, name)
            ours = getattr(value, "__module__", "").startswith("tapeflow.")  # and not NumPy's
            if ours and (inspect.isfunction(value) or inspect.isclass(value)):
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


def _first_sentence(value: Any) -> str | None:
    text = inspect.getdoc(value)
    if not text:
        return "there is no docstring"
    first, _, _ = text.partition("\n\n")
    if "\n" in first:
        return "the first sentence is longer than its line"
    return None if first.endswith((".", ":")) else "the first sentence has no end"


def test_docstrings_begin_with_one_sentence():
    mistakes = {name: _first_sentence(value) for name, value in {**PUBLIC, **METHODS}.items()}
    assert {name: why for name, why in mistakes.items() if why} == {}


def test_docstrings_show_an_example():
    shown = PUBLIC.keys() - NO_EXAMPLE
    assert [
        name for name in sorted(shown) if ">>> " not in (inspect.getdoc(PUBLIC[name]) or "")
    ] == []


def test_parameters_have_types():
    untyped = {
        name: [p.name for p in _parameters(value) if p.annotation is p.empty]
        for name, value in {**CALLABLE, **METHODS}.items()
    }
    assert {name: names for name, names in untyped.items() if names} == {}


def test_parameters_are_those_of_tensorflow():
    known = {**CALLABLE, **METHODS}
    shared = known.keys() & SIGNATURES.keys() - NOT_CALLED
    assert len(shared) > 500
    other = {}
    for name in shared:
        wanted = OTHER_PARAMETERS.get(name, SIGNATURES[name])
        ours = record_signatures.parameters(known[name]) or []
        if len(ours) != len(wanted) or not all(map(_agree, ours, wanted)):
            other[name] = f"{ours} != {wanted}"
    assert other == {}


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
    loaded = set(run.stdout.split())
    assert len(loaded) < 135
    others = {name for name in loaded if name.partition(".")[0] != "tapeflow"}
    assert {name.partition(".")[0] for name in others} <= sys.stdlib_module_names
    heavy = {"argparse", "asyncio", "difflib", "hashlib", "logging", "subprocess", "unittest"}
    assert not others & heavy
