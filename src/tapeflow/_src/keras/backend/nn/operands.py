"""What the functions of `nn` are given, as tensors."""

from __future__ import annotations

from typing import Any

from keras.src.backend.common.dtypes import result_type

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor


def floats(x: Any) -> Tensor:
    """A tensor of floats: integers and booleans are cast to Keras's default."""
    x = convert_to_tensor(x)
    if x.dtype.is_floating or x.dtype.is_complex:
        return x
    return cast(x, result_type(x.dtype.name, float))


def alike(*values: Any) -> list[Tensor]:
    """Tensors of the one dtype that holds all of theirs."""
    tensors = [convert_to_tensor(value) for value in values]
    first = tensors[0].dtype
    if all(x.dtype is first for x in tensors):
        return tensors
    dtype = result_type(*[x.dtype.name for x in tensors])
    return [cast(x, dtype) for x in tensors]


def for_each(value: Any, rank: int) -> tuple[Any, ...]:
    """One number for all dimensions, or one for each, as one for each."""
    return (value,) * rank if isinstance(value, int) else tuple(value)
