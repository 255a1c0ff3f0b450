"""How elements travel: rows, tables and passes.

A *row* is an element as a flat tuple of arrays, in the order of `tf.nest.flatten`. `Rows` is one pass over a dataset.
It gives the next row, or the next `n` rows stacked, which makes batches cheap. A `Table` has its rows at hand in any
order. A dataset that has one is shuffled, batched and sharded by arithmetic on indices, and a batch is gathered by one
NumPy call for each component: no element is ever touched by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.errors import invalid

Row = tuple[Any, ...]

ENDLESS = sys.maxsize


class Rows:
    """One pass over a dataset."""

    def __iter__(self) -> Rows:
        return self

    def __next__(self) -> Row:
        raise NotImplementedError

    def chunk(self, n: int) -> list[Any]:
        """The next `n` rows, stacked component by component; fewer at the end, and then StopIteration."""
        rows = []
        for row in self:
            rows.append(row)
            if len(rows) == n:
                break
        if not rows:
            raise StopIteration
        return stacked(rows)

    def skip(self, n: int) -> int:
        """Leaves out `n` rows, and tells how many there were."""
        for done in range(n):
            try:
                next(self)
            except StopIteration:
                return done
        return n


class Table:
    """Rows that can be had in any order.

    Attributes:
      size: how many there are.
    """

    size: int

    def row(self, i: int) -> Row:
        """Row `i`."""
        raise NotImplementedError

    def take(self, indices: np.ndarray) -> list[Any]:
        """These rows, stacked component by component."""
        raise NotImplementedError

    def between(self, start: int, stop: int) -> list[Any]:
        """The rows from `start` to `stop`, stacked."""
        return self.take(np.arange(start, stop))

    def strided(self, start: int, step: int, size: int) -> Table:
        """The table of `size` rows from `start` on, `step` apart."""
        raise NotImplementedError


class ArrayTable(Table):
    """The rows of arrays of the same length."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self.arrays = arrays
        self.size = arrays[0].shape[0]
        self._plain = not any(a.dtype.hasobject and a.ndim == 1 for a in arrays)

    def row(self, i: int) -> Row:
        """Row `i`, as views."""
        if self._plain:
            return tuple([a[i] for a in self.arrays])
        return tuple(
            [a[i] if a.ndim > 1 or not a.dtype.hasobject else text(a[i]) for a in self.arrays]
        )

    def take(self, indices: np.ndarray) -> list[Any]:
        """Gathers from each array."""
        return [a.take(indices, 0) for a in self.arrays]

    def between(self, start: int, stop: int) -> list[Any]:
        """Views of the arrays."""
        return [a[start:stop] for a in self.arrays]

    def strided(self, start: int, step: int, size: int) -> Table:
        """A table of views."""
        return ArrayTable([a[start::step][:size] for a in self.arrays])


class RangeTable(Table):
    """Numbers at equal distances, which are made when they are asked for."""

    def __init__(self, start: int, step: int, size: int, dtype: np.dtype) -> None:
        self.start, self.step, self.size, self.dtype = start, step, size, dtype

    def row(self, i: int) -> Row:
        """A number."""
        number = self.start + i * self.step
        if not -(2**63) <= number < 2**63:  # goes on at the other end, as sums of int64 do
            number = (number + 2**63) % 2**64 - 2**63
        return (self.dtype.type(number),)

    def take(self, indices: np.ndarray) -> list[Any]:
        """Numbers."""
        return [(indices * self.step + self.start).astype(self.dtype)]

    def strided(self, start: int, step: int, size: int) -> Table:
        """Another range."""
        return RangeTable(self.start + start * self.step, self.step * step, size, self.dtype)


class ZipTable(Table):
    """Tables side by side."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables
        self.size = min(t.size for t in tables)

    def row(self, i: int) -> Row:
        """The components of all."""
        return tuple([x for t in self.tables for x in t.row(i)])

    def take(self, indices: np.ndarray) -> list[Any]:
        """The components of all."""
        return [x for t in self.tables for x in t.take(indices)]

    def between(self, start: int, stop: int) -> list[Any]:
        """The components of all."""
        return [x for t in self.tables for x in t.between(start, stop)]

    def strided(self, start: int, step: int, size: int) -> Table:
        """The same for all."""
        return ZipTable([t.strided(start, step, size) for t in self.tables])


class RepeatedTable(Table):
    """A table over and over."""

    def __init__(self, table: Table, count: int | None) -> None:
        self.table, self.count = table, count
        self.size = ENDLESS if count is None else table.size * count

    def row(self, i: int) -> Row:
        """A row of the table."""
        return self.table.row(i % self.table.size)

    def take(self, indices: np.ndarray) -> list[Any]:
        """Rows of the table."""
        return self.table.take(indices % self.table.size)

    def between(self, start: int, stop: int) -> list[Any]:
        """Views, where no end is in between."""
        size = self.table.size
        first = start % size
        if first + stop - start <= size:
            return self.table.between(first, first + stop - start)
        return self.take(np.arange(start, stop))

    def strided(self, start: int, step: int, size: int) -> Table:
        """Rows picked by index."""
        return PickedTable(self, start, step, size)


class PickedTable(Table):
    """Some rows of a table, at equal distances."""

    def __init__(self, table: Table, start: int, step: int, size: int) -> None:
        self.table, self.start, self.step, self.size = table, start, step, size

    def row(self, i: int) -> Row:
        """A row of the table."""
        return self.table.row(self.start + i * self.step)

    def take(self, indices: np.ndarray) -> list[Any]:
        """Rows of the table."""
        return self.table.take(indices * self.step + self.start)

    def strided(self, start: int, step: int, size: int) -> Table:
        """Some of these."""
        return PickedTable(self.table, self.start + start * self.step, self.step * step, size)


class TableRows(Rows):
    """A pass over a table from its first row to its last."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._position = 0

    def __next__(self) -> Row:
        i = self._position
        if i >= self._table.size:
            raise StopIteration
        self._position = i + 1
        return self._table.row(i)

    def chunk(self, n: int) -> list[Any]:
        """Without going through the rows."""
        start = self._position
        stop = min(start + n, self._table.size)
        if stop <= start:
            raise StopIteration
        self._position = stop
        return self._table.between(start, stop)

    def skip(self, n: int) -> int:
        """At once."""
        done = min(n, self._table.size - self._position)
        self._position += done
        return done


# Stacking.


def text(value: bytes) -> np.ndarray:
    """A scalar of dtype string."""
    out = np.empty((), object)
    out[()] = value
    return out


def texts(values: Sequence[bytes]) -> np.ndarray:
    """A vector of dtype string."""
    out = np.empty(len(values), object)
    out[:] = values
    return out


def stacked(rows: Sequence[Row]) -> list[Any]:
    """Rows as one array for each component.

    Raises:
      InvalidArgumentError: if the shapes of a component differ.
    """
    return [_stack(number, column) for number, column in enumerate(zip(*rows, strict=True))]


def _stack(number: int, column: Sequence[Any]) -> np.ndarray:
    first = column[0]
    shape = _shape_of(number, first)
    for position, x in enumerate(column):
        if x.shape != shape:
            raise invalid(
                f"Cannot batch tensors with different shapes in component {number}. First element had shape "
                f"{list(shape)} and element {position} had shape {list(x.shape)}. Use padded_batch, or make them equal "
                "in map()."
            )
    if first.dtype.hasobject:
        out = np.empty((len(column), *shape), object)
        for i, x in enumerate(column):
            out[i] = x[()] if not shape else x
        return out
    if not shape:
        return np.array(column, first.dtype)
    out = np.empty((len(column), *shape), first.dtype)
    for i, x in enumerate(column):
        out[i] = x
    return out


def _shape_of(number: int, value: Any) -> tuple[int, ...]:
    try:
        return value.shape
    except AttributeError:
        what = "None" if value is None else "a dataset"
        raise TypeError(
            f"Component {number} of the elements is {what}, which cannot be batched. Turn it into tensors with map() "
            "or flat_map() first."
        ) from None


def gathered(n: int, part: Callable[[int], list[Any]]) -> list[Any]:
    """`n` rows from a source that may give fewer at a time, and raises StopIteration in the end."""
    parts: list[list[Any]] = []
    while n:
        try:
            found = part(n)
        except StopIteration:
            break
        parts.append(found)
        n -= found[0].shape[0]
    if len(parts) == 1:
        return parts[0]
    if not parts:
        raise StopIteration
    return [_joined(number, column) for number, column in enumerate(zip(*parts, strict=True))]


def _joined(number: int, column: Sequence[np.ndarray]) -> np.ndarray:
    shape = column[0].shape[1:]
    for x in column:
        if x.shape[1:] != shape:
            raise invalid(
                f"Cannot batch tensors with different shapes in component {number}. There are elements of shape "
                f"{list(shape)} and of shape {list(x.shape[1:])}."
            )
    return np.concatenate(column)
