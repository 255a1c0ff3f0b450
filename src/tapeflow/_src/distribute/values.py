"""Values with a part for each replica: what `Strategy.run` takes and returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor


@export("distribute.DistributedValues")
class DistributedValues:
    """A value for each replica.

    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> value = strategy.experimental_distribute_values_from_function(lambda c: c.replica_id_in_sync_group)
    >>> value.values
    (0, 1)
    """

    has_parts = True

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, in the order of the replicas."""
        return self._values

    def _text(self, show: Any) -> str:
        lines = [f"  {i}: {show(value)}" for i, value in enumerate(self.values)]
        return f"{type(self).__name__}:{{\n" + ",\n".join(lines) + "\n}"

    def _printed(self, edge: int) -> str:
        """What `tf.print` shows."""
        return repr(self)

    def __repr__(self) -> str:
        return self._text(repr)

    def __str__(self) -> str:
        return self._text(str)


@export("types.experimental.distributed.PerReplica")
class PerReplica(DistributedValues, CompositeTensor):
    """Values that differ between the replicas.

    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> values = strategy.experimental_distribute_values_from_function(lambda c: tf.constant(1.0))
    >>> isinstance(values, tf.types.experimental.distributed.PerReplica)
    True
    """

    @property
    def _type_spec(self) -> PerReplicaSpec:
        return PerReplicaSpec(*[_spec(x) for x in self._values])

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        if context.replica is None:
            raise ValueError(
                "It looks like you are using a PerReplica object while not inside a replica context, which is not "
                "supported. Try running your op or function inside a replica context by using `strategy.run`"
            )
        return convert_to_tensor(self._values[context.replica.index], dtype)


class PerReplicaSpec(TypeSpec):
    """What is known of values that differ between the replicas.

    Args:
      specs: one for each replica.
    """

    value_type = PerReplica  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType]

    def __init__(self, *specs: Any) -> None:
        self._specs = specs

    def _serialize(self) -> tuple[Any, ...]:
        return self._specs

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return self._specs

    def _to_components(self, value: PerReplica) -> tuple[Any, ...]:
        return value.values

    def _from_components(self, components: Any) -> PerReplica:
        return PerReplica(components)


def _spec(value: Any) -> Any:
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, TensorSpec):  # in the place of a tensor
        return value
    tensor = convert_to_tensor(value)
    return TensorSpec(tensor.shape, tensor.dtype)


@export("types.experimental.distributed.Mirrored")
class Mirrored(DistributedValues):
    """The same value on each replica. Ops take it for that of theirs.

    >>> issubclass(tf.types.experimental.distributed.Mirrored, tf.distribute.DistributedValues)
    True
    """

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        index = 0 if context.replica is None else context.replica.index
        return convert_to_tensor(self._values[index], dtype)

    def numpy(self) -> Any:
        """The value, as an array."""
        return convert_to_tensor(self).numpy()


def local(value: Any) -> tuple[Any, ...] | None:
    """The parts of a value that has one for each replica, a variable with copies included; None for others."""
    if isinstance(value, DistributedValues):
        return value.values
    return getattr(value, "replica_values", None)


def part(index: int, structure: Any) -> Any:
    """What one replica gets of arguments. A variable stays whole: it knows which replica is using it."""
    return nest.map_structure(
        lambda x: x.values[index] if isinstance(x, DistributedValues) else x, structure
    )


def regrouped(results: Sequence[Any], kind: type[DistributedValues] = PerReplica) -> Any:
    """What replicas have returned, as one structure. What is the same object for all stays that."""
    first = results[0]
    if all(x is first for x in results):
        return first
    return _grouped(results, lambda leaves: _one(leaves, kind))


def wrapped(results: Sequence[Any]) -> Any:
    """The same, where each leaf has a value for each replica, even if they are one object."""
    return _grouped(results, PerReplica)


def _one(leaves: Sequence[Any], kind: type[DistributedValues]) -> Any:
    first = leaves[0]
    return first if all(x is first for x in leaves) else kind(leaves)


def _grouped(results: Sequence[Any], group: Any) -> Any:
    first = results[0]
    if not nest.is_nested(first):
        return group(results)
    try:
        for other in results[1:]:
            nest.assert_same_structure(first, other)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"The replicas of Strategy.run have returned different structures. {error}"
        ) from None
    columns = zip(*(nest.flatten(r) for r in results), strict=True)
    return nest.pack_sequence_as(first, [group(leaves) for leaves in columns])
