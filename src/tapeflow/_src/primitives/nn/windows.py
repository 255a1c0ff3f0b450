"""Where a window lies as it slides over an array: what convolution and pooling have in common.

Arrays are channels-last here, `[batch, *space, channels]`. All that a window does is said by four tuples with an
entry for each spatial dimension: its size, its `strides`, its `dilations` (the distance between the cells it looks at)
and the `padding`, a pair of counts before and after.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import larger, surely_less
from tapeflow._src.primitives.rules import invalid

Sizes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


def output_size(size: int, window: int, stride: int, dilation: int, pads: tuple[int, int]) -> int:
    """How many places a window has along one dimension; negative if it does not fit by far.

    >>> output_size(5, window=3, stride=2, dilation=1, pads=(0, 0))
    2
    """
    room = size + pads[0] + pads[1] - (window - 1) * dilation - 1 + stride
    if is_dynamic(room):
        return larger(room // stride, 0)
    return room // stride if room >= 0 else -(-room // stride)


def same_padding(size: int, window: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """The padding with which there is a place for every `stride` cells; the odd one goes after.

    >>> same_padding(5, window=2, stride=1)
    (0, 1)
    """
    places = -(-size // stride)
    total = larger((places - 1) * stride + (window - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def output_space(
    op: str,
    space: tuple[Any, ...],
    window: tuple[Any, ...],
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
) -> tuple[Any, ...]:
    """The spatial shape of the result; None where it is not known yet."""
    sizes = []
    for dimension in zip(space, window, strides, dilations, padding, strict=True):
        if None in dimension[:2]:
            sizes.append(None)
            continue
        size = output_size(*dimension)
        if surely_less(size, 0):
            raise invalid(
                f"{op}: Computed output size would be negative: {size}. A window of {list(window)} "
                f"with dilations {list(dilations)} does not fit into {list(space)} padded by "
                f"{[list(p) for p in padding]}. Use a smaller window, or padding='SAME'."
            )
        sizes.append(size)
    return tuple(sizes)


def narrowed(
    space: Sizes, window: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs
) -> dict[str, Any]:
    """The same places of a window without the cells that see nothing but padding in all of them.

    A window may be named that is far larger than the array.

    >>> narrowed((3,), (9,), (1,), (1,), ((4, 4),))
    {'window': (5,), 'strides': (1,), 'dilations': (1,), 'padding': ((2, 2),)}
    """
    places = output_space("pool", space, window, strides, dilations, padding)
    windows, pairs = [], []
    for n, count, k, stride, dilation, (before, after) in zip(
        space, places, window, strides, dilations, padding, strict=True
    ):
        reach = (count - 1) * stride
        first = max(0, -((reach - before) // dilation))
        last = min(k, (n - 1 + before) // dilation + 1)
        first = min(first, max(last - 1, 0))
        left = max(last - first, 1)
        if left < k:
            before -= first * dilation
            after = reach + (left - 1) * dilation + 1 - n - before
        windows.append(left)
        pairs.append((before, after))
    return {
        "window": tuple(windows),
        "strides": strides,
        "dilations": dilations,
        "padding": tuple(pairs),
    }


def padded(x: Any, padding: Pairs) -> Any:
    """`x` in a frame of zeros, or as it is if there is none to add; laid out in order."""
    if not any(itertools.chain.from_iterable(padding)):
        return np.ascontiguousarray(x)
    shape = [d + a + b for d, (a, b) in zip(x.shape[1:-1], padding, strict=True)]
    out = np.zeros((x.shape[0], *shape, x.shape[-1]), x.dtype)
    out[unpadded(x.shape[1:-1], padding)] = x
    return out


def unpadded(space: Sizes, padding: Pairs) -> tuple[slice, ...]:
    """The index of what is inside the frame."""
    inner = [slice(a, a + d) for d, (a, _) in zip(space, padding, strict=True)]
    return (slice(None), *inner)


def unfolded(x: Any, window: Sizes, strides: Sizes, dilations: Sizes, space: Sizes) -> Any:
    """A view `[batch, *space, *window, channels]` of all windows of a padded array."""
    batch, *steps, channel = x.strides
    return as_strided(
        x,
        (x.shape[0], *space, *window, x.shape[-1]),
        (
            batch,
            *[step * stride for step, stride in zip(steps, strides, strict=True)],
            *[step * dilation for step, dilation in zip(steps, dilations, strict=True)],
            channel,
        ),
        writeable=False,
    )


Place = tuple[slice, ...]


def taps(
    size: Sizes, window: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs, space: Sizes
) -> Iterator[tuple[Sizes, Place, Place]]:
    """The cells of a window, row by row.

    For each: its position in the window, and the indices of the elements it sees in the array and of the results they
    belong to. Where the cell falls on the padding there are none, so nothing has to be padded.
    """
    along = []
    for n, k, stride, dilation, (before, _), places in zip(
        size, window, strides, dilations, padding, space, strict=True
    ):
        cells = []
        for i in range(k):
            offset = i * dilation - before  # what the window at 0 sees through this cell
            first = max(0, -(offset // stride))
            last = min(places, (n - 1 - offset) // stride + 1)
            start = first * stride + offset
            count = max(last - first, 0)
            stop = start + (count - 1) * stride + 1 if count else start
            cells.append((i, slice(start, stop, stride), slice(first, first + count)))
        along.append(cells)
    for cell in itertools.product(*along):
        index, seen, belong = zip(*cell, strict=True)
        yield index, (slice(None), *seen), (slice(None), *belong)
