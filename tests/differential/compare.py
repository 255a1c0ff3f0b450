"""Makes one call in both libraries, and says how the outcomes differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.differential.calls import Call
from tests.differential.draw import Dice, numbers
from tests.differential.values import Array

TOLERANCE = {
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float64": 1e-8,
    "complex128": 1e-8,
}
"""Relative to the largest value; everything else is compared exactly."""

STEPS = ("result", "gradient", "second gradient")


@dataclass(frozen=True)
class Failure:
    """An exception, by the names of its class and of those above it."""

    names: tuple[str, ...]
    message: str

    def __str__(self) -> str:
        return f"{self.names[0]}: {' '.join(self.message.split())[:160]}"


@dataclass(frozen=True)
class Slices:
    """IndexedSlices, as the dense array they stand for."""

    dense: Any


@dataclass(frozen=True)
class Difference:
    """Where two outcomes part: in which step, in what, and what each library gave."""

    call: Call
    step: str
    aspect: str
    ours: Any
    theirs: Any
    path: tuple[int, ...] = ()
    """Which item of the outcome it is: that of the second source, or of the third result."""

    @property
    def summary(self) -> str:
        return f"{self.step}, {self.aspect}: {_short(self.ours)} here, {_short(self.theirs)} there"


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 150 else text[:147] + "..."


# Running


def run(tf: Any, call: Call, with_second: bool) -> dict[str, Any]:
    """The outcome of each step, in neutral terms, up to the first failure."""
    made = {name: array.make(tf) for name, array in call.arrays.items()}
    scope = {"tf": tf, "np": np, "inf": np.inf, "nan": np.nan, **made}
    outcome: dict[str, Any] = {}
    wanted = call.entry.gradients and not call.is_bad
    names = [name for name, array in call.arrays.items() if wanted and array.is_differentiable]
    sources = [made[name] for name in names]
    step = "result"
    try:
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(sources)
            with tf.GradientTape() as tape:
                tape.watch(sources)
                result = execute(call, scope)
            outcome[step] = neutral(tf, result)
            targets = [leaf for leaf in leaves(result) if is_target(tf, leaf)]
            if not (sources and targets):
                return outcome
            step = "gradient"
            first = tape.gradient(targets, sources, output_gradients=weights(tf, call, targets))
            outcome[step] = neutral(tf, first)
            present = [tf.convert_to_tensor(g) for g in first if g is not None]
        if present and with_second and all(is_moderate(array) for array in call.arrays.values()):
            step = "second gradient"
            outcome[step] = neutral(tf, dense(tf, outer.gradient(present, sources)))
    except Exception as error:
        names = tuple(c.__name__ for c in type(error).__mro__)
        outcome[step] = Failure(names, str(error))
    return outcome


def is_moderate(array: Array) -> bool:
    """Whether second derivatives mean something: with NaN in the first, they are NaN or a guess."""
    if not array.is_differentiable:
        return True
    size = np.abs(array.values.astype("complex128"))
    return bool(np.all(np.isfinite(size) & (size < 1e6) & ((size == 0) | (size > 1e-6))))


def execute(call: Call, scope: dict[str, Any]) -> Any:
    if not call.entry.is_program:
        return eval(call.source, scope)
    exec(call.source, scope)
    return scope["result"]


def weights(tf: Any, call: Call, targets: list[Any]) -> list[Any]:
    """What the outputs are weighted with: the same for both libraries."""
    dice = Dice(call.seed)
    drawn = [numbers(dice, target.shape, target.dtype.name, 0.5, 2.0) for target in targets]
    return [tf.constant(w, target.dtype) for w, target in zip(drawn, targets, strict=True)]


def dense(tf: Any, gradients: list[Any]) -> list[Any]:
    return [None if g is None else tf.convert_to_tensor(g) for g in gradients]


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def is_target(tf: Any, leaf: Any) -> bool:
    return isinstance(leaf, tf.Tensor) and (leaf.dtype.is_floating or leaf.dtype.is_complex)


def neutral(tf: Any, value: Any) -> Any:
    """A result in NumPy and Python terms."""
    if isinstance(value, tf.IndexedSlices):
        return Slices(tf.convert_to_tensor(value).numpy())
    if isinstance(value, dict):
        return {key: neutral(tf, item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return (*value._fields, *(neutral(tf, item) for item in value))
    if isinstance(value, (list, tuple)) and not isinstance(value, tf.TensorShape):
        return type(value)(neutral(tf, item) for item in value)
    if isinstance(value, (tf.Tensor, tf.Variable)):
        return np.asarray(value.numpy())
    if isinstance(value, tf.TensorShape):
        return ("TensorShape", *value.as_list())
    if isinstance(value, tf.DType):
        return ("DType", value.name)
    return value


# Comparing


def compare(call: Call, ours: dict[str, Any], theirs: dict[str, Any]) -> Difference | None:
    """The first difference between the outcomes."""
    for step in STEPS:
        if step not in ours and step not in theirs:
            return None
        a, b = ours.get(step, "nothing"), theirs.get(step, "nothing")
        found = differing(a, b, looseness(call, step), call.entry.values)
        if found is not None:
            return Difference(call, step, *found[:3], path=found[3:])
        if isinstance(b, Failure):
            return None
    return None


@dataclass(frozen=True)
class Looseness:
    """What the tolerance of a dtype is multiplied with, and the size that counts as nothing."""

    factor: float = 1.0
    floor: float = 1e-3


def looseness(call: Call, step: str) -> Looseness:
    """How closely a step of a call is compared: each derivative loses a digit."""
    order = STEPS.index(step)
    return Looseness(call.entry.loose * 10**order, 0.1 if order else 1e-3)


def differing(a: Any, b: Any, loose: Looseness, values: bool) -> tuple[Any, ...] | None:
    """What differs, ours, theirs, and then the path to it through lists and the like."""
    if isinstance(a, Failure) or isinstance(b, Failure):
        if isinstance(a, Failure) and isinstance(b, Failure) and b.names[0] in a.names:
            return None
        return "exception", a, b
    if isinstance(a, Slices) and isinstance(b, Slices):
        return differing(a.dense, b.dense, loose, values)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if type(a) is not type(b) or len(a) != len(b):
            return "structure", a, b
        pairs: Any = zip(a, b, strict=True)
    elif isinstance(a, dict) and isinstance(b, dict):
        if list(a) != list(b):
            return "structure", a, b
        pairs = zip(a.values(), b.values(), strict=True)
    elif isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return differing_arrays(a, b, loose, values)
    elif type(a) is not type(b):
        return "type", a, b
    else:
        is_same = a == b or (a != a and b != b)
        return None if is_same or not values else ("value", a, b)
    for place, (x, y) in enumerate(pairs):
        found = differing(x, y, loose, values)
        if found is not None:
            return (*found[:3], place, *found[3:])
    return None


def differing_arrays(a: Any, b: Any, loose: Looseness, values: bool) -> tuple[Any, ...] | None:
    if a.dtype != b.dtype:
        return "dtype", a.dtype.name, b.dtype.name
    if a.shape != b.shape:
        return "shape", a.shape, b.shape
    if not values or a.size == 0:
        return None
    tolerance = TOLERANCE.get(a.dtype.name, 0.0) * loose.factor
    if not tolerance:
        return None if np.array_equal(a, b) else ("values", a, b)
    return None if close(a, b, tolerance, loose.floor) else ("values", a, b)


def close(a: Any, b: Any, tolerance: float, floor: float, most: float = 100.0) -> bool:
    """Whether all values are equal within the tolerance of themselves or of the largest."""
    if a.dtype.kind == "c":
        # An infinite or undefined complex number is one, whichever part says so.
        finite = np.isfinite(a)
        if not np.array_equal(finite, np.isfinite(b)):
            return False
        a, b = (np.where(finite, c, 0) for c in (a, b))
        a, b = (np.stack([c.real, c.imag]) for c in (a, b))
    a, b = a.astype("float64"), b.astype("float64")
    scale = min(np.abs(b[np.isfinite(b)]).max(initial=0.0), most)
    return np.allclose(a, b, rtol=tolerance, atol=tolerance * max(scale, floor), equal_nan=True)
