"""Pooling of float32 and its gradient: NumPy goes over each cell of the windows, this goes over once.

The library notes where the maximum of each window is, the first one of equals, row by row. What it gives for NaN and
for windows of nothing but minus infinity is not what NumPy gives, so its callers look for these first. Of means, it
leaves out the padding, as NumPy does here.
"""

from __future__ import annotations

import functools
import math
from ctypes import c_float
from typing import Any

import numpy as np

from tapeflow._src.insides.fallback import slower
from tapeflow._src.insides.onednn.library import (
    RELU_BY_RESULT,
    Dims,
    Failed,
    OneDnn,
    Primitive,
    Sizes,
    channels_last,
    onednn,
)

Pairs = tuple[tuple[int, int], ...]

# The library's own numbers.
_FORWARD, _MAXIMUM, _MEAN = 64, 0x1FF, 0x3FF
_INPUT, _RESULT, _PLACES, _INPUT_GRADIENT, _RESULT_GRADIENT = 1, 17, 64, 129, 145
_PLACES_OF = 135

WORTH_IT = 2**16
"""Elements; with less, NumPy is as fast."""


class MaxPool:
    """Max pooling for one shape, `relu` after it or not, with its gradient. Arrays are in C order."""

    def __init__(
        self, library: OneDnn, x: Sizes, y: Sizes, where: tuple[Any, ...], relu: bool, alone: bool
    ) -> None:
        self._destroy = library.library.dnnl_memory_desc_destroy
        self._x, self._y = channels_last(library, x), channels_last(library, y)
        self._forward = Primitive(
            *(library, "pooling_forward", library.engine, _FORWARD, _MAXIMUM),
            *(self._x, self._y, *where, library.ours_then_relu if relu else library.ours),
            alone=alone,
        )
        self._backward = Primitive(
            *(library, "pooling_backward", library.engine, _MAXIMUM, self._x, self._y, *where),
            *(self._forward.description, library.ours),
            alone=alone,
        )
        self._library, self._alone = library, alone

    @functools.cached_property
    def _relu_gradient(self) -> Primitive:
        library, y = self._library, self._y
        which = (RELU_BY_RESULT, y, y, c_float(0), c_float(0))
        forward = Primitive(
            *(library, "eltwise_forward", library.engine, _FORWARD, *which, library.ours),
            alone=self._alone,
        )
        which = (RELU_BY_RESULT, y, y, y, c_float(0), c_float(0))
        return Primitive(
            *(library, "eltwise_backward", library.engine, *which),
            *(forward.description, library.ours),
            alone=self._alone,
        )

    def pool(self, x: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Writes the maxima, and gives their places, a byte for each."""
        places = self._forward.array(_PLACES_OF)
        self._forward.run({_INPUT: (self._x, x), _RESULT: (self._y, out), _PLACES: places})
        return places[1]

    def spread_to(self, g: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
        """Puts each element of `g` where its maximum was found, and adds up what meets."""
        noted = (self._forward.layout(_PLACES_OF), places)
        self._backward.run(
            {_RESULT_GRADIENT: (self._y, g), _PLACES: noted, _INPUT_GRADIENT: (self._x, out)}
        )

    def relu_gradient(self, g: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        """Keeps of `g` what belongs to results above zero."""
        y_layout = self._y
        self._relu_gradient.run(
            {
                _RESULT: (y_layout, y),
                _RESULT_GRADIENT: (y_layout, g),
                _INPUT_GRADIENT: (y_layout, out),
            }
        )

    def spread(self, g: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
        """Puts each element of `g` where the maximum of its window of `x` is, and adds up what meets."""
        self.spread_to(g, self.pool(x, np.empty_like(g)), out)

    def __del__(self) -> None:
        for each in ("_x", "_y"):
            if each in vars(self):
                self._destroy(vars(self)[each])


class MeanPool:
    """The means of windows without their padding, for one shape, with its gradient. Arrays are in C order."""

    def __init__(
        self, library: OneDnn, x: Sizes, y: Sizes, where: tuple[Any, ...], alone: bool
    ) -> None:
        self._destroy = library.library.dnnl_memory_desc_destroy
        self._x, self._y = channels_last(library, x), channels_last(library, y)
        operands = self._x, self._y, *where
        self._forward = Primitive(
            *(library, "pooling_forward", library.engine, _FORWARD, _MEAN, *operands, library.ours),
            alone=alone,
        )
        self._backward = Primitive(
            *(library, "pooling_backward", library.engine, _MEAN, *operands),
            *(self._forward.description, library.ours),
            alone=alone,
        )

    def pool(self, x: np.ndarray, out: np.ndarray) -> None:
        """Writes the means."""
        self._forward.run({_INPUT: (self._x, x), _RESULT: (self._y, out)})

    def spread(self, g: np.ndarray, out: np.ndarray) -> None:
        """Gives each element of `g` to the cells of its window, in equal parts, and adds up what meets."""
        self._backward.run({_RESULT_GRADIENT: (self._y, g), _INPUT_GRADIENT: (self._x, out)})

    def __del__(self) -> None:
        for each in ("_x", "_y"):
            if each in vars(self):
                self._destroy(vars(self)[each])


@functools.lru_cache(maxsize=512)
def max_pool(
    x: Sizes,
    y: Sizes,
    window: Sizes,
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
    relu: bool = False,
    alone: bool = False,
) -> MaxPool | None:
    """The pooling of these shapes, by one thread or all, if oneDNN is there, can do it, and it is worth it."""
    found = _geometry(x, y, window, strides, dilations, padding)
    if found is None:
        return None
    library, where = found
    try:
        return MaxPool(library, x, y, where, relu, alone)
    except Failed as error:
        slower(str(error), f"NumPy computes the gradient of pooling {x}")
        return None


@functools.lru_cache(maxsize=512)
def mean_pool(
    x: Sizes,
    y: Sizes,
    window: Sizes,
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
    alone: bool = False,
) -> MeanPool | None:
    """The same for means."""
    found = _geometry(x, y, window, strides, dilations, padding)
    if found is None or set(dilations) != {1}:
        return None
    library, where = found
    try:
        return MeanPool(library, x, y, where, alone)
    except Failed as error:
        slower(str(error), f"NumPy computes the means of pooling {x}")
        return None


def _geometry(
    x: Sizes, y: Sizes, window: Sizes, strides: Sizes, dilations: Sizes, padding: Pairs
) -> tuple[OneDnn, tuple[Any, ...]] | None:
    """The library, and how it is told where windows are; None if it is not there, cannot do it or is not worth it."""
    if math.prod(x) < WORTH_IT or not math.prod(y) or len(window) > 3:
        return None
    if any(not 0 <= side < k for k, pair in zip(window, padding, strict=True) for side in pair):
        return None
    library = onednn()
    if library is None:
        return None
    for each in (max_pool, mean_pool):
        if each.cache_clear not in library.forget:
            library.forget.append(each.cache_clear)
    where = (
        Dims(*strides),
        Dims(*window),
        Dims(*[d - 1 for d in dilations]),
        Dims(*[before for before, _ in padding]),
        Dims(*[after for _, after in padding]),
    )
    return library, where
