"""Copies between the memory of this computer and that of a device, and who asked for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import Scope, setting
from tapeflow._src.core.tensor import DEVICE
from tapeflow._src.core.user_lines import user_line


class Transfer(NamedTuple):
    """A copy.

    Attributes:
      to: where the copy is, as `tensor.device` would say it.
      bytes: how large it is.
      line: the user's line that made it, or that needed it.
      waited: the nanoseconds that the program has waited for it, and for what the device was to compute before.
    """

    to: str
    bytes: int
    line: Any
    waited: int = 0


class Repeated(NamedTuple):
    """A line that copies back again and again.

    Attributes:
      line: of the program.
      what: "a number" or "a tensor".
      times: how often.
      waited: the nanoseconds that the program has waited for it.
      fix: what to do about it.
    """

    line: str
    what: str
    times: int
    waited: int
    fix: str


@export("transfers")
class transfers(Scope):
    """Counts the copies between this computer's memory and devices, within a `with` block, in all threads.

    >>> with tf.transfers() as copies:
    ...     y = tf.constant([1.0, 2.0]) * 2.0
    >>> copies.count, copies.bytes
    (0, 0)

    Attributes:
      copies: each one, with its destination, its bytes, and the line of your program that made it.
    """

    def __init__(self) -> None:
        self.copies: list[Transfer] = []

    def __enter__(self) -> transfers:
        self._guard = self._latest
        with _lock:
            _open.append(self)
        return self

    def _leave(self, *exception: Any) -> None:
        with _lock:
            if self in _open:
                _open.remove(self)
        self._guard = None

    @property
    def count(self) -> int:
        """How many there were."""
        return len(self.copies)

    @property
    def bytes(self) -> int:
        """How large they were together."""
        return sum(copy.bytes for copy in self.copies)

    def by_line(self) -> dict[str, tuple[int, int]]:
        """For each line of your program: how many copies it made, and of how many bytes. The most bytes come first."""
        found: dict[str, tuple[int, int]] = {}
        for copy in self.copies:
            count, size = found.get(str(copy.line), (0, 0))
            found[str(copy.line)] = (count + 1, size + copy.bytes)
        return dict(sorted(found.items(), key=lambda item: -item[1][1]))

    def __iter__(self) -> Iterator[Transfer]:
        return iter(self.copies)

    def __str__(self) -> str:
        lines = [f"{self.count} copies, {self.bytes:,} bytes"]
        lines += [
            f"  {count} x, {size:,} bytes: {line}" for line, (count, size) in self.by_line().items()
        ]
        return "\n".join([*lines, *self.advice()])

    def advice(self) -> list[str]:
        """What to do about lines that copy back again and again: each time the program waits for the device.

        >>> with tf.transfers() as copies:
        ...     y = tf.constant([1.0, 2.0]) * 2.0
        >>> copies.advice()
        []
        """
        return [
            f"{each.line} has copied {each.what} back {each.times} times, and the program has waited for the device "
            f"each time. {each.fix}"
            for each in self.repeated()
        ]

    def repeated(self) -> list[Repeated]:
        """The lines that copy back again and again, the most frequent first.

        >>> with tf.transfers() as copies:
        ...     y = tf.constant([1.0, 2.0]) * 2.0
        >>> copies.repeated()
        []
        """
        back: dict[str, list[Transfer]] = {}
        for copy in self.copies:
            if copy.to == DEVICE:
                back.setdefault(str(copy.line), []).append(copy)
        found = []
        for line, copies in sorted(back.items(), key=lambda item: -len(item[1])):
            if len(copies) >= _OFTEN:
                is_number = max(copy.bytes for copy in copies) <= _NUMBER
                waited = sum(copy.waited for copy in copies)
                what, fix = ("a number", _NUMBERS) if is_number else ("a tensor", _TENSORS)
                found.append(Repeated(line, what, len(copies), waited, fix))
        return found


LIBRARIES = ("/keras/src/", "/numpy/")
"""What calls us on behalf of the user: the line that is meant is further up."""

_OFTEN = 10  # copies by one line: that is a loop
_NUMBER = 16  # bytes
_NUMBERS = (
    "If it is in a loop: look at it every hundredth time, or keep the tensors in a list and look at them after the "
    "loop; let a decision about it be made on the device, with tf.where or in a tf.function."
)
_TENSORS = (
    "If it is in a loop: leave the tensor where it is, and do with ops of tf what is done with NumPy here; or look at "
    "it after the loop."
)

_open: list[transfers] = []
_lock = threading.RLock()


class _Counting(threading.local):
    """What this thread does."""

    is_off = False


_counting = _Counting()


def uncounted() -> setting:
    """Within this context copies of this thread count for nobody: who looks at tensors is no part of the program."""
    return setting(_counting, is_off=True)


def is_counting() -> bool:
    """Whether anybody wants to know of copies."""
    return bool(_open) and not _counting.is_off


def note_transfer(to: str, size: int, line: Any = None, waited: int = 0) -> None:
    """Tells those who count of a copy. `line` is the user's, where another thread makes the copy."""
    copy = Transfer(to, size, line or user_line(*LIBRARIES), waited)
    with _lock:
        for each in _open:
            each.copies.append(copy)
