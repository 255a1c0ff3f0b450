"""Where the lists of a serialized `tf.train.Example` are, without making objects of it.

Examples are read by the million, so this is written for speed: numbers below 128 are one byte, and what is not asked
for is stepped over. Anything unusual is left to functions of a few lines each.
"""

from __future__ import annotations

from collections.abc import Container

from tapeflow._src.io.wire import skipped, varint_at

# What a feature can be, by the byte that its list begins with.
STRINGS, FLOATS, INTEGERS = 0x0A, 0x12, 0x1A
_FIRST, _SECOND = 0x0A, 0x12  # a field with a length, number 1 and number 2

Span = tuple[
    int, int, int
]  # the kind of a list, and where it begins and ends; of kind 0 there is none


def feature_spans(
    data: bytes, wanted: Container[bytes], start: int, end: int, found: dict[bytes, Span]
) -> None:
    """Adds the lists of a message of features, by name. Of several with a name the last counts.

    Raises:
      ValueError, IndexError: if it is no such message.
    """
    at = start
    while at < end:
        if data[at] != _FIRST:
            at = skipped(data, at)
            continue
        size = data[at + 1]
        at += 2
        if size > 127:
            size, at = varint_at(data, at - 1)
        stop = at + size
        # As everybody writes it: the name, the feature, and nothing else.
        size = data[at + 1]
        middle = at + 2 + size
        if (
            data[at] == _FIRST
            and size < 128
            and middle + 1 < stop <= end
            and data[middle] == _SECOND
        ):
            key = data[at + 2 : middle]
            if key not in wanted:
                at = stop
                continue
            size = data[middle + 1]
            middle += 2
            if size > 127:
                size, middle = varint_at(data, middle - 1)
            if middle + size == stop:
                found[key] = _list_span(data, middle, stop)
                at = stop
                continue
        if stop > end:
            raise ValueError("an entry is longer than the message around it")
        key, middle, last = entry(data, at, stop)
        if key in wanted:
            found[key] = _list_span(data, middle, last)
        at = stop
    if at != end:
        raise ValueError("a field is longer than the message around it")


def entry(data: bytes, at: int, stop: int) -> tuple[bytes, int, int]:
    """The key of a map's entry, and where its value begins and ends."""
    key, start, end = b"", stop, stop
    while at < stop:
        kind = data[at]
        if kind not in (_FIRST, _SECOND):
            at = skipped(data, at)
            continue
        size, at = varint_at(data, at + 1)
        if kind == _FIRST:
            key = data[at : at + size]
        else:
            start, end = at, at + size
        at += size
    if at != stop:
        raise ValueError("a field is longer than the message around it")
    return key, start, end


def _list_span(data: bytes, at: int, stop: int) -> Span:
    """The list in a feature."""
    if at == stop:
        return 0, at, at
    kind, size = data[at], data[at + 1]
    if size < 128 and at + 2 + size == stop and kind in (STRINGS, FLOATS, INTEGERS):
        return kind, at + 2, stop
    found = 0, at, at
    while at < stop:
        kind = data[at]
        if kind not in (STRINGS, FLOATS, INTEGERS):
            at = skipped(data, at)
            continue
        size, at = varint_at(data, at + 1)
        found = kind, at, at + size
        at += size
    if at != stop:
        raise ValueError("a list is longer than the feature around it")
    return found


def example_spans(data: bytes, wanted: Container[bytes]) -> dict[bytes, Span]:
    """The lists of an example."""
    found: dict[bytes, Span] = {}
    at, end = 0, len(data)
    while at < end:
        if data[at] != _FIRST:
            at = skipped(data, at)
            continue
        size, at = varint_at(data, at + 1)
        if at + size > end:
            raise ValueError("a field is longer than the message around it")
        feature_spans(data, wanted, at, at + size, found)
        at += size
    if at != end:
        raise ValueError("a field is longer than the message around it")
    return found


def sequence_spans(
    data: bytes, wanted: Container[bytes], wanted_steps: Container[bytes]
) -> tuple[dict[bytes, Span], dict[bytes, list[Span]]]:
    """The lists of the context of a sequence, and those of the steps of its lists of features."""
    context: dict[bytes, Span] = {}
    steps: dict[bytes, list[Span]] = {}
    at, end = 0, len(data)
    while at < end:
        kind = data[at]
        if kind not in (_FIRST, _SECOND):
            at = skipped(data, at)
            continue
        size, at = varint_at(data, at + 1)
        if at + size > end:
            raise ValueError("a field is longer than the message around it")
        if kind == _FIRST:
            feature_spans(data, wanted, at, at + size, context)
        else:
            for start, stop in _parts(data, at, at + size):
                key, first, last = entry(data, start, stop)
                if key in wanted_steps:
                    steps[key] = [_list_span(data, a, b) for a, b in _parts(data, first, last)]
        at += size
    if at != end:
        raise ValueError("a field is longer than the message around it")
    return context, steps


def _parts(data: bytes, at: int, stop: int) -> list[tuple[int, int]]:
    """Where the messages of a repeated field begin and end, the first field of the message around it."""
    found: list[tuple[int, int]] = []
    while at < stop:
        if data[at] != _FIRST:
            at = skipped(data, at)
            continue
        size, at = varint_at(data, at + 1)
        found.append((at, at + size))
        at += size
    if at != stop:
        raise ValueError("a field is longer than the message around it")
    return found
