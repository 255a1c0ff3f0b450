"""The traces of a function: which one serves a call, and how many are kept.

A trace is found by the key of its call, so that a call takes as long with a thousand traces as with one. Traces for
unknown sizes serve many keys. They are looked through one by one, but only those that agree with the call in everything
but shapes.

A function that is traced for ever must not grow for ever: what was not used for the longest time is dropped. Whoever
has it from `get_concrete_function` still has it, and a call for which there is no trace any more is traced again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tapeflow._src.function.signature import TensorKey
from tapeflow._src.function.trace_types import SpecKey, TraceKey

if TYPE_CHECKING:
    from tapeflow._src.function.concrete import ConcreteFunction

MOST = 1000  # traces of one function are kept, and as many answers


class _Entry:
    """A trace with the key of the call it was made for, and the key of all calls that it can serve."""

    __slots__ = ("key", "kind", "trace", "used", "wide")

    def __init__(self, trace: ConcreteFunction, key: Any, wide: Any) -> None:
        self.trace = trace
        self.key = key
        self.wide = wide
        self.kind = _besides_shapes(wide)
        self.used = 0  # the larger, the later


class Traces:
    """Traces by what calls are like. Changed by one thread at a time, and asked by any."""

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}
        # Tuples, because another thread may be looking through one while another takes its place.
        self._made_for: dict[Any, tuple[_Entry, ...]] = {}
        self._alike: dict[Any, tuple[_Entry, ...]] = {}  # by everything but shapes
        self._answers: dict[Any, _Entry] = {}  # which one serves a key that it was not made for
        self._now = itertools.count(1)

    def __iter__(self) -> Iterator[ConcreteFunction]:
        return iter([entry.trace for entry in list(self._entries.values())])

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: Any, leaves: list[Any]) -> ConcreteFunction | None:
        """A trace that serves a call with this key and these arguments."""
        for entry in self._made_for.get(key, ()):
            if entry.trace._fits(leaves):
                entry.used = next(self._now)
                return entry.trace
        entry = self._answers.get(key)
        if entry is None or not entry.trace._fits(leaves):
            entry = self._narrowest(key, leaves)
            if entry is None:
                return None
            if len(self._answers) >= MOST:
                self._answers.clear()
            self._answers[key] = entry
        entry.used = next(self._now)
        return entry.trace

    def find_named(self, key: Any, leaves: list[Any]) -> ConcreteFunction | None:
        """The same, and its tensors have the names that the key has for them, or those of their arguments."""
        for entry in self._made_for.get(key, ()):
            if entry.trace._fits(leaves) and _is_named(entry.trace, key):
                entry.used = next(self._now)
                return entry.trace
        found = self.find(key, leaves)
        return found if found is not None and _is_named(found, key) else None

    def _narrowest(self, key: Any, leaves: list[Any]) -> _Entry | None:
        """Of the traces for a wider kind of arguments that these are of, too, one that no other is within."""
        found = [
            entry
            for entry in self._alike.get(_besides_shapes(key), ())
            if _covers(entry.wide, key) and entry.trace._fits(leaves)
        ]
        for entry in found:
            if not any(o.wide is not entry.wide and _covers(entry.wide, o.wide) for o in found):
                return entry
        return found[0] if found else None

    def widened(self, key: Any) -> Any:
        """A key that covers this one and, as far as shapes go, those of all traces there are."""
        keys = list(key[1:])
        for entry in self._alike.get(_besides_shapes(key), ()):
            keys = _common(entry.wide, (key[0], *keys)) or keys
        return (key[0], *keys)

    def add(self, trace: ConcreteFunction, key: Any, wide: Any, reduced: bool) -> None:
        """Keeps a trace, and drops the one that was not found for the longest time if there are too many.

        Args:
          trace: the trace.
          key: of the call it was made for.
          wide: the key of all calls it can serve.
          reduced: whether `widened` will be asked.
        """
        if len(self._entries) >= MOST:
            self._drop(min(self._entries.values(), key=lambda entry: entry.used))
        entry = _Entry(trace, key, wide)
        entry.used = next(self._now)
        self._entries[id(trace)] = entry
        # The key of an object that is gone equals nothing but itself: all entries in one place have the same.
        others = self._made_for.get(key, ())
        entry.key = others[0].key if others else key
        self._made_for[entry.key] = (*others, entry)
        if reduced or any(map(_is_wide, wide)):
            others = self._alike.get(entry.kind, ())
            entry.kind = others[0].kind if others else entry.kind
            self._alike[entry.kind] = (*others, entry)

    def _drop(self, entry: _Entry) -> None:
        for key in [k for k, answer in list(self._answers.items()) if answer is entry]:
            self._answers.pop(key, None)
        for table, key in ((self._made_for, entry.key), (self._alike, entry.kind)):
            rest = tuple([e for e in table.get(key, ()) if e is not entry])
            if rest:
                table[key] = rest
            else:
                table.pop(key, None)
        self._entries.pop(id(entry.trace), None)


def _is_named(trace: ConcreteFunction, key: Any) -> bool:
    names = zip(key[1:], trace._leaf_names, strict=True)
    wanted = [k.name or name for k, name in names if type(k) is TensorKey]
    return wanted == [spec.name for spec in trace.inputs]


def _is_wide(key: Any) -> bool:
    if type(key) is TraceKey:
        return True
    return type(key) is TensorKey and (key.shape is None or None in key.shape)


def _besides_shapes(key: Any) -> Any:
    """What two keys have in common if one covers the other."""
    return tuple([_kind(k) if type(k) in _WITH_SHAPES else k for k in key])


_WITH_SHAPES = (TensorKey, SpecKey, TraceKey)


def _kind(key: Any) -> Any:
    if type(key) is TraceKey:
        return (TraceKey, type(key.type))
    return (TensorKey, key.dtype) if type(key) is TensorKey else (SpecKey, type(key.spec))


def _covers(wide: Any, key: Any) -> bool:
    """Whether a trace for one key can be used for another."""
    return len(wide) == len(key) and all(
        mine.covers(theirs) if type(mine) in _WITH_SHAPES else mine == theirs
        for mine, theirs in zip(wide, key, strict=True)
    )


def _common(one: Any, other: Any) -> list[Any] | None:
    """The keys of arguments that cover two kinds which differ in the shapes of tensors alone, or None."""
    if len(one) != len(other):
        return None
    found = [
        (a.widened(b) if type(a) in _WITH_SHAPES else a if a == b else None)
        for a, b in zip(one, other, strict=True)
    ]
    same = [a is b for a, b in zip(one, other, strict=True)]
    if any(x is None and not unchanged for x, unchanged in zip(found, same, strict=True)):
        return None
    return found[1:]
