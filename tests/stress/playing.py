"""Plays a program in tapeflow, event by event, beside the slow evaluator."""

from __future__ import annotations

import copy
import itertools
import linecache
import os
import tempfile
import traceback
import warnings
from typing import Any

import numpy as np
from tests.stress.engines import DECORATORS, running
from tests.stress.evaluator import World, evaluated
from tests.stress.layouts import array
from tests.stress.scripts import Program

import tapeflow as tf

_TOLERANCES = {
    "float32": 2e-5, "complex64": 2e-5, "float64": 1e-11, "complex128": 1e-11, "float16": 0.02, "bfloat16": 0.1
}  # fmt: skip
_numbers = itertools.count()


def restored(variable: Any) -> None:
    """Saves a variable, spoils it, and restores it: its value is what it was, in other memory."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = tf.train.Checkpoint(variable=variable)
        path = checkpoint.write(os.path.join(folder, "saved"))
        variable.assign(tf.zeros_like(variable))
        checkpoint.read(path).assert_consumed()


def total_of(results: list[Any]) -> Any:
    """The sum of all results that are floats."""
    found = [tf.reduce_sum(tf.cast(x, tf.float64)) for x in results if x.dtype.is_floating]
    return tf.add_n([tf.constant(0.0, tf.float64), *found])


def play(program: Program, engine: str) -> str | None:
    """What went wrong, in words, or None."""
    file = f"<stress {next(_numbers)}>"
    namespace: dict[str, Any] = {
        "tf": tf,
        "np": np,
        "copy": copy,
        "array": array,
        "restored": restored,
        "total_of": total_of,
    }
    decorator = DECORATORS[engine]
    beginning = program.beginning(decorator)
    # AutoGraph reads the source of a function.
    linecache.cache[file] = (len(beginning), None, beginning.splitlines(True), file)
    where = "the beginning"
    try:
        with running(engine), warnings.catch_warnings():
            # Programs are meant to be traced often.
            warnings.filterwarnings("ignore", message=".*retracing.*")
            worlds = evaluated(program)
            exec(compile(beginning, file, "exec"), namespace)
            next(worlds)
            for index, event in enumerate(program.events):
                text = program.event_text(event, engine == "eager")
                where = f"event {index}: {text}"
                exec(compile(text, f"{file} {index}", "exec"), namespace)
                last = index == len(program.events) - 1
                difference = _difference(program, namespace, next(worlds), event.look or last)
                if difference is not None:
                    return f"after {where}\n{difference}"
    except Exception as error:
        trace = "".join(traceback.format_exception(error)[-4:])
        return f"in {where}\n{type(error).__name__}: {error}\n{trace}"
    finally:
        linecache.cache.pop(file, None)
    return None


def _difference(
    program: Program, namespace: dict[str, Any], world: World, look: bool
) -> str | None:
    """Which name has another value than it should."""
    tolerance = max(_TOLERANCES.get(d, 0.0) for d in program.dtypes()) * (1 + world.largest)
    for name, expected in world.values.items():
        if name[0] == "v" and not look:
            continue
        found = namespace[name]
        if isinstance(found, (tf.Tensor, tf.Variable)):
            # Not np.asarray: a view of a variable's value is a reference to it.
            found = found.numpy()
        found = np.asarray(found)
        if found.dtype.newbyteorder("=") != expected.dtype.newbyteorder("="):
            return f"{name} has dtype {found.dtype}, expected {expected.dtype}"
        if found.shape != expected.shape:
            return f"{name} has shape {found.shape}, expected {expected.shape}"
        if expected.dtype.kind in "iu":
            wrong = found != expected
        else:
            here, there = found.astype(np.complex128), expected.astype(np.complex128)
            wrong = ~(np.abs(here - there) <= tolerance)
        if wrong.any():
            place = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
            return (
                f"{name} is wrong in {int(wrong.sum())} of {wrong.size} elements, first at {place}: "
                f"{np.atleast_1d(found)[place]} instead of {np.atleast_1d(expected)[place]} "
                f"(tolerance {tolerance:.1e})"
            )
    return None
