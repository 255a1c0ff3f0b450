"""Moving elements about: shapes, casts, joining, parting, padding, repeating, reversing.

All that says where an element goes is known while jax traces, so nothing here is a gather or a scatter: slices, pads,
reversals and concatenations are what XLA fuses best. A cast of a float to an integer that cannot hold it is as far
towards it as the integer goes, and 0 for NaN, where NumPy leaves it to the machine: so there is a check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow._src.core.dtypes import DType, bool_, from_numpy, uint8
from tapeflow._src.engines.xla.lowerings import check, lowering
from tapeflow._src.engines.xla.sharding import constrained
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import TABLE

Shape = tuple[int, ...]
Paddings = tuple[tuple[int, int], ...]

_SIMPLE: dict[str, Callable[..., Any]] = {
    "reshape": lambda x, *, shape: jnp.reshape(x, shape),
    "transpose": lambda x, *, perm: jnp.transpose(x, perm),
    "broadcast_to": lambda x, *, shape: jnp.broadcast_to(x, shape),
    "identity": lambda x: x,
    "stop_gradient": lambda x: x,
    "barrier": lax.optimization_barrier,
    "laid_out": lambda x, *, layout: constrained(x, layout),
    "zeros_like": jnp.zeros_like,
    "ones_like": jnp.ones_like,
    "shape": lambda x, *, dtype: jnp.array(x.shape, dtype.np_dtype),
    "size": lambda x, *, dtype: jnp.array(x.size, dtype.np_dtype),
    "range": lambda *, size, dtype: jnp.arange(size, dtype=dtype.np_dtype),
    "select": lambda condition, a, b: jnp.where(condition, a, b),
    "concat": lambda *xs, axis: jnp.concatenate(xs, axis),
    "stack": lambda *xs, axis: jnp.stack(xs, axis),
    "tile": lambda x, *, multiples: jnp.tile(x, multiples),
    "reverse": lambda x, *, axis: jnp.flip(x, axis),
    "roll": lambda x, *, shift, axis: jnp.roll(x, shift, axis),
}
for _name, _function in _SIMPLE.items():
    lowering(_name)(_function)

# Casts.


@lowering("cast", "cast_to_discrete")
def _cast(x: Any, *, dtype: DType) -> Any:
    if x.dtype.kind == "c" and not dtype.is_complex:
        x = x.real
    return x.astype(dtype.np_dtype)


@check(
    *("cast", "cast_to_discrete"),
    when=lambda x_dtype, dtype: dtype.is_integer and x_dtype.kind not in "iub",
)
def _has_integer(x: Any, dtype: DType) -> Any:
    """Whether integers can hold all elements, their fractions cut off. NaN is within no limits."""
    info = np.iinfo(dtype.np_dtype)
    x = x.real
    # One less than the least is not a float, if the integers are wide: then the least itself is.
    low = x > -1 if not info.min else x >= info.min if info.bits > 16 else x > info.min - 1
    return (low & (x < float(2 ** (info.bits - bool(info.min))))).all()


@lowering("bitcast")
def _bitcast(x: Any, *, dtype: DType) -> Any:
    """XLA takes no booleans and no complex numbers here: a complex number is two floats."""
    if dtype is bool_:
        return _bitcast(x, dtype=uint8).astype(np.bool_)
    if not dtype.is_complex and x.dtype.kind != "c":
        return lax.bitcast_convert_type(x, dtype.np_dtype)
    spec = TABLE["bitcast"].result(ArraySpec(x.shape, from_numpy(x.dtype)), dtype=dtype)
    if x.dtype.kind == "c":
        x = jnp.stack([x.real, x.imag], -1)
    raw = lax.bitcast_convert_type(x, np.uint8)
    if dtype.is_complex:
        parts = _from_bytes(raw, (*spec.shape, 2), dtype.real_dtype)
        return lax.complex(parts[..., 0], parts[..., 1])
    return _from_bytes(raw, spec.shape, dtype)


def _from_bytes(raw: Any, shape: Shape, dtype: DType) -> Any:
    raw = raw.reshape(shape if dtype.size == 1 else (*shape, dtype.size))
    return lax.bitcast_convert_type(raw, dtype.np_dtype)


# Parting.


@lowering("unstack")
def _unstack(x: Any, *, axis: int) -> tuple[Any, ...]:
    return tuple(lax.index_in_dim(x, i, axis, keepdims=False) for i in range(x.shape[axis]))


@lowering("split")
def _split(x: Any, *, sizes: Shape, axis: int) -> tuple[Any, ...]:
    return tuple(lax.split(x, sizes, axis))


# Padding.


@lowering("pad")
def _pad(x: Any, value: Any, *, paddings: Paddings) -> Any:
    return lax.pad(x, value, [(a, b, 0) for a, b in paddings])


@lowering("mirror_pad")
def _mirror_pad(x: Any, *, paddings: Paddings, edge: bool) -> Any:
    skip = not edge
    for axis, (a, b) in enumerate(paddings):
        n = x.shape[axis]
        image = [
            jnp.flip(lax.slice_in_dim(x, skip, a + skip, axis=axis), axis),
            x,
            jnp.flip(lax.slice_in_dim(x, n - skip - b, n - skip, axis=axis), axis),
        ]
        x = lax.concatenate(image, axis) if a or b else x
    return x


@lowering("mirror_fold")
def _mirror_fold(x: Any, *, paddings: Paddings, edge: bool) -> Any:
    skip = not edge
    for axis, (a, b) in enumerate(paddings):
        if not (a or b):
            continue
        n = x.shape[axis] - a - b
        left = jnp.flip(lax.slice_in_dim(x, 0, a, axis=axis), axis)
        right = jnp.flip(lax.slice_in_dim(x, a + n, a + n + b, axis=axis), axis)
        x = lax.slice_in_dim(x, a, a + n, axis=axis)
        for image, start, size in ((left, skip, a), (right, n - skip - b, b)):
            sides = [(0, 0)] * x.ndim
            sides[axis] = (start, n - start - size)
            x = x + _pad(image, jnp.zeros((), x.dtype), paddings=tuple(sides))
    return x


# Repeating.


@lowering("repeat")
def _repeat(x: Any, *, repeats: Shape, axis: int) -> Any:
    if len(repeats) == 1:
        return jnp.repeat(x, repeats[0], axis)
    rows = np.repeat(np.arange(x.shape[axis]), repeats)
    return jnp.take(x, rows, axis, mode="clip")
