"""`tf.compat.v1.Dimension`: one size of a shape, which may be unknown. Shapes here hold plain numbers and None."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tapeflow._src.core.export import export

_Result = Any


def _binary(compute: Callable[[Any, Any], Any], turned: bool = False, wrap: bool = True) -> Any:
    """An operator on sizes; with an unknown one the result is unknown, or None where it is an answer."""

    def method(self: Dimension, other: Any) -> _Result:
        try:
            pair = self.value, Dimension(other).value
        except (TypeError, ValueError):
            return NotImplemented
        known = None not in pair
        found = compute(*(reversed(pair) if turned else pair)) if known else None
        return Dimension(found) if wrap else found

    return method


@export("compat.v1.Dimension")
class Dimension:
    """One size of a shape.

    >>> tf.compat.v1.Dimension(3) + 4
    Dimension(7)
    >>> (tf.compat.v1.Dimension(None) * 2).value is None
    True

    Args:
      value: a number that is not negative, or None for an unknown size.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: int | None = value.value if isinstance(value, Dimension) else value
        if self.value is not None:
            self.value = operator.index(self.value)
            if self.value < 0:
                raise ValueError(f"Dimension {value} must be >= 0")

    def __int__(self) -> int | None:
        return self.value

    def __index__(self) -> int | None:
        return self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both could be the same size.

        >>> tf.compat.v1.Dimension(None).is_compatible_with(3)
        True
        """
        other = Dimension(other)
        return None in (self.value, other.value) or self.value == other.value

    def merge_with(self, other: Any) -> Dimension:
        """What is known of a size that is both.

        >>> tf.compat.v1.Dimension(None).merge_with(3)
        Dimension(3)
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")
        return Dimension(other) if self.value is None else self

    __add__ = _binary(operator.add)
    __radd__ = _binary(operator.add, turned=True)
    __sub__ = _binary(operator.sub)
    __rsub__ = _binary(operator.sub, turned=True)
    __mul__ = _binary(operator.mul)
    __rmul__ = _binary(operator.mul, turned=True)
    __floordiv__ = _binary(operator.floordiv)
    __rfloordiv__ = _binary(operator.floordiv, turned=True)
    __mod__ = _binary(operator.mod)
    __rmod__ = _binary(operator.mod, turned=True)
    __eq__ = _binary(operator.eq, wrap=False)
    __ne__ = _binary(operator.ne, wrap=False)
    __lt__ = _binary(operator.lt, wrap=False)
    __le__ = _binary(operator.le, wrap=False)
    __gt__ = _binary(operator.gt, wrap=False)
    __ge__ = _binary(operator.ge, wrap=False)
