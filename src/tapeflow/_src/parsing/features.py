"""What is to be read of examples: `tf.io.FixedLenFeature` and its like, and how each becomes tensors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import to_array
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.io.wire import varint_at
from tapeflow._src.parsing.batches import Batch, count_of, joined
from tapeflow._src.parsing.lists import KINDS
from tapeflow._src.parsing.scanning import FLOATS, INTEGERS, STRINGS
from tapeflow._src.primitives.specs import ArraySpec


@export("io.FixedLenFeature")
class FixedLenFeature(NamedTuple):
    """A feature with as many values as a shape has elements, for `tf.io.parse_example`.

    >>> example = tf.train.Example()
    >>> example.features.feature["at"].float_list.value.extend([0.5, 2.0])
    >>> wanted = {"at": tf.io.FixedLenFeature([2], tf.float32)}
    >>> tf.io.parse_single_example(example.SerializeToString(), wanted)["at"].numpy()
    array([0.5, 2. ], dtype=float32)

    Attributes:
      shape: the shape of the values in one example.
      dtype: `tf.float32`, `tf.int64` or `tf.string`.
      default_value: what stands for a feature that is missing; without it, that is an error.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


@export("io.FixedLenSequenceFeature")
class FixedLenSequenceFeature(NamedTuple):
    """A feature with any number of values of a shape; in a batch, shorter lists are filled up.

    >>> example = tf.train.Example()
    >>> example.features.feature["words"].bytes_list.value.extend([b"one", b"two"])
    >>> wanted = {"words": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True)}
    >>> tf.io.parse_single_example(example.SerializeToString(), wanted)["words"].numpy()
    array([b'one', b'two'], dtype=object)

    Attributes:
      shape: the shape of one step.
      dtype: `tf.float32`, `tf.int64` or `tf.string`.
      allow_missing: whether a feature that is missing counts as an empty one. Examples need it.
      default_value: what shorter lists are filled up with; by default 0 or "".
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


def checked_dtype(op: str, name: str, feature: Any) -> DType:
    """The dtype of a feature."""
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {name}. Received feature={feature}.")
    dtype = as_dtype(feature.dtype)
    if dtype not in KINDS:
        raise invalid(
            f"{op}: the feature {name!r} is to be of dtype {dtype.name}, and features hold float32, int64 or string. "
            "Read it as one of them, and use tf.cast."
        )
    return dtype


def known_shape(name: str, feature: Any) -> tuple[int, ...]:
    """The shape of a feature."""
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {name}. Received feature={feature}.")
    shape = TensorShape(feature.shape)
    if shape.rank and shape[0] is None:
        raise ValueError(
            f"First dimension of shape for feature {name} unknown. Consider using FixedLenSequenceFeature. "
            f"Received feature={feature}."
        )
    if not shape.is_fully_defined():
        raise ValueError(
            f"All dimensions of shape for feature {name} need to be known, but received {shape}."
        )
    return tuple(size for size in shape.as_list() if size is not None)


def text(value: bytes) -> np.ndarray:
    """A scalar of dtype string."""
    out = np.empty((), object)
    out[()] = value
    return out


class Reader:
    """How a feature becomes tensors.

    Attributes:
      keys: the names in the examples that it needs.
      specs: what its arrays are like, without the dimension of the batch.
    """

    keys: tuple[bytes, ...]

    def specs(self, batch: tuple[int | None, ...]) -> list[ArraySpec]:
        """What the arrays are like, for a shape of batches: none, or one size."""
        raise NotImplementedError

    def arrays(self, examples: Batch) -> list[Any]:
        """The arrays for a batch."""
        raise NotImplementedError

    def single(self, example: Batch) -> list[Any]:
        """The same arrays for one example."""
        found = self.arrays(example)
        return [
            text(array[0]) if array.dtype.hasobject and array.ndim == 1 else array[0]
            for array in found
        ]

    def tensor(self, tensors: list[Any]) -> Any:
        """What the user gets."""
        return tensors[0]


class Fixed(Reader):
    """`FixedLenFeature`."""

    def __init__(self, op: str, name: str, feature: FixedLenFeature) -> None:
        self.dtype = checked_dtype(op, name, feature)
        self.keys = (name.encode(),)
        self.shape = known_shape(name, feature)
        self.count = math.prod(self.shape)
        self._kind, self._scalar = KINDS[self.dtype], not self.shape
        self.default: Any = None
        if feature.default_value is not None:
            values = to_array(feature.default_value, self.dtype)
            if values.size != self.count:
                raise invalid(
                    f"{op}: the default value of feature {name!r} has {values.size} elements, and its shape is "
                    f"{list(self.shape)}"
                )
            self.default = values.reshape(1, self.count)

    def specs(self, batch: tuple[int | None, ...]) -> list[ArraySpec]:
        """One array."""
        return [ArraySpec((*batch, *self.shape), self.dtype)]  # pyright: ignore[reportArgumentType]

    def arrays(self, examples: Batch) -> list[Any]:
        """One array."""
        at_once = examples.fixed(self.keys[0], self.dtype, self.count)
        if at_once is not None:
            return [at_once.reshape(examples.size, *self.shape)]
        columns = examples.lists(self.keys[0], self.dtype)
        missing = []
        for number, column in enumerate(columns):
            if column is None:
                if self.default is None:
                    raise invalid(
                        f"{examples.op}: the feature {self.name!r} ({self.dtype.name}) is required, and "
                        f"{examples.example(number)} does not have it. Should it have a default_value?"
                    )
                missing.append(number)
                columns[number] = self._filler()
            elif count_of(column, self.dtype) != self.count:
                raise invalid(
                    f"{examples.op}: the feature {self.name!r} of {examples.example(number)} has "
                    f"{count_of(column, self.dtype)} values, and its shape is {list(self.shape)}"
                )
        found = joined(columns, self.dtype).reshape(len(columns), self.count)
        if missing:
            found = np.array(found)
            found[missing] = self.default
        return [found.reshape(len(columns), *self.shape)]

    def single(self, example: Batch) -> list[Any]:
        """The same, in a short way where the list is as everybody writes it: most examples are read one by one."""
        data, (kind, start, stop) = example.first(self.keys[0])
        begin = start + 2
        if kind == self._kind and data[start] == 0x0A and begin + data[start + 1] == stop:
            size = stop - begin
            if kind == STRINGS and self._scalar:
                return [text(data[begin:stop])]
            if kind == FLOATS and size == 4 * self.count:
                found = np.frombuffer(data, "<f4", self.count, begin)
                return [found[0] if self._scalar else found.reshape(self.shape)]
            if kind == INTEGERS and self._scalar and size:
                value, end = (data[begin], stop) if size == 1 else varint_at(data, begin)
                if end == stop and value < (128 if size == 1 else 2**63):
                    return [np.int64(value)]
        return super().single(example)

    @property
    def name(self) -> str:
        """That of the feature."""
        return self.keys[0].decode()

    def _filler(self) -> Any:
        """As many values as there must be, in the form of lists that are read."""
        if self.dtype is dtypes.string:
            return [b""] * self.count
        return bytes(self.count * (4 if self.dtype is dtypes.float32 else 1))


class Padded(Reader):
    """`FixedLenSequenceFeature`."""

    def __init__(self, op: str, name: str, feature: FixedLenSequenceFeature) -> None:
        self.dtype = checked_dtype(op, name, feature)
        self.keys = (name.encode(),)
        self.shape = known_shape(name, feature)
        self.stride = math.prod(self.shape)
        self.default = padding(op, name, feature.default_value, self.dtype)

    def specs(self, batch: tuple[int | None, ...]) -> list[ArraySpec]:
        """One array, whose length is not known."""
        return [ArraySpec((*batch, None, *self.shape), self.dtype)]  # pyright: ignore[reportArgumentType]

    def arrays(self, examples: Batch) -> list[Any]:
        """One array."""
        empty: Any = [] if self.dtype is dtypes.string else b""
        columns = [empty if c is None else c for c in examples.lists(self.keys[0], self.dtype)]
        counts = [count_of(column, self.dtype) for column in columns]
        for number, count in enumerate(counts):
            if self.stride == 0 or count % self.stride:
                raise invalid(
                    f"{examples.op}: the feature {self.keys[0].decode()!r} of {examples.example(number)} has {count} "
                    f"values, which cannot be divided into steps of shape {list(self.shape)}"
                )
        flat = joined(columns, self.dtype)
        return [
            filled(
                examples.op, flat, np.array(counts, np.int64), self.stride, self.shape, self.default
            )
        ]


def padding(op: str, name: str, value: Any, dtype: DType) -> Any:
    """What shorter lists are filled up with."""
    if value is None:
        return b"" if dtype is dtypes.string else dtype.np_dtype.type(0)
    array = to_array(value, dtype)
    if array.size != 1:
        raise invalid(
            f"{op}: the default value of feature {name!r} fills up lists, and must be one value, got shape "
            f"{list(array.shape)}"
        )
    return array.reshape(())[()]


def filled(
    op: str, flat: np.ndarray, counts: np.ndarray, stride: int, shape: tuple[int, ...], value: Any
) -> np.ndarray:
    """Lists that lie one after the other as rows of one array, filled up to the longest."""
    longest = int(counts.max()) if len(counts) else 0
    check_room(op, (len(counts), longest), flat.dtype)
    if (counts == longest).all():
        found = flat.reshape(len(counts), longest)
    else:
        found = np.full((len(counts), longest), value, flat.dtype)
        found[np.arange(longest) < counts[:, None]] = flat
    return found.reshape(len(counts), longest // max(stride, 1), *shape)
