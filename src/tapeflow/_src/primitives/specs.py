"""What is known of an array before it is there."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow._src.core.dtypes import DType


class ArraySpec(NamedTuple):
    """What a shape rule knows of an input and says of a result."""

    shape: tuple[Any, ...]
    dtype: DType

    def __str__(self) -> str:
        dims = ("...",) if self.shape is None else self.shape  # not even the rank may be known
        return f"{self.dtype.name}[{','.join('?' if d is None else str(d) for d in dims)}]"
