"""Messages of protocol buffers as Python objects, for the few kinds that data is exchanged in.

A message is described by its `FIELDS`. Fields are read like attributes, and what is read is changed in place:

    example.features.feature["age"].int64_list.value.append(42)

A message inside of another one counts as set when something in it has been, as in Google's library.
"""

from __future__ import annotations

import functools
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, ClassVar, NamedTuple, Self

from tapeflow._src.core.errors import shown
from tapeflow._src.io import wire
from tapeflow._src.io.descriptors import Described
from tapeflow._src.io.message_fields import MessageMap, Messages, Scalars, quoted
from tapeflow._src.io.message_scalars import TEXT, Single


class DecodeError(ValueError):
    """Bytes that are not a message of the kind that was asked for."""


class Field(NamedTuple):
    """One field of a message.

    Attributes:
      number: which it has on the wire.
      kind: `"message"`, `"messages"`, `"map"` from texts to messages, a `Single` of a scalar, or the `Numbers` and
        such of a list of scalars.
      of: the class of its messages.
    """

    number: int
    kind: Any
    of: Any = None


class Message:
    """A message. Its fields are in `FIELDS`; of those in `ONE_OF` at most one is set."""

    FIELDS: ClassVar[dict[str, Field]] = {}
    ONE_OF: ClassVar[str | None] = None  # the name of the choice, if the fields are one
    FULL_NAME: ClassVar[str] = ""

    _values: dict[str, Any]  # what is set
    _waiting: dict[str, Any]  # what was asked for and has nothing in it yet
    _tell: Callable[[], None] | None  # tells the message around this one that it is set

    def __init__(self, *args: Any, **fields: Any) -> None:
        if args:
            raise TypeError("No positional arguments allowed")
        self.__dict__.update(_values={}, _waiting={}, _tell=None)
        for name, value in fields.items():
            self._check_name(name)
            if value is not None:
                self._fill(name, value)

    def _fill(self, name: str, value: Any) -> None:
        field = self.FIELDS[name]
        if field.kind == "message":
            if not isinstance(value, (dict, field.of)):
                raise TypeError(
                    f"{type(self).__name__}: {name} must be a {field.of.__name__} or a dict, got {shown(value)}"
                )
            given = field.of(**value) if isinstance(value, dict) else value
            self._waiting[name] = given.copied()
            self._set(name)
        elif isinstance(field.kind, Single):
            setattr(self, name, value)
        elif field.kind == "map":
            for key, item in value.items():
                given = field.of(**item) if isinstance(item, dict) else item
                getattr(self, name).put(key, given)
        else:
            getattr(self, name).extend(value)

    def _check_name(self, name: str) -> Field:
        if name not in self.FIELDS:
            raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
        return self.FIELDS[name]

    def __getattr__(self, name: str) -> Any:
        field = self.FIELDS.get(name)
        if field is None:
            raise AttributeError(f'Protocol message {type(self).__name__} has no "{name}" field.')
        found = self._values.get(name)
        if found is None and isinstance(field.kind, Single):
            return field.kind.nothing
        if found is None:
            found = self._waiting.get(name)
        if found is None:
            found = self._waiting[name] = self._made(name, field)
        return found

    def _made(self, name: str, field: Field) -> Any:
        tell = lambda: self._set(name)  # noqa: E731  # a line of its own says nothing more
        if field.kind == "message":
            new = field.of()
            vars(new)["_tell"] = tell
            return new
        if field.kind == "map":
            return MessageMap(field.of, tell)
        if field.kind == "messages":
            return Messages(field.of, tell)
        return field.kind(tell)

    def __setattr__(self, name: str, value: Any) -> None:
        field = self.FIELDS.get(name)
        if field is not None and isinstance(field.kind, Single):
            self._put(name, field.kind, field.kind.checked(f"{self.FULL_NAME}.{name}", value))
            return
        if name in self.FIELDS:
            raise AttributeError(
                f'Assignment not allowed to field "{name}" in protocol message object. Change it in place: append, '
                "extend, [:] = ..., CopyFrom."
            )
        raise AttributeError(f'Protocol message {type(self).__name__} has no "{name}" field.')

    def _put(self, name: str, kind: Single, value: Any) -> None:
        """A scalar. One that is nothing is not there, but for where that is a choice."""
        if self.ONE_OF is not None:
            self._values.clear()
        if value == kind.nothing and self.ONE_OF is None:
            self._values.pop(name, None)
        else:
            self._values[name] = value
        if self._tell is not None:
            self._tell()

    def copied(self) -> Self:
        """The same message, by itself."""
        new = object.__new__(type(self))
        values = {
            name: value if isinstance(self.FIELDS[name].kind, Single) else value.copied()
            for name, value in self._values.items()
        }
        new.__dict__.update(_values=values, _waiting={}, _tell=None)
        return new

    def _set(self, name: str) -> None:
        value = self._waiting.pop(name, None)
        if value is None:
            return
        if self.ONE_OF is not None:
            self._values.clear()
        self._values[name] = value
        # What is set stays so. To know the message around it no longer also keeps the two from holding each other.
        value.__dict__["_tell"] = None
        if self._tell is not None:
            self._tell()

    # What a message is asked.

    def HasField(self, field_name: str) -> bool:
        """Whether a message inside of this one is set."""
        if self._check_name(field_name).kind != "message" and self.ONE_OF is None:
            raise ValueError(f"Field {self.FULL_NAME}.{field_name} does not have presence.")
        return field_name in self._values

    def WhichOneof(self, oneof_group: str) -> str | None:
        """The name of the field that is set."""
        if oneof_group != self.ONE_OF:
            raise ValueError(
                f'Protocol message {type(self).__name__} has no oneof "{oneof_group}" field.'
            )
        return next(iter(self._values), None)

    def ListFields(self) -> list[tuple[Any, Any]]:
        """What is set, in the order of the numbers, with descriptions that have a `name` and a `number`."""
        filled = self._filled()
        known = (
            getattr(type(self), "DESCRIPTOR", None) if "google.protobuf" in sys.modules else None
        )
        return [
            (
                FieldDescription(name, field.number)
                if known is None
                else known.fields_by_name[name],
                filled[name],
            )
            for name, field in self.FIELDS.items()
            if name in filled
        ]

    def SetInParent(self) -> None:
        """Makes it count as set in the message around it, with nothing in it."""
        if self._tell is not None:
            self._tell()

    def IsInitialized(self) -> bool:
        """True: no field is required."""
        return True

    def ByteSize(self) -> int:
        """How many bytes it is on the wire."""
        return len(self.SerializeToString())

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._filled() == other._filled()

    def _filled(self) -> dict[str, Any]:
        """What is set, without lists and maps that are empty."""
        empty = (list, MutableMapping)
        return {n: v for n, v in self._values.items() if v or not isinstance(v, empty)}

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        for name, field in self.FIELDS.items():
            value = self._values.get(name)
            if isinstance(value, Message):
                yield from _block(name, value._lines())
            elif isinstance(field.kind, Single):
                yield from [] if value is None else [f"{name}: {field.kind.shown(value)}"]
            elif isinstance(value, MessageMap):
                for key in sorted(value):
                    inside = [f"key: {quoted(key.encode())}", *_block("value", value[key]._lines())]
                    yield from _block(name, inside)
            elif isinstance(value, Messages):
                for item in value:
                    yield from _block(name, item._lines())
            elif isinstance(value, Scalars):
                yield from (f"{name}: {value.shown(item)}" for item in value)
            elif value is not None:  # a map to scalars
                for inside in value.blocks():
                    yield from _block(name, inside)

    # Changes.

    def Clear(self) -> None:
        """Empties it."""
        self._values.clear()
        self._waiting.clear()

    def ClearField(self, field_name: str) -> None:
        """Empties a field."""
        self._check_name(field_name)
        self._values.pop(field_name, None)
        self._waiting.pop(field_name, None)

    def CopyFrom(self, other_msg: Self) -> None:
        """Becomes like another message."""
        if other_msg is not self:
            self.Clear()
            self.MergeFrom(other_msg)

    def MergeFrom(self, other_msg: Self) -> None:
        """Takes over what is set in another message: lists become longer."""
        if type(other_msg) is not type(self):
            raise TypeError(
                f"Parameter to MergeFrom() must be instance of same class: expected {type(self).__name__} got "
                f"{type(other_msg).__name__}."
            )
        for name, value in other_msg._values.items():
            kind = self.FIELDS[name].kind
            if isinstance(kind, Single):
                self._put(name, kind, value)
                continue
            mine = getattr(self, name)
            if isinstance(value, MessageMap):
                for key, item in value.items():
                    mine.put(key, item)
            elif isinstance(value, Message):
                mine.MergeFrom(value)
            elif isinstance(value, Scalars):
                mine.added(value)
            else:
                mine.extend(value)
            self._set(name)

    @classmethod
    @functools.cache
    def entry(cls) -> type[Message]:
        """The class of an entry of a map to such messages: as a map is written, key by key."""
        fields = {"key": Field(1, TEXT), "value": Field(2, "message", cls)}
        name = f"{cls.FULL_NAME}Entry"
        return type(
            name, (Message,), {"FULL_NAME": name, "FIELDS": fields, "DESCRIPTOR": Described()}
        )

    # Bytes.

    def SerializeToString(self, *, deterministic: bool | None = None) -> bytes:
        """The message as bytes. Maps are sorted, so they are the same for messages that are equal."""
        parts: list[bytes] = []
        for name, field in self.FIELDS.items():
            value = self._values.get(name)
            if value is None:
                continue
            if isinstance(field.kind, Single):
                parts.append(field.kind.serialized(field.number, value))
            elif isinstance(value, Message):
                parts.append(wire.data(field.number, value.SerializeToString()))
            elif isinstance(value, MessageMap):
                for key in sorted(value):
                    item = wire.data(2, value[key].SerializeToString())
                    parts.append(wire.data(field.number, wire.text(1, key) + item))
            elif isinstance(value, Messages):
                parts += [wire.data(field.number, item.SerializeToString()) for item in value]
            else:
                parts.append(value.serialized(field.number))
        return b"".join(parts)

    SerializePartialToString = SerializeToString

    @classmethod
    def FromString(cls, s: bytes) -> Self:
        """The message that bytes are."""
        new = cls()
        new.MergeFromString(s)
        return new

    def ParseFromString(self, serialized: bytes) -> int:
        """Becomes the message that bytes are, and tells how many there are."""
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized: bytes) -> int:
        """Takes over what is set in a message of bytes, and tells how many there are."""
        if not isinstance(serialized, (bytes, bytearray, memoryview)):
            raise TypeError(f"expected bytes, {type(serialized).__name__} found")
        try:
            self._merge(bytes(serialized), 0)
        except (ValueError, IndexError, struct.error) as error:
            raise DecodeError(
                f"Error parsing message with type '{self.FULL_NAME}': {error}"
            ) from None
        return len(serialized)

    def _merge(self, data: bytes, depth: int) -> None:
        named = {field.number: (name, field) for name, field in self.FIELDS.items()}
        for number, value in wire.fields(data):
            name, field = named.get(number, ("", None))
            if field is None:
                continue
            if field.kind in ("message", "messages", "map") and not isinstance(value, bytes):
                raise ValueError(f"the field {name} has an integer in it, where a message belongs")
            if isinstance(field.kind, Single):
                self._put(name, field.kind, field.kind.read(value))
            elif field.kind == "message":
                getattr(self, name)._merge(value, depth + 1)
                self._set(name)
            elif field.kind == "messages":
                getattr(self, name).add()._merge(value, depth + 1)
            elif field.kind == "map":
                inside = dict(wire.fields(value))  # pyright: ignore[reportArgumentType]
                key, item = inside.get(1, b""), inside.get(2, b"")
                if not isinstance(key, bytes) or not isinstance(item, bytes):
                    raise ValueError(f"an entry of the map {name} is no text and a message")
                entry = getattr(self, name)[key.decode()]
                entry.Clear()  # the last of several entries counts
                entry._merge(item, depth + 1)
            else:
                getattr(self, name).read(value)

    def __reduce__(self) -> Any:
        return type(self).FromString, (self.SerializeToString(),)


class FieldDescription(NamedTuple):
    """What `ListFields` tells of a field."""

    name: str
    number: int


def _block(name: str, inside: Iterable[str]) -> list[str]:
    return [f"{name} {{", *(f"  {line}" for line in inside), "}"]
