"""`shuffle`, with TensorFlow's buffer: an element is drawn from the next `buffer_size` ones, and replaced."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.errors import invalid
from tapeflow._src.data.runtime.node import UNKNOWN, Alike, Node, Randomness, Run, integer
from tapeflow._src.data.runtime.rows import ENDLESS, Row, Rows, Table

_BLOCK = 4096  # how many random numbers are drawn at a time

# There are two ways to shuffle: indices, where the input has a table, and rows, where it has none. Both draw the same
# random numbers for the same purpose, so that the order is the same. After `cache`, the one follows the other.


class Shuffle(Alike):
    """The elements in another order."""

    name = "_ShuffleDataset"

    def __init__(self, source: Node, buffer_size: Any, seed: Any, anew: bool) -> None:
        super().__init__(source)
        self.tensors = (integer("shuffle", "buffer_size", buffer_size),)
        size = self.number(0)
        if size is not None and size <= 0 and size != UNKNOWN:
            raise invalid(
                f"Dataset.shuffle: buffer_size must be greater than zero or UNKNOWN_CARDINALITY, got {size}"
            )
        self.randomness = Randomness(seed, anew)

    def rows(self, run: Run) -> Rows:
        """By indices, where the input has a table."""
        assert self.randomness is not None
        size = self.known(0)
        generator = run.generator(self.randomness)
        table = self.source.table()
        if table is None:
            return BufferRows(self.source.rows(run), size, generator)
        if size == UNKNOWN and table.size == ENDLESS:
            raise invalid(
                "Dataset.shuffle: a buffer cannot hold all elements of an infinite dataset"
            )
        return ShuffledTableRows(table, size, generator)


class Order:
    """The numbers below `size`, shuffled with a buffer."""

    def __init__(self, size: int, buffer_size: int, generator: np.random.Generator) -> None:
        self._size, self._generator = size, generator
        self._position = 0
        if buffer_size == UNKNOWN or buffer_size >= size:
            self._ready = generator.permutation(size)
            self._buffer: list[int] = []
        else:
            self._ready = np.empty(0, np.int64)
            self._buffer = list(range(buffer_size))
        self._unread = len(self._buffer)  # the next number to go into the buffer

    def some(self, n: int) -> np.ndarray:
        """The next `n` numbers, or fewer."""
        if self._position >= len(self._ready):
            self._ready, self._position = self._block(), 0
        start = self._position
        self._position = min(start + n, len(self._ready))
        return self._ready[start : self._position]

    def many(self, n: int) -> np.ndarray:
        """The next `n` numbers; fewer at the end."""
        found = self.some(n)
        while len(found) < n:
            more = self.some(n - len(found))
            if not len(more):
                break
            found = np.concatenate([found, more])
        return found

    def _block(self) -> np.ndarray:
        buffer, left = self._buffer, min(_BLOCK, self._size - self._unread)
        if not buffer:
            return np.empty(0, np.int64)
        if not left:  # what is in the buffer comes last, in any order
            self._buffer = []
            return np.array(buffer)[self._generator.permutation(len(buffer))]
        drawn = []
        slots = self._generator.integers(len(buffer), size=_BLOCK)[:left].tolist()
        for slot, new in zip(slots, range(self._unread, self._unread + left), strict=True):
            drawn.append(buffer[slot])
            buffer[slot] = new
        self._unread += left
        return np.array(drawn)


class ShuffledTableRows(Rows):
    """Rows of a table in the order of shuffled indices."""

    def __init__(self, table: Table, buffer_size: int, generator: np.random.Generator) -> None:
        self._table = table
        self._order = Order(table.size, buffer_size, generator)

    def __next__(self) -> Row:
        index = self._order.some(1)
        if not len(index):
            raise StopIteration
        return self._table.row(int(index[0]))

    def chunk(self, n: int) -> list[Any]:
        """Gathers them at once."""
        indices = self._order.many(n)
        if not len(indices):
            raise StopIteration
        return self._table.take(indices)

    def skip(self, n: int) -> int:
        """Without reading them."""
        return len(self._order.many(n))


class BufferRows(Rows):
    """Rows drawn from a buffer."""

    def __init__(self, source: Rows, size: int, generator: np.random.Generator) -> None:
        self._source, self._size, self._generator = source, size, generator
        self._buffer: list[Row] = []
        self._slots: list[int] = []
        self._filled = False

    def _fill(self) -> None:
        for row in self._source:
            self._buffer.append(row)
            if len(self._buffer) == self._size:
                break
        self._filled = True

    def __next__(self) -> Row:
        if not self._filled:
            self._fill()
        buffer = self._buffer
        if not buffer:
            raise StopIteration
        if len(buffer) == self._size:
            try:
                new = next(self._source)
            except StopIteration:
                self._drain()
            else:
                if not self._slots:
                    self._slots = self._generator.integers(self._size, size=_BLOCK)[::-1].tolist()
                slot = self._slots.pop()
                row, buffer[slot] = buffer[slot], new
                return row
        elif self._size != 0:
            self._drain()
        return self._buffer.pop()

    def _drain(self) -> None:
        """What is left comes out in any order."""
        order = self._generator.permutation(len(self._buffer))
        self._buffer = [self._buffer[i] for i in reversed(order)]
        self._size = 0
