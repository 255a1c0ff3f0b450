"""Casts that stop at the ends of a dtype's range."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array.shaping import cast, warn_of_lost_part
from tapeflow._src.primitives.elementwise import binary, unary


@export("saturate_cast", "dtypes.saturate_cast")
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """Converts a tensor to another dtype; what is out of its range becomes the nearest number.

    >>> tf.dtypes.saturate_cast([300.0, -5.0, 7.0], tf.uint8).numpy()
    array([255,   0,   7], dtype=uint8)
    """
    value = convert_to_tensor(value)
    dtype = as_dtype(dtype)
    if not value.dtype.is_complex:
        return cast(_within(value, dtype.real_dtype), dtype)
    if not dtype.is_complex:
        warn_of_lost_part(value.dtype, dtype)
        return cast(_within(unary.real(value), dtype), dtype)
    if value.dtype.size <= dtype.size:
        return cast(value, dtype)
    parts = [_within(part, dtype.real_dtype) for part in (unary.real(value), unary.imag(value))]
    return cast(unary.make_complex(*parts), dtype)


def _within(value: Tensor, dtype: DType) -> Tensor:
    """Real numbers, brought to the range of a dtype. An infinity becomes the greatest number that both dtypes have."""
    source = value.dtype
    low, high = _range_within(dtype, source)
    if source.is_integer and low <= source.min and source.max <= high:
        return value
    bounds = [Tensor(source.np_dtype.type(bound)) for bound in (low, high)]
    return binary.maximum(binary.minimum(value, bounds[1]), bounds[0])


def _range_within(dtype: DType, source: DType) -> tuple[Any, Any]:
    """The least and greatest value of `source` that `dtype` can hold."""
    low, high = dtype.min, dtype.max
    if dtype.is_floating:  # as floats of Python: an int of a large bfloat16 wraps
        low, high = float(low), float(high)
    if source.is_integer:
        return max(int(low), source.min), min(int(high), source.max)
    kind = source.np_dtype.type
    least = kind(max(float(low), float(source.min)))
    most = kind(min(float(high), float(source.max)))
    # The nearest float may lie outside: 2**31 - 1 is 2**31 as a float32. Python compares it exactly.
    if float(least) < low:
        least = np.nextafter(least, kind(0))
    if float(most) > high:
        most = np.nextafter(most, kind(0))
    return least, most
