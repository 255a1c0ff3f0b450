"""Elements from files of comma-separated values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.data.nodes.mapping import InterleavedRows
from tapeflow._src.data.runtime.node import UNKNOWN, Node, Run
from tapeflow._src.data.runtime.rows import Row, Rows, gathered, text
from tapeflow._src.io.csv_fields import Column, Format, Unfinished, picked
from tapeflow._src.io.streams import Stream

_BLOCK = 2**18  # bytes that are read at once
_RECORDS = 4096  # that are converted at once


class CsvFiles(Node):
    """The records of files.

    Args:
      paths: a dataset of their names.
      columns: what their fields become.
      selected: whether there may be other fields.
      form: how they are written.
      header: whether the first record of each file is left out.
      compression: of the files.
    """

    name = "CsvDatasetV2"

    def __init__(
        self,
        paths: Node,
        columns: Sequence[Column],
        selected: bool,
        form: Format,
        header: bool,
        compression: str,
    ) -> None:
        self.inputs = (paths,)
        self.columns, self.selected, self.form = columns, selected, form
        self.header, self.compression = header, compression
        self.spec = tuple(TensorSpec((), column.dtype) for column in columns)

    def cardinality(self) -> int:
        """Not known before reading."""
        return UNKNOWN

    def rows(self, run: Run) -> Rows:
        """One file after the other."""
        return InterleavedRows(
            self.inputs[0].rows(run), lambda path: CsvRows(self, path[0][()]), 1, 1
        )


class CsvRows(Rows):
    """The records of a file. One that is wrong is an error, after which reading goes on with the next."""

    def __init__(self, node: CsvFiles, path: bytes) -> None:
        self._node, self._path = node, path
        self._blocks: Iterator[list[Any]] | None = None
        self._block: list[Any] = []
        self._position = 0

    def _fill(self) -> None:
        if self._blocks is None:
            node = self._node
            self._blocks = records(Stream(self._path, node.compression), node.form, node.header)
        while self._position >= len(self._block):
            self._block, self._position = next(self._blocks), 0

    def __next__(self) -> Row:
        self._fill()
        record = self._block[self._position]
        self._position += 1
        return tuple(
            [x[0] if x.dtype.kind != "O" else text(x[0]) for x in self._converted([record])]
        )

    def chunk(self, n: int) -> list[Any]:
        """Many at once, unless one of them is wrong."""
        return gathered(n, self._part)

    def _part(self, n: int) -> list[Any]:
        self._fill()
        start = self._position
        some = self._block[start : start + min(n, _RECORDS)]
        try:
            found = self._converted(some)
        except Exception:
            # One by one up to the wrong one, which is an error by itself.
            for done, record in enumerate(some):
                try:
                    self._converted([record])
                except Exception:
                    self._position = start + done + 1
                    raise
            raise
        self._position = start + len(some)
        return found

    def _converted(self, some: list[Any]) -> list[Any]:
        node = self._node
        for record in some:
            if isinstance(record, Exception):
                raise record
        parts = picked(some, node.columns, node.selected, node.form, None)
        na_value = node.form.na_value
        return [c.converted(texts, na_value) for c, texts in zip(node.columns, parts, strict=True)]


def records(stream: Stream, form: Format, header: bool) -> Iterator[list[Any]]:
    """The records of a file, several at a time: their fields, or what is wrong with one."""
    rest = b""
    while True:
        data = stream.read(_BLOCK)
        whole = rest + data if rest else data
        if not whole:
            return
        block, end = _split(whole, form, not data)
        if header and block:
            header = False
            block = block[1:]
        if block:
            yield block
        rest = whole[end:]
        if not data:
            return


def _split(data: bytes, form: Format, last: bool) -> tuple[list[Any], int]:
    """The records that are complete, and where they end. If these are the last bytes, all are."""
    found: list[Any] = []
    if not form.quotes or b'"' not in data:
        end = len(data) if last else data.rfind(b"\n") + 1
        if end:
            text = data[:end].replace(b"\r\n", b"\n")
            lines = text.split(b"\n")
            if text.endswith(b"\n"):
                lines.pop()
            if last and lines and lines[-1].endswith(b"\r"):
                lines[-1] = lines[-1][:-1]
            found = [line.split(form.delim) for line in lines]
        return found, end
    at = 0
    while at < len(data):
        try:
            fields, end = form.record_at(data, at)
        except Unfinished:
            if not last:
                break
            found.append(form.wrong("reached end of file without closing a quoted field", None))
            return found, len(data)
        except Exception as error:
            end = data.find(b"\n", at)
            if end < 0:
                if not last:
                    break
                end = len(data)
            fields = error
        if end >= len(data) and not last:
            break
        found.append(fields)
        at = end + 1
    return found, min(at, len(data))
