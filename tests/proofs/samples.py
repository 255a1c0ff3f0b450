"""What the table of proofs is made of: rows of sample inputs, of mistakes, and of references.

Each module `samples_<kind>.py` beside this one gives three tables by the name of a primitive:

    SAMPLES      calls that work: inputs (float64 where a gradient is to be checked) and attributes
    REFERENCES   the same function of NumPy arrays, from NumPy, SciPy or the definition, not from the kernel
    MISTAKES     calls that must fail, and what the message must say

`test_table.py` fails if a primitive is missing in one of them, and makes from each row checks of the shape rule, of
values, of first and second derivatives, and of the same in lower precision and for complex numbers.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tapeflow as tf

Reference = Callable[..., Any]


@dataclass
class Sample:
    """One call of a primitive."""

    inputs: tuple[np.ndarray, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    first_order: bool = True
    """Whether differences tell the gradient: not where TensorFlow has a convention of its own."""
    second_order: bool = True
    """Whether the rule for the gradient has a gradient that can be checked."""
    low_precision: bool = True
    """Whether the call means the same in a lower precision."""
    also_complex: bool = True
    """Whether it is to be repeated with complex inputs, where the primitive takes them."""
    rtol: float = 1e-12
    """How well the value agrees with the reference."""


@dataclass
class Mistake:
    """A call of a primitive that must fail, in words that name the op and the shapes of its inputs."""

    inputs: tuple[np.ndarray, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    op: str = ""
    """How the message calls the op, if not by the name of the primitive."""
    says: tuple[str, ...] = ()
    """What else the message must contain: dtypes, attributes."""
    shapes: tuple[int, ...] | None = None
    """The positions of the inputs whose shapes the message must contain: all, unless told."""
    error: type[Exception] = tf.errors.InvalidArgumentError


_generators: dict[str, np.random.Generator] = {}


def _rng() -> np.random.Generator:
    """The random numbers of the module that asks, so that no rows depend on those of another module."""
    frame: Any = sys._getframe(1)
    while frame.f_globals["__name__"] == __name__:
        frame = frame.f_back
    module = frame.f_globals["__name__"].rpartition(".")[2]
    if module not in _generators:
        _generators[module] = np.random.default_rng(zlib.crc32(module.encode()))
    return _generators[module]


def real(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    """Numbers that keep clear of whole and half numbers, where kinks and jumps are."""
    x = _rng().uniform(low, high, shape)
    near = np.abs(x * 2 - np.round(x * 2)) < 0.1
    return np.where(near, x + 0.11, x)


def cplx(*shape: int) -> np.ndarray:
    return real(*shape) + 1j * real(*shape)


def ints(*shape: int, low: int = 1, high: int = 9) -> np.ndarray:
    return _rng().integers(low, high, shape).astype(np.int32)


def bools(*shape: int) -> np.ndarray:
    return _rng().random(shape) < 0.5


def strings(*shape: int) -> np.ndarray:
    return np.full(shape, b"text", object)


def everywhere(make: Callable[..., np.ndarray], **kwargs: Any) -> list[Sample]:
    """A scalar, a vector, a matrix, an empty array."""
    return [Sample((make(*shape, **kwargs),)) for shape in [(), (3,), (2, 3), (0, 2)]]


def pairs(make: Callable[..., np.ndarray], **kwargs: Any) -> list[Sample]:
    """Equal shapes, and every way to broadcast."""
    shapes = [
        ((), ()),
        ((2, 3), (2, 3)),
        ((2, 3), (3,)),
        ((), (2, 2)),
        ((2, 1), (1, 3)),
        ((0, 3), (3,)),
    ]
    return [Sample((make(*a, **kwargs), make(*b, **kwargs))) for a, b in shapes]


MAKERS: dict[str, Callable[..., np.ndarray]] = {
    "float": real,
    "complex": cplx,
    "int": ints,
    "bool": bools,
    "string": strings,
}
FLOAT, INEXACT, REAL = ("float",), ("float", "complex"), ("float", "int")
NUMERIC = ("float", "complex", "int")
DTYPE_NAMES = {"float": "float64", "complex": "complex128", "int": "int32"}


def refused(accepts: Iterable[str], inputs: int = 1, op: str = "", **attrs: Any) -> list[Mistake]:
    """All kinds of dtypes but those accepted, for all inputs at once."""
    return [
        Mistake((make(2, 3),) * inputs, attrs, op, (DTYPE_NAMES.get(kind, kind),))
        for kind, make in MAKERS.items()
        if kind not in accepts
    ]


def mismatched(a: str, b: str, op: str = "") -> list[Mistake]:
    """Two inputs of different dtypes, and two that do not broadcast."""
    says = (DTYPE_NAMES.get(a, a), DTYPE_NAMES.get(b, b))
    return [
        Mistake((MAKERS[a](2, 3), MAKERS[b](2, 3)), {}, op, says),
        Mistake((MAKERS[a](2, 3), MAKERS[a](2, 2)), {}, op),
    ]


POSITIVE = {"low": 0.3, "high": 2.6}
INSIDE = {"low": -0.8, "high": 0.7}
ABOVE_ONE = {"low": 1.2, "high": 3.0}
