"""Elementwise primitives of two inputs, each with its gradients."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeflow._src.primitives import rules
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.elementwise.builders import binary, comparison, conj
from tapeflow._src.primitives.rules import ANY, BOOL, FLOAT, INEXACT, INT, REAL, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.storage import of_sizes
from tapeflow._src.primitives.table import calls, primitive

# Arithmetic.


def _divides_integers(op: str, kernel: Any) -> Any:
    """NumPy divides integers by zero with a warning; that is an error here."""

    def checked(x: Any, y: Any) -> Any:
        if x.dtype.kind in "iu" and not np.all(y):
            raise invalid(f"{op}: Integer division by zero")
        return kernel(x, y)

    return checked


def _refusing(kinds: str, kernel: Any) -> Any:
    """A kernel that fails for dtypes NumPy would take and TensorFlow does not."""

    def checked(x: Any, y: Any) -> Any:
        if x.dtype.kind in kinds and not of_sizes(x):
            raise TypeError(f"no kernel for {x.dtype}")
        return kernel(x, y)

    return checked


add = binary("add", operator.add, a=lambda g: g, b=lambda g: g)
subtract = binary("subtract", operator.sub, a=lambda g: g, b=lambda g: -g)
multiply = binary("multiply", operator.mul, a=lambda g, b: g * conj(b), b=lambda g, a: g * conj(a))
divide = binary(
    "divide",
    operator.truediv,
    accepts=INEXACT,
    a=lambda g, b: g / conj(b),
    b=lambda g, b, y: -g * conj(y / b),
)


def _floor_divide_kernel(x: Any, y: Any) -> Any:
    # NumPy corrects the quotient of floats by the remainder; TensorFlow rounds it down as it is.
    return np.floor_divide(x, y) if x.dtype.kind in "iuO" else np.floor(x / y)


floor_divide = binary(
    "floor_divide", _divides_integers("floor_divide", _floor_divide_kernel), accepts=REAL
)
floor_mod = binary(
    "floor_mod",
    _divides_integers("floor_mod", np.mod),
    accepts=REAL,
    a=lambda g: g,
    b=lambda g, a, b: -g * unary.floor(a / b),
)


def _squared_difference_kernel(x: Any, y: Any) -> Any:
    difference = x - y
    return difference * np.conj(difference) if x.dtype.kind == "c" else np.square(difference)


squared_difference = binary(
    "squared_difference",
    _squared_difference_kernel,
    a=lambda g, a, b: g * (a - b) * 2,
    b=lambda g, a, b: g * (b - a) * 2,
)


def _power_kernel(x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu" and np.any(y < 0):
        raise invalid("power: Integers to negative integer powers are not allowed")
    if not y.ndim and y == 2:  # a whole pass of np.power costs ten of np.square
        return np.square(x)
    if not y.ndim and y == 0.5 and x.dtype.kind == "f":
        return _square_root(x)
    if not y.ndim and x.dtype.kind == "f" and y.item() in _WHOLE:
        return _whole_power(x, y, odd=y.item() % 2 == 1)
    return np.power(x, y)


def _square_root(x: Any) -> Any:
    """The power by a half at the price of a root, which differs at -0.0 and at minus infinity."""
    root = np.sqrt(x) + x.dtype.type(0)
    if np.isnan(root).any():
        root = np.where(np.isneginf(x), x.dtype.type(np.inf), root)[()]
    return root


_WHOLE = frozenset([*map(float, range(3, 65)), *map(float, range(-64, -1))])


def _whole_power(x: Any, y: Any, odd: bool) -> Any:
    """The power of what is positive, with its sign, as in TensorFlow.

    Where NumPy has vectors it gives up on each negative number, which takes some forty times as long and is rounded
    otherwise.
    """
    if not x.ndim:
        size = np.power(abs(x), y)
        return np.copysign(size, x) if odd else size
    if x.size > 1000 and not np.signbit(x).any():
        return np.power(x, y)
    size = np.abs(x)
    np.power(size, y, out=size)
    return np.copysign(size, x, out=size) if odd else size


def _safe_log(a: Any) -> Any:
    """log(a) where it is defined, and 0 elsewhere: the slope of `a ** b` in `b` is 0 at `a = 0`."""
    if a.dtype.is_complex:
        defined = not_equal(a, calls.zeros_like(a))
    else:
        defined = greater(a, 0.0)
    one = calls.ones_like(a)
    return calls.select(defined, unary.log(calls.select(defined, a, one)), calls.zeros_like(a))


def _power_base_gradient(g: Any, a: Any, b: Any) -> Any:
    return g * conj(b * power(a, b - 1))


power = binary(
    "power",
    _power_kernel,
    a=_power_base_gradient,
    b=lambda g, a, y: g * conj(y * _safe_log(a)),
)

# Products and quotients that are 0 where a factor is, whatever the other one is.


def _where_nonzero(kernel: Any) -> Any:
    """Runs a kernel, and puts 0 where `x` is."""
    return lambda x, y: np.where(x == 0, x.dtype.type(0), kernel(x, y))


def _is_nonzero(a: Any) -> Any:
    return calls.cast(not_equal(a, calls.zeros_like(a)), dtype=a.dtype)


divide_no_nan = binary(
    "divide_no_nan",
    lambda x, y: np.where(y == 0, x.dtype.type(0), x / y),
    accepts=INEXACT,
    a=lambda g, b: divide_no_nan(g, conj(b)),
    b=lambda g, b, y: g * conj(divide_no_nan(-y, b)),
)
multiply_no_nan = binary(
    "multiply_no_nan",
    _refusing("iu", lambda x, y: np.where(y == 0, x.dtype.type(0), x * y)),
    accepts=INEXACT,
    a=lambda g, b: multiply_no_nan(g, conj(b)),
    b=lambda g, a: multiply_no_nan(conj(a), g),
)
xlogy = binary(
    "xlogy",
    _where_nonzero(lambda x, y: x * np.log(y)),
    accepts=INEXACT,
    a=lambda g, a, b: g * conj(xlogy(_is_nonzero(a), b)),
    b=lambda g, a, b: g * conj(xdivy(a, b)),
)
xlog1py = binary(
    "xlog1py",
    _where_nonzero(lambda x, y: x * np.log1p(y)),
    accepts=INEXACT,
    a=lambda g, a, b: g * conj(xlog1py(_is_nonzero(a), b)),
    b=lambda g, a, b: g * conj(xdivy(a, b + 1)),
)
xdivy = binary(
    "xdivy",
    _where_nonzero(operator.truediv),
    accepts=INEXACT,
    a=lambda g, a, b: g * conj(xdivy(_is_nonzero(a), b)),
    b=lambda g, a, b: g * conj(xdivy(-a, b * b)),
)

# Extremes. Where both are equal, the first takes the gradient; where one is NaN, the second.


def _chosen(g: Any, mask: Any) -> Any:
    return calls.select(mask, g, calls.zeros_like(g))


def _others(g: Any, mask: Any) -> Any:
    return calls.select(mask, calls.zeros_like(g), g)


maximum = binary(
    "maximum",
    _refusing("cO", np.maximum),
    accepts=REAL,
    a=lambda g, a, b: _chosen(g, greater_equal(a, b)),
    b=lambda g, a, b: _others(g, greater_equal(a, b)),
)
minimum = binary(
    "minimum",
    _refusing("cO", np.minimum),
    accepts=REAL,
    a=lambda g, a, b: _chosen(g, less_equal(a, b)),
    b=lambda g, a, b: _others(g, less_equal(a, b)),
)


def _relu_gradient_kernel(g: Any, y: Any) -> Any:
    """A product of floats is quicker than one with bools; where memory is what counts, bools take less."""
    slope = y > 0
    if slope.size > 2**16 or not slope.ndim:
        return g * slope
    slope = slope.astype(g.dtype)
    return np.multiply(g, slope, slope) if g.shape == slope.shape else g * slope


relu_gradient = binary(
    "relu_gradient",
    _relu_gradient_kernel,
    accepts=REAL,
    a=lambda g, b: relu_gradient(g, b),
    # Zero, and not None: a second derivative by what only moves the bend is there, too.
    b=lambda g: calls.zeros_like(g),
)

# Others.

atan2 = binary(
    "atan2",
    np.arctan2,
    accepts=FLOAT,
    a=lambda g, a, b: g * b / (a * a + b * b),
    b=lambda g, a, b: -g * a / (a * a + b * b),
)


def _add_n_kernel(*xs: Any) -> Any:
    first = xs[0]
    if first.dtype.kind in "bO":
        raise TypeError("not numbers")
    if any(x.dtype != first.dtype or x.shape != first.shape for x in xs):
        raise ValueError("operands differ")
    if len(xs) == 1:
        return xs[0]
    total = xs[0] + xs[1]
    for x in xs[2:]:
        total += x  # a new array or a scalar: nobody else sees it
    return total


def _add_n_result(*xs: ArraySpec) -> ArraySpec:
    for x in xs:
        rules.check_same_dtype("add_n", xs[0], x)
        rules.check_dtype("add_n", "inputs", x, rules.NUMERIC)
        if x.shape != xs[0].shape:
            shapes = ", ".join(str(list(each.shape)) for each in xs)
            raise invalid(f"add_n: all tensors must have the same shape, got {shapes}")
    return xs[0]


add_n = primitive(
    "add_n", "*xs", _add_n_kernel, result=_add_n_result, gradients={"xs": lambda g: g}
)

# Comparisons and logic.

equal = comparison("equal", np.equal, accepts=ANY)
not_equal = comparison("not_equal", np.not_equal, accepts=ANY)
less = comparison("less", _refusing("bcO", np.less))
less_equal = comparison("less_equal", _refusing("bcO", np.less_equal))
greater = comparison("greater", _refusing("bcO", np.greater))
greater_equal = comparison("greater_equal", _refusing("bcO", np.greater_equal))

logical_and = binary("logical_and", _refusing("O", np.logical_and), accepts=BOOL)
logical_or = binary("logical_or", _refusing("O", np.logical_or), accepts=BOOL)
logical_xor = binary("logical_xor", _refusing("O", np.logical_xor), accepts=BOOL)
bitwise_and = binary("bitwise_and", np.bitwise_and, accepts=INT)
bitwise_or = binary("bitwise_or", np.bitwise_or, accepts=INT)
bitwise_xor = binary("bitwise_xor", np.bitwise_xor, accepts=INT)
left_shift = binary("left_shift", _refusing("b", np.left_shift), accepts=INT)
right_shift = binary("right_shift", _refusing("b", np.right_shift), accepts=INT)
gcd = binary("gcd", _refusing("b", np.gcd), accepts=INT)
