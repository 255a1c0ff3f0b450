"""Datasets for several replicas: each of their elements has a part for each replica.

The parts travel as one row through `tf.data`'s own machinery, which reads ahead, saves positions, and goes into traced
functions. Only where an element is handed out do its parts become values for each replica.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.auto_shard import AutoShardPolicy
from tapeflow._src.data.dataset import Dataset
from tapeflow._src.data.iterator import IteratorSpec, Optional, OwnedIterator
from tapeflow._src.data.nodes.batching import Batch
from tapeflow._src.data.runtime.node import Node, Run
from tapeflow._src.data.runtime.rows import Row, Rows
from tapeflow._src.data.specs import batchable_leaves, box
from tapeflow._src.distribute.input_context import InputContext, InputOptions, InputReplicationMode
from tapeflow._src.distribute.values import PerReplicaSpec, wrapped


def _batch_size(node: Node) -> int | None:
    """How many rows the batches of a dataset have, but for the last."""
    while True:
        if isinstance(node, Batch):
            return node.number(0)
        if len(node.inputs) != 1:
            return None
        node = node.inputs[0]


class Divided(Node):
    """Batches, each divided into one part for each replica.

    Args:
      source: the batches.
      count: how many replicas there are.
      mine: the numbers of those that this process has.
      size: how many rows a part has; None divides each batch evenly.
    """

    name = "DistributedDataset"

    def __init__(self, source: Node, count: int, mine: range, size: int | None) -> None:
        self.inputs = (source,)
        self._count, self._mine, self._size = count, mine, size
        self._leaves = leaves = batchable_leaves("experimental_distribute_dataset", source.spec)
        for leaf in leaves:
            if isinstance(leaf, TensorSpec) and leaf.shape.rank == 0:
                raise ValueError(
                    "experimental_distribute_dataset: the batches of a dataset are divided along their first "
                    f"dimension, and its elements are scalars: {source.spec}. Call batch(...) on it first, with the "
                    "size of the batch of all replicas."
                )
        own = nest.pack_sequence_as(source.spec, [self._part(leaf) for leaf in leaves])
        self.spec = (own,) * len(mine)

    def _part(self, leaf: Any) -> Any:
        shape = getattr(leaf, "shape", None)  # an extension type has none
        if shape is None:
            return leaf._unbatch()._batch(None)
        dims = shape._dims
        if dims is None:
            return leaf
        size, rest = None, 0
        if dims[0] is not None and self._size is None:
            size, rest = divmod(dims[0], self._count)
        return leaf._unbatch()._batch(None if rest else size)

    def cardinality(self) -> int:
        """That of the source."""
        return self.inputs[0].cardinality()

    def rows(self, run: Run) -> Rows:
        """Each batch in parts."""
        source = self.inputs[0].rows(run)
        return DividedRows(source, self._leaves, self._count, self._mine, self._size)


class DividedRows(Rows):
    """Batches in parts."""

    def __init__(
        self, source: Rows, leaves: Sequence[Any], count: int, mine: range, size: int | None
    ) -> None:
        self._source, self._leaves = source, leaves
        self._count, self._mine, self._size = count, mine, size

    def __next__(self) -> Row:
        row = next(self._source)
        size = self._size
        if size is None:
            size = -(-_length(row[0], self._leaves[0]) // self._count)
        parts = [(i * size, (i + 1) * size) for i in self._mine]
        return tuple([_cut(x, leaf, *at) for at in parts for x, leaf in self._with_leaves(row)])

    def _with_leaves(self, row: Row) -> Iterator[tuple[Any, Any]]:
        return zip(row, self._leaves, strict=True)

    def skip(self, n: int) -> int:
        """In the source."""
        return self._source.skip(n)


def _length(x: Any, leaf: Any) -> int:
    """How many rows a batch has."""
    if isinstance(leaf, TensorSpec):
        return x.shape[0]
    value = x[()]
    return int(value.shape[0]) if hasattr(leaf, "shape") else len(leaf._rows(value))


def _cut(x: Any, leaf: Any, begin: int, end: int) -> Any:
    """Some rows of a batch, which may be that of a composite tensor."""
    if isinstance(leaf, TensorSpec):
        return x[begin:end]
    return box(leaf._cut(x[()], begin, end))


class Dealt(Node):
    """Batches that are dealt to the replicas one by one.

    In the last round some replicas get empty ones. Where all sizes are promised there are none, and a round that is not
    whole is left out.
    """

    name = "DistributedDatasetsFromFunction"

    def __init__(self, source: Node, count: int, whole: bool) -> None:
        self.inputs = (source,)
        self._count = count
        self._leaves = batchable_leaves("distribute_datasets_from_function", source.spec)
        self._whole = whole and all(map(_has_all_sizes, self._leaves))
        self.spec = (source.spec,) * count

    def cardinality(self) -> int:
        """How many rounds there are."""
        size = self.inputs[0].cardinality()
        if size < 0:
            return size
        return size // self._count if self._whole else -(-size // self._count)

    def rows(self, run: Run) -> Rows:
        """Rounds of batches."""
        return DealtRows(self.inputs[0].rows(run), self._count, self._leaves, self._whole)


class DealtRows(Rows):
    """Rounds of batches."""

    def __init__(self, source: Rows, count: int, leaves: Sequence[Any], whole: bool) -> None:
        self._source, self._count, self._leaves, self._whole = source, count, leaves, whole

    def __next__(self) -> Row:
        first = next(self._source)
        found = list(first)
        for _ in range(self._count - 1):
            try:
                found += next(self._source)
            except StopIteration:
                if self._whole:
                    raise
                found += [_empty(x, leaf) for x, leaf in zip(first, self._leaves, strict=True)]
        return tuple(found)


def _has_all_sizes(leaf: Any) -> bool:
    """Whether all elements of a dataset have the same sizes there; of ragged and sparse ones, as many rows."""
    if isinstance(leaf, TensorSpec):
        return leaf.shape.is_fully_defined()
    dims = getattr(getattr(leaf, "shape", None), "_dims", None)  # an extension type has no shape
    return bool(dims) and dims[0] is not None


def _empty(x: Any, leaf: Any) -> Any:
    """A batch without rows, like another one."""
    if not isinstance(leaf, TensorSpec):
        return _cut(x, leaf, 0, 0)
    return np.zeros([0, *(d or 0 for d in leaf.shape.as_list()[1:])], leaf.dtype.np_dtype)


class Repeated(Node):
    """The same dataset for each replica, which reads it by itself."""

    name = "DistributedDatasetsFromFunction"

    def __init__(self, sources: Sequence[Node]) -> None:
        self.inputs = tuple(sources)
        self.spec = tuple(source.spec for source in sources)

    def cardinality(self) -> int:
        """That of each."""
        return self.inputs[0].cardinality()

    def rows(self, run: Run) -> Rows:
        """An element of each."""
        return RepeatedRows([source.rows(run) for source in self.inputs])


class RepeatedRows(Rows):
    """An element of each of several passes."""

    def __init__(self, sources: Sequence[Rows]) -> None:
        self._sources = sources

    def __next__(self) -> Row:
        return tuple([x for source in self._sources for x in next(source)])


@export("distribute.DistributedIterator")
class DistributedIterator(CompositeTensor, Iterator[Any]):
    """What `iter(distributed_dataset)` gives: elements with a part for each replica.

    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> it = iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4)))
    >>> it.get_next().values[1].numpy()
    array([2, 3])
    """

    def __init__(self, iterator: OwnedIterator) -> None:
        self._iterator = iterator

    @property
    def _type_spec(self) -> DistributedIteratorSpec:
        return DistributedIteratorSpec(self._iterator._type_spec)

    @property
    def element_spec(self) -> Any:
        """What the elements are like."""
        return _spec(self._iterator.element_spec)

    def __next__(self) -> Any:
        return _grouped(next(self._iterator))

    def next(self) -> Any:
        """The next element, as `next(iterator)` gives it."""
        return self.__next__()

    def get_next(self) -> Any:
        """The next element. At the end it raises `tf.errors.OutOfRangeError`."""
        return _grouped(self._iterator.get_next())

    def get_next_as_optional(self) -> Optional:
        """The next element, if there is one."""
        found = self._iterator.get_next_as_optional()
        return Optional(self.element_spec, _grouped(found._value), found._there)

    # Checkpoints save where it stands, as for other iterators.

    def _checkpoint_state(self) -> dict[str, Any]:
        return self._iterator._checkpoint_state()

    def _restore_state(self, state: dict[str, Any]) -> None:
        self._iterator._restore_state(state)

    def __tf_iterate__(self) -> _Loop:
        return _Loop(self._iterator.__tf_iterate__())


class DistributedIteratorSpec(TypeSpec):
    """What is known of such an iterator: what the one inside of it is like."""

    def __init__(self, inner: IteratorSpec) -> None:
        self._inner = inner

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return DistributedIterator

    def _serialize(self) -> tuple[Any, ...]:
        return (self._inner,)

    @property
    def _component_specs(self) -> Any:
        return self._inner

    def _to_components(self, value: DistributedIterator) -> Any:
        return value._iterator

    def _from_components(self, components: Any) -> DistributedIterator:
        return DistributedIterator(components)


@export("distribute.DistributedDataset")
class DistributedDataset:
    """A dataset whose elements have a part for each replica. `Strategy.experimental_distribute_dataset` makes these.

    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(3).batch(3))
    >>> [strategy.gather(x, axis=0).numpy().tolist() for x in data]
    [[0, 1, 2]]
    """

    def __init__(self, inner: Dataset) -> None:
        self._inner = inner

    def __iter__(self) -> DistributedIterator:
        return DistributedIterator(iter(self._inner))

    def __tf_iterator__(self) -> DistributedIterator:
        return DistributedIterator(self._inner.__tf_iterator__())

    @property
    def element_spec(self) -> Any:
        """What the elements are like."""
        return _spec(self._inner.element_spec)

    @property
    def cardinality(self) -> Any:
        """How many elements there are, or a negative number if that is not known."""
        return np.int64(self._inner._node.cardinality())

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any]) -> Any:
        """Goes through the elements, with a state that a function makes of the last one and an element."""
        state = initial_state
        for element in self:
            state = reduce_func(state, element)
        return state

    def __tf_iterate__(self) -> _Loop:
        return _Loop(self._inner.__tf_iterate__())


class _Loop:
    """A loop over such elements in a traced function."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop

    def more(self, going_on: Any) -> Tensor:
        """Whether there is another element."""
        return self._loop.more(going_on)

    def item(self) -> Any:
        """The next element."""
        return _grouped(self._loop.item())


def _grouped(parts: Any) -> Any:
    if parts is None:
        return None
    return parts[0] if len(parts) == 1 else wrapped(parts)


def _spec(parts: Any) -> Any:
    if len(parts) == 1:
        return parts[0]
    columns = zip(*map(nest.flatten, parts), strict=True)
    return nest.pack_sequence_as(parts[0], [PerReplicaSpec(*column) for column in columns])


# What strategies call.


def divided(strategy: Any, dataset: Any, options: Any = None) -> DistributedDataset:
    """`Strategy.experimental_distribute_dataset`."""
    if not isinstance(dataset, Dataset):
        raise wrong_object(
            "experimental_distribute_dataset", "dataset", "a tf.data.Dataset", dataset
        )
    extended = strategy.extended
    policy = dataset.options().experimental_distribute.auto_shard_policy
    size = None
    if policy not in (AutoShardPolicy.AUTO, AutoShardPolicy.DATA):
        whole = _batch_size(dataset._node)
        size = None if whole is None else -(-whole // extended.count)
    mine = range(extended.first, extended.first + extended.local)
    if extended.workers > 1:
        from tapeflow._src.distribute import sharding

        if policy is not AutoShardPolicy.OFF:
            extended.exchange.agree_on_order(dataset._node)
        node = sharding.of_worker(dataset._node, policy, extended)
        node = node or sharding.own_part(dataset._node, extended)
        if node is not None:
            return DistributedDataset(dataset._with(node))
        size = None
    node = Divided(dataset._node, extended.count, mine, size)
    return DistributedDataset(dataset._with(node))


def dealt(
    strategy: Any, dataset_fn: Callable[[InputContext], Any], options: InputOptions | None
) -> DistributedDataset:
    """`Strategy.distribute_datasets_from_function`."""
    extended = strategy.extended

    def made() -> Dataset:
        found = dataset_fn(InputContext(extended.workers, extended.worker, extended.count))
        if not isinstance(found, Dataset):
            raise wrong_object(
                "distribute_datasets_from_function",
                "dataset_fn's result",
                "a tf.data.Dataset",
                found,
            )
        return found

    mode = (options or InputOptions()).experimental_replication_mode
    first = made()
    if mode is InputReplicationMode.PER_REPLICA:
        others = [made() for _ in range(extended.local - 1)]
        node: Node = Repeated([d._node for d in (first, *others)])
    else:
        node = Dealt(first._node, extended.local, whole=extended.workers == 1)
    if extended.workers > 1:
        from tapeflow._src.distribute.sharding import Until

        node = Until(node, extended.exchange)
    return DistributedDataset(first._with(node))
