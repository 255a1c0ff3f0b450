"""`shuffle`, with TensorFlow's buffer: an element is drawn from the next `buffer_size` ones, and replaced."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.errors import invalid
from tapeflow._src.data.runtime.node import UNKNOWN, Alike, Node, Randomness, Run, integer
from tapeflow._src.data.runtime.rows import ENDLESS, Row, Rows, Table
from tapeflow._src.primitives.random.philox import WordStream
from tapeflow._src.primitives.random.shuffling import permutation

_BLOCK = 4096  # how many random numbers are drawn at a time

# There are two ways to shuffle: indices, where the input has a table, and rows, where it has none. The order is the
# same, and it is TensorFlow's: from a ring of `buffer_size` elements, the one is drawn that is as many places after
# the first as a random word says. The first takes its place, and the next element of the input that of the first.


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
        words = run.words(self.randomness)
        table = self.source.table()
        if table is None:
            return BufferRows(self.source.rows(run), size, words)
        if size == UNKNOWN and table.size == ENDLESS:
            raise invalid(
                "Dataset.shuffle: a buffer cannot hold all elements of an infinite dataset"
            )
        return ShuffledTableRows(table, size, words)


class Ring:
    """The buffer. `size` says how many elements there are."""

    def __init__(self, elements: list[Any]) -> None:
        self._elements, self.size = elements, len(elements)
        self._first = 0

    def exchange(self, word: int, new: Any) -> Any:
        """Gives an element for another one."""
        elements, first = self._elements, self._first
        place = (first + word % self.size) % self.size
        out, elements[place] = elements[place], elements[first]
        elements[first] = new
        self._first = (first + 1) % self.size
        return out

    def draw(self, word: int) -> Any:
        """Gives an element, while none come in."""
        elements, first = self._elements, self._first
        place = (first + word % self.size) % len(elements)
        out, elements[place] = elements[place], elements[first]
        elements[first] = None
        self._first = (first + 1) % len(elements)
        self.size -= 1
        return out


class Order:
    """The numbers below `size`, shuffled with a buffer."""

    def __init__(self, size: int, buffer_size: int, words: WordStream) -> None:
        self._size = size
        self._position = 0
        self._words = words
        self._ring = Ring([])
        self._ready = np.empty(0, np.int64)
        if (
            buffer_size == UNKNOWN or buffer_size >= size
        ):  # drawn from a buffer that nothing comes into
            self._ready, self._unread = permutation(words.take(size)), size
            return
        self._ring = Ring(list(range(buffer_size)))
        self._unread = self._ring.size  # the next number to go into the buffer

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
        ring, unread = self._ring, self._unread
        count = min(_BLOCK, self._size - unread)
        if count:
            exchange = ring.exchange
            words = self._words.take(count).tolist()
            drawn = [exchange(word, unread + i) for i, word in enumerate(words)]
            self._unread += count
        else:
            drawn = [ring.draw(word) for word in self._words.take(min(_BLOCK, ring.size)).tolist()]
        return np.array(drawn, np.int64)


class ShuffledTableRows(Rows):
    """Rows of a table in the order of shuffled indices."""

    def __init__(self, table: Table, buffer_size: int, words: WordStream) -> None:
        self._table = table
        self._order = Order(table.size, buffer_size, words)

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

    def __init__(self, source: Rows, size: int, words: WordStream) -> None:
        self._source, self._size, self._words = source, size, words
        self._ring: Ring | None = None
        self._ended = False

    def _filled(self) -> Ring:
        rows = []
        for row in self._source:
            rows.append(row)
            if len(rows) == self._size:
                break
        else:
            self._ended = True
        return Ring(rows)

    def __next__(self) -> Row:
        ring = self._ring
        if ring is None:
            ring = self._ring = self._filled()
        if not self._ended:
            try:
                new = next(self._source)
            except StopIteration:
                self._ended = True
            else:
                return ring.exchange(self._words.one(), new)
        if not ring.size:
            raise StopIteration
        return ring.draw(self._words.one())
