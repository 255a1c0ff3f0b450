"""Convolutions of float32: several times as fast as a matrix product of unfolded windows.

Arrays stay channels-last; filters are put into the order that the library likes best, and back.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.insides.fallback import slower
from tapeflow._src.insides.onednn.library import (
    Array,
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
_FORWARD, _DIRECT = 64, 1
_INPUT, _RESULT, _FILTERS, _BIAS = 1, 17, 33, 41
_INPUT_GRADIENT, _RESULT_GRADIENT, _FILTER_GRADIENT = 129, 145, 161
_FILTERS_OF, _FILTER_GRADIENT_OF = 131, 132

WORTH_IT = 2**22
"""Multiplications; with less, the machine code takes longer to write than it can ever save."""

_OF_GROUPS = 16
"""How many multiplications of a matrix product take NumPy the time of one where channels are in groups, or less."""


class _Shape:
    """How the arrays of a convolution lie in memory."""

    def __init__(self, onednn: OneDnn, x: Sizes, w: Sizes, y: Sizes, groups: int) -> None:
        self._destroy = onednn.library.dnnl_memory_desc_destroy
        self.x, self.y = (channels_last(onednn, sizes) for sizes in (x, y))
        *window, inner, outer = w
        sizes = [outer // groups, inner, *window]
        steps = [1, outer, *[math.prod(w[i + 1 :]) for i in range(len(window))]]
        if groups > 1:
            sizes, steps = [groups, *sizes], [outer // groups, *steps]
        self.w = onednn.layout(sizes, steps)
        self.any_w = onednn.layout(sizes)
        self.bias = onednn.layout([outer], [1])

    def __del__(self) -> None:
        for each in (vars(self).get(name) for name in ("x", "y", "w", "any_w", "bias")):
            if each is not None:
                self._destroy(each)


class Convolution:
    """A convolution of float32 with its two gradients, for one shape. Arrays are in C order."""

    def __init__(self, onednn: OneDnn, shape: _Shape, where: Sequence[Any], alone: bool) -> None:
        self._onednn, self._shape, self._where, self._alone = onednn, shape, where, alone
        self._forward = self._described(None)
        self._reordering: dict[Primitive, Primitive] = {}

    def _described(self, bias: Any) -> Primitive:
        onednn, shape = self._onednn, self._shape
        return Primitive(
            *(onednn, "convolution_forward", onednn.engine, _FORWARD, _DIRECT),
            *(shape.x, shape.any_w, bias, shape.y, *self._where, onednn.ours),
            alone=self._alone,
        )

    @functools.cached_property
    def _forward_with_bias(self) -> Primitive:
        return self._described(self._shape.bias)

    def _gradient(self, name: str, *layouts: Any) -> Primitive:
        onednn, hint = self._onednn, self._forward.description
        return Primitive(
            *(onednn, f"convolution_backward_{name}", onednn.engine, _DIRECT),
            *(*layouts, *self._where, hint, onednn.ours),
            alone=self._alone,
        )

    @functools.cached_property
    def _input_gradient(self) -> Primitive:
        return self._gradient("data", self._shape.x, self._shape.any_w, self._shape.y)

    @functools.cached_property
    def _filter_gradient(self) -> Primitive:
        return self._gradient("weights", self._shape.x, self._shape.any_w, None, self._shape.y)

    def _reorder(self, user: Primitive, source: Array, target: Array) -> None:
        """Copies filters from one order to another."""
        if user not in self._reordering:
            onednn = self._onednn
            layouts = (source[0], onednn.engine, target[0], onednn.engine)
            self._reordering[user] = Primitive(
                onednn, "reorder", *layouts, onednn.ours, alone=self._alone
            )
        self._reordering[user].run({_INPUT: source, _RESULT: target})

    def _in_order_of(self, user: Primitive, w: np.ndarray) -> Array:
        filters = user.array(_FILTERS_OF)
        self._reorder(user, (self._shape.w, w), filters)
        return filters

    def forward(
        self, x: np.ndarray, w: np.ndarray, out: np.ndarray, bias: np.ndarray | None = None
    ) -> None:
        """Slides the filters over the input, and adds a bias to each channel."""
        user, shape = self._forward if bias is None else self._forward_with_bias, self._shape
        filters = self._in_order_of(user, w)
        arrays = {_INPUT: (shape.x, x), _FILTERS: filters, _RESULT: (shape.y, out)}
        if bias is not None:
            arrays[_BIAS] = (shape.bias, bias)
        user.run(arrays)

    def input_gradient(self, g: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
        """What the gradient of the result means for the input."""
        user, shape = self._input_gradient, self._shape
        filters = self._in_order_of(user, w)
        user.run(
            {_RESULT_GRADIENT: (shape.y, g), _FILTERS: filters, _INPUT_GRADIENT: (shape.x, out)}
        )

    def filter_gradient(self, x: np.ndarray, g: np.ndarray, out: np.ndarray) -> None:
        """What the gradient of the result means for the filters."""
        user, shape = self._filter_gradient, self._shape
        sums = user.array(_FILTER_GRADIENT_OF)
        user.run({_INPUT: (shape.x, x), _RESULT_GRADIENT: (shape.y, g), _FILTER_GRADIENT: sums})
        self._reorder(user, sums, (shape.w, out))


@functools.lru_cache(maxsize=512)
def convolution(
    x: Sizes,
    w: Sizes,
    y: Sizes,
    strides: Sizes,
    dilations: Sizes,
    padding: Pairs,
    groups: int,
    alone: bool = False,
) -> Convolution | None:
    """The convolution of these shapes, by one thread or all, if oneDNN is there, can do it, and it is worth it."""
    work = math.prod(y) * math.prod(w[:-1]) * (_OF_GROUPS if groups > 1 else 1)
    if work < WORTH_IT or min(map(min, padding)) < 0 or len(w) > 5:
        return None
    library = onednn()
    if library is None:
        return None
    if convolution.cache_clear not in library.forget:
        library.forget.append(convolution.cache_clear)
    where = (
        Dims(*strides),
        Dims(*[d - 1 for d in dilations]),
        Dims(*[before for before, _ in padding]),
        Dims(*[after for _, after in padding]),
    )
    try:
        return Convolution(library, _Shape(library, x, w, y, groups), where, alone)
    except Failed as error:
        slower(str(error), f"NumPy computes convolutions of {x} with {w}")
        return None
