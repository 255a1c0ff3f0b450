"""Lists of tensors as one tensor."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor, holds_tensor, leaves_of, makes_tensors
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array.moving import cast, cast_to_discrete, stack


def packed(value: Any, leaves: list[Any], dtype: DType | None) -> Tensor:
    """Stacks a (nested) list that holds tensors, which are cast if a dtype is asked for."""
    asked = dtype is not None
    if dtype is None:
        # Sizes that are known only at run time become tensors, too, and have no dtype before.
        held = [getattr(x, "dtype", None) for x in leaves if holds_tensor(x)]
        dtype = next((as_dtype(d) for d in held if d is not None), dtypes.int32)

    def of(x: Any) -> Tensor:
        if holds_tensor(x):
            x = convert_to_tensor(x)
            if not asked or x.dtype is dtype:
                return x
            return (cast if dtype.is_differentiable else cast_to_discrete)(x, dtype=dtype)
        if isinstance(x, (list, tuple)) and any(map(makes_tensors, leaves_of(x)[1])):
            return stack(*map(of, x), axis=0)
        return convert_to_tensor(x, dtype)

    return stack(*map(of, value), axis=0)
