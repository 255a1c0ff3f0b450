"""Lowerings of pooling.

The gradient of a maximum asks where it was found. The cells of the window are compared with it one after the other,
which XLA makes one loop, and the answer is a number for each window: a place to write to or to gather from. That is
several times faster than XLA's own select-and-scatter, and the first of equal maxima is chosen as in the kernel. Where
windows do not overlap, each place asks the only window it may be in whether it is the one.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow._src.core.dtypes import DType
from tapeflow._src.engines.xla.lowerings import lowering
from tapeflow._src.primitives.nn.windows import Pairs, Sizes, narrowed, output_space

_MOST_CELLS = 64  # of a window whose cells are operands, each of them a part of the code


def _reduced(x: Any, start: Any, operation: Any, **where: Any) -> Any:
    """One number for each window; padding counts as `start`.

    Cells are taken one after the other, as in the kernel, each for all windows: that is a loop of vectors. XLA's
    own code goes through all cells of a window before it begins with the next.
    """
    space = x.shape[1:-1]
    many = math.prod(where["window"]) > _MOST_CELLS
    if (
        many
        or any(type(size) is not int for size in space)
        or 0 in output_space("", space, **where)
    ):
        return _by_windows(x, start, operation, **where)
    frame = [(0, 0, 0), *[(*each, 0) for each in where["padding"]], (0, 0, 0)]
    x = lax.pad(x, np.array(start, x.dtype), frame)
    total = None
    for cell in np.ndindex(*where["window"]):
        seen, _ = _of_all_windows(x, cell, **where)
        total = operation(jnp.full_like(seen, start) if total is None else total, seen)
    return total


def _by_windows(x: Any, start: Any, operation: Any, **where: Any) -> Any:
    """The same by XLA itself."""
    return lax.reduce_window(
        x,
        np.array(start, x.dtype),
        operation,
        window_dimensions=(1, *where["window"], 1),
        window_strides=(1, *where["strides"], 1),
        padding=((0, 0), *where["padding"], (0, 0)),
        window_dilation=(1, *where["dilations"], 1),
    )


def _of_all_windows(
    x: Any, cell: Sizes, *, window: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs
) -> tuple[Any, Sizes]:
    """What a cell of a window is in all windows of padded images, and where it is in the first."""
    start = tuple([i * d for i, d in zip(cell, dilations, strict=True)])
    sizes = zip(x.shape[1:-1], window, strides, dilations, strict=True)
    lengths = [(size - (k - 1) * d - 1) // s * s + 1 for size, k, s, d in sizes]
    stop = [a + n for a, n in zip(start, lengths, strict=True)]
    seen = lax.slice(x, (0, *start, 0), (x.shape[0], *stop, x.shape[-1]), (1, *strides, 1))
    return seen, start


# The maximum.


@lowering("max_pool")
def _max_pool(x: Any, **where: Any) -> Any:
    where = narrowed(x.shape[1:-1], **where)
    lowest = -np.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min
    return _reduced(x, lowest, lax.max, **where)


def _first_maxima(
    x: Any, maxima: Any, *, window: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs
) -> Any:
    """Where the maximum of each window is, counted through the space of its example.

    Where there is none, for it is NaN or all of the window is padding, the number is that of the place after the last.
    """
    space, places = x.shape[1:-1], maxima.shape[1:-1]
    frame = [(0, 0, 0), *[(before, after, 0) for before, after in padding], (0, 0, 0)]
    x = lax.pad(x, np.zeros((), x.dtype), frame)
    found = jnp.full(maxima.shape, math.prod(space), jnp.int32)
    where = {"window": window, "strides": strides, "dilations": dilations, "padding": padding}
    for cell in reversed(list(np.ndindex(*window))):  # what is written last, the first, stays
        seen, start = _of_all_windows(x, cell, **where)
        is_maximum, number = seen == maxima, jnp.zeros((), jnp.int32)
        for axis, (before, after) in enumerate(padding):
            along = lax.iota(jnp.int32, places[axis]) * strides[axis] + (start[axis] - before)
            along = along.reshape(-1, *(1,) * (len(places) - axis))
            number = number * space[axis] + along
            if before or after:
                is_maximum &= (along >= 0) & (along < space[axis])
        found = jnp.where(is_maximum, number, found)
    return found


def _flat(x: Any) -> Any:
    """The dimensions of space in one."""
    return x.reshape(x.shape[0], math.prod(x.shape[1:-1]), x.shape[-1])


@lowering("max_pool_spread")
def _max_pool_spread(g: Any, x: Any, maxima: Any, **where: Any) -> Any:
    if not g.size:
        return jnp.zeros(x.shape, g.dtype)
    space = x.shape[1:-1]
    where = narrowed(space, **where)
    at = _first_maxima(x, maxima, **where)
    dimensions = zip(where["window"], where["strides"], where["dilations"], strict=True)
    if all((k - 1) * dilation < stride for k, stride, dilation in dimensions):
        places = lax.iota(jnp.int32, math.prod(space)).reshape(*space, 1)
        at = lax.optimization_barrier(at)  # else each place would look for the maximum again
        chosen = _repeated(at, math.prod(space), space, **where) == places
        # Added to zero, as in the kernel, -0.0 is 0.0.
        return jnp.where(chosen, _repeated(g, 0, space, **where), 0) + jnp.zeros((), g.dtype)
    batch, channels = np.arange(x.shape[0])[:, None, None], np.arange(x.shape[-1])
    out = jnp.zeros(_flat(x).shape, g.dtype)
    return out.at[batch, _flat(at), channels].add(_flat(g), mode="drop").reshape(x.shape)


def _repeated(
    v: Any, otherwise: Any, space: Sizes, *, strides: Sizes, padding: Pairs, **where: Any
) -> Any:
    """At each place the element of the last window that has begun; places after all windows get another number."""
    for axis, (size, stride, (before, _)) in enumerate(
        zip(space, strides, padding, strict=True), 1
    ):
        v = jnp.repeat(v, stride, axis)
        after = size + before - v.shape[axis]
        if before or after:
            ends = [(-before, after, 0) if i == axis else (0, 0, 0) for i in range(v.ndim)]
            v = lax.pad(v, np.asarray(otherwise, v.dtype), ends)
    return v


@lowering("max_pool_pick")
def _max_pool_pick(v: Any, x: Any, maxima: Any, **where: Any) -> Any:
    if not maxima.size:
        return jnp.zeros(maxima.shape, v.dtype)
    where = narrowed(x.shape[1:-1], **where)
    at = _flat(_first_maxima(x, maxima, **where))
    picked = jnp.take_along_axis(_flat(v), at, 1, mode="fill", fill_value=0)
    return picked.reshape(maxima.shape)


@lowering("max_pool_argmax")
def _max_pool_argmax(x: Any, *, with_batch: bool, dtype: DType, **where: Any) -> Any:
    where = narrowed(x.shape[1:-1], **where)
    maxima = _max_pool(x, **where)
    if not maxima.size:
        return jnp.zeros(maxima.shape, dtype.np_dtype)
    at = _first_maxima(x, maxima, **where).astype(jnp.int64)
    number = at * x.shape[-1] + jnp.arange(x.shape[-1])
    number = jnp.where(at < math.prod(x.shape[1:-1]), number, 0)
    if with_batch:
        first = jnp.arange(x.shape[0]) * math.prod(x.shape[1:])
        number += first.reshape(-1, *(1,) * (x.ndim - 1))
    return number.astype(dtype.np_dtype)


# The sum, and the mean of those cells of the window that are not padding. Half precision is added up in float32.


def _wide(x: Any) -> Any:
    return x.astype(jnp.promote_types(x.dtype, jnp.float32))


def _averaged(
    x: Any, space: Sizes, *, window: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs
) -> Any:
    """Each element of `x`, one for each window, over the number of cells of its window."""
    counts = np.ones((), x.dtype)
    for axis, (size, places) in enumerate(zip(space, x.shape[1:-1], strict=True)):
        first = np.arange(places)[:, None] * strides[axis] - padding[axis][0]
        cells = first + np.arange(window[axis]) * dilations[axis]
        along = np.sum((cells >= 0) & (cells < size), 1, dtype=x.dtype)
        counts = counts * jnp.asarray(along).reshape(-1, *(1,) * (len(space) - axis))
    return x / counts


@lowering("sum_pool")
def _sum_pool(x: Any, *, mean: bool, **where: Any) -> Any:
    where = narrowed(x.shape[1:-1], **where)
    total = _reduced(_wide(x), 0, lax.add, **where)
    total = _averaged(total, x.shape[1:-1], **where) if mean else total
    return total.astype(x.dtype)


@lowering("sum_pool_spread")
def _sum_pool_spread(g: Any, *, shape: Sizes, mean: bool, **where: Any) -> Any:
    where = narrowed(shape[1:-1], **where)
    source = _averaged(_wide(g), shape[1:-1], **where) if mean else _wide(g)
    x = jax.ShapeDtypeStruct(shape, source.dtype)
    (out,) = jax.linear_transpose(lambda x: _by_windows(x, 0, lax.add, **where), x)(source)
    return out.astype(g.dtype)
