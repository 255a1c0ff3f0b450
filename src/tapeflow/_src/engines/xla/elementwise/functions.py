"""Lowerings of what works on each element alone.

Where a kernel refuses a value (an integer divided by 0, an integer to a negative power), the result here is some
number: that is what the checks are for.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tapeflow._src.engines.xla.lowerings import LOWERINGS, ON_HOST, check, lowering
from tapeflow._src.primitives.all_rows import TABLE

ON_HOST.update(
    check_numerics="raises an error where it finds a NaN, and XLA cannot raise",
    check_bounds="raises an error where a value is out of bounds, and XLA cannot raise",
)


def by_single(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that computes half precision in float32, where exponentials do not overflow so soon."""
    return lambda x: (
        function(x) if x.dtype.itemsize > 2 else function(x.astype("f4")).astype(x.dtype)
    )


LOWERINGS.update(
    # Arithmetic.
    reciprocal=lambda x: 1 / x,
    add=operator.add,
    subtract=operator.sub,
    multiply=operator.mul,
    divide=operator.truediv,
    add_n=lambda *xs: functools.reduce(operator.add, xs),
    # Trigonometric and hyperbolic functions.
    atan=jnp.arctan,
    atan2=jnp.arctan2,
    atanh=jnp.arctanh,
    # Activations.
    sigmoid=by_single(jax.nn.sigmoid),
    softplus=lambda x: jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x))),
    softsign=lambda x: x / (1 + jnp.abs(x)),
    relu=lambda x: jnp.maximum(x, 0),
    relu_gradient=lambda g, y: g * (y > 0).astype(g.dtype),
    # Complex numbers.
    real=jnp.real,
    imag=jnp.imag,
    complex=lambda a, b: jax.lax.complex(*jnp.broadcast_arrays(a, b)),
    angle=jnp.angle,
    angle_of_real=lambda x: jnp.where(x < 0, math.pi, 0.0).astype(x.dtype),
    # Questions.
    is_nan=jnp.isnan,
    is_inf=jnp.isinf,
    is_finite=jnp.isfinite,
    next_after=jnp.nextafter,
)


# At a branch cut, the sign of a zero says on which side of it a complex number lies. XLA overlooks that.


def _beside_the_real_axis(function: Any, sign: int = 1) -> Any:
    """A function whose values lie above the real numbers where its argument does, or below them if `sign` is -1."""

    def lowered(x: Any) -> Any:
        y = function(x)
        if not jnp.iscomplexobj(x):
            return y
        return jax.lax.complex(y.real, jnp.copysign(y.imag, sign * x.imag))

    return lowered


_sqrt = _beside_the_real_axis(jnp.sqrt)
LOWERINGS.update(
    sqrt=_sqrt,
    rsqrt=lambda x: 1 / _sqrt(x),
    asin=_beside_the_real_axis(jnp.arcsin),
    acos=_beside_the_real_axis(jnp.arccos, -1),
    acosh=_beside_the_real_axis(jnp.arccosh),
)


@lowering("asinh")
def _asinh(x: Any) -> Any:
    """Its cuts are on the imaginary axis."""
    y = jnp.arcsinh(x)
    return jax.lax.complex(jnp.copysign(y.real, x.real), y.imag) if jnp.iscomplexobj(x) else y


@lowering("gcd")
def _gcd(a: Any, b: Any) -> Any:
    """By Euclid, without signs: jax's own goes on for ever at the smallest number, which has no absolute value."""
    unsigned = jnp.dtype(f"uint{8 * a.dtype.itemsize}")
    pair = tuple(jnp.where(x < 0, -x, x).astype(unsigned) for x in jnp.broadcast_arrays(a, b))

    def step(pair: Any) -> Any:
        x, y = pair
        return jnp.where(y == 0, x, y), jnp.where(
            y == 0, unsigned.type(0), x % jnp.where(y == 0, unsigned.type(1), y)
        )

    found, _ = jax.lax.while_loop(lambda pair: (pair[1] != 0).any(), step, pair)
    return found.astype(a.dtype)


def is_integer(x: Any) -> bool:
    """Whether an array has integers."""
    return jnp.issubdtype(x.dtype, jnp.integer)


def _on_unsigned(function: Any) -> Any:
    """Runs a function of bits on unsigned integers.

    XLA's compiler for processors ends the process where it meets `and` or `or` of two signed integers that were both
    cast from wider ones.
    """

    def lowered(a: Any, b: Any) -> Any:
        if not jnp.issubdtype(a.dtype, jnp.signedinteger):
            return function(a, b)
        bits = f"uint{8 * a.dtype.itemsize}"
        found = function(*[jax.lax.bitcast_convert_type(x, bits) for x in (a, b)])
        return jax.lax.bitcast_convert_type(found, a.dtype)

    return lowered


LOWERINGS.update(bitwise_and=_on_unsigned(jnp.bitwise_and), bitwise_or=_on_unsigned(jnp.bitwise_or))


@lowering("abs")
def _abs(x: Any) -> Any:
    """Infinite where a part is, whatever the other one is, as in C."""
    if not jnp.iscomplexobj(x):
        return jnp.abs(x)
    return jnp.where(jnp.isinf(x.real) | jnp.isinf(x.imag), jnp.inf, jnp.abs(x))


@lowering("round")
def _round(x: Any) -> Any:
    return x if is_integer(x) else jnp.rint(x)


@lowering("squared_difference")
def _squared_difference(x: Any, y: Any) -> Any:
    difference = x - y
    return difference * jnp.conj(difference)


@lowering("power")
def _power(x: Any, y: Any) -> Any:
    """For integers by squaring, bit by bit of the exponent: jax.numpy looks at six bits of it."""
    if jnp.iscomplexobj(x):
        return jnp.where((x == 0) & (y.real > 0), 0, jnp.power(x, y))
    if not is_integer(x):
        return jnp.power(x, y)

    def step(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        square, left, product = state
        product = jnp.where(left & 1 == 1, product * square, product)
        return square * square, left >> 1, product

    base, exponent = jnp.broadcast_arrays(x, y)
    start = (base, exponent, jnp.ones_like(base))
    return jax.lax.while_loop(lambda state: jnp.any(state[1] > 0), step, start)[2]


@check("power", when=lambda b_dtype: b_dtype.kind == "i")
def _is_no_negative_power(b: Any) -> Any:
    return (b >= 0).all()


# Division that rounds down, as in Python, and towards zero, as in C.


@lowering("floor_divide")
def _floor_divide(x: Any, y: Any) -> Any:
    return jnp.floor_divide(x, y) if is_integer(x) else jnp.floor(x / y)


@lowering("truncate_divide")
def _truncate_divide(x: Any, y: Any) -> Any:
    if is_integer(x):
        return jax.lax.div(*jnp.broadcast_arrays(x, y))
    return jnp.trunc(x / y)


LOWERINGS.update(floor_mod=jnp.mod, truncate_mod=jnp.fmod)


@check(
    *("floor_divide", "floor_mod", "truncate_divide", "truncate_mod"),
    when=lambda b_dtype: b_dtype.kind in "iu",
)
def _divides(b: Any) -> Any:
    return (b != 0).all()


# Products and quotients that are 0 where a factor is, whatever the other one is.

LOWERINGS.update(
    divide_no_nan=lambda x, y: jnp.where(y == 0, 0, x / y).astype(x.dtype),
    multiply_no_nan=lambda x, y: jnp.where(y == 0, 0, x * y).astype(x.dtype),
    xlogy=lambda x, y: jnp.where(x == 0, 0, x * jnp.log(y)).astype(x.dtype),
    xlog1py=lambda x, y: jnp.where(x == 0, 0, x * jnp.log1p(y)).astype(x.dtype),
    xdivy=lambda x, y: jnp.where(x == 0, 0, x / y).astype(x.dtype),
)

# What is said nowhere above, jax computes under the same name.
LOWERINGS.update(
    (name, getattr(jnp, name))
    for name, row in TABLE.items()
    if row.elementwise and name not in LOWERINGS and hasattr(jnp, name)
)
