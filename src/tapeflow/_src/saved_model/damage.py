"""What is done about a saved model that is not one: it is refused with the path of its file and with what is wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tapeflow._src.core.errors import DataLossError, NotFoundError


class Damage(ValueError):
    """What is wrong with a saved model."""


UNTOLD = (LookupError, AttributeError, AssertionError, ArithmeticError, RecursionError, Damage)
"""What Python code raises that meets data it was not made for, and that no op raises for a mistake of its user."""


class MissingClass(NotFoundError):
    """A class that a model has to do with is not in the program that loads it. The file is sound."""


@contextlib.contextmanager
def sound(file: Any, kinds: tuple[type[Exception], ...] = (Exception,)) -> Iterator[None]:
    """A block in which whatever goes wrong is the fault of a file: DataLossError.

    Args:
      file: a `TensorFile`.
      kinds: which exceptions are.
    """
    try:
        yield
    except (DataLossError, MissingClass, MemoryError):
        raise
    except kinds as error:
        reason = str(error) if isinstance(error, Damage) else f"{type(error).__name__}: {error}"
        file.refuse(f"it is not a saved model that works: {reason[:500]}")


def index(value: Any, count: int, what: str) -> int:
    """A number that is a place among `count` others."""
    if type(value) is not int or not 0 <= value < count:
        raise Damage(f"{what} is {str(value)[:50]!r}, and there are {count}")
    return value
