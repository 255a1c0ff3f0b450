"""Rules for numbers: neutral elements, signs, powers and casts. See `simplification` for what a rule is."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.graph.passes.simplification import Known, alike, instead, rule


@rule("identity", "stop_gradient")
def _pass_through(node: Node, known: Known) -> Value:
    return node.inputs[0]


# Neutral elements. For complex numbers 1 is none: (inf + 0j) * (1 + 0j) has a NaN in it.


@rule("multiply")
def _times_one(node: Node, known: Known) -> Value | None:
    a, b = node.inputs
    return _if_number(node, a, b, known, _is_one) or _if_number(node, b, a, known, _is_one)


@rule("divide", "power")
def _over_one(node: Node, known: Known) -> Value | None:
    """The same for x / 1 and x ** 1."""
    a, b = node.inputs
    return _if_number(node, a, b, known, _is_one)


@rule("add")
def _plus_zero(node: Node, known: Known) -> Value | None:
    """-0.0 is what changes no float: 0.0 would turn -0.0 into 0.0."""
    a, b = node.inputs
    return _if_number(node, a, b, known, _is_minus_zero) or _if_number(
        node, b, a, known, _is_minus_zero
    )


@rule("subtract")
def _minus_zero(node: Node, known: Known) -> Value | None:
    a, b = node.inputs
    return _if_number(node, a, b, known, _is_zero)


def _if_number(node: Node, x: Value, other: Value, known: Known, test: Any) -> Value | None:
    """x, if the output is like it and the other operand is a number that passes a test."""
    number = known.number(other)
    if number is None or not test(number) or x.dtype.is_complex:
        return None
    return x if alike(x, node.outputs[0]) else None


def _is_one(number: Any) -> bool:
    return bool(number == 1)


def _is_zero(number: Any) -> bool:
    return bool(number == 0) and not (number.dtype.kind not in "iu" and np.signbit(number))


def _is_minus_zero(number: Any) -> bool:
    return bool(number == 0) and (number.dtype.kind in "iu" or bool(np.signbit(number)))


# Signs.


@rule("negative", "logical_not")
def _twice(node: Node, known: Known) -> Value | None:
    inner = known.producer(node.inputs[0], node.primitive.name)
    return None if inner is None else inner.inputs[0]


@rule("add")
def _plus_negative(node: Node, known: Known) -> Node | None:
    """What is a + -b is a - b."""
    for x, y in (node.inputs, node.inputs[::-1]):
        minus = known.producer(y, "negative")
        if minus is not None:
            return instead(node, "subtract", (x, minus.inputs[0]))
    return None


@rule("subtract")
def _minus_negative(node: Node, known: Known) -> Node | None:
    """What is a - -b is a + b."""
    minus = known.producer(node.inputs[1], "negative")
    return None if minus is None else instead(node, "add", (node.inputs[0], minus.inputs[0]))


@rule("conj", "real")
def _of_real(node: Node, known: Known) -> Value | None:
    x = node.inputs[0]
    return None if x.dtype.is_complex else x


# Cheaper ways.


@rule("divide")
def _over_power_of_two(node: Node, known: Known) -> Node | None:
    """What is x / 4 is x * 0.25, because 0.25 is exact: both are the rounding of one number."""
    x, y = node.inputs
    if not x.dtype.is_floating:
        return None
    number = known.number(y)
    if number is None or y.shape:
        return None
    mantissa, exponent = np.frexp(np.float64(number))
    if abs(mantissa) != 0.5 or abs(exponent) > _EXPONENTS.get(x.dtype.name, 0):
        return None
    return instead(node, "multiply", (x, known.constant(1 / np.float64(number), y)))


_EXPONENTS = {"float16": 13, "bfloat16": 120, "float32": 120, "float64": 1000}


@rule("power")
def _second_power(node: Node, known: Known) -> Node | None:
    x, y = node.inputs
    number = known.array(y)
    if number is None or number.ndim or number != 2 or not alike(x, node.outputs[0]):
        return None
    return instead(node, "square", (x,))


@rule("add_n")
def _few_terms(node: Node, known: Known) -> Node | Value | None:
    if len(node.inputs) == 1:
        return node.inputs[0]
    return instead(node, "add", node.inputs) if len(node.inputs) == 2 else None


# Casts.


@rule("cast", "cast_to_discrete")
def _cast(node: Node, known: Known) -> Value | None:
    """A cast to the dtype that is there, or back from one that holds all of its numbers."""
    (x,) = node.inputs
    dtype = node.outputs[0].dtype
    if x.dtype is dtype:
        return x
    inner = known.producer(x, "cast", "cast_to_discrete")
    if inner is None or inner.inputs[0].dtype is not dtype:
        return None
    return inner.inputs[0] if _holds_all(x.dtype, dtype) else None


def _holds_all(wide: DType, narrow: DType) -> bool:
    """Whether each number of one dtype is a number of the other.

    What NumPy calls a safe cast is less: an integer of 64 bits has more digits than a double, and one of 8 bits more
    than a float of 8 bits.
    """
    if not np.can_cast(narrow.np_dtype, wide.np_dtype, "safe"):
        return False
    if not narrow.is_integer or wide.is_integer:
        return True
    real = wide.real_dtype.np_dtype
    return 8 * narrow.size <= ml_dtypes.finfo(real).nmant + 1
