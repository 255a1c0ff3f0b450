"""Primitives that repeat, mirror, reverse and rotate the elements of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.sizes.extremes import surely_less
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.array.moving import Paddings
from tapeflow._src.primitives.rules import invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import calls, primitive

Shape = tuple[int, ...]


def _tile_result(x: ArraySpec, *, multiples: Shape) -> ArraySpec:
    if len(multiples) != len(x.shape) or any(surely_less(m, 0) for m in multiples):
        raise invalid(
            f"tile: multiples {list(multiples)} must have one non-negative number for each of the "
            f"{len(x.shape)} dimensions of shape {list(x.shape)}"
        )
    return ArraySpec(tuple(d * m for d, m in zip(x.shape, multiples, strict=True)), x.dtype)


def _tile_kernel(x: Any, *, multiples: Shape) -> Any:
    if len(multiples) != x.ndim or any(m < 0 for m in multiples):
        raise ValueError("multiples do not fit")
    check_room("tile", [d * m for d, m in zip(x.shape, multiples, strict=True)], x.dtype)
    return np.tile(x, multiples)


def _tile_gradient(g: Tensor, x_shape: Shape, multiples: Shape) -> Tensor:
    """Folds each dimension into (copies, size) and sums the copies."""
    folded = tuple(n for pair in zip(multiples, x_shape, strict=True) for n in pair)
    copies = tuple(range(0, len(folded), 2))
    return calls.sum(moving.reshape(g, shape=folded), axis=copies, keepdims=False)


tile = primitive("tile", "x", _tile_kernel, result=_tile_result, gradients={"x": _tile_gradient})


def _repeat_result(x: ArraySpec, *, repeats: Shape, axis: int) -> ArraySpec:
    count, size = len(repeats), x.shape[axis]
    if any(surely_less(n, 0) for n in repeats) or (count > 1 and size != count):
        raise invalid(
            f"repeat: repeats {list(repeats)} must be one non-negative number, or one for each of "
            f"the {x.shape[axis]} in dimension {axis} of shape {list(x.shape)}"
        )
    size = size * repeats[0] if count == 1 else sum(repeats)
    return ArraySpec((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)


def _repeat_kernel(x: Any, *, repeats: Shape, axis: int) -> Any:
    times = sum(repeats) * (x.shape[axis] if len(repeats) == 1 else 1)
    check_room("repeat", (*x.shape[:axis], max(times, 0), *x.shape[axis + 1 :]), x.dtype)
    return np.repeat(x, repeats, axis)


def _repeat_gradient(g: Tensor, x_shape: Shape, repeats: Shape, axis: int) -> Tensor:
    if len(repeats) == 1:
        folded = (*x_shape[: axis + 1], repeats[0], *x_shape[axis + 1 :])
        return calls.sum(moving.reshape(g, shape=folded), axis=(axis + 1,), keepdims=False)
    rows = repeat(patterns.numbers(len(repeats)), repeats=repeats, axis=0)
    return calls.scatter_rows(g, rows, shape=x_shape, axis=axis, batch_dims=0)


repeat = primitive(
    "repeat",
    "x",
    _repeat_kernel,
    result=_repeat_result,
    gradients={"x": _repeat_gradient},
)

# Padding with a mirror image: the adjoint folds the image back on what it shows.


def _mirror_result(x: ArraySpec, *, paddings: Paddings, edge: bool) -> ArraySpec:
    """`edge`: whether the outermost element is repeated (SYMMETRIC) or not (REFLECT)."""
    fits = len(paddings) == len(x.shape) and all(
        not surely_less(n, 0) and not surely_less(d - (not edge), n)
        for d, pair in zip(x.shape, paddings, strict=True)
        for n in pair
    )
    if not fits:
        most = "the size of the dimension" if edge else "the size of the dimension less 1"
        raise invalid(
            f"pad: paddings {[list(p) for p in paddings]} must have a pair from 0 to {most} for "
            "each of the "
            f"{len(x.shape)} dimensions of shape {list(x.shape)} in mode "
            f"{'SYMMETRIC' if edge else 'REFLECT'}"
        )
    return ArraySpec(tuple(d + a + b for d, (a, b) in zip(x.shape, paddings, strict=True)), x.dtype)


def _mirror_kernel(x: Any, *, paddings: Paddings, edge: bool) -> Any:
    skip = not edge
    for axis, ((a, b), n) in enumerate(zip(paddings, x.shape, strict=True)):
        if a < 0 or b < 0 or max(a, b) > n - skip:
            raise ValueError("paddings do not fit")
        if a or b:
            whole = np.arange(n)
            rows = (whole[skip : a + skip][::-1], whole, whole[n - skip - b : n - skip][::-1])
            x = np.take(x, np.concatenate(rows), axis)
    return x


def _fold_kernel(g: Any, *, paddings: Paddings, edge: bool) -> Any:
    skip = not edge
    for axis, (a, b) in enumerate(paddings):
        if a or b:
            g = np.moveaxis(g, axis, 0)
            n = g.shape[0] - a - b
            out = g[a : a + n].copy()
            out[skip : a + skip] += g[:a][::-1]
            out[n - skip - b : n - skip] += g[a + n :][::-1]
            g = np.moveaxis(out, 0, axis)
    return g


mirror_pad = primitive(
    "mirror_pad",
    "x",
    _mirror_kernel,
    result=_mirror_result,
    gradients={"x": lambda g, paddings, edge: mirror_fold(g, paddings=paddings, edge=edge)},
)
mirror_fold = primitive(
    "mirror_fold",
    "x",
    _fold_kernel,
    result=lambda x, *, paddings, edge: ArraySpec(
        tuple(d - a - b for d, (a, b) in zip(x.shape, paddings, strict=True)), x.dtype
    ),
    gradients={"x": lambda g, paddings, edge: mirror_pad(g, paddings=paddings, edge=edge)},
)

# Reversing and rotating.

reverse = primitive(
    "reverse",
    "x",
    lambda x, *, axis: np.flip(x, axis),
    result=lambda x, *, axis: x,
    gradients={"x": lambda g, axis: reverse(g, axis=axis)},
)


def _negative(shift: Shape) -> Shape:
    return tuple(-n for n in shift)


roll = primitive(
    "roll",
    "x",
    lambda x, *, shift, axis: np.roll(x, shift, axis),
    result=lambda x, *, shift, axis: x,
    gradients={"x": lambda g, shift, axis: roll(g, shift=_negative(shift), axis=axis)},
)
