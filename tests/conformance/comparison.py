"""Runs the comparison cases and describes what they give, so that two libraries can be compared.

A case is a function that takes the library as its only argument, `tf`, and returns whatever should
be the same in both: tensors, variables, Python values, nested structures, or an exception.
The files in `cases/` hold them: every public function of such a file is a case, and so is every
entry of its `CASES` table. `record.py` writes what TensorFlow gives to `expected/`;
`test_conformance.py` asks tapeflow for the same.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import logging
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
LOGGERS = ("tensorflow", "absl", "tapeflow")

# What a logged warning is about, by words that both libraries' messages contain.
KNOWN_WARNINGS = (
    ("watched tensor must be floating", "watched tensor is not floating"),
    ("target tensor must be floating", "target tensor is not floating"),
    ("source tensor must be floating", "source tensor is not floating"),
    ("on a persistent tape inside its context", "gradient of a persistent tape inside its context"),
    ("casting an input of type complex", "cast discards the imaginary part"),
    ("Casting complex to real discards", "cast discards the imaginary part"),
)

# What TensorFlow logs about its own machinery, which says nothing about the result.
IGNORED_WARNINGS = (
    "tf.function retracing",
    "traced it again",
    "Converting IndexedSlices",
    "Instructions for updating",
    "AutoGraph could not transform",
    "AutoGraph could not convert",
    "Object was never used",
    "Using MirroredStrategy eagerly has significant overhead",
    "Some requested devices in `tf.distribute.Strategy` are not visible",
    "options across serialization boundaries",
)

# Relative and absolute tolerance by dtype; anything not listed is compared exactly.
TOLERANCES = {
    "float16": (2e-3, 1e-4),
    "bfloat16": (1e-2, 1e-3),
    "float32": (1e-5, 1e-6),
    "complex64": (1e-5, 1e-6),
    "float64": (1e-9, 1e-12),
    "complex128": (1e-9, 1e-12),
}

Case = Callable[[Any], Any]


def areas() -> list[str]:
    """The names of the case files, in order."""
    return sorted(path.stem for path in (HERE / "cases").glob("*.py"))


def load_cases(area: str) -> dict[str, Case]:
    """The cases of one file: its public functions, then its `CASES` table."""
    path = HERE / "cases" / f"{area}.py"
    spec = importlib.util.spec_from_file_location(f"conformance_cases_{area}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    functions = {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }
    table = getattr(module, "CASES", {})
    both = functions.keys() & table.keys()
    assert not both, f"{area}: named twice: {sorted(both)}"
    return functions | table


def load_expected(area: str) -> dict[str, Any]:
    """What TensorFlow gave for one file of cases."""
    path = HERE / "expected" / f"{area}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.kinds: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.add(record.getMessage())

    def add(self, message: str) -> None:
        if any(words in message for words in IGNORED_WARNINGS):
            return
        kind = next((kind for words, kind in KNOWN_WARNINGS if words in message), message[:80])
        if kind not in self.kinds:
            self.kinds.append(kind)


def run_case(tf: Any, case: Case) -> dict[str, Any]:
    """Runs one case and describes its result, or the exception it raised, and what it logged."""
    collector = _Collector()
    for name in LOGGERS:
        logging.getLogger(name).addHandler(collector)
    outcome: dict[str, Any] = {}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                outcome["result"] = describe(tf, case(tf))
            except Exception as error:
                outcome["raises"] = type(error).__name__
                outcome["error"] = error
        for warning in caught:
            # What NumPy says about NaN and infinity must not reach the user: TensorFlow is silent.
            if issubclass(warning.category, (RuntimeWarning, UserWarning)):
                collector.add(str(warning.message))
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeHandler(collector)
    if collector.kinds:
        outcome["warns"] = sorted(collector.kinds)
    return outcome


def describe(tf: Any, value: Any) -> Any:
    """A description of `value` that JSON can hold and that does not depend on the library."""
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, (bytes, complex)):
        return {type(value).__name__: str(value)}
    if (
        type(value).__name__ == "RaggedTensor"
    ):  # not by its class, which would be imported for every case
        parts = [value.flat_values, *value.nested_row_splits, value.shape]
        shown = None if value.dtype.is_floating else repr(value)  # digits may be rounded otherwise
        return {"RaggedTensor": [describe(tf, part) for part in parts], "repr": shown}
    if type(value).__name__ == "RaggedTensorSpec":
        return {"RaggedTensorSpec": repr(value)}
    if isinstance(value, tf.Variable):
        return {"variable": value.dtype.name, **_array(value.numpy())}
    if isinstance(value, tf.IndexedSlices):
        parts = {name: getattr(value, name) for name in ("values", "indices", "dense_shape")}
        return {"IndexedSlices": {name: describe(tf, part) for name, part in parts.items()}}
    if isinstance(value, tf.Tensor):
        return {"tensor": value.dtype.name, **_array(value.numpy())}
    if isinstance(value, tf.DType):
        return {"dtype": value.name}
    if isinstance(value, tf.TensorShape):
        return {"TensorShape": None if value.rank is None else value.as_list()}
    if isinstance(value, tf.TensorSpec):
        return {"TensorSpec": [describe(tf, value.shape), describe(tf, value.dtype), value.name]}
    if isinstance(value, (np.ndarray, np.generic)):
        kind = "ndarray" if isinstance(value, np.ndarray) else "numpy scalar"
        return {kind: value.dtype.name, **_array(value)}
    if isinstance(value, tuple) and (names := getattr(value, "_fields", None)) is not None:
        fields = {name: describe(tf, getattr(value, name)) for name in names}
        return {"namedtuple": type(value).__name__, "fields": fields}
    if isinstance(value, dict):
        return {"dict": {str(key): describe(tf, item) for key, item in value.items()}}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [describe(tf, item) for item in value]}
    return {"type": type(value).__name__}


def _array(value: Any) -> dict[str, Any]:
    if isinstance(value, (bytes, str)):  # NumPy's view of a scalar string tensor
        value = np.array(value, dtype=object)
    array = np.asarray(value)
    return {"shape": list(array.shape), "values": _plain(array.tolist(), array.dtype.name)}


def _plain(value: Any, dtype: str) -> Any:
    if isinstance(value, list):
        return [_plain(item, dtype) for item in value]
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, complex):
        return [_plain(value.real, "float32"), _plain(value.imag, "float32")]
    if isinstance(value, (bool, int, str)):
        return value
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    return float(f"{number:.9g}") if dtype == "float32" else number


def differences(expected: Any, actual: Any, where: str = "result") -> Iterator[str]:
    """Says where two descriptions differ; says nothing where they agree."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if expected.keys() != actual.keys():
            yield f"{where}: expected {_short(expected)}, got {_short(actual)}"
        elif "values" in expected and "shape" in expected:
            yield from _array_differences(expected, actual, where)
        else:
            for key in expected:
                yield from differences(expected[key], actual[key], f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{where}: expected {len(expected)} items, got {len(actual)}"
        else:
            for i, (one, other) in enumerate(zip(expected, actual, strict=True)):
                yield from differences(one, other, f"{where}[{i}]")
    elif isinstance(expected, float) and isinstance(actual, float):
        if not math.isclose(expected, actual, rel_tol=1e-5, abs_tol=1e-6):
            yield f"{where}: expected {expected}, got {actual}"
    elif type(expected) is not type(actual) or expected != actual:
        yield f"{where}: expected {_short(expected)}, got {_short(actual)}"


def _array_differences(expected: Any, actual: Any, where: str) -> Iterator[str]:
    kind = next(iter(expected))
    if actual.get(kind) != expected[kind] or actual["shape"] != expected["shape"]:
        yield f"{where}: expected {_short(expected)}, got {_short(actual)}"
        return
    tolerance = TOLERANCES.get(expected[kind])
    if tolerance is None:
        same = expected["values"] == actual["values"]
    else:
        one = np.array(expected["values"], dtype=float)  # "nan" and "inf" become numbers here
        other = np.array(actual["values"], dtype=float)
        same = np.allclose(one, other, tolerance[0], tolerance[1], equal_nan=True)
    if not same:
        yield f"{where}: expected {_short(expected)}, got {_short(actual)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 300 else text[:297] + "..."
