"""Elements from files: records, lines, and pieces of a fixed length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.data.nodes.mapping import InterleavedRows
from tapeflow._src.data.runtime import background
from tapeflow._src.data.runtime.node import UNKNOWN, Node, Run
from tapeflow._src.data.runtime.rows import Row, Rows, gathered, text, texts
from tapeflow._src.io.records import blocks
from tapeflow._src.io.streams import Stream

Block = list[bytes]
Reader = Callable[[bytes], Iterator[Block]]

_LINES = 2**18  # bytes of a file of lines that are read at once
_AHEAD = 2  # blocks of each file that are read by threads before they are asked for


class Files(Node):
    """What is in files, one after the other, or several in turn.

    Args:
      name: what `repr` calls it.
      paths: a dataset of their names.
      reader: gives what is in a file, several elements at a time.
      cycle: how many files are read in turn, each by a thread; None for one after the other.
    """

    spec = TensorSpec((), dtypes.string)

    def __init__(self, name: str, paths: Node, reader: Reader, cycle: int | None) -> None:
        self.name = name
        self.inputs = (paths,)
        self.reader, self.cycle = reader, cycle

    def cardinality(self) -> int:
        """Not known before reading."""
        return UNKNOWN

    def rows(self, run: Run) -> Rows:
        """Those of the files in turn."""
        return InterleavedRows(self.inputs[0].rows(run), self._opened, self.cycle or 1, 1)

    def _opened(self, path: Row) -> Rows:
        found: Any = BlockRows(self.reader, path[0][()])
        return StringRows(found if self.cycle is None else background.PrefetchRows(found, _AHEAD))


class BlockRows(Rows):
    """The blocks of a file, which is opened when the first is asked for. Not rows, but they travel in the same way."""

    def __init__(self, reader: Reader, path: bytes) -> None:
        self._blocks = _begun(reader, path)

    def __next__(self) -> Row:
        return (next(self._blocks),)


def _begun(reader: Reader, path: bytes) -> Iterator[Block]:
    yield from reader(path)


class StringRows(Rows):
    """Rows of one string, which come in blocks."""

    def __init__(self, source: Rows) -> None:
        self._source = source
        self._block: Block = []
        self._position = 0

    def _fill(self) -> None:
        while self._position >= len(self._block):
            self._block, self._position = next(self._source)[0], 0

    def __next__(self) -> Row:
        self._fill()
        self._position += 1
        return (text(self._block[self._position - 1]),)

    def chunk(self, n: int) -> list[Any]:
        """Parts of blocks."""
        return gathered(n, self._part)

    def _part(self, n: int) -> list[Any]:
        self._fill()
        start = self._position
        self._position = min(start + n, len(self._block))
        return [texts(self._block[start : self._position])]

    def skip(self, n: int) -> int:
        """Without making rows."""
        left = n
        while left:
            try:
                self._fill()
            except StopIteration:
                break
            some = min(left, len(self._block) - self._position)
            self._position += some
            left -= some
        return n - left


# What is in a file.


def records(compression: str) -> Reader:
    """The records of TFRecord files."""
    return lambda path: blocks(Stream(path, compression), _named(path))


def _named(path: bytes) -> str:
    return path.decode(errors="replace")


def lines(compression: str) -> Reader:
    """The lines of texts, without their ends."""

    def read(path: bytes) -> Iterator[Block]:
        stream = Stream(path, compression)
        begun: list[bytes] = []  # parts of a line whose end has not been seen
        while data := stream.read(_LINES):
            first, *found = data.replace(b"\r", b"").split(b"\n")
            begun.append(first)
            if found:
                block = [b"".join(begun), *found]
                begun = [block.pop()]
                yield block
        last = b"".join(begun)
        if last:
            yield [last]

    return read


def pieces(size: int, header: int, footer: int, compression: str) -> Reader:
    """Pieces of one length, between a header and a footer."""

    def read(path: bytes) -> Iterator[Block]:
        stream = Stream(path, compression)
        before = _skipped(stream, header)
        # The end of the file is not a record, so one is given when as much is known to follow it.
        rest, total = b"", before
        at_once = max(1, _LINES // size) * size
        while data := stream.read(at_once):
            total += len(data)
            rest += data
            count = max(0, len(rest) - footer) // size
            if count:
                yield [rest[i * size : (i + 1) * size] for i in range(count)]
                rest = rest[count * size :]
        if before < header or len(rest) != footer:
            raise invalid(
                f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file {_named(path)!r} of "
                f"{total} bytes is not a whole number of records of {size} bytes"
            )

    return read


def _skipped(stream: Stream, size: int) -> int:
    left = size
    while left and (data := stream.read(min(left, _LINES))):
        left -= len(data)
    return size - left
