"""`tf.io.VarLenFeature` and `tf.io.SparseFeature`: lists of any length as sparse tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.parsing.batches import Batch, count_of, joined
from tapeflow._src.parsing.features import Reader, checked_dtype
from tapeflow._src.primitives.specs import ArraySpec


@export("io.VarLenFeature")
class VarLenFeature(NamedTuple):
    """A feature with any number of values, which is read as a sparse tensor.

    >>> def example(*values):
    ...     feature = tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    ...     return tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()
    >>> wanted = {"x": tf.io.VarLenFeature(tf.int64)}
    >>> x = tf.io.parse_example([example(1, 2), example(3)], wanted)["x"]
    >>> tf.sparse.to_dense(x).numpy()
    array([[1, 2],
           [3, 0]])

    Attributes:
      dtype: `tf.float32`, `tf.int64` or `tf.string`.
    """

    dtype: Any


@export("io.SparseFeature")
class SparseFeature(NamedTuple):
    """Values and where they are, in two or more features, which are read as a sparse tensor.

    >>> example = tf.train.Example()
    >>> example.features.feature["at"].int64_list.value.extend([3, 1])
    >>> example.features.feature["value"].float_list.value.extend([0.5, 2.0])
    >>> wanted = {"x": tf.io.SparseFeature("at", "value", tf.float32, size=5)}
    >>> x = tf.io.parse_single_example(example.SerializeToString(), wanted)["x"]
    >>> tf.sparse.to_dense(x).numpy()
    array([0. , 2. , 0. , 0.5, 0. ], dtype=float32)

    Attributes:
      index_key: the name of a feature of integers, or a list of names, one for each dimension.
      value_key: the name of the feature with the values.
      dtype: `tf.float32`, `tf.int64` or `tf.string`.
      size: how large the dimension is, or a list of sizes.
      already_sorted: whether the values are in the order of their places.
    """

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


class VarLen(Reader):
    """`VarLenFeature`."""

    def __init__(self, op: str, name: str, feature: VarLenFeature) -> None:
        self.dtype = checked_dtype(op, name, feature)
        self.keys = (name.encode(),)

    def specs(self, batch: tuple[int | None, ...]) -> list[ArraySpec]:
        """Indices, values and shape."""
        return sparse_specs(len(batch) + 1, self.dtype)

    def arrays(self, examples: Batch) -> list[Any]:
        """The same for a batch."""
        columns, counts = _columns(examples, self.keys[0], self.dtype)
        rows = np.repeat(np.arange(len(columns)), counts)
        shape = np.array([len(columns), counts.max(initial=0)], np.int64)
        return [np.stack([rows, _within(counts)], 1), joined(columns, self.dtype), shape]

    def single(self, example: Batch) -> list[Any]:
        """The same without the dimension of the batch."""
        indices, values, shape = self.arrays(example)
        return [indices[:, 1:], values, shape[1:]]

    def tensor(self, tensors: list[Any]) -> Any:
        """A sparse tensor."""
        return sparse(tensors)


class Sparse(VarLen):
    """`SparseFeature`."""

    def __init__(self, op: str, name: str, feature: SparseFeature) -> None:
        self.dtype = checked_dtype(op, name, feature)
        places = feature.index_key
        self._places = [p.encode() for p in ([places] if isinstance(places, str) else places)]
        sizes = feature.size if isinstance(feature.size, (list, tuple)) else [feature.size]
        if len(sizes) != len(self._places):
            raise ValueError(
                f"{op}: the feature {name} has {len(self._places)} of index_key and {len(sizes)} of size"
            )
        self._sizes = [int(size) for size in sizes]
        self._sorted = feature.already_sorted
        self._value = feature.value_key.encode()
        self.keys = (self._value, *self._places)

    def specs(self, batch: tuple[int | None, ...]) -> list[ArraySpec]:
        """Indices, values and shape."""
        return sparse_specs(len(batch) + len(self._places), self.dtype)

    def arrays(self, examples: Batch) -> list[Any]:
        """The same for a batch."""
        columns, counts = _columns(examples, self._value, self.dtype)
        parts = [np.repeat(np.arange(len(columns)), counts)]
        for key in self._places:
            places, others = _columns(examples, key, int64)
            if (counts != others).any():
                number = int(np.flatnonzero(counts != others)[0])
                raise invalid(
                    f"{examples.op}: {examples.example(number)} has {counts[number]} values in "
                    f"{self._value.decode()!r} and {others[number]} places for them in {key.decode()!r}"
                )
            parts.append(joined(places, int64))
        indices, values = np.stack(parts, 1), joined(columns, self.dtype)
        if not self._sorted:
            order = np.lexsort(indices.T[::-1])
            indices, values = indices[order], values[order]
        return [indices, values, np.array([len(columns), *self._sizes], np.int64)]


class SparseSteps(Reader):
    """`VarLenFeature` in a sequence: a row for each step."""

    def __init__(self, op: str, name: str, feature: VarLenFeature) -> None:
        self.dtype = checked_dtype(op, name, feature)
        self.keys = (name.encode(),)

    def specs(self, batch: tuple[int | None, ...]) -> list[ArraySpec]:
        """Indices, values and shape."""
        return sparse_specs(len(batch) + 2, self.dtype)

    def arrays(self, examples: Any) -> list[Any]:
        """The same for a batch."""
        sequences = [steps or [] for steps in examples.steps(self.keys[0], self.dtype)]
        columns = [values for steps in sequences for values in steps]
        turns = np.array([len(steps) for steps in sequences], np.int64)
        counts = np.array([count_of(values, self.dtype) for values in columns], np.int64)
        rows = np.repeat(np.repeat(np.arange(len(sequences)), turns), counts)
        indices = np.stack([rows, np.repeat(_within(turns), counts), _within(counts)], 1)
        shape = [len(sequences), turns.max(initial=0), counts.max(initial=0)]
        return [indices, joined(columns, self.dtype), np.array(shape, np.int64)]

    def single(self, example: Any) -> list[Any]:
        """The same without the dimension of the batch."""
        indices, values, shape = self.arrays(example)
        return [indices[:, 1:], values, shape[1:]]

    def tensor(self, tensors: list[Any]) -> Any:
        """A sparse tensor."""
        return sparse(tensors)


def sparse_specs(rank: int, dtype: Any) -> list[ArraySpec]:
    """What the parts of a sparse tensor are like."""
    return [
        ArraySpec((None, rank), int64),  # pyright: ignore[reportArgumentType]
        ArraySpec((None,), dtype),  # pyright: ignore[reportArgumentType]
        ArraySpec((rank,), int64),
    ]


def sparse(tensors: list[Any]) -> Any:
    """A sparse tensor of its parts."""
    from tapeflow._src.sparse.tensor import SparseTensor

    return SparseTensor(*tensors)


def _columns(examples: Batch, key: bytes, dtype: Any) -> tuple[list[Any], np.ndarray]:
    """The lists of a feature, empty where it is missing, and how long they are."""
    empty: Any = [] if dtype is dtypes.string else b""
    columns = [empty if c is None else c for c in examples.lists(key, dtype)]
    return columns, np.array([count_of(c, dtype) for c in columns], np.int64)


def _within(counts: np.ndarray) -> np.ndarray:
    """The numbers from 0 on, for each count."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
