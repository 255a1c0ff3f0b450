"""Serialized examples of a batch, and the lists in them: one by one, or all examples in step.

Examples that one program has written have the same features in the same order, and differ in their values and
lengths. Then each step of reading is done for the whole batch by one operation of NumPy (`InStep`). Where an example is
otherwise, or there are few, each is read by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import invalid
from tapeflow._src.io.wire import varint_at
from tapeflow._src.parsing import lists
from tapeflow._src.parsing.lists import KINDS, NAMES
from tapeflow._src.parsing.scanning import Span, example_spans, sequence_spans

_MANY = 16  # examples, from which on steps for all of them are worth it
_LONGEST = 100  # bytes of a name that is read in step
_AHEAD = _LONGEST + 32
_SHORT = 4096  # bytes of an example: of longer ones most is copied anyway
READERS: dict[DType, Callable[[bytes, int, int], Any]] = {
    dtypes.string: lists.strings,
    dtypes.float32: lists.float_bytes,
    dtypes.int64: lists.integers,
}


def count_of(values: Any, dtype: DType) -> int:
    """How many values a list has, as it was read."""
    return len(values) >> 2 if dtype is dtypes.float32 else len(values)


class Batch:
    """Serialized examples.

    Args:
      op: who reads them, for messages.
      serialized: the examples.
      wanted: the names of the features that will be asked for.
      names: what examples are called in messages, if they have names.
    """

    def __init__(
        self, op: str, serialized: Sequence[bytes], wanted: set[bytes], names: Sequence[bytes] = ()
    ) -> None:
        self.op, self.size, self._names = op, len(serialized), names
        self._data, self._wanted = serialized, wanted
        self._found: list[dict[bytes, Span]] | None = None
        self._in_step: InStep | None = None
        if self.size >= _MANY and sum(map(len, serialized)) < _SHORT * self.size:
            self._in_step = InStep.of(serialized, wanted)

    def _spans(self) -> list[dict[bytes, Span]]:
        if self._found is None:
            scan, wanted = example_spans, self._wanted
            self._found = self.scanned("Example", lambda data: scan(data, wanted))
        return self._found

    def scanned(self, message: str, scan: Callable[[bytes], Any]) -> list[Any]:
        """A function of each example, which fails where it is no message of a kind."""
        found = []
        for number, data in enumerate(self._data):
            try:
                found.append(scan(data))
            except (ValueError, IndexError) as error:
                raise invalid(
                    f"{self.op}: could not parse {self.example(number)}, of {len(data)} bytes: it is no serialized "
                    f"tf.train.{message}: {error}"
                ) from None
        return found

    def example(self, number: int) -> str:
        """What an example is called in messages."""
        if number < len(self._names):
            return f"example {number} ({self._names[number].decode(errors='replace')})"
        return f"example {number}"

    def first(self, key: bytes) -> tuple[bytes, Span]:
        """The first example, and where its list of a feature is."""
        return self._data[0], self._spans()[0].get(key, (0, 0, 0))

    def fixed(self, key: bytes, dtype: DType, count: int) -> np.ndarray | None:
        """All values of a feature of which each example has `count`, if they can be had at once."""
        return None if self._in_step is None else self._in_step.fixed(key, dtype, count)

    def lists(self, key: bytes, dtype: DType) -> list[Any]:
        """For each example the list of a feature, or None where there is none."""
        found: list[Any] = []
        for number, spans in enumerate(self._spans()):
            span = spans.get(key)
            found.append(None if span is None else self.values(key, dtype, number, span))
        return found

    def values(self, key: bytes, dtype: DType, number: int, span: Span) -> Any:
        """The list at a place of an example, or None where there is none."""
        kind, start, stop = span
        if not kind:
            return None
        if kind != KINDS[dtype]:
            raise invalid(
                f"{self.op}: the feature {key.decode(errors='replace')!r} of {self.example(number)} has values of type "
                f"{NAMES[kind]}, where {NAMES[KINDS[dtype]]} is expected"
            )
        try:
            return READERS[dtype](self._data[number], start, stop)
        except (ValueError, IndexError) as error:
            raise invalid(
                f"{self.op}: the feature {key.decode(errors='replace')!r} of {self.example(number)} is damaged: {error}"
            ) from None


class Sequences(Batch):
    """Serialized sequences: the features of their contexts are those of examples, and there are lists of steps.

    Args:
      op: who reads them, for messages.
      serialized: the sequences.
      wanted: the names of the features of contexts that will be asked for.
      wanted_steps: the same for the lists of steps.
      names: what sequences are called in messages, if they have names.
    """

    def __init__(
        self,
        op: str,
        serialized: Sequence[bytes],
        wanted: set[bytes],
        wanted_steps: set[bytes],
        names: Sequence[bytes] = (),
    ) -> None:
        super().__init__(op, serialized, wanted, names)
        self._in_step = None
        both = self.scanned("SequenceExample", lambda d: sequence_spans(d, wanted, wanted_steps))
        self._found = [context for context, _ in both]
        self._steps = [steps for _, steps in both]

    def steps(self, key: bytes, dtype: DType) -> list[list[Any] | None]:
        """For each sequence the lists of its steps, or None where there are none."""
        empty: Any = [] if dtype is dtypes.string else b""
        found: list[list[Any] | None] = []
        for number, steps in enumerate(self._steps):
            spans = steps.get(key)
            if spans is not None:
                values = [self.values(key, dtype, number, span) for span in spans]
                spans = [empty if v is None else v for v in values]
            found.append(spans)
        return found


def joined(columns: Sequence[Any], dtype: DType) -> np.ndarray:
    """The values of several lists in one vector."""
    if dtype is dtypes.float32:
        return np.frombuffer(b"".join(columns), "<f4")
    if dtype is dtypes.int64:
        if all(type(column) is bytes for column in columns):
            return np.frombuffer(b"".join(columns), np.uint8).astype(np.int64)
        parts = [
            np.frombuffer(c, np.uint8) if type(c) is bytes else np.asarray(c, np.int64)
            for c in columns
        ]
        return np.concatenate(parts).astype(np.int64, copy=False)
    flat = [text for column in columns for text in column]
    out = np.empty(len(flat), object)
    out[:] = flat
    return out


@functools.cache
def _lengths(n: int) -> np.ndarray:
    """Ones where the lengths stand in an entry whose name has `n` bytes."""
    mask = np.zeros(n + 10, np.uint8)
    mask[[1, n + 5, n + 7, n + 9]] = 1
    return mask


class _Unlike(Exception):
    """The examples are not alike, or not as everybody writes them."""


def _alike(condition: Any) -> None:
    if not condition.all():
        raise _Unlike


class InStep:
    """Examples with the same features in the same order, read together."""

    def __init__(self, serialized: Sequence[bytes], wanted: set[bytes]) -> None:
        # Zeros behind the last example let all of them be looked at ahead.
        self._joined = b"".join([*serialized, bytes(_AHEAD)])
        self._buffer = np.frombuffer(self._joined, np.uint8)
        ends = np.cumsum([len(data) for data in serialized])
        at = np.concatenate([[0], ends[:-1]])
        # For each name the kind of its lists, and where the contents of their only fields begin and end.
        self._spans: dict[bytes, tuple[int, np.ndarray, np.ndarray]] = {}
        size, at = self._length(at, 0x0A)
        _alike(at + size == ends)
        last = int(ends[0])
        while at[0] < last:
            key = self._key(int(at[0]))
            found = self._short_entry(at, key) or self._entry(at, key)
            kind, begin, stop = found
            if key in wanted:
                self._spans[key] = kind, begin, stop
            at = stop
        _alike(at == ends)

    @staticmethod
    def of(serialized: Sequence[bytes], wanted: set[bytes]) -> InStep | None:
        """The examples, if they are alike."""
        try:
            return InStep(serialized, wanted)
        except (_Unlike, IndexError):
            return None

    def _key(self, at: int) -> bytes:
        """The name in the entry of the first example."""
        _, at = varint_at(self._joined, at + 1)
        length = self._joined[at + 1]
        if self._joined[at] != 0x0A or length > _LONGEST:
            raise _Unlike
        return self._joined[at + 2 : at + 2 + length]

    def _short_entry(self, at: np.ndarray, key: bytes) -> tuple[int, np.ndarray, np.ndarray] | None:
        """An entry all of whose lengths are single bytes: the bytes before the values are looked at together."""
        n = len(key)
        kind = self._joined[at[0] + n + 6]
        # The lengths differ from the last of them by what stands between.
        wanted = bytes([0x0A, n + 8, 0x0A, n, *key, 0x12, 4, kind, 2, 0x0A, 0])
        heads = self._buffer[at[:, None] + np.arange(n + 10)]
        sizes = heads[:, n + 9]
        expected = sizes[:, None] * _lengths(n)
        expected += np.frombuffer(wanted, np.uint8)
        if int(sizes.max()) + n + 8 > 127 or (heads != expected).any():
            return None
        begin = at + (n + 10)
        return kind, begin, begin + sizes

    def _entry(self, at: np.ndarray, key: bytes) -> tuple[int, np.ndarray, np.ndarray]:
        """Any other entry."""
        size, at = self._length(at, 0x0A)
        stop = at + size
        size, at = self._length(at, 0x0A)
        _alike(size == len(key))
        found = self._buffer[at[:, None] + np.arange(len(key))]
        _alike(found == np.frombuffer(key, np.uint8))
        size, at = self._length(at + size, 0x12)
        _alike(at + size == stop)
        kind = self._joined[at[0]]
        size, at = self._length(at, kind)
        _alike(at + size == stop)
        size, at = self._length(at, 0x0A)
        _alike(at + size == stop)
        return kind, at, stop

    def _length(self, at: np.ndarray, tag: int) -> tuple[np.ndarray, np.ndarray]:
        """The lengths of the fields that begin with a tag at these places, and where their contents begin."""
        _alike(self._buffer[at] == tag)
        size = self._buffer[at + 1].astype(np.int64)
        at = at + 2
        if (size > 127).any():
            size &= 127
            for shift in (7, 14, 21):
                going_on = self._buffer[at - 1] > 127
                size |= np.where(going_on, self._buffer[at].astype(np.int64) & 127, 0) << shift
                at = at + going_on
            _alike(self._buffer[at - 1] < 128)
        return size, at

    def fixed(self, key: bytes, dtype: DType, count: int) -> np.ndarray | None:
        """`count` values of a feature from each example, if all have as many, and they are easy to read."""
        kind, at, stop = self._spans.get(key, (0, None, None))
        if kind != KINDS[dtype] or at is None or stop is None:
            return None
        try:
            size = stop - at
            if dtype is dtypes.float32:
                _alike(size == 4 * count)
                return self._buffer[at[:, None] + np.arange(4 * count)].view("<f4")
            if dtype is dtypes.string:
                return self._texts(at, stop) if count == 1 else None
            if (size == count).all():  # each below 128
                values = self._buffer[at[:, None] + np.arange(count)]
                _alike(values < 128)
                return values.astype(np.int64)
            return self._varints(at, stop) if count == 1 else None
        except (_Unlike, IndexError):
            return None

    def _texts(self, at: np.ndarray, stop: np.ndarray) -> np.ndarray:
        whole = self._joined
        out = np.empty(len(at), object)
        out[:] = [whole[a:b] for a, b in zip(at.tolist(), stop.tolist(), strict=True)]
        return out[:, None]

    def _varints(self, at: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """One integer between each of these places."""
        places = np.arange(10)
        there = places < (stop - at)[:, None]
        _alike(stop - at <= 10)
        raw = np.where(there, self._buffer[at[:, None] + places], 0)
        _alike((raw > 127) == (places < (stop - at - 1)[:, None]))
        parts = (raw & np.uint8(127)).astype(np.uint64) << (7 * places).astype(np.uint64)
        return np.bitwise_or.reduce(parts, axis=1).view(np.int64)[:, None]
