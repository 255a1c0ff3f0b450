"""`tf.train.experimental.ShardingCallback`: which tensors of a checkpoint go to which of its files."""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.tensorflow_files.bundle import OBJECT_GRAPH_KEY
from tapeflow._src.tensorflow_files.bundle_writing import Part

Shard = Mapping[str, Mapping[str, Any]]
"""Parts of tensors by the names of these and by their places, "" for a whole one."""


@export("train.experimental.ShardableTensor")
@dataclasses.dataclass(frozen=True)
class ShardableTensor:
    """A tensor that is to be saved, as a `ShardingCallback` gets it.

    >>> tensor = tf.ones([2])
    >>> each = tf.train.experimental.ShardableTensor(
    ...     None, tensor, tensor.dtype, None, "w", tensor.shape, "", "w/.ATTRIBUTES/VARIABLE_VALUE", None)
    >>> each.checkpoint_key
    'w/.ATTRIBUTES/VARIABLE_VALUE'

    Attributes:
      tensor: its value.
      dtype: its dtype.
      device: where it is.
      name: that of the variable.
      shape: its shape.
      slice_spec: "", as it is whole.
      checkpoint_key: its name in the checkpoint.
      trackable: the object that holds it.
    """

    _tensor_save_spec: Any
    tensor: Any
    dtype: DType
    device: Any
    name: str
    shape: TensorShape
    slice_spec: str
    checkpoint_key: str
    trackable: Any


@export("train.experimental.ShardingCallback")
class ShardingCallback(abc.ABC):
    """Divides the tensors of a checkpoint in TensorFlow's format among files.

    >>> import os, tempfile
    >>> class Each(tf.train.experimental.ShardingCallback):
    ...     @property
    ...     def description(self):
    ...         return "a file for each tensor"
    ...     def __call__(self, shardable_tensors):
    ...         return [{t.checkpoint_key: {t.slice_spec: t.tensor}} for t in shardable_tensors]
    >>> options = tf.train.CheckpointOptions(format="tensorflow", experimental_sharding_callback=Each())
    >>> folder = tempfile.mkdtemp()
    >>> _ = tf.train.Checkpoint(a=tf.Variable(1.0)).write(f"{folder}/ckpt", options)
    >>> sorted(os.listdir(folder))
    ['ckpt.data-00000-of-00002', 'ckpt.data-00001-of-00002', 'ckpt.index']

    tapeflow's own format is one file.
    """

    @property
    @abc.abstractmethod
    def description(self) -> str:
        """What it does, in words."""

    @abc.abstractmethod
    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """For each file, parts of tensors by their names and places."""


@export("train.experimental.ShardByTaskPolicy")
class ShardByTaskPolicy(ShardingCallback):
    """All tensors of a process in one file, which is what happens anyway.

    >>> tf.train.experimental.ShardByTaskPolicy().description
    'Split tensors into shards based on task (job + task id).'
    """

    @property
    def description(self) -> str:
        """What it does, in words."""
        return "Split tensors into shards based on task (job + task id)."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        found: dict[str, dict[str, Any]] = {}
        for each in shardable_tensors:
            found.setdefault(each.checkpoint_key, {})[each.slice_spec] = each.tensor
        return [found]


@export("train.experimental.MaxShardSizePolicy")
class MaxShardSizePolicy(ShardingCallback):
    """Files of a greatest size. Tensors that are larger are cut along their first axis.

    >>> import os, tempfile
    >>> options = tf.train.CheckpointOptions(
    ...     format="tensorflow",
    ...     experimental_sharding_callback=tf.train.experimental.MaxShardSizePolicy(max_shard_size=16))
    >>> folder = tempfile.mkdtemp()
    >>> path = tf.train.Checkpoint(a=tf.Variable(tf.range(10.0))).write(f"{folder}/ckpt", options)
    >>> len(os.listdir(folder)), tf.train.load_variable(path, "a/.ATTRIBUTES/VARIABLE_VALUE")[-1]
    (4, np.float32(9.0))

    A row that is larger than a file has one of its own. The description of the objects counts as nothing.

    Args:
      max_shard_size: in bytes.
    """

    def __init__(self, max_shard_size: int) -> None:
        if max_shard_size < 1:
            raise ValueError(
                f"MaxShardSizePolicy: max_shard_size must be positive, got {max_shard_size}"
            )
        self.max_shard_size = max_shard_size

    @property
    def description(self) -> str:
        """What it does, in words."""
        return "Split tensors into shards with a max shard size."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        shards: list[dict[str, dict[str, Any]]] = [{}]
        left = self.max_shard_size

        def put(key: str, place: str, part: Any, size: int) -> None:
            nonlocal left
            if size > left and shards[-1]:
                shards.append({})
                left = self.max_shard_size
            shards[-1].setdefault(key, {})[place] = part
            left -= size

        for each in shardable_tensors:
            array = np.asarray(each.tensor)
            size = 0 if _is_objects(each) else _bytes(array)
            if size <= max(left, 0) or not array.ndim or len(array) < 2:
                put(each.checkpoint_key, each.slice_spec, each.tensor, size)
                continue
            row = max(1, math.ceil(size / len(array)))
            start = 0
            while start < len(array):
                rows = max(left, 0) // row or self.max_shard_size // row or 1
                part = array[start : start + rows]
                place = place_of(array.shape, start, len(part))
                put(each.checkpoint_key, place, Tensor(part), row * len(part))
                start += len(part)
        return shards


def _is_objects(each: ShardableTensor) -> bool:
    return each.checkpoint_key == OBJECT_GRAPH_KEY


def _bytes(array: np.ndarray) -> int:
    if array.dtype.kind != "O":
        return array.nbytes
    return sum(len(x) for x in array.reshape(-1).tolist())


def place_of(shape: Sequence[int], start: int, length: int) -> str:
    """The place of some rows of a tensor, as TensorFlow writes it: "10 2 4,3:0,2"."""
    extents = [(start, length), *((0, n) for n in shape[1:])]
    return " ".join(map(str, shape)) + " " + ":".join(f"{s},{n}" for s, n in extents)


def extents_of(place: str) -> tuple[list[int], list[tuple[int, int]]]:
    """The whole shape, and where the part begins and how long it is, for a place."""
    try:
        *sizes, parts = place.split()
        pairs = [tuple(map(int, part.split(","))) for part in parts.split(":")]
        extents = [(start, length) for start, length in pairs]
        shape = list(map(int, sizes))
        if len(shape) != len(extents):
            raise ValueError
    except ValueError:
        raise ValueError(
            f"A ShardingCallback gave {shown(place)}, which is no place of a part, such as '10 2 4,3:0,2'"
        ) from None
    return shape, extents


def divided(callback: Any, tensors: Mapping[str, np.ndarray]) -> list[dict[str, list[Part]]]:
    """The tensors of a checkpoint by files, as a callback divides them. Nothing may be missing."""
    given = [
        ShardableTensor(
            None, Tensor(a), Tensor(a).dtype, None, key, TensorShape(a.shape), "", key, None
        )
        for key, a in tensors.items()
    ]
    found: list[dict[str, list[Part]]] = []
    counts = dict.fromkeys(tensors, 0)
    for shard in callback(given):
        file: dict[str, list[Part]] = {}
        for key, parts in shard.items():
            if key not in counts:
                raise ValueError(
                    f"A ShardingCallback gave {key!r}, which is no tensor of the checkpoint"
                )
            for place, value in parts.items():
                array = _array(value)
                counts[key] += array.size
                part = Part(array, *extents_of(place)) if place else Part(array)
                file.setdefault(key, []).append(part)
        found += [file] if file else []
    for key, array in tensors.items():
        if counts[key] != array.size:
            raise ValueError(
                f"A ShardingCallback gave {counts[key]} of the {array.size} elements of {key!r}"
            )
    return found


def _array(part: Any) -> np.ndarray:
    value = part._array if isinstance(part, Tensor) else part
    return np.asarray(value, dtype=object if isinstance(value, bytes) else None)
