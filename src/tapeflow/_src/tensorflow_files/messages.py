r"""Messages of protocol buffers, read and written by tables of the numbers of their fields.

Only what is in a table is read; other fields are passed over. A message becomes a `Record`, whose fields are
attributes.

>>> from tapeflow._src.tensorflow_files.messages import INT, TEXT, Message
>>> Point = Message("Point", x=(1, INT), names=(2, [TEXT]))
>>> Point.encoded({"x": 3, "names": ["a", "b"]})
b'\x08\x03\x12\x01a\x12\x01b'
>>> Point.decoded(_).names
['a', 'b']
>>> Point.decoded(b"").x
0
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tapeflow._src.io import wire

_DEEPEST = 100  # messages inside of each other, as in Google's library


class Damage(ValueError):
    """Bytes that are not what they should be, with what is wrong."""


class Kind(NamedTuple):
    """A kind of scalar: how it is on the wire, what it is if it is not there, and how it is read and written."""

    name: str
    on_wire: int
    default: Any
    read: Callable[[Any], Any]
    write: Callable[[int, Any], bytes]


def _packed(
    letter: str, on_wire: int
) -> tuple[Callable[[bytes], Any], Callable[[int, Any], bytes]]:
    form = f"<{letter}"

    def write(number: int, value: Any) -> bytes:
        return wire.varint(number << 3 | on_wire) + struct.pack(form, value)

    return lambda data: struct.unpack(form, data)[0], write


INT = Kind("int", wire.VARINT, 0, wire.signed, wire.integer)
SIGNED = Kind(  # whose sign is the lowest bit
    "signed",
    wire.VARINT,
    0,
    lambda v: v >> 1 ^ -(v & 1),
    lambda n, v: wire.integer(n, v << 1 ^ v >> 63),
)
BOOL = Kind("bool", wire.VARINT, False, bool, wire.integer)
BYTES = Kind("bytes", wire.LENGTH, b"", bytes, wire.data)
TEXT = Kind("text", wire.LENGTH, "", lambda data: data.decode(), wire.text)
FLOAT = Kind("float", wire.FIXED32, 0.0, *_packed("f", wire.FIXED32))
DOUBLE = Kind("double", wire.FIXED64, 0.0, *_packed("d", wire.FIXED64))
FIXED32 = Kind("fixed32", wire.FIXED32, 0, *_packed("I", wire.FIXED32))


class Record:
    """A message that was read. A field that is not there is its default; `"field" in record` tells.

    Messages inside are read when they are asked for: of a large file most are never wanted.
    """

    __slots__ = ("_depth", "_found", "_message", "_raw")

    def __init__(self, message: Message, raw: dict[str, list[Any]], depth: int = 0) -> None:
        self._message = message
        self._raw = raw  # for each field that is there, what is on the wire
        self._depth = depth
        self._found: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        try:
            return self._found[name]
        except KeyError:
            if name not in self._message.fields:
                raise AttributeError(f"{self._message.name} has no field {name!r}") from None
        found = self._found[name] = self._message.read(name, self._raw.get(name), self._depth)
        return found

    def __contains__(self, name: str) -> bool:
        return name in self._raw

    def which(self, *names: str) -> str | None:
        """The field that is there, of several of which one may be."""
        return next((name for name in names if name in self._raw), None)

    def __repr__(self) -> str:
        return f"{self._message.name}({', '.join(f'{k}={getattr(self, k)!r}' for k in self._raw)})"


class Message:
    """A kind of message.

    Args:
      name: what it is called.
      **fields: the number and the kind of each field: a `Kind` or a `Message`, a list of one for a repeated field, a
        dictionary `{TEXT: kind}` for a map.
    """

    def __init__(self, name: str, /, **fields: tuple[int, Any]) -> None:
        self.name = name
        self.fields: dict[str, tuple[int, Any]] = {}
        self._by_number: dict[int, tuple[str, Any]] = {}
        self.add(**fields)

    def add(self, /, **fields: tuple[int, Any]) -> None:
        """Adds fields: those of a message that contains itself."""
        self.fields |= fields
        for name, (number, kind) in fields.items():
            if isinstance(kind, dict):
                ((key, value),) = kind.items()
                kind = {"entry": Message(f"{self.name}.{name}", key=(1, key), value=(2, value))}
            self._by_number[number] = (name, kind)

    # Reading.

    def decoded(self, data: bytes, depth: int = 0) -> Record:
        """The message that bytes are. Damage if they are none."""
        if depth > _DEEPEST:
            raise Damage(f"messages of {self.name} are nested more than {_DEEPEST} deep")
        raw: dict[str, list[Any]] = {}
        try:
            for number, value in wire.fields(data):
                known = self._by_number.get(number)
                if known is not None:
                    raw.setdefault(known[0], []).append(value)
        except ValueError as error:
            raise Damage(f"a message of {self.name} cannot be read: {error}") from error
        return Record(self, raw, depth)

    def read(self, name: str, raw: list[Any] | None, depth: int) -> Any:
        """A field, of which there is this on the wire."""
        number, kind = self.fields[name]
        try:
            if isinstance(kind, dict):
                entry = self._by_number[number][1]["entry"]
                entries = [entry.decoded(_data(value), depth + 1) for value in raw or ()]
                return {each.key: each.value for each in entries}
            if isinstance(kind, list):
                return [one for value in raw or () for one in _several(kind[0], value, depth)]
            if raw is None:
                return Record(kind, {}, depth) if isinstance(kind, Message) else kind.default
            return _one(kind, raw[-1], depth)
        except Damage:
            raise
        except (ValueError, TypeError, struct.error) as error:
            raise Damage(f"{name} of a message of {self.name} cannot be read: {error}") from error

    # Writing.

    def encoded(self, values: Mapping[str, Any]) -> bytes:
        """A message as bytes. Its fields are values, bytes of messages, or dictionaries of them."""
        parts: list[bytes] = []
        for name, (number, kind) in sorted(self.fields.items(), key=lambda item: item[1][0]):
            value = values.get(name)
            if value is None:
                continue
            if isinstance(kind, dict):
                entry = self._by_number[number][1]["entry"]
                for key in sorted(value):
                    parts.append(
                        wire.data(number, entry.encoded({"key": key, "value": value[key]}))
                    )
            elif isinstance(kind, list):
                parts += [_written(kind[0], number, each) for each in value]
            else:
                parts.append(_written(kind, number, value))
        unknown = values.keys() - self.fields.keys()
        assert not unknown, (self.name, unknown)
        return b"".join(parts)


def _data(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError("a number stands where bytes should")
    return value


def _one(kind: Any, value: Any, depth: int) -> Any:
    if isinstance(kind, Message):
        return kind.decoded(_data(value), depth + 1)
    if (kind.on_wire == wire.VARINT) != isinstance(value, int):
        raise TypeError(f"a field of kind {kind.name} holds something else")
    return kind.read(value)


_WIDTHS = {wire.FIXED32: 4, wire.FIXED64: 8}


def _several(kind: Any, value: Any, depth: int) -> list[Any]:
    """The elements that one field adds to a list: one, or many of numbers that are packed."""
    if isinstance(kind, Message) or kind.on_wire == wire.LENGTH or isinstance(value, int):
        return [_one(kind, value, depth)]
    if kind.on_wire == wire.VARINT:
        return [kind.read(v) for v in wire.packed_varints(value)]
    width = _WIDTHS[kind.on_wire]
    return [kind.read(value[i : i + width]) for i in range(0, len(value), width)]


def _written(kind: Any, number: int, value: Any) -> bytes:
    if isinstance(kind, Message):
        return wire.data(number, value if isinstance(value, bytes) else kind.encoded(value))
    return kind.write(number, value)
