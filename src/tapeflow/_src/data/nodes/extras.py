"""Smaller transformations: prefetch, unique, ignore_errors, buckets by length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes, nest
from tapeflow._src.core.errors import FailedPreconditionError, invalid
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.placement.devices import Place
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.data.nodes.batching import shapes_like
from tapeflow._src.data.nodes.mixing import GroupByWindow
from tapeflow._src.data.runtime import background
from tapeflow._src.data.runtime.node import INFINITE, UNKNOWN, Alike, Node, Run
from tapeflow._src.data.runtime.rows import Row, Rows, Table
from tapeflow._src.data.specs import map_spec, tensor_leaves
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.indexing.gathering import gather
from tapeflow._src.ops.reduction.sorting import searchsorted


class Prefetch(Alike):
    """The same elements, read ahead."""

    name = "_PrefetchDataset"

    def __init__(self, source: Node, size: int) -> None:
        super().__init__(source)
        self.size = size

    @property
    def destination(self) -> tuple[Place, int] | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Where elements go to a device, they are read ahead by what puts them there."""
        found = self.source.destination
        return None if found is None else (found[0], max(found[1], self.size))

    def rows(self, run: Run) -> Rows:
        """In a thread."""
        source = self.source.rows(run)
        if self.size == 0 or self.destination is not None or background.debugging.on:
            return source
        return background.PrefetchRows(source, self.size)


class ToDevice(Alike):
    """The same elements, on a device. Who reads them puts them there: see `runtime.placing`.

    Args:
      source: the dataset.
      place: the device.
      ahead: how many elements are put there before they are asked for.
    """

    def __init__(self, source: Node, place: Place, ahead: int) -> None:
        super().__init__(source)
        self.name = "_PrefetchDataset" if ahead else "_CopyToDeviceDataset"
        self._destination = place, ahead

    @property
    def destination(self) -> tuple[Place, int]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What was said."""
        return self._destination

    def table(self) -> Table | None:
        """That of the input."""
        return self.source.table()

    def rows(self, run: Run) -> Rows:
        """Those of the input."""
        return self.source.rows(run)


class Unique(Alike):
    """Each element once."""

    name = "_UniqueDataset"

    def __init__(self, source: Node) -> None:
        super().__init__(source)
        specs = tensor_leaves("unique", source.spec)
        if len(specs) != 1 or specs[0].dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "Dataset.unique: the elements must be single tensors of dtype int32, int64 or string, and they are "
                f"{source.spec}"
            )

    def cardinality(self) -> int:
        """Not known before reading."""
        return UNKNOWN

    def rows(self, run: Run) -> Rows:
        """What was not there before."""
        return UniqueRows(self.source.rows(run))


class UniqueRows(Rows):
    """Rows that were not there before."""

    def __init__(self, source: Rows) -> None:
        self._source = source
        self._seen: set[Any] = set()

    def __next__(self) -> Row:
        for row in self._source:
            x = row[0]
            key = (x.shape, tuple(np.ravel(x).tolist()))
            if key not in self._seen:
                self._seen.add(key)
                return row
        raise StopIteration


class IgnoreErrors(Alike):
    """The elements that can be computed."""

    name = "_IgnoreErrorsDataset"

    def __init__(self, source: Node, log_warning: bool) -> None:
        super().__init__(source)
        self.log = log_warning

    def cardinality(self) -> int:
        """Not known before reading."""
        size = self.source.cardinality()
        return size if size in (0, INFINITE) else UNKNOWN

    def rows(self, run: Run) -> Rows:
        """What can be computed."""
        return IgnoringRows(self.source.rows(run), self.log)


class IgnoringRows(Rows):
    """The rows that can be computed."""

    def __init__(self, source: Rows, log: bool) -> None:
        self._source, self._log = source, log

    def __next__(self) -> Row:
        while True:
            try:
                return next(self._source)
            except StopIteration:
                raise
            except Exception as error:
                if self._log:
                    get_logger().warning(
                        "Dataset.ignore_errors: %s: %s", type(error).__name__, error
                    )


def bucketed(
    dataset: Any,
    length: Callable[..., Any],
    boundaries: Sequence[int],
    sizes: Sequence[int],
    padded_shapes: Any,
    padding_values: Any,
    to_boundary: bool,
    no_padding: bool,
    drop_remainder: bool,
) -> Any:
    """`Dataset.bucket_by_sequence_length`."""
    if len(sizes) != len(boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but got "
            f"{len(sizes)} and {len(boundaries)}."
        )
    edges = np.array(boundaries, np.int64)
    batch_sizes = np.array(sizes, np.int64)

    def key(*element: Any) -> Any:
        return searchsorted(
            edges, [cast(length(*element), dtypes.int64)], side="right", out_type=dtypes.int64
        )[0]

    def reduce(bucket: Any, group: Any) -> Any:
        i = 0 if bucket.symbolic else int(bucket)
        whole = drop_remainder and not bucket.symbolic  # batches of buckets differ in size
        if no_padding:
            return group.batch(int(batch_sizes[i]), whole)
        shapes = padded_shapes
        if shapes is None:
            shapes = map_spec(lambda leaf: leaf.shape, group.element_spec)
        if to_boundary and not bucket.symbolic:
            if i == len(edges):
                raise invalid(
                    "Dataset.bucket_by_sequence_length: with pad_to_bucket_boundary=True elements must be shorter than "
                    f"the last of bucket_boundaries, {boundaries[-1]}, and one is not"
                )
            limit = int(edges[min(i, len(edges) - 1)]) - 1
            shapes = nest.map_structure(
                lambda s: _filled(s, limit), _dims(group.element_spec, shapes)
            )
        return group.padded_batch(int(batch_sizes[i]), shapes, padding_values, whole)

    def size(bucket: Any) -> Any:
        return gather(batch_sizes, bucket)

    return dataset._with(GroupByWindow(dataset._node, key, reduce, size))


class _Dims:
    """A shape that is a leaf of structures."""

    def __init__(self, dims: Any) -> None:
        self.dims = list(dims)


def _dims(spec: Any, shapes: Any) -> Any:
    return nest.pack_sequence_as(spec, [_Dims(s) for s in shapes_like(spec, shapes)])


def _filled(shape: _Dims, limit: int) -> Any:
    return TensorShape([limit if d is None or d == -1 else d for d in shape.dims])


class Sized(Alike):
    """A dataset of which somebody says how many elements it has."""

    name = "_AssertCardinalityDataset"

    def __init__(self, source: Node, size: int) -> None:
        super().__init__(source)
        self.size = size

    def cardinality(self) -> int:
        """What was said."""
        return self.size

    def rows(self, run: Run) -> Rows:
        """The rows, counted."""
        return SizedRows(self.source.rows(run), self.size)


class SizedRows(Rows):
    """Rows that are counted."""

    def __init__(self, source: Rows, size: int) -> None:
        self._source, self._size, self._count = source, size, 0

    def __next__(self) -> Row:
        try:
            row = next(self._source)
        except StopIteration:
            if self._size != self._count:
                raise FailedPreconditionError(
                    None,
                    None,
                    f"Input dataset was expected to contain {self._size} elements but contained only {self._count}.",
                ) from None
            raise
        self._count += 1
        if 0 <= self._size < self._count:
            raise FailedPreconditionError(
                None,
                None,
                f"Input dataset was expected to contain {self._size} elements but contained at least {self._count}.",
            )
        return row
