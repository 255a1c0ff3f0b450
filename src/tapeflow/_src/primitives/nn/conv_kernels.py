"""The kernels of convolution, on NumPy.

They copy the windows side by side into the rows of a matrix and leave the work to one matrix product. That matrix would
be `window` times larger than the input, so it is made and used in parts that stay in the processor's cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow._src.insides.onednn.convolutions import convolution
from tapeflow._src.primitives.nn.windows import (
    Pairs,
    Sizes,
    output_space,
    padded,
    taps,
    unfolded,
    unpadded,
)
from tapeflow._src.primitives.sharing import MEMORY, contention, shared_out, side_by_side

PART = 1 << 20
"""How many elements the matrix of windows has at most, a few rows aside: 4 MB of float32."""


# The matrix of windows, part by part.


def _parts(batch: int, space: Sizes, width: int) -> Iterator[tuple[slice, slice]]:
    """Ranges of the batch and of the first spatial dimension, such that each has few windows."""
    rows = max(math.prod(space[1:]) * width, 1)
    examples = PART // max(rows * space[0], 1)
    if examples:
        for start in range(0, batch, examples):
            yield slice(start, min(start + examples, batch)), slice(0, space[0])
        return
    lines = max(PART // rows, 1)
    for example in range(batch):
        for start in range(0, space[0], lines):
            yield slice(example, example + 1), slice(start, min(start + lines, space[0]))


def _windows(
    x: Any,
    window: Sizes,
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
    space: Sizes,
    reach: int = 0,
) -> Iterator[tuple[tuple[slice, slice], Any]]:
    """The windows of a part of the results as the rows of a matrix, for all parts.

    Each part goes on for `reach` more lines than it has results. The matrix is good until the next is asked for.
    """
    width = math.prod(window) * x.shape[-1]
    buffer = views = None
    for batch, lines in _parts(x.shape[0], space, width):
        if views is None or lines.start == 0:
            frame = padded(x[batch], padding)
            places = (space[0] + reach, *space[1:])
            views = unfolded(frame, window, strides, dilations, places)
        view = views[:, lines.start : lines.stop + reach]
        if buffer is None:  # the first part is the largest
            buffer = np.empty(view.size, x.dtype)
        rows = buffer[: view.size].reshape(view.shape)
        rows[...] = view
        yield (batch, lines), rows.reshape(-1, width)


def _is_pointwise(window: Sizes, strides: Sizes, padding: Pairs) -> bool:
    """Whether each result sees one element only: a matrix product with nothing to unfold."""
    return (
        all(k == 1 for k in window) and all(s == 1 for s in strides) and not any(map(any, padding))
    )


# Kernels.


def _in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Half precision is computed in float32: NumPy has no BLAS for it, and sums would lose digits."""

    def wrapped(a: Any, b: Any, **attrs: Any) -> Any:
        if a.dtype != b.dtype or a.ndim != b.ndim:
            raise ValueError("operands do not fit")
        if a.dtype.kind in "iubcO" and a.dtype != np.int32:
            raise TypeError(f"no kernel for {a.dtype}")
        if a.dtype.itemsize == 2 and a.dtype.kind not in "iu":
            return kernel(a.astype(np.float32), b.astype(np.float32), **attrs).astype(a.dtype)
        return kernel(a, b, **attrs)

    return wrapped


def _space(x: Sizes, w: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs) -> Sizes:
    return output_space("conv", x[1:-1], w[:-2], strides, dilations, padding)


def _named(where: tuple[Sizes, Sizes, Pairs], groups: int) -> dict[str, Any]:
    strides, dilations, padding = where
    return {"strides": strides, "dilations": dilations, "padding": padding, "groups": groups}


def _check_groups(x: Sizes, w: Sizes, groups: int) -> None:
    if x[-1] != w[-2] * groups or w[-1] % groups:
        raise ValueError("channels do not fit")


def _grouped(channels: int, groups: int) -> list[slice]:
    size = channels // groups
    return [slice(i * size, (i + 1) * size) for i in range(groups)]


def by_library(
    name: str,
    a: Any,
    b: Any,
    out: Any,
    *also: Any,
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
    groups: int,
) -> Callable[[], None] | None:
    """What leaves `forward`, `input_gradient` or `filter_gradient` to a library that is better at it, if there is one.

    The arrays `a` and `b` are what the kernel of that name is given. `also` may be a bias for `forward`.
    """
    if a.dtype != np.float32 or type(a) is not np.ndarray:
        return None
    input_filters_result = {
        "forward": (a, b, out),
        "input_gradient": (out, b, a),
        "filter_gradient": (a, out, b),
    }
    shapes = [array.shape for array in input_filters_result[name]]
    alone = contention.crowded()
    found = convolution(*shapes, strides, dilations, padding, groups, alone)
    if found is None:
        return None
    compute = getattr(found, name)
    given = (np.ascontiguousarray(a), np.ascontiguousarray(b), out, *also)
    return lambda: compute(*given) if alone else contention.compared(compute, *given)


@_in_single
def conv_kernel(
    x: Any,
    w: Any,
    *,
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
    groups: int,
    bias: Any = None,
) -> Any:
    """Slides the filters over the input, and adds a bias to each channel if there is one."""
    _check_groups(x.shape, w.shape, groups)
    where = (strides, dilations, padding)
    space = _space(x.shape, w.shape, *where)
    out = np.empty((x.shape[0], *space, w.shape[-1]), x.dtype)
    also = () if bias is None else (np.ascontiguousarray(bias),)
    if not out.size or not x.size:
        out.fill(0)
        return _with_bias(out, bias)
    library = by_library("forward", x, w, out, *also, **_named(where, groups))
    if library is not None:
        library()
        return out
    if groups == 1:
        _shared_by_images(_convolve, x, w, out, *where)
    elif w.shape[-2] == 1:
        _convolve_depthwise(x, w, out, *where)
    else:
        for a, b in zip(_grouped(x.shape[-1], groups), _grouped(w.shape[-1], groups), strict=True):
            part = np.empty((*out.shape[:-1], b.stop - b.start), x.dtype)
            _convolve(x[..., a], w[..., b], part, *where)
            out[..., b] = part
    return _with_bias(out, bias)


def _with_bias(out: Any, bias: Any) -> Any:
    if bias is not None:
        side_by_side(lambda i, j: np.add(out[i:j], bias, out=out[i:j]), len(out), out.size)
    return out


def _shared_by_images(compute: Callable[..., None], x: Any, w: Any, out: Any, *where: Any) -> None:
    """Some images for each thread."""
    windows = min(x.size // x.shape[-1], out.size // out.shape[-1])  # about
    work = windows * math.prod(w.shape[:-1]) * (w.shape[-1] + MEMORY)
    shared_out(lambda i, j: compute(x[i:j], w, out[i:j], *where), len(x), work)


def _convolve(x: Any, w: Any, out: Any, strides: Sizes, dilations: Sizes, padding: Pairs) -> None:
    window, channels = w.shape[:-2], w.shape[-1]
    if _is_pointwise(window, strides, padding):
        matrix = w.reshape(-1, channels)
        np.matmul(x.reshape(-1, x.shape[-1]), matrix, out=out.reshape(-1, channels))
    elif strides[0] == 1 and math.prod(w.shape[1:-1]) >= channels:
        _convolve_lines(x, w, out, strides, dilations, padding)
    else:
        matrix = w.reshape(-1, channels)
        for part, rows in _windows(x, window, strides, dilations, padding, out.shape[1:-1]):
            np.matmul(rows, matrix, out=out[part].reshape(-1, channels))


def _convolve_lines(
    x: Any, w: Any, out: Any, strides: Sizes, dilations: Sizes, padding: Pairs
) -> None:
    """The same where the lines of a window are long: one product for each of them, added up.

    What the next line of a window sees is the same data, some lines further on, so only the dimensions after the first
    are unfolded: that is less to copy, and outweighs the additions unless there are many output channels.
    """
    space, channels = out.shape[1:-1], out.shape[-1]
    matrices = w.reshape(w.shape[0], -1, channels)
    reach = (w.shape[0] - 1) * dilations[0]
    step = dilations[0] * math.prod(space[1:])  # from a line of the window to the next, in rows
    term = None
    lines = (1, *w.shape[1:-2]), strides, (1, *dilations[1:]), padding
    for part, rows in _windows(x, *lines, space, reach):
        total = out[part].reshape(part[0].stop - part[0].start, -1, channels)
        rows = rows.reshape(total.shape[0], -1, rows.shape[-1])
        if term is None:  # the first part is the largest
            term = np.empty(total.size, x.dtype)
        product = term[: total.size].reshape(total.shape)
        for i, matrix in enumerate(matrices):
            seen = rows[:, i * step : i * step + total.shape[1]]
            np.matmul(seen, matrix, out=product if i else total)
            if i:
                np.add(total, product, out=total)


def _without_blanks(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Leaves out images whose gradient is zero all over.

    In a Jacobian nearly all are: each of its rows begins with one element of the result, in one image of the batch.
    """

    def wrapped(g: Any, w: Any, *, shape: Sizes, **where: Any) -> Any:
        count = len(g)
        if count == shape[0] and count > 1 and g.size and np.isfinite(w).all():
            rows = g.reshape(count, -1)
            few = rows[:, :: max(rows.shape[1] // 16, 1)]  # a look at some saves a look at all
            if 2 * np.count_nonzero(few.any(1)) < count:
                alive = np.flatnonzero(rows.any(1))
                if 2 * alive.size < count:
                    out = np.zeros(shape, g.dtype)
                    out[alive] = kernel(g[alive], w, shape=(alive.size, *shape[1:]), **where)
                    return out
        return kernel(g, w, shape=shape, **where)

    return wrapped


@_in_single
@_without_blanks
def input_gradient_kernel(
    g: Any,
    w: Any,
    *,
    shape: Sizes,
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
    groups: int,
) -> Any:
    """What the gradient of the result means for an input of `shape`."""
    _check_groups(shape, w.shape, groups)
    where = (strides, dilations, padding)
    if g.shape != (shape[0], *_space(shape, w.shape, *where), w.shape[-1]):
        raise ValueError("shapes do not fit")
    if not g.size or not math.prod(shape):
        return np.zeros(shape, g.dtype)
    out = np.empty(shape, g.dtype)
    library = by_library("input_gradient", g, w, out, **_named(where, groups))
    if library is not None:
        library()
        return out
    if w.shape[-2] == 1 < groups:
        return _spread_depthwise(g, w, shape, *where)
    if groups == 1:
        _shared_by_images(_spread, g, w, out, *where)
        return out
    for a, b in zip(_grouped(shape[-1], groups), _grouped(w.shape[-1], groups), strict=True):
        part = np.empty((*shape[:-1], a.stop - a.start), g.dtype)
        _spread(g[..., b], w[..., b], part, *where)
        out[..., a] = part
    return out


def _spread(g: Any, w: Any, out: Any, strides: Sizes, dilations: Sizes, padding: Pairs) -> None:
    """Every result goes back, times the filter, to the window it came from."""
    shape = out.shape
    window, channels = w.shape[:-2], w.shape[-1]
    matrix = w.reshape(-1, channels).T
    if _is_pointwise(window, strides, padding):
        np.matmul(g.reshape(-1, channels), matrix, out=out.reshape(-1, shape[-1]))
        return
    if all(stride == 1 for stride in strides):
        back = _backward_padding(g.shape[1:-1], shape[1:-1], window, dilations, padding)
        if back is not None:
            turned = np.flip(w, tuple(range(len(window)))).swapaxes(-1, -2)
            _convolve(g, np.ascontiguousarray(turned), out, strides, dilations, back)
            return
    space = g.shape[1:-1]
    width = matrix.shape[1]
    frame_space = tuple(
        [d + before + after for d, (before, after) in zip(shape[1:-1], padding, strict=True)]
    )
    frame = np.zeros((shape[0], *frame_space, shape[-1]), g.dtype)
    none: Pairs = ((0, 0),) * len(window)
    places = list(taps(frame_space, window, strides, dilations, none, space))
    for batch, lines in _parts(shape[0], space, width):
        part = g[batch, lines]
        rows = np.matmul(part.reshape(-1, channels), matrix)
        rows = rows.reshape(*part.shape[:-1], *window, shape[-1])
        first = lines.start * strides[0]
        length = (part.shape[1] - 1) * strides[0] + 1
        for index, (_, seen, *rest), _ in places:
            start = seen.start + first
            to = frame[(batch, slice(start, start + length, strides[0]), *rest)]
            np.add(to, rows[(..., *index, slice(None))], out=to)
    out[...] = frame[unpadded(shape[1:-1], padding)]


def _backward_padding(
    space: Sizes, size: Sizes, window: Sizes, dilations: Sizes, padding: Pairs
) -> Pairs | None:
    """The padding with which a convolution with the turned filter takes `space` back to `size`."""
    pairs = []
    for n, m, k, dilation, (before, _) in zip(space, size, window, dilations, padding, strict=True):
        pairs.append(((k - 1) * dilation - before, m - n + before))
    return tuple(pairs) if all(count >= 0 for pair in pairs for count in pair) else None


@_in_single
def filter_gradient_kernel(
    x: Any,
    g: Any,
    *,
    shape: Sizes,
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
    groups: int,
) -> Any:
    """What the gradient of the result means for filters of `shape`."""
    _check_groups(x.shape, shape, groups)
    where = (strides, dilations, padding)
    if g.shape != (x.shape[0], *_space(x.shape, shape, *where), shape[-1]):
        raise ValueError("shapes do not fit")
    if not g.size or not x.size:
        return np.zeros(shape, g.dtype)
    out = np.empty(shape, g.dtype)
    library = by_library("filter_gradient", x, g, out, **_named(where, groups))
    if library is not None:
        library()
        return out
    if groups == 1:
        return _added_up(x, g, shape, *where)
    if shape[-2] == 1:
        return _correlate_depthwise(x, g, shape, *where)
    for a, b in zip(_grouped(x.shape[-1], groups), _grouped(shape[-1], groups), strict=True):
        part = (*shape[:-1], b.stop - b.start)
        out[..., b] = _correlate(x[..., a], g[..., b], part, *where)
    return out


def _added_up(x: Any, g: Any, shape: Sizes, *where: Any) -> Any:
    """The sum over all images, some of them on each thread."""
    sums: dict[int, Any] = {}

    def correlate(i: int, j: int) -> None:
        sums[i] = _correlate(x[i:j], g[i:j], shape, *where)

    work = g.size // shape[-1] * math.prod(shape[:-1]) * (shape[-1] + MEMORY)
    shared_out(correlate, len(x), work)
    first, *others = [sums[i] for i in sorted(sums)]  # in this order, whichever was ready first
    for each in others:
        first += each
    return first


def _correlate(
    x: Any, g: Any, shape: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs
) -> Any:
    window, channels = shape[:-2], shape[-1]
    if _is_pointwise(window, strides, padding):
        return np.matmul(x.reshape(-1, x.shape[-1]).T, g.reshape(-1, channels)).reshape(shape)
    out = np.zeros((math.prod(shape[:-1]), channels), g.dtype)
    for part, rows in _windows(x, window, strides, dilations, padding, g.shape[1:-1]):
        out += np.matmul(rows.T, g[part].reshape(-1, channels))
    return out.reshape(shape)


# Depthwise: as many groups as channels, where a matrix product has nothing to add up. The results of a channel are
# `multiple` channels side by side.


def _convolve_depthwise(
    x: Any, w: Any, out: Any, strides: Sizes, dilations: Sizes, padding: Pairs
) -> None:
    channels = x.shape[-1]
    filters = w.reshape(*w.shape[:-2], channels, -1)
    places = list(taps(x.shape[1:-1], w.shape[:-2], strides, dilations, padding, out.shape[1:-1]))
    results = out.reshape(*out.shape[:-1], channels, -1)
    for batch, _ in _parts(x.shape[0], (1, *out.shape[1:-1]), out.shape[-1]):
        part, source = results[batch], x[batch, ..., None]
        part[...] = 0
        for index, seen, belong in places:
            part[belong] += source[seen] * filters[index]


def _spread_depthwise(
    g: Any, w: Any, shape: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs
) -> Any:
    channels = shape[-1]
    filters = w.reshape(*w.shape[:-2], channels, -1)
    results = g.reshape(*g.shape[:-1], channels, -1)
    out = np.zeros(shape, g.dtype)
    for index, seen, belong in taps(
        shape[1:-1], w.shape[:-2], strides, dilations, padding, g.shape[1:-1]
    ):
        out[seen] += np.einsum("...cm,cm->...c", results[belong], filters[index])
    return out


def _correlate_depthwise(
    x: Any, g: Any, shape: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs
) -> Any:
    channels = x.shape[-1]
    results = g.reshape(*g.shape[:-1], channels, -1)
    out = np.zeros((*shape[:-2], channels, shape[-1] // channels), g.dtype)
    for index, seen, belong in taps(
        x.shape[1:-1], shape[:-2], strides, dilations, padding, g.shape[1:-1]
    ):
        a, b = x[seen].reshape(-1, channels), results[belong]
        out[index] = np.einsum("lc,lcm->cm", a, b.reshape(-1, *b.shape[-2:]))
    return out.reshape(shape)
