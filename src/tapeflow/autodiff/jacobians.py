"""Jacobians: one backward pass for each element of the target (or of a row of it)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.autodiff import backprop
from tapeflow.core.tensor import Tensor
from tapeflow.primitives import array

if TYPE_CHECKING:
    from tapeflow.autodiff.tape import GradientTape


def _seed(target: Tensor, index: Any) -> Tensor:
    seed = np.zeros(target._array.shape, target._array.dtype)
    seed[index] = 1
    return Tensor(seed)


def jacobian(tape: GradientTape, target: Tensor, sources: list[Any], zero: bool) -> list[Any]:
    """For each source, the derivatives stacked to shape `target.shape + source.shape`, or None."""
    shape = target._array.shape
    columns: list[list[Any]] = [[] for _ in sources]
    for index in np.ndindex(shape):
        seeds = {target._id: _seed(target, index)} if target._id else {}
        for column, g in zip(columns, tape._backward(seeds, sources, release=False), strict=True):
            column.append(g)
    return [
        _stacked(column, (*shape, *source.shape), source, shape, zero)
        for column, source in zip(columns, sources, strict=True)
    ]


def _stacked(column: list[Any], shape: Any, source: Any, lead: Any, zero: bool) -> Any:
    shape = tuple(int(d) for d in shape)
    if all(g is None for g in column):
        if zero or not column:
            return Tensor(np.zeros(shape, source.dtype.np_dtype))
        return None
    blank = backprop.zeros(_spec(source))
    rows = [blank if g is None else backprop.dense(g) for g in column]
    return array.reshape(array.stack(*rows, axis=0), shape=shape)


def _spec(source: Any) -> Any:
    from tapeflow.primitives.table import ArraySpec

    return ArraySpec(tuple(source.shape), source.dtype)


def batch_jacobian(tape: GradientTape, target: Tensor, source: Any) -> Tensor:
    """One backward pass for each element of a row, all rows at once."""
    shape = target._array.shape
    source_shape = tuple(source.shape)
    if len(shape) < 2 or len(source_shape) < 2 or shape[0] != source_shape[0]:
        raise ValueError(
            f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match, and "
            "at least two dimensions in both."
        )
    rows = []
    for index in np.ndindex(shape[1:]):
        seeds = {target._id: _seed(target, (slice(None), *index))} if target._id else {}
        (g,) = tape._backward(seeds, [source], release=False)
        rows.append(backprop.zeros(_spec(source)) if g is None else backprop.dense(g))
    if not rows:
        return Tensor(np.zeros((*shape, *source_shape[1:]), source.dtype.np_dtype))
    return array.reshape(array.stack(*rows, axis=1), shape=(*shape, *source_shape[1:]))
