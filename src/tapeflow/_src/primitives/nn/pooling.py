"""Pooling: what is left of each window is its maximum, its sum or its mean.

The kernels walk over the cells of the window rather than over the windows: each cell is one large operation on the
array, and no array of windows is made.

The maximum keeps its input and its output, which the layers around it keep anyway, and finds again where the maximum
was. Equal maxima do not share the gradient: the first one, row by row, gets it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.insides.onednn.pooling import MeanPool, max_pool as onednn_max_pool, mean_pool
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.nn.windows import Pairs, Sizes, narrowed, output_space, taps
from tapeflow._src.primitives.rules import FLOAT, REAL, check_dtype, invalid
from tapeflow._src.primitives.sharing import contention, side_by_side
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive


def _where(window: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs) -> dict[str, Any]:
    return {"window": window, "strides": strides, "dilations": dilations, "padding": padding}


def _pooled(
    op: str, x: ArraySpec, window: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs
) -> ArraySpec:
    if len(x.shape) != len(window) + 2:
        raise invalid(
            f"{op}: input must be {len(window) + 2}-dimensional (batch, {len(window)} spatial dimensions, channels), "
            f"got {x}"
        )
    space = output_space(op, x.shape[1:-1], window, strides, dilations, padding)
    return ArraySpec((x.shape[0], *space, x.shape[-1]), x.dtype)


def _result(op: str, accepts: frozenset[str]) -> Callable[..., ArraySpec]:
    def rule(x: ArraySpec, *, mean: bool = False, **where: Any) -> ArraySpec:
        check_dtype(op, "input", x, accepts)
        return _pooled(op, x, **where)

    return rule


def _space(x: Any, window: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs) -> Sizes:
    return output_space("max_pool", x.shape[1:-1], window, strides, dilations, padding)


def _cells(size: Sizes, space: Sizes, **where: Any) -> Iterator[Any]:
    """The cells of a window that see anything at all."""
    return taps(size, space=space, **narrowed(size, **where))


# The maximum.


def _lowest(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _max_pool_kernel(x: Any, **where: Any) -> Any:
    if x.dtype.kind in "bcO":
        raise TypeError("no kernel for this dtype")
    space = _space(x, **where)
    out = np.empty((x.shape[0], *space, x.shape[-1]), x.dtype)
    cells = list(_cells(x.shape[1:-1], space, **where))

    def pool(i: int, j: int) -> None:
        _max_of_cells(x[i:j], cells, out[i:j])

    side_by_side(pool, len(x), x.size)
    return out


def _max_of_cells(x: Any, cells: list[Any], out: Any) -> None:
    if not cells or x[cells[0][1]].shape != out.shape:
        out[...] = _lowest(x.dtype)
    else:
        (_, seen, _), *cells = cells
        out[...] = x[seen]
    for _, seen, belong in cells:
        to = out[belong]
        np.maximum(to, x[seen], out=to)


def _first_maxima(x: Any, y: Any, **where: Any) -> Iterator[tuple[Any, Any, Any]]:
    """For each cell of the window: what it sees, the results it belongs to, and in which it is the first maximum."""
    if y.shape != (x.shape[0], *_space(x, **where), x.shape[-1]):
        raise ValueError("these are not the maxima")
    free = np.ones(y.shape, np.bool_)
    for _, seen, belong in _cells(x.shape[1:-1], _space(x, **where), **where):
        found = x[seen] == y[belong]
        found &= free[belong]
        free[belong] ^= found
        yield seen, belong, found


def _kept(values: Any, mask: Any) -> Any:
    """The bits of `values` where `mask` is true, and zeros elsewhere.

    NumPy's own masked operations take ten times as long, and a product would turn infinity times 0 into NaN.
    """
    bits = np.dtype(f"i{values.itemsize}")
    return values.view(bits) & np.negative(mask.view(np.int8)).astype(bits)


_BLOCK = 2**15  # elements that stay in the cache, with their sums
_SHORT = 16  # channels


def _at_once(compute: Callable[..., Any], *args: Any) -> Any:
    return compute(*args)


def _max_spread_kernel(g: Any, x: Any, y: Any, **where: Any) -> Any:
    if g.shape != y.shape or y.shape != (x.shape[0], *_space(x, **where), x.shape[-1]):
        raise ValueError("shapes do not fit")
    pool = alone = None
    if x.dtype == np.float32 == g.dtype and x.flags.c_contiguous and g.flags.c_contiguous:
        alone = contention.crowded()
        pool = onednn_max_pool(x.shape, y.shape, **where, alone=alone)
    if pool is not None and (y > -np.inf).all():  # and none is NaN
        out = np.empty(x.shape, g.dtype)
        run = _at_once if alone else contention.compared
        run(pool.spread, g, x, out)
        return out
    out = np.zeros(x.shape, g.dtype)
    overlap = any(
        stride < (k - 1) * dilation + 1
        for k, stride, dilation in zip(
            where["window"], where["strides"], where["dilations"], strict=True
        )
    )

    def spread(i: int, j: int) -> None:
        to = out[i:j]
        for seen, belong, found in _first_maxima(x[i:j], y[i:j], **where):
            values = _kept(g[i:j][belong], found).view(g.dtype)
            if overlap:
                to[seen] += values
            else:
                to[seen] = values

    side_by_side(spread, len(x), x.size)
    return out


def max_pool_and_way_back(
    x: Any, *, relu: bool = False, **where: Any
) -> tuple[Any, Callable[[Any], tuple[Any, Any]]]:
    """The maxima, made positive by `relu` or not, and the way back for their gradient.

    That function gives the gradient before `relu`, and spread to where the maxima were found. If oneDNN has noted the
    places it holds a byte for each maximum, and not the input.
    """
    shape = (x.shape[0], *_space(x, **where), x.shape[-1])
    pool, run = None, contention.compared
    if x.dtype == np.float32 and x.flags.c_contiguous and set(where["dilations"]) == {1}:
        if contention.crowded():
            run = _at_once
        pool = onednn_max_pool(x.shape, shape, **where, relu=relu, alone=run is _at_once)
    if pool is None or not _is_ordinary(x):
        return _by_numpy(x, relu, where)
    y = np.empty(shape, x.dtype)
    places = run(pool.pool, x, y)
    size = x.shape

    def way_back(g: Any) -> tuple[Any, Any]:
        if g.shape != shape:
            raise ValueError("shapes do not fit")
        g = np.ascontiguousarray(g)
        if relu:
            kept = np.empty_like(g)
            run(pool.relu_gradient, g, y, kept)
            g = kept
        out = np.empty(size, g.dtype)
        run(pool.spread_to, g, places, out)
        return g, out

    return y, way_back


def _by_numpy(
    x: Any, relu: bool, where: dict[str, Any]
) -> tuple[Any, Callable[[Any], tuple[Any, Any]]]:
    maxima = y = _max_pool_kernel(x, **where)
    if relu:
        y = np.empty_like(maxima)
        side_by_side(lambda i, j: np.maximum(maxima[i:j], 0, out=y[i:j]), len(y), y.size)

    def way_back(g: Any) -> tuple[Any, Any]:
        if relu:
            given, g = g, np.empty_like(y)
            side_by_side(
                lambda i, j: np.multiply(given[i:j], y[i:j] > 0, out=g[i:j]), len(y), y.size
            )
        return g, _max_spread_kernel(g, x, maxima, **where)

    return y, way_back


def _is_ordinary(x: Any) -> bool:
    """Whether nothing is NaN or minus infinity, which oneDNN takes for something else."""
    lowest: list[Any] = []
    side_by_side(lambda i, j: lowest.append(x[i:j].min()), len(x), x.size)
    return all(each > -np.inf for each in lowest)


def _max_pick_kernel(v: Any, x: Any, y: Any, **where: Any) -> Any:
    if v.shape != x.shape:
        raise ValueError("shapes do not fit")
    out = np.zeros(y.shape, v.dtype)
    bits = out.view(f"i{v.itemsize}")
    for seen, belong, found in _first_maxima(x, y, **where):
        bits[belong] |= _kept(v[seen], found)
    return out


def _argmax_kernel(x: Any, *, with_batch: bool, dtype: DType, **where: Any) -> Any:
    """The number of the maximum among the elements of its example, or of the whole batch."""
    y = _max_pool_kernel(x, **where)
    numbers = np.arange(math.prod(x.shape[1:]), dtype=np.int64).reshape(1, *x.shape[1:])
    out = _max_pick_kernel(np.broadcast_to(numbers, x.shape), x, y, **where)
    if with_batch:
        out += (np.arange(x.shape[0]) * numbers.size).reshape(-1, *[1] * (x.ndim - 1))
    return out.astype(dtype.np_dtype)


def _check_maxima(
    x: ArraySpec, maxima: ArraySpec, values: ArraySpec, like: ArraySpec, **where: Any
) -> None:
    check_dtype("max_pool", "values", values, REAL)
    pooled = _pooled("max_pool", x, **where)
    if maxima.shape != pooled.shape or values.shape != like.shape:
        raise invalid(
            f"max_pool: the maxima of {x} have shape {list(pooled.shape)}, and its gradient got maxima {maxima} and "
            f"values {values}"
        )


def _max_spread_result(g: ArraySpec, x: ArraySpec, maxima: ArraySpec, **where: Any) -> ArraySpec:
    _check_maxima(x, maxima, g, maxima, **where)
    return ArraySpec(x.shape, g.dtype)


def _max_pick_result(v: ArraySpec, x: ArraySpec, maxima: ArraySpec, **where: Any) -> ArraySpec:
    _check_maxima(x, maxima, v, x, **where)
    return ArraySpec(maxima.shape, v.dtype)


def _argmax_result(x: ArraySpec, *, with_batch: bool, dtype: DType, **where: Any) -> ArraySpec:
    check_dtype("max_pool_with_argmax", "input", x, REAL)
    return ArraySpec(_pooled("max_pool_with_argmax", x, **where).shape, dtype)


def _max_spread(
    g: Tensor, x: Tensor, y: Tensor, window: Any, strides: Any, dilations: Any, padding: Any
) -> Tensor:
    return max_pool_spread(g, x, y, **_where(window, strides, dilations, padding))


max_pool = primitive(
    "max_pool",
    "x",
    _max_pool_kernel,
    result=_result("max_pool", REAL),
    gradients={"x": _max_spread},
)
# Puts each element of `g` where the maximum of its window was found, and adds up what meets.
max_pool_spread = primitive(
    "max_pool_spread",
    "g x maxima",
    _max_spread_kernel,
    result=_max_spread_result,
    gradients={
        "g": lambda t, x, maxima, window, strides, dilations, padding: max_pool_pick(
            t, x, maxima, **_where(window, strides, dilations, padding)
        ),
        # A small step of x moves no maximum to another place.
        "x": lambda t, x: moving.zeros_like(x),
    },
)
# Picks from `v` what is where the maximum of each window of `x` was found.
max_pool_pick = primitive(
    "max_pool_pick",
    "v x maxima",
    _max_pick_kernel,
    result=_max_pick_result,
    gradients={
        "v": lambda t, x, maxima, window, strides, dilations, padding: max_pool_spread(
            t, x, maxima, **_where(window, strides, dilations, padding)
        )
    },
)
max_pool_argmax = primitive("max_pool_argmax", "x", _argmax_kernel, result=_argmax_result)

# The sum, and the mean of those cells of the window that are not padding.


def _counts(space: Sizes, cells: Any, dtype: Any) -> Any:
    """How many cells of each window are not padding, ready to divide by."""
    counts = np.zeros((1, *space, 1), dtype)
    for _, _, belong in cells:
        counts[belong] += 1
    first = counts.reshape(-1)[0] if counts.size else dtype.type(1)
    return first if (counts == first).all() else counts


def _wide(x: Any) -> Any:
    if x.dtype.kind in "iubcO":
        raise TypeError("no kernel for this dtype")
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _sums_of_cells(x: Any, cells: list[Any], out: Any) -> None:
    """Adds up what each cell takes to where it belongs, some examples at a time, which stay in the cache."""
    block = max(1, _BLOCK // max(1, math.prod(x.shape[1:])))
    short = x.shape[-1] < _SHORT and block > 1

    def part(i: int, j: int) -> None:
        for start in range(i, j, block):
            stop = min(start + block, j)
            some, to = x[start:stop], out[start:stop]
            if short:
                # Examples become channels, one after the other in memory: a loop over few elements takes long.
                sums = np.zeros((1, *to.shape[1:], stop - start), to.dtype)
                _add_cells(np.ascontiguousarray(np.moveaxis(some, 0, -1))[None], cells, sums)
                to[...] = np.moveaxis(sums[0], -1, 0)
            else:
                to[...] = 0
                _add_cells(some, cells, to)

    side_by_side(part, len(x), out.size)


def _add_cells(x: Any, cells: list[Any], out: Any) -> None:
    for seen, belong in cells:
        to = out[belong]
        np.add(to, x[seen], out=to)


def _mean_pool(x: Sizes, y: Sizes, given: Any, **where: Any) -> tuple[MeanPool | None, Any]:
    """The pooling of oneDNN if it is for this array, and how to call it."""
    if given.dtype != np.float32 or not given.flags.c_contiguous:
        return None, None
    alone = contention.crowded()
    return mean_pool(x, y, **where, alone=alone), _at_once if alone else contention.compared


def _sum_pool_kernel(x: Any, *, mean: bool, **where: Any) -> Any:
    space = output_space("avg_pool", x.shape[1:-1], **where)
    if mean:
        shape = (x.shape[0], *space, x.shape[-1])
        pool, run = _mean_pool(x.shape, shape, x, **where)
        if pool is not None:
            out = np.empty(shape, x.dtype)
            run(pool.pool, x, out)
            return out
    cells = list(_cells(x.shape[1:-1], space, **where))
    source = _wide(x)
    out = np.empty((x.shape[0], *space, x.shape[-1]), source.dtype)
    _sums_of_cells(source, [(seen, belong) for _, seen, belong in cells], out)
    if mean:
        out /= _counts(space, cells, out.dtype)
    return out.astype(x.dtype, copy=False)


def _sum_spread_kernel(g: Any, *, shape: Sizes, mean: bool, **where: Any) -> Any:
    space = output_space("avg_pool", shape[1:-1], **where)
    if g.shape != (shape[0], *space, shape[-1]):
        raise ValueError("shapes do not fit")
    if mean:
        pool, run = _mean_pool(tuple(shape), g.shape, g, **where)
        if pool is not None:
            out = np.empty(shape, g.dtype)
            run(pool.spread, g, out)
            return out
    cells = list(_cells(shape[1:-1], space, **where))
    source = _wide(g)
    if mean:
        source = source / _counts(space, cells, source.dtype)
    out = np.empty(shape, source.dtype)
    _sums_of_cells(source, [(belong, seen) for _, seen, belong in cells], out)
    return out.astype(g.dtype, copy=False)


def _sum_spread_result(x: ArraySpec, *, shape: Sizes, mean: bool, **where: Any) -> ArraySpec:
    check_dtype("avg_pool", "gradient", x, FLOAT)
    source = ArraySpec(tuple(shape), x.dtype)
    pooled = _pooled("avg_pool", source, **where)
    if pooled.shape != x.shape:
        raise invalid(f"avg_pool: {source} is pooled to {pooled}, and the gradient is {x}")
    return source


sum_pool = primitive(
    "sum_pool",
    "x",
    _sum_pool_kernel,
    result=_result("avg_pool", FLOAT),
    gradients={
        "x": lambda g, x_shape, mean, window, strides, dilations, padding: sum_pool_spread(
            g, shape=x_shape, mean=mean, **_where(window, strides, dilations, padding)
        )
    },
)
# Gives each element of `x` to all cells of its window, and adds up what meets.
sum_pool_spread = primitive(
    "sum_pool_spread",
    "x",
    _sum_spread_kernel,
    result=_sum_spread_result,
    gradients={
        "x": lambda g, mean, window, strides, dilations, padding: sum_pool(
            g, mean=mean, **_where(window, strides, dilations, padding)
        )
    },
)
