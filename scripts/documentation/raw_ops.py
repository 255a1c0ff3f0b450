"""What the pages of `tf.raw_ops` have besides a signature: which function to use instead, and an example.

The functions are found in the code of a raw op, the examples in the calls that tests compare with TensorFlow.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
from names import Entry, by_name, entries

CASES = ("raw_calls", "raw_and_compat", "raw_text_and_images")
_LARGE = 12  # numbers that are written out at most
_WIDTH = 100
_ON_THE_WAY = {  # what prepares arguments says nothing of an op
    *("tf.convert_to_tensor", "tf.dtypes.as_dtype", "tf.dtypes.cast", "tf.reshape", "tf.shape"),
    *("tf.rank", "tf.size"),
}
_KNOWN = {  # where several functions are called, and another one is what a program wants
    "Conv2DBackpropInput": "tf.nn.conv2d_transpose",
    "FusedBatchNorm": "tf.nn.batch_normalization",
    "FusedBatchNormV2": "tf.nn.batch_normalization",
    "FusedBatchNormV3": "tf.nn.batch_normalization",
    "Multinomial": "tf.random.categorical",
}

Arguments = dict[str, Any]


def is_raw(entry: Entry) -> bool:
    """Whether an entry is a raw op."""
    return entry.names[0].startswith("tf.raw_ops.")


def instead(entry: Entry) -> list[Entry]:
    """The public functions that a raw op calls: if it is one, a program should use that."""
    if entry.own_name in _KNOWN:
        return [by_name()[_KNOWN[entry.own_name]]]
    found = {each.names[0]: each for each in _called(entry.value._function)}
    telling = [each for name, each in found.items() if name not in _ON_THE_WAY]
    return telling or list(found.values())


def _called(function: Any) -> Iterator[Entry]:
    if isinstance(function, functools.partial):
        for each in (function.func, *function.args, *function.keywords.values()):
            if inspect.isfunction(each):
                yield from _called(each)
        return
    if function in _functions():
        yield _functions()[function]
        return
    code, known = function.__code__, function.__globals__
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    for name in code.co_names:
        held.append(known.get(name))
        for module in filter(inspect.ismodule, map(known.get, code.co_names)):
            held.append(vars(module).get(name))
    for each in held:
        if inspect.isfunction(each) and each in _functions():
            yield _functions()[each]


@functools.cache
def _functions() -> dict[Any, Entry]:
    return {e.value: e for e in entries() if inspect.isfunction(e.value) and not is_raw(e)}


def example(entry: Entry) -> str:
    """A call of a raw op with its result, as a session; `""` where no test has one that is short."""
    name = entry.own_name
    for arguments in _candidates(entry):
        written = ", ".join(f"{key}={_literal(value)}" for key, value in arguments.items())
        found = _shown(f"tf.raw_ops.{name}({written})")
        if found is not None:
            return found
    return ""


def _candidates(entry: Entry) -> Iterator[Arguments]:
    """Arguments of tests: its own, then those of ops that take the same."""
    calls = _calls()
    yield from calls.get(entry.own_name, ())
    for other in calls.values():
        for arguments in other:
            if list(arguments) == list(entry.value.parameters):
                yield arguments


class _Noting:
    """A library whose raw ops take note of their arguments, and do nothing."""

    def __init__(self, library: Any, noted: dict[str, list[Arguments]]) -> None:
        self._library, self._noted = library, noted

    def __getattr__(self, name: str) -> Any:
        if name == "raw_ops":
            return _NotingOps(self._noted)
        return getattr(self._library, name)


class _NotingOps:
    def __init__(self, noted: dict[str, list[Arguments]]) -> None:
        self._noted = noted

    def __getattr__(self, name: str) -> Any:
        def note(*args: Any, **kwargs: Any) -> Any:
            if not args:
                self._noted.setdefault(name, []).append(kwargs)
            raise _Noted

        return note


class _Noted(Exception):
    """Arguments are known, and no more is wanted."""


@functools.cache
def _calls() -> dict[str, list[Arguments]]:
    """The arguments that tests give to raw ops, by the names of the ops."""
    library = importlib.import_module("tapeflow")
    noted: dict[str, list[Arguments]] = {}
    for file in CASES:
        for name, case in importlib.import_module(f"tests.conformance.cases.{file}").CASES.items():
            if not name.startswith(("v1", "v2", "as_")):
                try:
                    case(_Noting(library, noted))
                except _Noted:
                    continue
    return noted


def _literal(value: Any) -> str:
    """A value as it is written in a program, with few digits."""
    if hasattr(value, "numpy"):
        return f"tf.constant({_literal(value.numpy())}, tf.{value.dtype.name})"
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            value = value.astype(np.float64).round(1)
        if value.size <= _LARGE or value.dtype.kind not in "fi":
            return repr(value.tolist())
        return f"tf.ones({list(value.shape)}{'' if value.dtype.kind == 'f' else ', tf.int32'})"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)


def _shown(call: str) -> str | None:
    """A call with what it gives, or None if it does not work, or is too much to read."""
    library = importlib.import_module("tapeflow")
    try:
        with np.errstate(all="ignore"):
            result = eval(call, {"tf": library})
    except Exception:  # arguments were rounded, or belong to another op
        return None
    parts = list(result) if isinstance(result, (tuple, list)) else [result]
    if not parts or not all(hasattr(part, "numpy") for part in parts):
        return None
    large = max(part.numpy().size for part in parts) > 2 * _LARGE
    floating = any(part.dtype.is_floating for part in parts)
    what = "shape" if large else "numpy().round(4)" if floating else "numpy()"
    if parts[0] is result:
        expression = f"{call}.{what}"
    elif floating and not large and not all(part.dtype.is_floating for part in parts):
        expression = f"[part.numpy() for part in {call}]"
    else:
        expression = f"[part.{what} for part in {call}]"
    with np.errstate(all="ignore"):
        value = eval(expression, {"tf": library})
    session = f">>> {expression}\n{value!r}"
    return session if max(map(len, session.splitlines())) <= 2 * _WIDTH else None
