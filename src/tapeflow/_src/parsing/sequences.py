"""`tf.io.parse_sequence_example` and `tf.io.parse_single_sequence_example`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int64, string
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.parsing.batches import Sequences, count_of, joined
from tapeflow._src.parsing.features import (
    FixedLenSequenceFeature,
    Reader,
    checked_dtype,
    filled,
    known_shape,
    padding,
)
from tapeflow._src.parsing.parse_example import names_of, readers, taken_apart
from tapeflow._src.parsing.ragged_features import RaggedFeature, RaggedSteps
from tapeflow._src.parsing.sparse_features import SparseSteps, VarLenFeature
from tapeflow._src.primitives.specs import ArraySpec


class Steps(Reader):
    """`FixedLenSequenceFeature` in a sequence: each step has as many values as a shape has elements."""

    def __init__(self, op: str, name: str, feature: FixedLenSequenceFeature) -> None:
        self.dtype = checked_dtype(op, name, feature)
        self.keys = (name.encode(),)
        self.shape = known_shape(name, feature)
        self.count = math.prod(self.shape)
        self.allow_missing = feature.allow_missing
        self.default = padding(op, name, None, self.dtype)

    def specs(self, batch: tuple[int | None, ...]) -> list[ArraySpec]:
        """The values, and how many steps there are."""
        return [
            ArraySpec((*batch, None, *self.shape), self.dtype),  # pyright: ignore[reportArgumentType]
            ArraySpec(batch, int64),  # pyright: ignore[reportArgumentType]
        ]

    def arrays(self, examples: Any) -> list[Any]:
        """The values, filled up to the longest sequence, and how many steps there are."""
        key = self.keys[0].decode()
        counts: list[int] = []
        columns: list[Any] = []
        for number, steps in enumerate(examples.steps(self.keys[0], self.dtype)):
            if steps is None and not self.allow_missing:
                raise invalid(
                    f"{examples.op}: the list of features {key!r} is required, and {examples.example(number)} does not "
                    "have it. Should it have allow_missing=True?"
                )
            for place, values in enumerate(steps or ()):
                if count_of(values, self.dtype) != self.count:
                    raise invalid(
                        f"{examples.op}: step {place} of the list of features {key!r} of {examples.example(number)} "
                        f"has {count_of(values, self.dtype)} values, and its shape is {list(self.shape)}"
                    )
            counts.append(len(steps or ()))
            columns += steps or ()
        flat = joined(columns, self.dtype)
        lengths = np.array(counts, np.int64)
        values = filled(
            examples.op, flat, lengths * self.count, self.count, self.shape, self.default
        )
        return [values, lengths]


READERS: dict[type[Any], Callable[[str, str, Any], Reader]] = {
    FixedLenSequenceFeature: Steps,
    RaggedFeature: RaggedSteps,
    VarLenFeature: SparseSteps,
}


def _readers(op: str, features: Any) -> dict[str, Reader]:
    if not features:
        return {}
    if not isinstance(features, Mapping):
        raise TypeError(f"{op}: sequence_features must be a dict, got {shown(features)}")
    for name, feature in features.items():
        if type(feature) not in READERS:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{name}'")
    return {
        name: READERS[type(features[name])](op, name, features[name]) for name in sorted(features)
    }


@export("io.parse_sequence_example")
def parse_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A batch of serialized `tf.train.SequenceExample`, as tensors.

    >>> def sequence(*values):
    ...     message = tf.train.SequenceExample()
    ...     for value in values:
    ...         message.feature_lists.feature_list["x"].feature.add().int64_list.value.append(value)
    ...     return message.SerializeToString()
    >>> wanted = {"x": tf.io.FixedLenSequenceFeature([], tf.int64)}
    >>> _, steps, lengths = tf.io.parse_sequence_example(
    ...     [sequence(1, 2), sequence(3)], sequence_features=wanted)
    >>> steps["x"].numpy(), lengths["x"].numpy()
    (array([[1, 2],
           [3, 0]]), array([2, 1]))

    Args:
      serialized: a vector of strings, or a scalar.
      context_features: a dict of names and features of all of a sequence, as for `tf.io.parse_example`.
      sequence_features: a dict of names and `tf.io.FixedLenSequenceFeature` or its like, for its steps.
      example_names: names of the sequences, for messages.
      name: accepted for compatibility.

    Returns:
      The features of the contexts, those of the steps, and how many steps there are.
    """
    op = "parse_sequence_example"
    given = convert_to_tensor(serialized, string)
    if given.shape.rank is not None and given.shape.rank > 1:
        raise invalid(f"{op}: serialized must be a scalar or a vector, got shape {given.shape}")
    return _parsed(op, given, context_features, sequence_features, example_names)


@export("io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """One serialized `tf.train.SequenceExample`, as tensors.

    >>> message = tf.train.SequenceExample()
    >>> for value in (1, 2):
    ...     message.feature_lists.feature_list["x"].feature.add().int64_list.value.append(value)
    >>> wanted = {"x": tf.io.FixedLenSequenceFeature([], tf.int64)}
    >>> _, steps = tf.io.parse_single_sequence_example(
    ...     message.SerializeToString(), sequence_features=wanted)
    >>> steps["x"].numpy()
    array([1, 2])

    Args:
      serialized: a scalar string.
      context_features: a dict of names and features of all of the sequence, as for `tf.io.parse_example`.
      sequence_features: a dict of names and `tf.io.FixedLenSequenceFeature` or its like, for its steps.
      example_name: the name of the sequence, for messages.
      name: accepted for compatibility.

    Returns:
      The features of the context, and those of the steps.
    """
    op = "parse_single_sequence_example"
    given = convert_to_tensor(serialized, string)
    if given.shape.rank:
        raise ValueError(f"{op}: serialized must be a scalar, got shape {given.shape}")
    return _parsed(op, given, context_features, sequence_features, example_name)[:2]


def _parsed(
    op: str, given: Any, context: Any, sequence: Any, names: Any
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    if not (context or sequence):
        raise ValueError(
            "Both context_features and sequence_features are None, but at least one should have values."
        )
    about = readers(op, context) if context else {}
    steps = _readers(op, sequence)
    plan = [*about.values(), *steps.values()]
    wanted = {key for reader in about.values() for key in reader.keys}
    wanted_steps = {key for reader in steps.values() for key in reader.keys}
    called = names_of(names)

    def run(array: np.ndarray) -> list[Any]:
        whole: Any = [array[()]] if not array.ndim else array.tolist()
        examples = Sequences(op, whole, wanted, wanted_steps, called)
        if not array.ndim:
            return [found for reader in plan for found in reader.single(examples)]
        return [found for reader in plan for found in reader.arrays(examples)]

    batch = tuple(given.shape.as_list()) if given.shape.rank is not None else (None,)
    found = on_host(op, run, [given], [spec for reader in plan for spec in reader.specs(batch)])
    count = sum(len(reader.specs(batch)) for reader in about.values())
    features = taken_apart(found[count:], steps, batch)
    lengths = {n: found[i] for n, i in _lengths(steps, batch, count).items()}
    return taken_apart(found[:count], about, batch), features, lengths


def _lengths(steps: Mapping[str, Reader], batch: Any, at: int) -> dict[str, int]:
    """Where the numbers of steps are among the results."""
    places = {}
    for name, reader in steps.items():
        count = len(reader.specs(batch))
        if isinstance(reader, Steps):
            places[name] = at + count - 1
        at += count
    return places
