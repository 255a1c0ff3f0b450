"""Convolution in any number of dimensions, and its two gradients.

    conv(x, w)                   x: [batch, *space, in],  w: [*window, in / groups, out]
    conv_input_gradient(g, w)    what `g` means for `x`: also the transposed convolution
    conv_filter_gradient(x, g)   what `g` means for `w`

All three are linear in each input, and each is the derivative of the other two, so derivatives of every order are
made of them alone.

The kernels copy the windows side by side into the rows of a matrix and leave the work to one matrix product. That
matrix would be `window` times larger than the input, so it is made and used in parts that stay in the processor's
cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow.core.tensor import Tensor
from tapeflow.primitives.rules import REAL, check_dtype, check_same_dtype, invalid
from tapeflow.primitives.table import ArraySpec, primitive
from tapeflow.primitives.windows import (
    Pairs,
    Sizes,
    output_space,
    padded,
    taps,
    unfolded,
    unpadded,
)

PART = 1 << 20
"""How many elements the matrix of windows has at most, a few rows aside: 4 MB of float32."""


# Shapes.


def _conv_result(
    x: ArraySpec, w: ArraySpec, *, strides: Sizes, dilations: Sizes, padding: Pairs, groups: int
) -> ArraySpec:
    _check_operands(x, w, len(strides))
    if w.shape[-2] is not None and x.shape[-1] != w.shape[-2] * groups:
        raise invalid(
            f"conv: input depth must be evenly divisible by filter depth: {x.shape[-1]} vs "
            f"{w.shape[-2]} (input: {x}, filters: {w}, which ends in [in, out] channels)"
        )
    if w.shape[-1] is not None and w.shape[-1] % groups:
        raise invalid(
            f"conv: {w.shape[-1]} output channels cannot be shared among {groups} groups "
            f"(input: {x}, filters: {w})"
        )
    space = output_space("conv", x.shape[1:-1], w.shape[:-2], strides, dilations, padding)
    return ArraySpec((x.shape[0], *space, w.shape[-1]), x.dtype)


def _check_operands(x: ArraySpec, w: ArraySpec, rank: int) -> None:
    check_same_dtype("conv", x, w)
    check_dtype("conv", "input", x, REAL)
    for name, spec in (("input", x), ("filters", w)):
        if len(spec.shape) != rank + 2:
            raise invalid(
                f"conv: {name} must be {rank + 2}-dimensional, got {spec} (input: {x}, filters: {w})"
            )


def _input_gradient_result(
    g: ArraySpec, w: ArraySpec, *, shape: Sizes, groups: int, **where: Any
) -> ArraySpec:
    x = ArraySpec(tuple(shape), g.dtype)
    y = _conv_result(x, w, groups=groups, **where)
    _check_backward("input", g, y, x, w)
    return x


def _filter_gradient_result(
    x: ArraySpec, g: ArraySpec, *, shape: Sizes, groups: int, **where: Any
) -> ArraySpec:
    w = ArraySpec(tuple(shape), g.dtype)
    y = _conv_result(x, w, groups=groups, **where)
    _check_backward("filters", g, y, x, w)
    return w


def _check_backward(of: str, g: ArraySpec, y: ArraySpec, x: ArraySpec, w: ArraySpec) -> None:
    if g.shape != y.shape:
        raise invalid(
            f"conv: a convolution of {x} with filters {w} gives {y}, and the gradient (or the input of a transposed "
            f"convolution) for its {of} is {g}. They must have one shape."
        )


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
    x: Any, window: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs, space: Sizes
) -> Iterator[tuple[tuple[slice, slice], Any]]:
    """The windows of a part of the results as the rows of a matrix, for all parts.

    The matrix is good until the next is asked for.
    """
    width = math.prod(window) * x.shape[-1]
    buffer = None
    for part in _parts(x.shape[0], space, width):
        if part[1].start == 0:
            frame = padded(x[part[0]], padding)
            views = unfolded(frame, window, strides, dilations, space)
        view = views[:, part[1]]  # pyright: ignore[reportPossiblyUnboundVariable]
        if buffer is None:  # the first part is the largest
            buffer = np.empty(view.size, x.dtype)
        rows = buffer[: view.size].reshape(view.shape)
        rows[...] = view
        yield part, rows.reshape(-1, width)


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
        if a.dtype.itemsize == 2 and a.dtype.kind not in "iu":
            return kernel(a.astype(np.float32), b.astype(np.float32), **attrs).astype(a.dtype)
        return kernel(a, b, **attrs)

    return wrapped


def _space(x: Sizes, w: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs) -> Sizes:
    return output_space("conv", x[1:-1], w[:-2], strides, dilations, padding)


def _check_groups(x: Sizes, w: Sizes, groups: int) -> None:
    if x[-1] != w[-2] * groups or w[-1] % groups:
        raise ValueError("channels do not fit")


def _grouped(channels: int, groups: int) -> list[slice]:
    size = channels // groups
    return [slice(i * size, (i + 1) * size) for i in range(groups)]


@_in_single
def _conv_kernel(
    x: Any, w: Any, *, strides: Sizes, dilations: Sizes, padding: Pairs, groups: int
) -> Any:
    _check_groups(x.shape, w.shape, groups)
    where = (strides, dilations, padding)
    space = _space(x.shape, w.shape, *where)
    out = np.empty((x.shape[0], *space, w.shape[-1]), x.dtype)
    if groups == 1:
        _convolve(x, w, out, *where)
    elif w.shape[-2] == 1:
        _convolve_depthwise(x, w, out, *where)
    else:
        for a, b in zip(_grouped(x.shape[-1], groups), _grouped(w.shape[-1], groups), strict=True):
            part = np.empty((*out.shape[:-1], b.stop - b.start), x.dtype)
            _convolve(x[..., a], w[..., b], part, *where)
            out[..., b] = part
    return out


def _convolve(x: Any, w: Any, out: Any, strides: Sizes, dilations: Sizes, padding: Pairs) -> None:
    window, channels = w.shape[:-2], w.shape[-1]
    matrix = w.reshape(-1, channels)
    if _is_pointwise(window, strides, padding):
        np.matmul(x.reshape(-1, x.shape[-1]), matrix, out=out.reshape(-1, channels))
        return
    for part, rows in _windows(x, window, strides, dilations, padding, out.shape[1:-1]):
        np.matmul(rows, matrix, out=out[part].reshape(-1, channels))


@_in_single
def _input_gradient_kernel(
    g: Any,
    w: Any,
    *,
    shape: Sizes,
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
    groups: int,
) -> Any:
    _check_groups(shape, w.shape, groups)
    where = (strides, dilations, padding)
    if g.shape != (shape[0], *_space(shape, w.shape, *where), w.shape[-1]):
        raise ValueError("shapes do not fit")
    if groups == 1:
        return _spread(g, w, shape, *where)
    if w.shape[-2] == 1:
        return _spread_depthwise(g, w, shape, *where)
    out = np.empty(shape, g.dtype)
    for a, b in zip(_grouped(shape[-1], groups), _grouped(w.shape[-1], groups), strict=True):
        part = (*shape[:-1], a.stop - a.start)
        out[..., a] = _spread(g[..., b], w[..., b], part, *where)
    return out


def _spread(g: Any, w: Any, shape: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs) -> Any:
    """Every result goes back, times the filter, to the window it came from."""
    window, channels = w.shape[:-2], w.shape[-1]
    matrix = w.reshape(-1, channels).T
    if _is_pointwise(window, strides, padding):
        return np.matmul(g.reshape(-1, channels), matrix).reshape(shape)
    space = g.shape[1:-1]
    width = matrix.shape[1]
    frame_space = tuple(
        [d + before + after for d, (before, after) in zip(shape[1:-1], padding, strict=True)]
    )
    out = np.zeros((shape[0], *frame_space, shape[-1]), g.dtype)
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
            to = out[(batch, slice(start, start + length, strides[0]), *rest)]
            np.add(to, rows[(..., *index, slice(None))], out=to)
    return out[unpadded(shape[1:-1], padding)]


@_in_single
def _filter_gradient_kernel(
    x: Any,
    g: Any,
    *,
    shape: Sizes,
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
    groups: int,
) -> Any:
    _check_groups(x.shape, shape, groups)
    where = (strides, dilations, padding)
    if g.shape != (x.shape[0], *_space(x.shape, shape, *where), shape[-1]):
        raise ValueError("shapes do not fit")
    if groups == 1:
        return _correlate(x, g, shape, *where)
    if shape[-2] == 1:
        return _correlate_depthwise(x, g, shape, *where)
    out = np.empty(shape, g.dtype)
    for a, b in zip(_grouped(x.shape[-1], groups), _grouped(shape[-1], groups), strict=True):
        part = (*shape[:-1], b.stop - b.start)
        out[..., b] = _correlate(x[..., a], g[..., b], part, *where)
    return out


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
        out[index] = np.einsum("...c,...cm->cm", x[seen], results[belong])
    return out.reshape(shape)


# The rows of the table: each is linear in both inputs, and the gradients are the other two.


def _where(strides: Sizes, dilations: Sizes, padding: Pairs, groups: int) -> dict[str, Any]:
    return {"strides": strides, "dilations": dilations, "padding": padding, "groups": groups}


def _by_input(
    g: Tensor, w: Tensor, x_shape: Sizes, strides: Any, dilations: Any, padding: Any, groups: int
) -> Tensor:
    where = _where(strides, dilations, padding, groups)
    return conv_input_gradient(g, w, shape=x_shape, **where)


def _by_filter(
    g: Tensor, x: Tensor, w_shape: Sizes, strides: Any, dilations: Any, padding: Any, groups: int
) -> Tensor:
    where = _where(strides, dilations, padding, groups)
    return conv_filter_gradient(x, g, shape=w_shape, **where)


conv = primitive(
    "conv",
    "x w",
    _conv_kernel,
    result=_conv_result,
    gradients={"x": _by_input, "w": _by_filter},
)
conv_input_gradient = primitive(
    "conv_input_gradient",
    "g w",
    _input_gradient_kernel,
    result=_input_gradient_result,
    gradients={
        # The gradient `t` has the shape of the convolution's input.
        "g": lambda t, w, strides, dilations, padding, groups: conv(
            t, w, **_where(strides, dilations, padding, groups)
        ),
        "w": lambda t, g, w_shape, strides, dilations, padding, groups: _by_filter(
            g, t, w_shape, strides, dilations, padding, groups
        ),
    },
)
conv_filter_gradient = primitive(
    "conv_filter_gradient",
    "x g",
    _filter_gradient_kernel,
    result=_filter_gradient_result,
    gradients={
        # The gradient `t` has the shape of the filters.
        "x": lambda t, g, x_shape, strides, dilations, padding, groups: _by_input(
            g, t, x_shape, strides, dilations, padding, groups
        ),
        "g": lambda t, x, strides, dilations, padding, groups: conv(
            x, t, **_where(strides, dilations, padding, groups)
        ),
    },
)
