"""What the accepted differences ask of a difference: small conditions that combine.

A condition takes a `Difference` and says whether it is of that kind. What a condition excuses is
as small as it can be said: the elements at certain inputs, one exception, one source of a gradient.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.differential.compare import (
    TOLERANCE,
    Difference,
    Failure,
    Looseness,
    Slices,
    close,
    differing,
    differing_arrays,
    looseness,
)
from tests.differential.tables import KINDS
from tests.differential.values import Array

Condition = Callable[[Difference], bool]

NO_KERNEL = ("Could not find device for node", "is not in the list of allowed values")


def all_of(*conditions: Condition) -> Condition:
    return lambda d: all(condition(d) for condition in conditions)


def any_of(*conditions: Condition) -> Condition:
    return lambda d: any(condition(d) for condition in conditions)


# Exceptions


def text_of(failure: Failure) -> str:
    """The exception in one line, with all of its message."""
    return f"{failure.names[0]}: {' '.join(failure.message.split())}"


def fails_there(*words: str) -> Condition:
    """TensorFlow raises an error with one of these words in it, and a result comes here."""

    def when(d: Difference) -> bool:
        if not isinstance(d.theirs, Failure) or isinstance(d.ours, Failure):
            return False
        return any(word in text_of(d.theirs) for word in words)

    return when


def fails_here(*words: str) -> Condition:
    """An error with one of these words in it is raised here, and TensorFlow gives a result."""

    def when(d: Difference) -> bool:
        if not isinstance(d.ours, Failure) or isinstance(d.theirs, Failure):
            return False
        return any(word in text_of(d.ours) for word in words)

    return when


def both_fail(here: str, there: str, words: str) -> Condition:
    """Both raise, and the names of the classes, and words of TensorFlow's message, are these."""

    def when(d: Difference) -> bool:
        if not (isinstance(d.ours, Failure) and isinstance(d.theirs, Failure)):
            return False
        return here in d.ours.names and there == d.theirs.names[0] and words in text_of(d.theirs)

    return when


def listed(table: dict[str, tuple[str, ...]], condition: Callable[..., Condition]) -> Condition:
    """The condition holds with what a table says for the op."""

    def when(d: Difference) -> bool:
        return condition(*table.get(d.call.entry.name, ()))(d)

    return when


def is_other_kind(d: Difference) -> bool:
    """Both raise, and the table knows the two kinds."""
    return any(both_fail(*kinds)(d) for kinds in KINDS[d.call.entry.name])


def is_bad(d: Difference) -> bool:
    """A deliberate mistake was made."""
    return d.call.is_bad


def takes_a_fraction(d: Difference) -> bool:
    """The mistake is 1.5 for an integer, and the error that is raised here says so."""
    is_said = isinstance(d.ours, Failure) and "TypeError" in d.ours.names
    return is_said and 1.5 in d.call.arguments.values() and "must be an int" in d.ours.message


def is_without_attribute(d: Difference) -> bool:
    """TensorFlow wants an attribute of a list, a number or an array that was passed as it is."""
    found = re.search(
        r"'(list|float|int|numpy\.ndarray)' object has no attribute '(dtype|shape|get_shape)'"
        r"|'tuple' object has no attribute 'rank'|bad operand type for unary -: 'list'"
        r"|can only concatenate list \(not \"float\"\) to list",
        text_of(d.theirs) if isinstance(d.theirs, Failure) else "",
    )
    return found is not None and any(a.form in ("list", "numpy") for a in arrays(d))


# Arguments


def arrays(d: Difference) -> list[Array]:
    return [*d.call.arrays.values()]


def has(*dtypes: str) -> Condition:
    """One of the arrays has one of these dtypes."""
    return lambda d: any(array.dtype in dtypes for array in arrays(d))


def is_complex(d: Difference) -> bool:
    return has("complex64", "complex128")(d)


def has_empty(d: Difference) -> bool:
    return any(array.values.size == 0 for array in arrays(d))


def with_values(name: str, spots: Callable[[Any], Any]) -> Condition:
    """An argument has an element for which the function says so."""
    return lambda d: bool(np.any(spots(d.call.arguments[name].values)))


def is_zero_or_infinite(x: Any) -> Any:
    return (x == 0) | np.isinf(x)


def has_dtypes(d: Difference) -> bool:
    """The arrays have several dtypes."""
    return len({array.dtype for array in d.call.arrays.values()}) > 1


def has_ties(x: Any) -> bool:
    return np.unique(x).size < x.size


def has_grey_or_zero(d: Difference) -> Any:
    """The pixels in which two colours are equal, or one is zero."""
    rgb = d.call.arguments["images"].values
    equal = (rgb == np.roll(rgb, 1, -1)) | (rgb == 0)
    return np.broadcast_to(equal.any(-1, keepdims=True), rgb.shape)


def is_of_the_first_axis(d: Difference) -> bool:
    """The axis is the first one, counted from the end."""
    axis = d.call.arguments["axis"]
    return axis < 0 and axis == -len(d.call.arguments["params"].shape)


# Steps and values


def source(d: Difference) -> str:
    """The argument by which the gradient is."""
    return [name for name, array in d.call.arrays.items() if array.is_differentiable][d.path[0]]


def in_step(*steps: str) -> Condition:
    return lambda d: d.step in steps


in_gradient = in_step("gradient", "second gradient")
in_second = in_step("second gradient")


def differs_in(aspect: str) -> Condition:
    return lambda d: d.aspect == aspect


def is_none_here(d: Difference) -> bool:
    """A gradient is None here. In TensorFlow it is zeros, or empty, or an error."""
    is_nothing = isinstance(d.theirs, Failure) or not np.any(d.theirs)
    return d.step != "result" and is_nothing and all(g is None for g in _gradients(d.ours))


def is_none_there(d: Difference) -> bool:
    return d.step != "result" and d.aspect == "type" and d.theirs is None


def is_all_there(d: Difference) -> bool:
    """Every gradient is there, of those that TensorFlow fails to give."""
    return isinstance(d.theirs, Failure) and all(g is not None for g in _gradients(d.ours))


def _gradients(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def only_at(spots: Callable[[Difference], Any]) -> Condition:
    """The values differ at these elements, and nowhere else."""

    def when(d: Difference) -> bool:
        if d.aspect != "values":
            return False
        where = spots(d)
        if np.shape(where) != d.ours.shape:
            return False
        a, b = (np.where(where, x.dtype.type(0), x) for x in (d.ours, d.theirs))
        return differing_arrays(a, b, looseness(d.call, d.step), True) is None

    return when


def at(name: str, spots: Callable[[Any], Any]) -> Condition:
    """The values differ only where an argument has values for which the function says so."""
    return only_at(lambda d: spots(d.call.arguments[name].values))


only_nan_there = only_at(lambda d: np.isnan(d.theirs) & ~np.isnan(d.ours))
only_nan_here = only_at(lambda d: np.isnan(d.ours) & ~np.isnan(d.theirs))


def within(tolerance: float) -> Condition:
    """The values differ by so much of the largest at most."""

    def when(d: Difference) -> bool:
        return d.aspect == "values" and close(d.ours, d.theirs, tolerance, 0.0, np.inf)

    return when


def cancels(d: Difference) -> bool:
    """The values differ by little next to an input of 1e6 or more."""
    largest = max(map(size, arrays(d)), default=0.0)
    if d.aspect != "values" or d.ours.dtype.name not in TOLERANCE or largest < 1e6:
        return False
    return close(d.ours, d.theirs, TOLERANCE[d.ours.dtype.name] * 10, largest, np.inf)


def size(array: Array) -> float:
    """The largest finite magnitude."""
    values = np.abs(array.values.astype("complex128")) if array.dtype != "string" else np.zeros(1)
    return float(values[np.isfinite(values)].max(initial=0.0))


def is_in_slices(d: Difference) -> bool:
    """One of the two gradients is IndexedSlices, the other is the same and dense."""
    a, b = d.ours, d.theirs
    if isinstance(a, Slices) == isinstance(b, Slices):
        return False
    a, b = (x.dense if isinstance(x, Slices) else x for x in (a, b))
    return differing(a, b, Looseness(10.0, 0.1), True) is None


# Programs


def gradient_of(d: Difference) -> str:
    """The name of the gradient that differs: `g10` is the first that `tape1` gives."""
    return re.findall(r"\bg\d+\b", d.call.source.rpartition("result = ")[2])[d.path[0]]


def is_of_a_stopped_tape(d: Difference) -> bool:
    """The gradient is by a tape around another, which did not record all that the other did."""
    level = int(gradient_of(d)[1])
    is_outer = f"as tape{level + 1}:" in d.call.source
    return is_outer and f"tape{level}.stop_recording()" in d.call.source


def is_behind(op: str) -> Condition:
    """The gradient is asked for by what an op made, or by what was made of that."""

    def when(d: Difference) -> bool:
        if not d.call.entry.is_program or len(d.path) < 2:
            return False
        behind: set[str] = set()
        for name, text in re.findall(r"^ *(t\d+) = (.*)$", d.call.source, re.MULTILINE):
            if text.startswith(f"{op}(") or behind & set(re.findall(r"\bt\d+\b", text)):
                behind.add(name)
        asked = rf"{gradient_of(d)} = .*?\.gradient\((?:\[.*?\]|\w+), \[(.*?)\]"
        sources = re.findall(asked, d.call.source)[0].split(", ")
        is_nothing = d.ours is None or not np.any(d.ours)
        return is_nothing and sources[d.path[1]] in behind

    return when
