"""Public names: declared where a thing is defined.

`@export("math.sin", "sin")` says that a function is `tf.math.sin` and `tf.sin`. Nothing happens when the program runs:
`scripts/exports.py` reads these lines and writes the public files from them (`make exports`), and a test fails where
they differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def export(*names: str) -> Callable[[T], T]:
    """The names, without `tf.`, under which users find the function or class below."""
    return _same


def export_value(name: str, *names: str) -> None:
    """The same for a value that has a name in the module where this is called."""


def _same(value: T) -> T:
    return value
