"""`pytest -p tests.rounding`: results as another processor may round them.

What NumPy, BLAS and the C library compute differs in the last bit between processors. With this plugin every kernel
gives the next number above (with `ROUNDING=down` in the environment: below) what it computes, so that an example that
shows digits which are not the same everywhere fails, and so does a test that compares such numbers by equality.

Numbers that are few digits long stay what they are: 0.25, 3.0, 0.1. If they come from such numbers they are exact, or
rounded the same way everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow._src.core import context

TOWARDS = -np.inf if os.environ.get("ROUNDING") == "down" else np.inf


def few_digits(x: np.ndarray) -> np.ndarray:
    """Where numbers have four decimals or twelve bits at most, or are not finite."""
    if x.dtype.kind == "c":
        return few_digits(x.real) & few_digits(x.imag)
    bits = np.frexp(x.astype(np.float64))[0] * 2**12
    return (np.round(x, 4) == x) | (bits == np.floor(bits)) | ~np.isfinite(x)


def moved(x: np.ndarray, stays: np.ndarray) -> np.ndarray:
    """The neighbours of numbers."""
    if x.dtype.kind == "c":
        both = np.empty_like(x)
        both.real, both.imag = moved(x.real, stays), moved(x.imag, stays)
        return both
    return np.where(stays, x, np.nextafter(x, np.asarray(TOWARDS, x.dtype)))


def rounded_otherwise(result: Any, inputs: Iterable[Any]) -> Any:
    if type(result) in (tuple, list):
        return type(result)(rounded_otherwise(each, inputs) for each in result)
    if not isinstance(result, (np.ndarray, np.generic)) or result.dtype.char not in "fdFD":
        return result
    arrays = [x for x in map(np.asarray, inputs) if x.dtype.char in "fdFD"]
    x = np.asarray(result)
    stays = np.isin(x, np.concatenate([[0.0], *map(np.ravel, arrays)]))  # only moved about, or 0
    if all(a.shape == x.shape for a in arrays):
        stays |= np.logical_and.reduce([few_digits(a) for a in (x, *arrays)])
    elif all(few_digits(a).all() for a in arrays):
        stays |= few_digits(x)
    return moved(x, stays) if isinstance(result, np.ndarray) else moved(x, stays)[()]


def otherwise(run: Callable[..., Any]) -> Callable[..., Any]:
    """What runs a kernel without NumPy's warnings, with other roundings."""

    def run_otherwise(kernel: Any, *inputs: Any, **attrs: Any) -> Any:
        result = run(kernel, *inputs, **attrs)
        if kernel is np.nextafter:
            return result
        with np.errstate(all="ignore"):
            return rounded_otherwise(result, inputs)

    return run_otherwise


def pytest_configure() -> None:
    """Begins: only where it is a plugin, and not where pytest looks for examples in this file."""
    quiet_runner = context.quiet_runner
    context.quiet_runner = lambda: otherwise(quiet_runner())
    context.context.dispatch = (context.quiet_runner(), ())
    assert tf.exp(1.0).numpy() != np.exp(np.float32(1.0)), "nothing is rounded otherwise"
