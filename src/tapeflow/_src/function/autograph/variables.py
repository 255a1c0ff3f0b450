"""Names that have no value yet.

Converted code hands the variables of a block from function to function, so a name without a value needs one: an
`Undefined`, which complains when it is used, as Python does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


class Undefined:
    """Stands for a name that was not assigned."""

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name: str) -> None:
        self.symbol_name = symbol_name

    def read(self, *args: Any) -> NoReturn:
        """Complains in Python's words."""
        raise UnboundLocalError(
            f"cannot access local variable '{self.symbol_name}' where it is not associated with a value"
        )

    __bool__ = __iter__ = __len__ = __call__ = __getitem__ = __int__ = __float__ = __neg__ = read
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __matmul__ = read
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = __rmatmul__ = read
    __lt__ = __le__ = __gt__ = __ge__ = read

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what a protocol probes for is plainly not there
            raise AttributeError(name)
        self.read()

    def __repr__(self) -> str:
        return f"<undefined {self.symbol_name}>"


class UndefinedReturnValue:
    """Stands for what a function returns as long as it has not returned."""

    def __repr__(self) -> str:
        return "<nothing returned>"


def is_undefined(value: Any) -> bool:
    """Whether the value stands for no value."""
    return isinstance(value, (Undefined, UndefinedReturnValue))


def ld(value: Any) -> Any:
    """Reads a name: converted code reads every one of its local names this way."""
    if isinstance(value, Undefined):
        value.read()
    return value


def ldu(load: Callable[[], Any], name: str) -> Any:
    """Reads something like `a.b` or `a[i]`, which may not be there."""
    try:
        return load()
    except (KeyError, AttributeError, NameError, IndexError):
        return Undefined(name)
