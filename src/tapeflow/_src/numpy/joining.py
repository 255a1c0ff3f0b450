"""Joining, parting and repeating, by NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.numpy.dtypes import array_of, met, to
from tapeflow._src.numpy.shapes import atleast_1d, atleast_2d, atleast_3d, ravel
from tapeflow._src.ops.arguments import axis_of, several
from tapeflow._src.ops.array import moving, shaping


def _listed(x: Any) -> list[Tensor]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


@export("experimental.numpy.concatenate")
def concatenate(arys: Any, axis: int | None = 0) -> Tensor:
    """Tensors one after the other.

    >>> tf.experimental.numpy.concatenate([[1], [2.5]]).numpy()
    array([1. , 2.5])
    """
    found = met(*several("concatenate", arys))
    if axis is None:
        return moving.concat([ravel(x) for x in found], 0)
    return moving.concat(found, axis)


@export("experimental.numpy.append")
def append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    """A tensor with others at its end.

    >>> tf.experimental.numpy.append([1], [2]).numpy()
    array([1, 2])
    """
    return concatenate([arr, values], axis)


@export("experimental.numpy.stack")
def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Tensors along a new dimension.

    >>> tf.experimental.numpy.stack([[1], [2]]).shape
    TensorShape([2, 1])
    """
    return moving.stack(
        met(*arrays) if isinstance(arrays, (list, tuple)) else list(array_of(arrays)), axis
    )


@export("experimental.numpy.vstack")
def vstack(tup: Any) -> Tensor:
    """Tensors one below the other.

    >>> tf.experimental.numpy.vstack([[1, 2], [3, 4]]).shape
    TensorShape([2, 2])
    """
    return concatenate(_listed(atleast_2d(*several("vstack", tup))), 0)


@export("experimental.numpy.hstack")
def hstack(tup: Any) -> Tensor:
    """Tensors side by side.

    >>> tf.experimental.numpy.hstack([[1], [2]]).numpy()
    array([1, 2])
    """
    found = _listed(atleast_1d(*several("hstack", tup)))
    if not found:
        raise ValueError("hstack: there must be one tensor or more, got none")
    return concatenate(found, 0 if len(found[0]._array.shape) == 1 else 1)


@export("experimental.numpy.dstack")
def dstack(tup: Any) -> Tensor:
    """Tensors one behind the other.

    >>> tf.experimental.numpy.dstack([[1], [2]]).shape
    TensorShape([1, 1, 2])
    """
    return concatenate(_listed(atleast_3d(*several("dstack", tup))), 2)


@export("experimental.numpy.split")
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Parts of a tensor along a dimension: so many, or at these places.

    >>> [x.numpy().tolist() for x in tf.experimental.numpy.split([1, 2, 3], [1])]
    [[1], [2, 3]]
    """
    found = array_of(ary)
    if isinstance(indices_or_sections, (int, np.integer)):
        return moving.split(found, int(indices_or_sections), axis=axis)
    places = [int(i) for i in array_of(indices_or_sections).numpy()]
    length = found._array.shape[axis_of("split", axis, found._array.ndim)]
    ends = [min(max(i + length if i < 0 else i, 0), length) for i in [*places, length]]
    starts = [0, *ends[:-1]]
    return moving.split(
        found, [max(b - a, 0) for a, b in zip(starts, ends, strict=True)], axis=axis
    )


@export("experimental.numpy.hsplit")
def hsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts side by side.

    >>> len(tf.experimental.numpy.hsplit([1, 2], 2))
    2
    """
    found = array_of(ary)
    return split(found, indices_or_sections, axis=0 if len(found._array.shape) == 1 else 1)


@export("experimental.numpy.vsplit")
def vsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts one below the other.

    >>> len(tf.experimental.numpy.vsplit([[1], [2]], 2))
    2
    """
    return split(ary, indices_or_sections, axis=0)


@export("experimental.numpy.dsplit")
def dsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """Parts one behind the other.

    >>> len(tf.experimental.numpy.dsplit([[[1, 2]]], 2))
    2
    """
    return split(ary, indices_or_sections, axis=2)


@export("experimental.numpy.repeat")
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element several times.

    >>> tf.experimental.numpy.repeat([1, 2], 2).numpy()
    array([1, 1, 2, 2])
    """
    return moving.repeat(array_of(a), repeats, axis)


@export("experimental.numpy.tile")
def tile(a: Any, reps: Any) -> Tensor:
    """The whole tensor several times.

    >>> tf.experimental.numpy.tile([1, 2], 2).numpy()
    array([1, 2, 1, 2])
    """
    found = array_of(a)
    counts = [int(n) for n in np.atleast_1d(reps)]
    rank = max(len(counts), len(found._array.shape))
    missing = rank - len(found._array.shape)
    found = shaping.reshape(found, [1] * missing + list(found._array.shape)) if missing else found
    return moving.tile(found, [1] * (rank - len(counts)) + counts)


@export("experimental.numpy.pad")
def pad(array: Any, pad_width: Any, mode: str, **kwargs: Any) -> Tensor:
    """The tensor with something around it: `mode` is "constant", "reflect" or "symmetric".

    >>> tf.experimental.numpy.pad([1], 1, "constant").numpy()
    array([0, 1, 0])
    """
    found = array_of(array)
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"pad: mode must be 'constant', 'reflect' or 'symmetric', got {mode!r}")
    pairs = np.broadcast_to(np.asarray(pad_width), (len(found._array.shape), 2)).tolist()
    value = to(array_of(kwargs.get("constant_values", 0)), found.dtype)
    return moving.pad(found, pairs, mode.upper(), value)
