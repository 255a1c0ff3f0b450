"""What the fields of messages hold if they hold several values: maps and lists that tell when they are changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import Any, Self

import numpy as np

from tapeflow._src.core.errors import shown

_ESCAPES = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}


def quoted(text: bytes) -> str:
    """Bytes as they are shown in a message."""
    parts = (_ESCAPES.get(c) or (chr(c) if 32 <= c < 127 else f"\\{c:03o}") for c in text)
    return f'"{"".join(parts)}"'


Tell = Callable[[], None] | None


class Told:
    """What tells the message around it that it is changed, until it has been told once."""

    _tell: Tell

    def _changed(self) -> None:
        if self._tell is not None:
            self._tell()


class MessageMap(Told, MutableMapping[str, Any]):
    """A map from texts to messages. A key that is asked for is there from then on."""

    def __init__(self, of: type[Any], tell: Tell = None) -> None:
        self._of, self._tell = of, tell
        self._items: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if isinstance(key, bytes):
            key = key.decode()
        if not isinstance(key, str):
            raise TypeError(
                f"bad argument type for built-in operation: a key is a text, got {shown(key)}"
            )
        found = self._items.get(key)
        if found is None:
            found = self._items[key] = self._of()
            self._changed()
        return found

    get_or_create = __getitem__

    def GetEntryClass(self) -> Any:
        """The class of the messages that the map is written as, one for each key."""
        return self._of.entry()

    def put(self, key: str, message: Any) -> None:
        """A copy of a message in the place of what is there."""
        if not isinstance(message, self._of) or not isinstance(key, str):
            raise TypeError(
                f"a map from texts to {self._of.__name__}, got {shown(message)} for {shown(key)}"
            )
        self._items[key] = message.copied()
        self._changed()

    def copied(self) -> MessageMap:
        """The same map, by itself."""
        new = MessageMap(self._of)
        new._items = {key: message.copied() for key, message in self._items.items()}
        return new

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def get(self, key: str, default: Any = None) -> Any:
        """What is there, without adding it."""
        return self._items.get(key, default)

    def __setitem__(self, key: str, value: Any) -> None:
        raise ValueError("Message objects may not be assigned: use map[key].CopyFrom(message).")

    def __delitem__(self, key: str) -> None:
        del self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MessageMap) and self._items == other._items

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return repr(self._items)


class Messages(Told, list[Any]):
    """A list of messages."""

    def __init__(self, of: type[Any], tell: Tell = None) -> None:
        super().__init__()
        self._of, self._tell = of, tell

    def copied(self) -> Messages:
        """The same list, by itself."""
        new = Messages(self._of)
        list.extend(new, [message.copied() for message in self])
        return new

    def add(self, **fields: Any) -> Any:
        """Adds a new message, and gives it."""
        new = self._of(**fields)
        super().append(new)
        self._changed()
        return new

    def append(self, object: Any) -> None:
        """Adds a copy of a message."""
        if not isinstance(object, self._of):
            raise TypeError(f"expected a {self._of.__name__}, got {shown(object)}")
        super().append(object.copied())
        self._changed()

    def extend(self, iterable: Iterable[Any]) -> None:
        """Adds copies of messages."""
        for message in iterable:
            self.append(message)


class Scalars(Told, list[Any]):
    """A list of scalars, which are checked when they are added."""

    def __init__(self, tell: Tell = None) -> None:
        super().__init__()
        self._tell = tell

    def copied(self) -> Self:
        """The same list, by itself."""
        new = type(self)()
        list.extend(new, self)
        return new

    @staticmethod
    def checked(values: Any) -> list[Any]:
        """The values as they are kept, or a TypeError."""
        raise NotImplementedError

    @staticmethod
    def shown(value: Any) -> str:
        """A value as it is shown."""
        return str(value)

    def serialized(self, number: int) -> bytes:
        """The whole field."""
        raise NotImplementedError

    def read(self, value: int | bytes) -> None:
        """Adds what stands on the wire."""
        raise NotImplementedError

    def append(self, object: Any) -> None:
        """Adds a value."""
        super().extend(self.checked([object]))
        self._changed()

    def extend(self, iterable: Iterable[Any]) -> None:
        """Adds values."""
        super().extend(self.checked(iterable))
        self._changed()

    def insert(self, index: Any, object: Any) -> None:
        """Adds a value at a place."""
        super().insert(index, self.checked([object])[0])
        self._changed()

    def __setitem__(self, index: Any, value: Any) -> None:
        found = self.checked(value if isinstance(index, slice) else [value])
        super().__setitem__(index, found if isinstance(index, slice) else found[0])
        self._changed()

    def __iadd__(self, values: Iterable[Any]) -> Self:
        self.extend(values)
        return self

    def added(self, values: list[Any]) -> None:
        """Adds values that have been checked."""
        super().extend(values)
        self._changed()


def listed(values: Any) -> list[Any]:
    """The values of something that can be iterated over."""
    try:
        return values.tolist() if isinstance(values, np.ndarray) else list(values)
    except TypeError:
        raise TypeError(f"must assign iterable, got {shown(values)}") from None
