"""Batching rules of convolution, pooling and resizing.

What has a batch of its own takes the examples into that. Filters have none: there the examples go side by side into
the channels, and where inputs and filters both differ, each example becomes a group of channels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.batching.batch import Batch, Rule, each, rule
from tapeflow._src.primitives.nn import conv, morphology, pooling
from tapeflow._src.primitives.specs import ArraySpec

Sizes = tuple[int, ...]


def _folded(batch: Batch, x: Tensor) -> Tensor:
    """Joins the examples with the batch that each of them has."""
    count, *rest = x._array.shape
    return moving.reshape(batch.full(x), shape=(batch.size * count, *rest))


def _unfolded(batch: Batch, x: Tensor, count: int) -> Tensor:
    """The reverse of `_folded`."""
    return moving.reshape(x, shape=(batch.size, count, *x._array.shape[1:]))


def _into_channels(batch: Batch, x: Tensor, groups: int = 1) -> Tensor:
    """[examples, ..., channels] as [..., groups of (examples, channels of the group)]."""
    *rest, channels = x._array.shape
    rank = len(rest)
    apart = moving.reshape(batch.full(x), shape=(batch.size, *rest, groups, channels // groups))
    moved = moving.transpose(apart, perm=(*range(1, rank + 2), 0, rank + 2))
    return moving.reshape(moved, shape=(*rest, batch.size * channels))


def _from_channels(batch: Batch, x: Tensor, channels: int, groups: int = 1) -> Tensor:
    """The reverse of `_into_channels`."""
    rest = x._array.shape[:-1]
    rank = len(rest)
    apart = moving.reshape(x, shape=(*rest, groups, batch.size, channels // groups))
    moved = moving.transpose(apart, perm=(rank + 1, *range(rank + 1), rank + 2))
    return moving.reshape(moved, shape=(batch.size, *rest, channels))


def _into_depth(batch: Batch, w: Tensor) -> Tensor:
    """Filters [examples, *window, in, out] as [*window, examples and in, out]."""
    *window, inner, outer = w._array.shape
    rank = len(window)
    moved = moving.transpose(batch.full(w), perm=(*range(1, rank + 1), 0, rank + 1, rank + 2))
    return moving.reshape(moved, shape=(*window, batch.size * inner, outer))


def _from_depth(batch: Batch, w: Tensor, shape: Sizes) -> Tensor:
    *window, inner, outer = shape
    rank = len(window)
    apart = moving.reshape(w, shape=(*window, batch.size, inner, outer))
    return moving.transpose(apart, perm=(rank, *range(rank), rank + 1, rank + 2))


def _each_a_group(name: str, batch: Batch, a: Tensor, b: Tensor, groups: int, attrs: Any) -> Tensor:
    """Both inputs differ between examples."""
    if not batch.size:  # there are no groups of no channels
        specs = [ArraySpec(x._array.shape, x.dtype) for x in (a, b)]
        shape = TABLE[name].result(*specs, groups=groups, **attrs).shape
        return patterns.zeros((0, *shape), a.dtype)
    inputs = _into_channels(batch, a), _into_channels(batch, b)
    if "shape" in attrs:
        *rest, channels = attrs["shape"]
        attrs = {**attrs, "shape": (*rest, batch.size * channels)}
    y = TABLE[name].call(*inputs, groups=groups * batch.size, **attrs)
    return _from_channels(batch, y, y._array.shape[-1] // batch.size)


@rule("conv")
def _conv(batch: Batch, x: Tensor, w: Tensor, *, groups: int, **where: Any) -> Tensor:
    if not batch.holds(w):
        y = conv.conv(_folded(batch, x), w, groups=groups, **where)
        return _unfolded(batch, y, x._array.shape[0])
    channels = w._array.shape[-1]
    if not batch.holds(x):
        y = conv.conv(x, _into_channels(batch, w, groups), groups=groups, **where)
        return _from_channels(batch, y, channels, groups)
    return _each_a_group("conv", batch, x, w, groups, where)


@rule("conv_input_gradient")
def _conv_input_gradient(
    batch: Batch, g: Tensor, w: Tensor, *, shape: Sizes, groups: int, **where: Any
) -> Tensor:
    *rest, channels = shape
    if not batch.holds(w):
        folded = (batch.size * shape[0], *shape[1:])
        x = conv.conv_input_gradient(_folded(batch, g), w, shape=folded, groups=groups, **where)
        return _unfolded(batch, x, shape[0])
    if not batch.holds(g):
        wide = (*rest, batch.size * channels)
        x = conv.conv_input_gradient(g, _into_depth(batch, w), shape=wide, groups=groups, **where)
        return _from_channels(batch, x, channels, groups)
    return _each_a_group("conv_input_gradient", batch, g, w, groups, {"shape": shape, **where})


@rule("conv_filter_gradient")
def _conv_filter_gradient(
    batch: Batch, x: Tensor, g: Tensor, *, shape: Sizes, groups: int, **where: Any
) -> Tensor:
    *window, inner, channels = shape
    if not batch.holds(x):
        wide = (*window, inner, batch.size * channels)
        w = conv.conv_filter_gradient(
            x, _into_channels(batch, g, groups), shape=wide, groups=groups, **where
        )
        return _from_channels(batch, w, channels, groups)
    if not batch.holds(g):
        deep = (*window, batch.size * inner, channels)
        w = conv.conv_filter_gradient(
            _into_channels(batch, x, groups), g, shape=deep, groups=groups, **where
        )
        return _from_depth(batch, w, shape)
    return _each_a_group("conv_filter_gradient", batch, x, g, groups, {"shape": shape, **where})


# Pooling and resizing work on each channel of each image by itself.


def _imagewise(call: Callable[..., Any]) -> Rule:
    def rule(batch: Batch, *xs: Tensor, **attrs: Any) -> Tensor:
        y = call(*[_folded(batch, x) for x in xs], **attrs)
        return _unfolded(batch, y, xs[0]._array.shape[0])

    return rule


each(_imagewise, "max_pool", "max_pool_spread", "max_pool_pick", "sum_pool")


@rule("sum_pool_spread")
def _sum_pool_spread(batch: Batch, x: Tensor, *, shape: Sizes, **attrs: Any) -> Tensor:
    folded = (batch.size * shape[0], *shape[1:])
    y = pooling.sum_pool_spread(_folded(batch, x), shape=folded, **attrs)
    return _unfolded(batch, y, shape[0])


@rule("max_pool_argmax")
def _max_pool_argmax(
    batch: Batch, x: Tensor, *, with_batch: bool, dtype: DType, **where: Any
) -> Tensor:
    found = pooling.max_pool_argmax(_folded(batch, x), with_batch=False, dtype=dtype, **where)
    found = _unfolded(batch, found, x._array.shape[0])
    if not with_batch:
        return found
    count, *image = x._array.shape
    offsets = patterns.numbers(count, dtype) * math.prod(image)
    return found + moving.reshape(offsets, shape=(count, *(1,) * len(image)))


@rule("dilation_cells")
def _dilation_cells(batch: Batch, x: Tensor, w: Tensor, **where: Any) -> Tensor:
    if not batch.holds(w):
        found = morphology.dilation_cells(_folded(batch, x), w, **where)
        return _unfolded(batch, found, x._array.shape[0])
    x, w, channels = _into_channels(batch, x), _into_channels(batch, w), w._array.shape[-1]
    return _from_channels(batch, morphology.dilation_cells(x, w, **where), channels)
