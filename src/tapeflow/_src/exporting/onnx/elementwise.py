"""How what is computed of each element is written."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import (
    DType,
    as_dtype,
    bool_,
    float16,
    float32,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tapeflow._src.exporting.onnx.writing import ROWS, CannotWrite, GraphWriter, Ref, Row, row
from tapeflow._src.graph.graph import Node
from tapeflow._src.primitives.nn.activations import GELU_CUBIC, GELU_SCALE, SELU_FLOOR, SELU_SCALE

_WIDER = {int8: int32, int16: int32, uint8: int32, uint16: int32, uint32: int64, uint64: int64}
"""Integers that onnxruntime has no arithmetic of, and the ones that take their place."""


def widely(w: GraphWriter, op: str, *xs: Ref, gives: DType | None = None, **attrs: Any) -> Ref:
    """A node on integers that are wide enough for onnxruntime; the result is of the dtype that was given."""
    dtype = xs[0].dtype
    wide = _WIDER.get(dtype)
    if wide is None:
        return w.op(op, *xs, gives=gives, **attrs)
    found = w.op(op, *[w.cast(x, wide) for x in xs], gives=gives, **attrs)
    return found if gives is not None else w.cast(found, dtype)


def _same(op: str, gives: DType | None = None) -> Row:
    """A primitive that is an operator of the same inputs."""
    return lambda w, node, x: widely(w, op, *x, gives=gives)


_NUMBERS = {
    **{
        name: name.capitalize()
        for name in (
            *(
                "sqrt",
                "reciprocal",
                "sign",
                "floor",
                "ceil",
                "round",
                "exp",
                "log",
                "sin",
                "cos",
                "tan",
            ),
            *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "abs"),
            *("sigmoid", "softplus", "softsign", "relu", "elu", "erf", "identity"),
        )
    },
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "maximum": "Max",
    "minimum": "Min",
    "power": "Pow",
    "rint": "Round",
    "negative": "Neg",
    "invert": "BitwiseNot",
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
    "stop_gradient": "Identity",
    "barrier": "Identity",
    "laid_out": "Identity",
    "conj": "Identity",
    "real": "Identity",
    "check_numerics": "Identity",
    "check_bounds": "Identity",
}
_ANSWERS = {
    "equal": "Equal",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
    "is_nan": "IsNaN",
    "is_inf": "IsInf",
    "logical_not": "Not",
    "logical_and": "And",
    "logical_or": "Or",
    "logical_xor": "Xor",
}
ROWS.update({name: _same(op) for name, op in _NUMBERS.items()})
ROWS.update({name: _same(op, bool_) for name, op in _ANSWERS.items()})


def _composed(*names: str) -> Callable[[Callable[..., Ref]], Callable[..., Ref]]:
    """Registers a function of the writer and the inputs."""

    def register(function: Callable[..., Ref]) -> Callable[..., Ref]:
        for name in names:
            ROWS[name] = lambda w, node, x: function(w, *x)
        return function

    return register


def less(w: GraphWriter, a: Ref, b: Any) -> Ref:
    """Where one value is less than another, or than a number."""
    b = b if isinstance(b, Ref) else w.constant(b, a)
    return widely(w, "Less", a, b, gives=bool_)


def is_zero(w: GraphWriter, x: Ref) -> Ref:
    """Where a value is 0."""
    return widely(w, "Equal", x, w.constant(0, x), gives=bool_)


@row("round")
def _round(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Round" if x[0].dtype.is_floating else "Identity", *x)


@_composed("not_equal")
def _not_equal(w: GraphWriter, a: Ref, b: Ref) -> Ref:
    return w.op("Not", widely(w, "Equal", a, b, gives=bool_))


@_composed("is_finite")
def is_finite(w: GraphWriter, x: Ref) -> Ref:
    """Where a value is neither infinite nor NaN."""
    odd = w.op("Or", w.op("IsInf", x, gives=bool_), w.op("IsNaN", x, gives=bool_))
    return w.op("Not", odd)


@_composed("square")
def square(w: GraphWriter, x: Ref) -> Ref:
    """A value times itself."""
    return widely(w, "Mul", x, x)


@_composed("squared_difference")
def _squared_difference(w: GraphWriter, a: Ref, b: Ref) -> Ref:
    return square(w, widely(w, "Sub", a, b))


@_composed("rsqrt")
def _rsqrt(w: GraphWriter, x: Ref) -> Ref:
    return w.op("Reciprocal", w.op("Sqrt", x))


@_composed("cbrt")
def _cbrt(w: GraphWriter, x: Ref) -> Ref:
    root = w.op("Pow", w.op("Abs", x), w.constant(1 / 3, x))
    return w.op("Mul", w.op("Sign", x), root)


@_composed("expm1")
def expm1(w: GraphWriter, x: Ref) -> Ref:
    """The exponential less 1: of small numbers by the tangent of their half, which loses no digits."""
    one = w.constant(1, x)
    bent = w.op("Tanh", w.op("Mul", x, w.constant(0.5, x)))
    near = w.op("Div", w.op("Add", bent, bent), w.op("Sub", one, bent))
    far = w.op("Sub", w.op("Exp", x), one)
    return w.where(less(w, w.op("Abs", x), 0.5), near, far)


@_composed("log1p")
def log1p(w: GraphWriter, x: Ref) -> Ref:
    """The logarithm of 1 more: that of the sum as it was rounded, and for small numbers in the right proportion."""
    one = w.constant(1, x)
    u = w.op("Add", one, x)
    logarithm = w.op("Log", u)
    lost = w.op("Equal", u, one, gives=bool_)
    gained = w.where(lost, one, w.op("Sub", u, one))
    near = w.where(lost, x, w.op("Div", w.op("Mul", logarithm, x), gained))
    return w.where(less(w, w.op("Abs", x), 0.5), near, logarithm)


@_composed("relu6")
def _relu6(w: GraphWriter, x: Ref) -> Ref:
    return w.op("Clip", x, w.constant(0, x), w.constant(6, x))


@_composed("relu_gradient")
def _relu_gradient(w: GraphWriter, g: Ref, y: Ref) -> Ref:
    return w.where(less(w, w.constant(0, y), y), g, w.constant(0, g))


@_composed("silu")
def _silu(w: GraphWriter, x: Ref) -> Ref:
    return w.op("Mul", x, w.op("Sigmoid", x))


@_composed("selu")
def _selu(w: GraphWriter, x: Ref) -> Ref:
    return w.op("Selu", x, alpha=SELU_FLOOR / SELU_SCALE, gamma=SELU_SCALE)


@_composed("gelu_tanh")
def _gelu(w: GraphWriter, x: Ref) -> Ref:
    if x.dtype in (float16, float32):
        return w.op("Gelu", x, approximate="tanh")
    half = w.op("Mul", x, w.constant(0.5, x))
    return w.op("Mul", half, w.op("Add", _gelu_bent(w, x), w.constant(1, x)))


def _gelu_bent(w: GraphWriter, x: Ref) -> Ref:
    inner = w.op("Add", w.op("Mul", square(w, x), w.constant(GELU_CUBIC, x)), w.constant(1, x))
    return w.op("Tanh", w.op("Mul", w.op("Mul", x, inner), w.constant(GELU_SCALE, x)))


@_composed("gelu_tanh_gradient")
def _gelu_gradient(w: GraphWriter, g: Ref, x: Ref) -> Ref:
    one, bent = w.constant(1, x), _gelu_bent(w, x)
    steep = w.op("Add", w.op("Mul", square(w, x), w.constant(3 * GELU_CUBIC, x)), one)
    steep = w.op("Mul", w.op("Mul", x, steep), w.constant(GELU_SCALE, x))
    slope = w.op("Mul", w.op("Sub", one, square(w, bent)), steep)
    both = w.op("Add", w.op("Add", one, bent), slope)
    return w.op("Mul", g, w.op("Mul", both, w.constant(0.5, x)))


@row("leaky_relu")
def _leaky_relu(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    (v,) = x
    alpha = float(node.attrs["alpha"])
    if v.dtype in (float16, float32):
        return w.op("LeakyRelu", v, alpha=alpha)
    return w.where(less(w, w.constant(0, v), v), v, w.op("Mul", v, w.constant(alpha, v)))


@_composed("erfc")
def _erfc(w: GraphWriter, x: Ref) -> Ref:
    return w.op("Sub", w.constant(1, x), w.op("Erf", x))


@_composed("angle_of_real")
def _angle_of_real(w: GraphWriter, x: Ref) -> Ref:
    return w.where(less(w, x, 0), w.constant(math.pi, x), w.constant(0, x))


@_composed("atan2")
def _atan2(w: GraphWriter, y: Ref, x: Ref) -> Ref:
    """By the quotient, and half a turn more to the left of the axis."""
    zero = w.constant(0, x)
    up = w.op("Not", less(w, y, zero))
    turn = w.where(up, w.constant(math.pi, x), w.constant(-math.pi, x))
    upright = w.op("Mul", w.op("Sign", y), w.constant(math.pi / 2, x))
    flat = is_zero(w, x)
    slope = w.op("Atan", w.op("Div", y, w.where(flat, w.constant(1, x), x)))
    beside = w.where(less(w, x, zero), w.op("Add", slope, turn), slope)
    return w.where(flat, upright, beside)


@row("add_n")
def _add_n(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return functools.reduce(lambda a, b: widely(w, "Add", a, b), x)


@row("select")
def _select(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    condition, a, b = x
    wide = _WIDER.get(a.dtype)
    if wide is None:
        return w.where(condition, a, b)
    return w.cast(w.where(condition, w.cast(a, wide), w.cast(b, wide)), a.dtype)


@row("dropout")
def _dropout(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    scaled = w.op("Mul", x[0], w.constant(node.attrs["scale"], x[0]))
    return w.where(x[1], scaled, w.constant(0, x[0]))


@row("cast", "cast_to_discrete")
def _cast(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.cast(x[0], node.attrs["dtype"])


# Division that rounds down, as in Python, and towards zero, as in C.


@_composed("floor_mod")
def _floor_mod(w: GraphWriter, a: Ref, b: Ref) -> Ref:
    if not a.dtype.is_floating:
        return widely(w, "Mod", a, b)
    left = w.op("Mod", a, b, fmod=1)
    turned = w.op("Xor", less(w, left, 0), less(w, b, 0))
    turned = w.op("And", turned, w.op("Not", is_zero(w, left)))
    return w.where(turned, w.op("Add", left, b), left)


@_composed("floor_divide")
def _floor_divide(w: GraphWriter, a: Ref, b: Ref) -> Ref:
    if a.dtype.is_floating:
        return w.op("Floor", w.op("Div", a, b))
    return widely(w, "Div", widely(w, "Sub", a, _floor_mod(w, a, b)), b)


@_composed("truncate_divide")
def _truncate_divide(w: GraphWriter, a: Ref, b: Ref) -> Ref:
    found = widely(w, "Div", a, b)
    if not a.dtype.is_floating:
        return found
    return w.where(less(w, found, 0), w.op("Ceil", found), w.op("Floor", found))


@_composed("truncate_mod")
def _truncate_mod(w: GraphWriter, a: Ref, b: Ref) -> Ref:
    return widely(w, "Mod", a, b, fmod=1)


# Products and quotients that are 0 where a factor is, whatever the other one is.


def _unless_zero(which: int, compute: Callable[[GraphWriter, Ref, Ref], Ref]) -> Row:
    def write(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
        return w.where(is_zero(w, x[which]), w.constant(0, x[0]), compute(w, *x))

    return write


ROWS["divide_no_nan"] = _unless_zero(1, lambda w, a, b: w.op("Div", a, b))
ROWS["multiply_no_nan"] = _unless_zero(1, lambda w, a, b: w.op("Mul", a, b))
ROWS["xdivy"] = _unless_zero(0, lambda w, a, b: w.op("Div", a, b))
ROWS["xlogy"] = _unless_zero(0, lambda w, a, b: w.op("Mul", a, w.op("Log", b)))
ROWS["xlog1py"] = _unless_zero(0, lambda w, a, b: w.op("Mul", a, log1p(w, b)))


# Bits. ONNX shifts unsigned integers alone.


def _shifted(w: GraphWriter, x: Ref, by: Ref, direction: str) -> Ref:
    name = x.dtype.name
    unsigned = as_dtype(name if name[0] == "u" else f"u{name}")
    a, b = (w.cast(each, unsigned) for each in (x, by))
    return w.cast(w.op("BitShift", a, b, direction=direction), x.dtype)


@_composed("left_shift")
def _left_shift(w: GraphWriter, x: Ref, by: Ref) -> Ref:
    return _shifted(w, x, by, "LEFT")


@_composed("right_shift")
def _right_shift(w: GraphWriter, x: Ref, by: Ref) -> Ref:
    """A negative number is shifted as the one that has all its bits turned, so that ones come in."""
    if x.dtype.name[0] == "u":
        return _shifted(w, x, by, "RIGHT")
    below = less(w, x, 0)
    turned = w.where(below, w.op("BitwiseNot", x), x)
    found = _shifted(w, turned, by, "RIGHT")
    return w.where(below, w.op("BitwiseNot", found), found)


# Losses of elements.


@_composed("sigmoid_cross_entropy")
def _sigmoid_cross_entropy(w: GraphWriter, x: Ref, labels: Ref) -> Ref:
    positive = w.op("Sub", w.op("Relu", x), w.op("Mul", x, labels))
    small = log1p(w, w.op("Exp", w.op("Neg", w.op("Abs", x))))
    return w.op("Add", positive, small)


@row("zeros_like", "ones_like")
def _like(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    value = 1 if node.primitive.name == "ones_like" else 0
    if x[0].dtype.np_dtype.kind == "O":
        raise CannotWrite("strings")
    made = np.asarray(value, x[0].dtype.np_dtype)
    return w.op("Expand", made, w.shape(x[0]))
