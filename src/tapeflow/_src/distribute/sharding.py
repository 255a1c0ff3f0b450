"""How several workers divide a dataset, as `tf.data.experimental.AutoShardPolicy` says.

By `DATA` each worker takes its rows of every batch; the rows of others are not read where it is known how many there
are. By `FILE` each has files of its own, and by `OFF` each has all; then their batches are cut into as many rows as its
replicas get in one step, and a worker that has come to its end goes on with empty batches until all others have.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import is_expandable, no_rows
from tapeflow._src.core.errors import NotFoundError, invalid
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.data.auto_shard import AutoShardPolicy
from tapeflow._src.data.nodes.batching import Batch, Unbatch, batch_size_of
from tapeflow._src.data.nodes.csv_files import CsvFiles
from tapeflow._src.data.nodes.extras import Prefetch
from tapeflow._src.data.nodes.files import Files
from tapeflow._src.data.nodes.mapping import FlatMap
from tapeflow._src.data.nodes.selection import Shard
from tapeflow._src.data.runtime.node import INFINITE, UNKNOWN, Node, Run
from tapeflow._src.data.runtime.rows import ENDLESS, Row, Rows
from tapeflow._src.data.specs import batchable_leaves, box, leaves as leaves_of

_OP = "experimental_distribute_dataset"


def of_worker(node: Node, policy: AutoShardPolicy, extended: Any) -> Node | None:
    """What a worker reads of a dataset by its own batches; None if it reads its rows of the batches of all."""
    sharded = None
    if policy is AutoShardPolicy.AUTO:
        sharded = by_files(node, extended.workers, extended.worker)
        policy = AutoShardPolicy.DATA if sharded is None else AutoShardPolicy.FILE
    if policy in (AutoShardPolicy.DATA, AutoShardPolicy.HINT):
        return None
    if policy is AutoShardPolicy.FILE:
        sharded = sharded or by_files(node, extended.workers, extended.worker)
        if sharded is None:
            raise NotFoundError(
                None,
                None,
                f"{_OP}: found an unshardable source dataset: AutoShardPolicy.FILE divides files, and the dataset "
                "reads none by TFRecordDataset, TextLineDataset or the like. Use AutoShardPolicy.DATA.",
            )
        node = sharded
    size = batch_size_of(node)
    if size is None:
        raise ValueError(
            f"{_OP}: how many rows the batches of the dataset have is not known, and with AutoShardPolicy."
            f"{policy.name} they are cut for the replicas. End the dataset with batch(...), or use "
            "distribute_datasets_from_function."
        )
    return Until(Cut(node, _sizes(size, extended), extended.local), extended.exchange)


def by_files(node: Node, count: int, number: int) -> Node | None:
    """The same pipeline with every n-th file, or None if it reads no files."""
    reads = isinstance(node, (Files, CsvFiles))
    if reads or (isinstance(node, FlatMap) and _makes_readers(node)):
        files = node.inputs[0].cardinality()
        if 0 <= files < count:
            raise invalid(
                f"{_OP}: Could not apply FILE based sharding: the dataset only has {files} file(s), which is not "
                f"enough for the required {count} shards/workers. Write more files, or use AutoShardPolicy.DATA."
            )
        inputs: list[Node | None] = [Shard(node.inputs[0], count, number)]
    else:
        inputs = [by_files(x, count, number) for x in node.inputs]
        if not any(inputs):
            return None
    new = copy.copy(node)
    new.inputs = tuple(b or a for a, b in zip(node.inputs, inputs, strict=True))
    return new


def _makes_readers(node: FlatMap) -> bool:
    return any(
        isinstance(inner, (Files, CsvFiles))
        for made in node.function.datasets
        for inner in made.walk()
    )


def _sizes(batch: int, extended: Any) -> list[int]:
    """How many rows the batches of a worker's replicas have, in turn: those of all workers add up to a whole batch."""
    least, more = divmod(batch, extended.count)
    sizes = [least + 1] * more + [least] * (extended.count - more)
    return (sizes[extended.first :] + sizes[: extended.first]) if more else [least]


def _empty(leaves: Sequence[Any]) -> list[Any]:
    """The components of a batch without rows."""
    found = [(leaf, no_rows(leaf)) for leaf in leaves]
    return [x._array if isinstance(leaf, TensorSpec) else box(x) for leaf, x in found]


def _of_rows(spec: Any, count: int | None) -> Any:
    """That of batches of so many rows."""
    return nest.map_structure(lambda leaf: _leaf_of_rows(leaf, count), spec)


def _leaf_of_rows(leaf: Any, count: int | None) -> Any:
    if isinstance(leaf, TensorSpec) and leaf.shape.rank is None:
        return leaf
    return leaf._unbatch()._batch(count)


def _composites(rows: Any) -> dict[int, Any]:
    """The specs of those components of rows that are no tensors, by their places."""
    return {i: leaf for i, leaf in enumerate(leaves_of(rows)) if is_expandable(leaf)}


def _batch(columns: Sequence[Any], composites: Mapping[int, Any]) -> list[Any]:
    """A batch, of the columns of a chunk of rows."""
    found = list(columns)
    for i, spec in composites.items():
        found[i] = box(spec._stack(found[i].tolist()))
    return found


class Cut(Node):
    """Batches of other sizes, which follow each other in turn, one for each replica of this worker."""

    name = "DistributedDataset"

    def __init__(self, source: Node, sizes: Sequence[int], local: int) -> None:
        self._leaves = batchable_leaves(_OP, source.spec)
        self.inputs = (Unbatch(source),)
        self._sizes, self._local = sizes, local
        self.spec = (_of_rows(source.spec, None),) * local

    def cardinality(self) -> int:
        """Known only if there is no end."""
        return INFINITE if self.inputs[0].cardinality() == INFINITE else UNKNOWN

    def rows(self, run: Run) -> Rows:
        """The batches."""
        source, composites = self.inputs[0].rows(run), _composites(self.inputs[0].spec)
        return CutRows(source, self._sizes, self._local, _empty(self._leaves), composites)


class CutRows(Rows):
    """Batches of sizes in turn."""

    def __init__(
        self,
        source: Rows,
        sizes: Sequence[int],
        local: int,
        empty: Sequence[Any],
        composites: Mapping[int, Any],
    ) -> None:
        self._source, self._sizes, self._local, self._empty = source, sizes, local, empty
        self._composites = composites
        self._place = 0

    def __next__(self) -> Row:
        found: list[Any] = []
        ended = 0
        for _ in range(self._local):
            size = self._sizes[self._place % len(self._sizes)]
            self._place += 1
            try:
                chunk = self._source.chunk(size) if size else None
                found += self._empty if chunk is None else _batch(chunk, self._composites)
            except StopIteration:
                ended += 1
                found += self._empty
        if ended == self._local:
            raise StopIteration
        return tuple(found)


class Until(Node):
    """Elements that go on, empty, until all workers have come to their end."""

    name = "DistributedDataset"

    def __init__(self, source: Node, exchange: Any) -> None:
        self.inputs = (source,)
        self.spec = source.spec
        self._exchange = exchange
        self._leaves = batchable_leaves("tf.distribute", source.spec)

    def cardinality(self) -> int:
        """Known only if there is no end: what others have is not known here."""
        return INFINITE if self.inputs[0].cardinality() == INFINITE else UNKNOWN

    def rows(self, run: Run) -> Rows:
        """The elements, and empty ones."""
        rows = self.inputs[0].rows(run)
        if self.cardinality() == INFINITE:
            return rows
        return UntilRows(rows, self._exchange, _empty(self._leaves))


class UntilRows(Rows):
    """Rows, and empty ones, until no worker has any."""

    def __init__(self, source: Rows, exchange: Any, empty: Sequence[Any]) -> None:
        self._source, self._empty = source, tuple(empty)
        self._ask = exchange.questions("elements of a dataset")
        self._ended = False

    def __next__(self) -> Row:
        row = None
        if not self._ended:
            try:
                row = next(self._source)
            except StopIteration:
                self._ended = True
        if not any(self._ask(row is not None)):
            raise StopIteration
        return self._empty if row is None else row


# Rows of the batches of all.


def own_part(node: Node, extended: Any) -> Node | None:
    """The rows that this worker has of each batch, without reading others; None if the sizes are not known before."""
    while isinstance(node, Prefetch):
        node = node.inputs[0]
    if type(node) is not Batch or node.number(0) is None:
        return None
    total = node.inputs[0].cardinality()
    if total == UNKNOWN:
        return None
    return Own(node, ENDLESS if total == INFINITE else total, extended)


class Own(Node):
    """The parts of batches that the replicas of this worker get. The rows of others are left out unread."""

    name = "DistributedDataset"

    def __init__(self, batch: Batch, total: int, extended: Any) -> None:
        self.inputs = (batch.inputs[0],)
        self._batch, self._total = batch, total
        self._first, self._local, self._count = extended.first, extended.local, extended.count
        self._leaves = leaves_of(batch.spec)
        size = batch.number(0) if batch.drop else None
        each = None if size is None or size % self._count else size // self._count
        self.spec = (_of_rows(batch.spec, each),) * self._local

    def cardinality(self) -> int:
        """As many as there are batches."""
        return self._batch.cardinality()

    def rows(self, run: Run) -> Rows:
        """The parts."""
        places = range(self._first, self._first + self._local)
        size = self._batch.known(0)
        whole = self._total - self._total % size if self._batch.drop else self._total
        rows, composites = self.inputs[0].rows(run), _composites(self.inputs[0].spec)
        return OwnRows(rows, whole, size, places, self._count, _empty(self._leaves), composites)


class OwnRows(Rows):
    """Some rows of each batch."""

    def __init__(
        self,
        source: Rows,
        total: int,
        size: int,
        places: range,
        count: int,
        empty: Sequence[Any],
        composites: Mapping[int, Any],
    ) -> None:
        self._source, self._left, self._size = source, total, size
        self._places, self._count, self._empty = places, count, empty
        self._composites = composites

    def __next__(self) -> Row:
        whole = min(self._size, self._left)
        if not whole:
            raise StopIteration
        self._left -= whole
        each = -(-whole // self._count)
        begin, end = (min(i * each, whole) for i in (self._places[0], self._places[-1] + 1))
        self._source.skip(begin)
        mine = self._source.chunk(end - begin) if end > begin else ()
        self._source.skip(whole - end)
        found: list[Any] = []
        for at in range(0, len(self._places) * each, each):
            some = at < end - begin
            columns = [x[at : at + each] for x in mine]
            found += _batch(columns, self._composites) if some else self._empty
        return tuple(found)

    def skip(self, n: int) -> int:
        """In the source."""
        done = self._source.skip(min(n * self._size, self._left))
        self._left -= done
        return -(-done // self._size)
