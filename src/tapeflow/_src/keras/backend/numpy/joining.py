"""Joining tensors, and cutting them up."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src.backend.common.symbolic_scope import in_symbolic_scope

import tapeflow as tf
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor, shape as shape_of
from tapeflow._src.keras.backend.dtypes import promoted
from tapeflow._src.keras.backend.sparse import shapes as sparse
from tapeflow._src.keras.backend.sparse.kinds import is_sparse


def concatenate(xs: Any, axis: int | None = 0) -> Tensor:
    """Tensors joined along an axis."""
    for x in xs:
        if isinstance(x, CompositeTensor) and is_sparse(x):
            return sparse.concatenate(concatenate, xs, axis)
    tensors = promoted(*xs)
    if axis is None:
        tensors, axis = [tf.reshape(x, [-1]) for x in tensors], 0
    return tf.concat(tensors, axis)


def append(x1: Any, x2: Any, axis: int | None = None) -> Tensor:
    """Two tensors joined along an axis; without one, both are laid flat."""
    return concatenate([x1, x2], axis)


def stack(x: Any, axis: int = 0) -> Tensor:
    """Tensors joined along a new axis."""
    return tf.stack(promoted(*x), axis)


def hstack(xs: Any) -> Tensor:
    """Tensors joined along the second axis; vectors along their only one."""
    tensors = [_of_rank(x, 1) for x in promoted(*xs)]
    return tf.concat(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(xs: Any) -> Tensor:
    """Tensors joined along the first axis; vectors as rows."""
    return tf.concat([_of_rank(x, 2) for x in promoted(*xs)], 0)


def dstack(xs: Any) -> Tensor:
    """Tensors joined along the third axis."""
    return tf.concat([_of_rank(x, 3) for x in promoted(*xs)], 2)


def _of_rank(x: Tensor, rank: int) -> Tensor:
    """With new axes before, and for the third axis behind, if there are too few."""
    if x.ndim >= rank:
        return x
    sizes = shape_of(x)
    before = 1 if x.ndim == 1 or not x.ndim else 0
    if rank < 3:
        return tf.reshape(x, (*[1] * (rank - x.ndim), *sizes))
    return tf.reshape(x, (*[1] * before, *sizes, *[1] * (rank - x.ndim - before)))


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """A tensor cut into equal parts along an axis, or at indices."""
    x = convert_to_tensor(x)
    if isinstance(indices_or_sections, (int, np.integer)):
        parts, whole = int(indices_or_sections), shape_of(x)[axis]
        if is_dynamic(whole) and in_symbolic_scope():
            # Only shapes are asked for, and whether the size can be cut evenly is not known.
            return _cut(x, [whole // parts * i for i in range(1, parts)], axis)
        return tf.split(x, parts, axis)
    return _cut(x, _indices(indices_or_sections), axis)


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """A tensor cut along an axis into parts that are as equal as can be, or at indices."""
    x = convert_to_tensor(x)
    if not isinstance(indices_or_sections, (int, np.integer)):
        return _cut(x, _indices(indices_or_sections), axis)
    parts = int(indices_or_sections)
    each, more = divmod(shape_of(x)[axis], parts)
    return tf.split(x, [each + 1 if i < more else each for i in range(parts)], axis)


def _indices(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else np.asarray(value).tolist()


def _cut(x: Tensor, indices: list[Any], axis: int) -> list[Tensor]:
    lead = (slice(None),) * (axis % x.ndim)
    cuts = zip([None, *indices], [*indices, None], strict=True)
    return [x[(*lead, slice(start, stop))] for start, stop in cuts]


def hsplit(x: Any, indices_or_sections: Any) -> list[Tensor]:
    """A tensor cut along the second axis; a vector along its only one."""
    x = convert_to_tensor(x)
    return split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


def vsplit(x: Any, indices_or_sections: Any) -> list[Tensor]:
    """A tensor cut along the first axis."""
    return split(x, indices_or_sections, 0)


def dsplit(x: Any, indices_or_sections: Any) -> list[Tensor]:
    """A tensor cut along the third axis."""
    return split(x, indices_or_sections, 2)
