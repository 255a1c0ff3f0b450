"""Rows of arrays: checking the numbers that name them, and adding to them.

Gathering and scattering are built on this, and so are the updates of variables.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core.errors import InvalidArgumentError, invalid

Shape = tuple[int, ...]

INDEX_DTYPES: dict[np.dtype, type] = {
    np.dtype(np.int16): np.uint16,
    np.dtype(np.int32): np.uint32,
    np.dtype(np.int64): np.uint64,
}
"""The dtypes that number rows, each with the unsigned one of its size."""


def check_range(op: str, indices: Any, size: int) -> None:
    """Raises unless all `indices` number one of `size` rows."""
    if indices.dtype not in INDEX_DTYPES:
        raise invalid(f"{op}: indices must be int32 or int64, got dtype {indices.dtype.name}")
    # As unsigned numbers, negative ones are beyond any size: one pass finds both mistakes.
    if indices.size and indices.view(INDEX_DTYPES[indices.dtype]).max() >= size:
        raise _out_of_range(op, np.asarray(indices), (size,), (indices < 0) | (indices >= size))


def _out_of_range(op: str, indices: Any, shape: Shape, wrong: Any) -> InvalidArgumentError:
    place = tuple(np.argwhere(wrong)[0].tolist())
    where = ", ".join(map(str, place))
    bounds = f"[0, {shape[0]})" if len(shape) == 1 else f"bounds of shape {list(shape)}"
    return invalid(f"{op}: indices[{where}] = {indices[place].tolist()} is not in {bounds}")


def add_rows(out: Any, rows: Any, values: Any) -> None:
    """out[rows] += values, where rows may repeat and `rows` is flat.

    `np.add.at` is fast on vectors only, so a matrix is laid flat. Wide rows are added one by one
    instead: that is as
    fast, and saves an index for every element.
    """
    values = values.reshape(rows.size, *out.shape[1:])
    if out.ndim == 1:
        np.add.at(out, rows, values)
        return
    if not values.size:
        return
    width = values.size // rows.size
    if width >= 256:
        for row, value in zip(rows.tolist(), values, strict=True):
            out[row] += value
        return
    places = (rows[:, None].astype(np.intp) * width + np.arange(width)).reshape(-1)
    np.add.at(out.reshape(-1), places, values.reshape(-1))


def flat_rows(indices: Any, size: int, batch_dims: int) -> Any:
    """The numbers of the rows when all batches are laid end to end."""
    if not batch_dims:
        return indices.reshape(-1)
    count = int(np.prod(indices.shape[:batch_dims]))
    offsets = np.arange(count) * size
    each = math.prod(indices.shape[batch_dims:])  # of no examples, -1 would not tell
    return (indices.reshape(count, each) + offsets[:, None]).reshape(-1)


def places(op: str, indices: Any, shape: Shape, batch_dims: int = 0) -> tuple[Any, Shape]:
    """The flat row numbers that coordinates stand for, and the shape of the table of rows."""
    if indices.dtype not in INDEX_DTYPES:
        raise TypeError("indices are not integers")
    depth = indices.shape[-1]
    walked = shape[batch_dims : batch_dims + depth]
    if len(walked) != depth:
        raise ValueError("more coordinates than dimensions")
    rows = np.zeros(indices.shape[:-1], np.intp)
    wrong = np.zeros(indices.shape[:-1], np.bool_)
    for column, size in enumerate(walked):
        coordinate = indices[..., column]
        wrong |= (coordinate < 0) | (coordinate >= size)
        rows = rows * size + coordinate
    if wrong.any():
        raise _out_of_range(op, indices, walked, wrong)
    rows = flat_rows(rows, int(np.prod(walked)), batch_dims)
    count = int(np.prod(shape[: batch_dims + depth], dtype=np.int64))
    return rows, (count, *shape[batch_dims + depth :])
