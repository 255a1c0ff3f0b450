"""Comma-separated values: from bytes to fields, and from fields to columns of numbers and strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import InvalidArgumentError, invalid, shown
from tapeflow._src.ops.effects.host import bytes_array

_QUOTE = b'"'
DTYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


class Unfinished(Exception):
    """A record ends inside of a quoted field."""


class Format:
    """How records are written.

    Args:
      op: who reads them, for messages.
      field_delim: what stands between fields, one character.
      use_quote_delim: whether fields may be quoted.
      na_value: what stands for a value that is missing, besides nothing.
    """

    def __init__(self, op: str, field_delim: Any, use_quote_delim: Any, na_value: Any) -> None:
        self.op = op
        self.delim = _bytes(op, "field_delim", field_delim)
        if len(self.delim) != 1:
            raise invalid(f"{op}: field_delim must be one character, got {shown(field_delim)}")
        self.quotes = bool(use_quote_delim)
        self.na_value = _bytes(op, "na_value", na_value)

    def fields(self, record: bytes, number: int | None = None) -> list[bytes]:
        """The fields of a string that is one record."""
        if _QUOTE not in record or not self.quotes:
            if self.quotes and (b"\n" in record or b"\r" in record):
                raise self.wrong(
                    "unquoted fields cannot have quotes or ends of lines inside", number
                )
            return record.split(self.delim) if record else []
        try:
            found, end = self.record_at(record, 0, number)
        except Unfinished:
            raise self.wrong("a quoted field has to end with a quote", number) from None
        if end != len(record):
            raise self.wrong("unquoted fields cannot have quotes or ends of lines inside", number)
        return found

    def record_at(self, data: bytes, at: int, number: int | None = None) -> tuple[list[bytes], int]:
        """The fields of a record with quotes, and where it ends: at an end of line, or at that of the data."""
        found: list[bytes] = []
        while True:
            if data[at : at + 1] == _QUOTE:
                field, at = self._quoted(data, at + 1, number)
            else:
                end = _first(data, at, (self.delim, b"\n"))
                field, at = data[at:end], end
                if _QUOTE in field:
                    raise self.wrong("unquoted fields cannot have quotes inside", number)
                if data[at : at + 1] != self.delim and field.endswith(b"\r"):
                    field = field[:-1]
                    at = at if at < len(data) else at - 1
            found.append(field)
            if data[at : at + 1] != self.delim:
                return found, at
            at += 1

    def _quoted(self, data: bytes, at: int, number: int | None) -> tuple[bytes, int]:
        """A field from behind its first quote, and where it ends."""
        parts: list[bytes] = []
        while True:
            end = data.find(_QUOTE, at)
            if end < 0:
                raise Unfinished
            parts.append(data[at:end])
            after = data[end + 1 : end + 2]
            if after != _QUOTE:
                break
            parts.append(_QUOTE)
            at = end + 2
        if after in (b"", self.delim, b"\n"):
            return b"".join(parts), end + 1
        if data[end + 1 : end + 3] in (b"\r\n", b"\r"):
            return b"".join(parts), min(end + 2, len(data))
        raise self.wrong("a quote inside of a quoted field has to be doubled", number)

    def wrong(self, what: str, number: int | None) -> InvalidArgumentError:
        """The error for a record."""
        return invalid(
            f"{self.op}: {what}, in {'a record' if number is None else f'record {number}'}"
        )


def _bytes(op: str, argument: str, value: Any) -> bytes:
    found = convert_to_tensor(value)
    if found.dtype is not dtypes.string or found.shape.rank != 0:
        raise invalid(f"{op}: {argument} must be a string, got {shown(value)}")
    return found._array[()]


def _first(data: bytes, at: int, ends: Sequence[bytes]) -> int:
    places = [place for end in ends if (place := data.find(end, at)) >= 0]
    return min(places, default=len(data))


class Column:
    """What a field becomes.

    Args:
      op: who reads it, for messages.
      number: which field it is.
      default: what stands for a missing value, as a list of one; a dtype, or an empty list, says that there is none.
    """

    def __init__(self, op: str, number: int, default: Any) -> None:
        self._op, self.number = op, number
        self.default: Any = None
        self.dtype: DType
        if isinstance(default, (DType, type)):
            self.dtype = as_dtype(default)
        else:
            given = convert_to_tensor(default)
            self.dtype = given.dtype
            if given.shape.rank not in (0, 1) or given.shape.num_elements() not in (0, 1):
                raise invalid(
                    f"{op}: record_defaults must have at most one value for each field, and that of field {number} is "
                    f"{shown(default)}"
                )
            if given.shape.num_elements():
                value = np.ravel(given._array)[0]
                self.default = value
        if self.dtype not in DTYPES:
            raise invalid(
                f"{op}: record_defaults of dtype {self.dtype.name} for field {number}: a field becomes float32, "
                "float64, int32, int64 or string"
            )

    def converted(
        self, texts: list[bytes], na_value: bytes, record: int | None = None
    ) -> np.ndarray:
        """The values of a field in several records. `record` is the number of the first one, if they have numbers."""
        missing = [i for i, text in enumerate(texts) if not text or text == na_value]
        if missing:
            if self.default is None:
                raise invalid(
                    f"{self._op}: field {self.number} is required but missing in {_record(record, missing[0])}"
                )
            texts = list(texts)
            for i in missing:
                texts[i] = b"0"
        if self.dtype is dtypes.string:
            found = bytes_array(texts, (len(texts),))
        else:
            found = self._numbers(texts, record)
        if missing:
            found[missing] = self.default
        return found

    def _numbers(self, texts: list[bytes], record: int | None) -> np.ndarray:
        python: Callable[[bytes], Any] = int if self.dtype.is_integer else float
        try:
            if b"_" in b"".join(texts):  # which Python allows
                raise ValueError
            values = [python(text) for text in texts]
            if self.dtype.is_integer:
                return np.array(values, self.dtype.np_dtype)
            with np.errstate(over="ignore"):
                return np.array(values, np.float64).astype(self.dtype.np_dtype)
        except (ValueError, OverflowError):
            for place, text in enumerate(texts):
                self._check(python, text, record, place)
            raise

    def _check(self, python: Any, text: bytes, record: int | None, place: int) -> None:
        try:
            if b"_" in text:
                raise ValueError
            np.array(python(text), self.dtype.np_dtype)
        except (ValueError, OverflowError):
            raise invalid(
                f"{self._op}: field {self.number} in {_record(record, place)} is not a valid {self.dtype.name}: "
                f"{text.decode(errors='replace')}"
            ) from None


def _record(first: int | None, place: int) -> str:
    return "a record" if first is None else f"record {first + place}"


def columns(op: str, record_defaults: Any, selected: Sequence[int] | None) -> list[Column]:
    """The columns of records, of which some fields may be selected."""
    if not isinstance(record_defaults, (list, tuple)):
        raise TypeError(f"{op}: record_defaults must be a list, got {shown(record_defaults)}")
    numbers = range(len(record_defaults)) if selected is None else selected
    return [Column(op, n, d) for n, d in zip(numbers, record_defaults, strict=True)]


def picked(
    records: Sequence[list[bytes]],
    columns: Sequence[Column],
    selected: bool,
    form: Format,
    first: int | None,
) -> list[list[bytes]]:
    """The fields of records, column by column."""
    most = columns[-1].number + 1 if columns else 0
    for place, record in enumerate(records):
        if len(record) < most or (len(record) > most and not selected):
            count = sum(c.number < len(record) for c in columns) if selected else len(record)
            raise form.wrong(
                f"expect {len(columns)} fields but have {count}",
                None if first is None else first + place,
            )
    if not selected:
        return (
            [list(column) for column in zip(*records, strict=True)]
            if records
            else [[] for _ in columns]
        )
    return [[record[c.number] for record in records] for c in columns]
