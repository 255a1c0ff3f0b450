"""`tf.io.parse_example` and `tf.io.parse_single_example`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import string
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.parsing.batches import Batch
from tapeflow._src.parsing.features import (
    Fixed,
    FixedLenFeature,
    FixedLenSequenceFeature,
    Padded,
    Reader,
)
from tapeflow._src.parsing.ragged_features import Ragged, RaggedFeature
from tapeflow._src.parsing.sparse_features import Sparse, SparseFeature, VarLen, VarLenFeature

READERS: dict[type[Any], Callable[[str, str, Any], Reader]] = {
    FixedLenFeature: Fixed,
    FixedLenSequenceFeature: Padded,
    RaggedFeature: Ragged,
    SparseFeature: Sparse,
    VarLenFeature: VarLen,
}


def readers(op: str, features: Any, missing_is_empty: bool = False) -> dict[str, Reader]:
    """How each feature is read, in the order in which TensorFlow gives them: by their kinds, then by name."""
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    if not isinstance(features, Mapping):
        raise TypeError(f"{op}: features must be a dict, got {shown(features)}")
    found = {}
    for name in sorted(sorted(features), key=lambda name: _rank(name, features[name])):
        feature = features[name]
        if type(feature) not in READERS:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{name}'")
        if isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing:
            raise ValueError(
                f"Unsupported: FixedLenSequenceFeature requires allow_missing to be True. It is {feature} for {name!r}."
            )
        found[name] = READERS[type(feature)](op, name, feature)
    return found


def _rank(name: str, feature: Any) -> int:
    if isinstance(feature, VarLenFeature):
        return 0
    if isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature)):
        return 1
    own = isinstance(feature, RaggedFeature) and feature.value_key in (None, name)
    return 2 if own else 3


def taken_apart(found: Sequence[Any], readers: Mapping[str, Reader], batch: Any) -> dict[str, Any]:
    """The tensors of each feature, from those of all."""
    result, at = {}, 0
    for name, reader in readers.items():
        count = len(reader.specs(batch))
        result[name] = reader.tensor(list(found[at : at + count]))
        at += count
    return result


@export("io.parse_example")
def parse_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of a batch of serialized `tf.train.Example`, as tensors.

    >>> def example(*values):
    ...     feature = tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    ...     return tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()
    >>> data = tf.constant([example(1, 2), example(3, 4)])
    >>> tf.io.parse_example(data, {"x": tf.io.FixedLenFeature([2], tf.int64)})["x"].numpy()
    array([[1, 2],
           [3, 4]])

    To parse a batch is faster than to parse each example: put `batch` before `map`.

    Args:
      serialized: a vector of strings; a scalar is parsed as by `parse_single_example`.
      features: a dict of names and `tf.io.FixedLenFeature` or its like.
      example_names: names of the examples, for messages.
      name: accepted for compatibility.
    """
    op = "parse_example"
    plan = readers(op, features)
    given = convert_to_tensor(serialized, string)
    if given.shape.rank is not None and given.shape.rank > 1:
        raise invalid(f"{op}: serialized must be a scalar or a vector, got shape {given.shape}")
    return _parsed(op, given, plan, example_names)


@export("io.parse_single_example")
def parse_single_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of one serialized `tf.train.Example`, as tensors.

    >>> example = tf.train.Example()
    >>> example.features.feature["x"].float_list.value.append(0.5)
    >>> wanted = {"x": tf.io.FixedLenFeature([], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64, -1)}
    >>> parsed = tf.io.parse_single_example(example.SerializeToString(), wanted)
    >>> parsed["x"].numpy(), parsed["y"].numpy()
    (np.float32(0.5), np.int64(-1))

    Args:
      serialized: a scalar string.
      features: a dict of names and `tf.io.FixedLenFeature` or its like.
      example_names: the name of the example, for messages.
      name: accepted for compatibility.
    """
    op = "parse_single_example"
    plan = readers(op, features)
    given = convert_to_tensor(serialized, string)
    if given.shape.rank:
        raise ValueError(f"{op}: serialized must be a scalar, got shape {given.shape}")
    return _parsed(op, given, plan, example_names)


def _parsed(op: str, given: Tensor, plan: Mapping[str, Reader], names: Any) -> dict[str, Any]:
    wanted = {key for reader in plan.values() for key in reader.keys}
    called = names_of(names)

    def run(array: np.ndarray) -> list[Any]:
        whole: Any = [array[()]] if not array.ndim else array.tolist()
        examples = Batch(op, whole, wanted, called)
        if not array.ndim:
            return [array for reader in plan.values() for array in reader.single(examples)]
        return [array for reader in plan.values() for array in reader.arrays(examples)]

    dims = given.shape.as_list() if given.shape.rank is not None else [None]
    batch = tuple(dims)
    specs = [spec for reader in plan.values() for spec in reader.specs(batch)]
    return taken_apart(on_host(op, run, [given], specs), plan, batch)


def names_of(names: Any) -> list[bytes]:
    """What examples are called."""
    if names is None:
        return []
    tensor = convert_to_tensor(names, string)
    return [] if tensor.symbolic else np.ravel(tensor._array).tolist()
