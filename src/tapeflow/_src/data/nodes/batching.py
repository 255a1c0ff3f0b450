"""Elements together and apart: batch, padded_batch, unbatch, window."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes, nest
from tapeflow._src.core.composites.composite import is_expandable
from tapeflow._src.core.convert import convert_to_tensor, to_array
from tapeflow._src.core.errors import DataLossError, invalid, shown
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.runtime.node import INFINITE, UNKNOWN, Node, Run, integer
from tapeflow._src.data.runtime.rows import Row, Rows, gathered, text
from tapeflow._src.data.specs import (
    batchable_leaves,
    batched,
    box,
    boxed,
    leaves,
    map_spec,
    tensor_leaves,
)


class Batch(Node):
    """Several elements in one, along a new first dimension."""

    name = "_BatchDataset"

    def __init__(self, source: Node, batch_size: Any, drop_remainder: bool) -> None:
        self._composites = {
            i: leaf
            for i, leaf in enumerate(batchable_leaves(self.op, source.spec))
            if is_expandable(leaf)
        }
        self.inputs = (source,)
        self.tensors = (integer(self.op, "batch_size", batch_size),)
        self.drop = bool(drop_remainder)
        size = self.number(0)
        if size is not None and size <= 0:
            raise invalid(f"Dataset.{self.op}: batch size must be greater than zero, got {size}")
        self.spec = self._spec(size if self.drop else None)

    op = "batch"

    def _spec(self, size: int | None) -> Any:
        return batched(self.inputs[0].spec, size)

    def cardinality(self) -> int:
        """The number of batches."""
        size, n = self.inputs[0].cardinality(), self.number(0)
        if size < 0 or n is None:
            return size if size == INFINITE else UNKNOWN
        return size // n if self.drop else -(-size // n)

    def rows(self, run: Run) -> Rows:
        """Chunks of the input."""
        rows = BatchRows(self.inputs[0].rows(run), self.known(0), self.drop)
        return CompositeRows(rows, self._composites) if self._composites else rows


def batch_size_of(node: Node) -> int | None:
    """How many rows the batches of a dataset have, but for the last; None if it has none, or they differ."""
    while not isinstance(node, Batch):
        if len(node.inputs) != 1:
            return None
        node = node.inputs[0]
    return node.number(0)


class BatchRows(Rows):
    """Chunks of rows."""

    def __init__(self, source: Rows, size: int, drop: bool) -> None:
        self._source, self._size, self._drop = source, size, drop

    def __next__(self) -> Row:
        chunk = self._source.chunk(self._size)
        if self._drop and chunk[0].shape[0] < self._size:
            raise StopIteration
        return tuple(chunk)

    def skip(self, n: int) -> int:
        """In the input."""
        done = self._source.skip(n * self._size)
        return done // self._size if self._drop else -(-done // self._size)


class CompositeRows(Rows):
    """Batches in which the composite tensors of elements become one."""

    def __init__(self, source: Rows, composites: Mapping[int, Any]) -> None:
        self._source, self._composites = source, composites

    def __next__(self) -> Row:
        row = list(next(self._source))
        for i, spec in self._composites.items():
            row[i] = box(spec._stack(row[i].tolist()))
        return tuple(row)

    def skip(self, n: int) -> int:
        """In the input."""
        return self._source.skip(n)


class RaggedBatch(Batch):
    """Batches of elements of different shapes, as ragged tensors."""

    name = "_RaggedBatchDataset"
    op = "ragged_batch"

    def __init__(self, source: Node, batch_size: Any, drop_remainder: bool, dtype: Any) -> None:
        self._row_specs = [_ragged(x, dtype) for x in batchable_leaves(self.op, source.spec)]
        super().__init__(source, batch_size, drop_remainder)

    def _spec(self, size: int | None) -> Any:
        return batched(nest.pack_sequence_as(self.inputs[0].spec, self._row_specs), size)

    def rows(self, run: Run) -> Rows:
        """Chunks of the input, of rows that have not the same shape."""
        composites = {i: x for i, x in enumerate(self._row_specs) if is_expandable(x)}
        source = _Boxing(self.inputs[0].rows(run), composites)
        return CompositeRows(BatchRows(source, self.known(0), self.drop), composites)


class _Boxing(Rows):
    """Rows in which what becomes ragged is put into boxes, which can be stacked whatever is in them."""

    def __init__(self, source: Rows, places: Collection[int]) -> None:
        self._source, self._places = source, places

    def __next__(self) -> Row:
        row = list(next(self._source))
        for i in self._places:
            held = row[i]
            is_box = isinstance(held, np.ndarray) and held.dtype.hasobject and not held.ndim
            row[i] = held if is_box else box(Tensor(held))
        return tuple(row)


def _ragged(leaf: Any, dtype: Any) -> Any:
    """The spec of an element as a ragged tensor, if its shape is not known."""
    from tapeflow._src.ragged.spec import RaggedTensorSpec  # which few programs use

    if not isinstance(leaf, TensorSpec) or not leaf.shape.rank or leaf.shape.is_fully_defined():
        return leaf
    last = max(axis for axis, size in enumerate(leaf.shape) if size is None)
    return RaggedTensorSpec(leaf.shape, leaf.dtype, last, dtype)


class PaddedBatch(Batch):
    """Batches of elements of different shapes, which are padded at the end of each dimension."""

    name = "_PaddedBatchDataset"
    op = "padded_batch"

    def __init__(
        self, source: Node, batch_size: Any, shapes: Any, values: Any, drop_remainder: bool
    ) -> None:
        flat = tensor_leaves("padded_batch", source.spec)
        self.shapes = _padded_shapes(source.spec, flat, shapes)
        self.values = _padding_values(source.spec, flat, values)
        super().__init__(source, batch_size, drop_remainder)

    def _spec(self, size: int | None) -> Any:
        flat = leaves(self.inputs[0].spec)
        new = [
            TensorSpec([size, *shape], s.dtype) for shape, s in zip(self.shapes, flat, strict=True)
        ]
        return nest.pack_sequence_as(self.inputs[0].spec, new)

    def rows(self, run: Run) -> Rows:
        """Rows, padded."""
        source = self.inputs[0].rows(run)
        return PaddedRows(source, self.known(0), self.drop, self.shapes, self.values)


def _padded_shapes(spec: Any, flat: list[TensorSpec], given: Any) -> list[tuple[Any, ...]]:
    if given is None:
        for number, leaf in enumerate(flat):
            if leaf.shape.rank is None:
                raise ValueError(
                    f"You must provide `padded_shapes` argument because component {number} has unknown rank."
                )
        return [tuple(leaf.shape.as_list()) for leaf in flat]
    found = []
    for leaf, shape in zip(flat, shapes_like(spec, given), strict=True):
        dims = _dims(shape)
        own = leaf.shape._dims
        fits = own is None or (
            len(own) == len(dims)
            and all(d is None or o is None or d >= o for d, o in zip(dims, own, strict=True))
        )
        if not fits:
            raise ValueError(
                f"The padded shape {TensorShape(dims)} is not compatible with the shape {leaf.shape} of the "
                "corresponding input component."
            )
        found.append(dims)
    return found


def shapes_like(spec: Any, given: Any) -> list[Any]:
    """The shapes in a structure like the spec's: a shape is itself a list, so the spec tells where it begins."""
    if not nest.is_nested(spec):
        return [given]
    if isinstance(spec, dict):
        if not isinstance(given, dict) or given.keys() != spec.keys():
            raise _other_structure(given, spec)
        return [s for key in sorted(spec) for s in shapes_like(spec[key], given[key])]
    if not isinstance(given, (list, tuple)) or len(given) != len(spec):
        raise _other_structure(given, spec)
    return [s for part, shape in zip(spec, given, strict=True) for s in shapes_like(part, shape)]


def _other_structure(given: Any, spec: Any) -> ValueError:
    return ValueError(
        f"Dataset.padded_batch: padded_shapes {shown(given)} does not have the structure of the elements, {spec}"
    )


def _dims(shape: Any) -> tuple[Any, ...]:
    if isinstance(shape, TensorShape):
        return tuple(shape.as_list())
    values = convert_to_tensor(shape)._elements().tolist() if hasattr(shape, "numpy") else shape
    values = [values] if isinstance(values, int) else values
    try:
        sizes = [None if d is None else operator.index(d) for d in values]
    except TypeError:
        raise TypeError(
            f"Dataset.padded_batch: padded_shapes must be shapes, of integers and None, got {shown(shape)}"
        ) from None
    return tuple(None if size == -1 else size for size in sizes)


def _padding_values(spec: Any, flat: list[TensorSpec], given: Any) -> list[Any]:
    if given is None:
        values: Sequence[Any] = [None] * len(flat)
    elif not nest.is_nested(given):
        values = [given] * len(flat)
    else:
        nest.assert_same_structure(spec, given)
        values = nest.flatten(given)
    found = []
    for leaf, value in zip(flat, values, strict=True):
        if value is None:
            found.append(b"" if leaf.dtype is dtypes.string else leaf.dtype.np_dtype.type(0))
            continue
        tensor = convert_to_tensor(value)
        if tensor.dtype is not leaf.dtype:
            natural = type(value) is int and leaf.dtype.is_integer
            if not natural and not (type(value) is float and leaf.dtype.is_floating):
                raise TypeError(
                    f"Invalid `padding_values`. `padding_values` values type {tensor.dtype!r} does not match type "
                    f"{leaf.dtype!r} of the corresponding input component."
                )
        found.append(
            to_array(value, leaf.dtype)[()] if type(value) in (int, float) else tensor._array[()]
        )
    return found


class PaddedRows(Rows):
    """Batches of rows, padded."""

    def __init__(
        self, source: Rows, size: int, drop: bool, shapes: list[Any], values: list[Any]
    ) -> None:
        self._source, self._size, self._drop = source, size, drop
        self._shapes, self._values = shapes, values

    def __next__(self) -> Row:
        rows = []
        for row in self._source:
            rows.append(row)
            if len(rows) == self._size:
                break
        if not rows or (self._drop and len(rows) < self._size):
            raise StopIteration
        columns = zip(zip(*rows, strict=True), self._shapes, self._values, strict=True)
        return tuple([_padded(column, shape, value) for column, shape, value in columns])


def _padded(column: Sequence[Any], shape: tuple[Any, ...], value: Any) -> np.ndarray:
    for x in column:
        if len(x.shape) != len(shape) or any(
            d is not None and n > d for n, d in zip(x.shape, shape, strict=True)
        ):
            raise DataLossError(
                None,
                None,
                f"Attempted to pad to a smaller size than the input element: padded_batch to shape {list(shape)} met "
                f"an element of shape {list(x.shape)}",
            )
    sizes = [max(x.shape[axis] for x in column) if d is None else d for axis, d in enumerate(shape)]
    out = np.empty((len(column), *sizes), column[0].dtype)
    out[...] = value
    for i, x in enumerate(column):
        out[(i, *map(slice, x.shape))] = x if x.ndim else x[()]
    return out


class Unbatch(Node):
    """The slices of each element along its first dimension."""

    name = "_UnbatchDataset"

    def __init__(self, source: Node) -> None:
        self.inputs = (source,)
        for leaf in batchable_leaves("unbatch", source.spec):
            if isinstance(leaf, TensorSpec) and leaf.shape.rank == 0:
                raise ValueError("Cannot unbatch an input with scalar components.")
        sizes = {
            leaf.shape[0]
            for leaf in leaves(source.spec)
            if isinstance(leaf, TensorSpec) and leaf.shape.rank and leaf.shape[0] is not None
        }
        if len(sizes) > 1:
            raise ValueError(
                "Dataset.unbatch: all components of an element must have the same first dimension, and these have "
                f"{' and '.join(map(str, sorted(sizes)))}: {source.spec}"
            )
        self.spec = map_spec(lambda leaf: leaf._unbatch(), source.spec)

    def cardinality(self) -> int:
        """Known, if all batches are of one size."""
        size = self.inputs[0].cardinality()
        leaf = leaves(self.inputs[0].spec)[0]
        first = leaf.shape._dims if isinstance(leaf, TensorSpec) else None
        if size < 0 or not first or first[0] is None:
            return size if size == INFINITE else UNKNOWN
        return size * first[0]

    def rows(self, run: Run) -> Rows:
        """Slices of the rows."""
        flat = leaves(self.inputs[0].spec)
        composites = {i: leaf for i, leaf in enumerate(flat) if is_expandable(leaf)}
        return UnbatchRows(self.inputs[0].rows(run), composites)


class UnbatchRows(Rows):
    """Slices of rows."""

    def __init__(self, source: Rows, composites: Mapping[int, Any]) -> None:
        self._source = source
        self._composites = composites
        self._batch: Row = ()
        self._position = self._size = 0

    def _fill(self) -> None:
        while self._position >= self._size:
            self._batch = next(self._source)
            if self._composites:
                batch = list(self._batch)
                for i, spec in self._composites.items():
                    batch[i] = boxed(spec._rows(batch[i][()]))
                self._batch = tuple(batch)
            if not all(x.ndim for x in self._batch):
                raise invalid(
                    "Dataset.unbatch: a component of an element is a scalar, which has no rows"
                )
            sizes = {x.shape[0] for x in self._batch}
            if len(sizes) > 1:
                raise invalid(
                    "Dataset.unbatch: all components of an element must have the same first dimension, got shapes "
                    f"{[list(x.shape) for x in self._batch]}"
                )
            self._position, self._size = 0, sizes.pop()

    def __next__(self) -> Row:
        self._fill()
        i = self._position
        self._position = i + 1
        return tuple(
            [text(x[i]) if x.dtype.hasobject and x.ndim == 1 else x[i] for x in self._batch]
        )

    def chunk(self, n: int) -> list[Any]:
        """Longer slices."""
        return gathered(n, self._part)

    def _part(self, n: int) -> list[Any]:
        self._fill()
        start = self._position
        self._position = min(start + n, self._size)
        return [x[start : self._position] for x in self._batch]
