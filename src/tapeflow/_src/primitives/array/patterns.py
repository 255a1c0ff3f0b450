"""Tensors that follow from their sizes alone: numbers from 0, constants, the identity, triangles.

Where all sizes are numbers they are made at once. A size that is known only when a function runs makes an op of it, and
so does the scope of another device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.placement.devices import elsewhere_now
from tapeflow._src.core.placement.remote import placed
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import surely_less
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, sizes
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.rules import invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.storage import blank
from tapeflow._src.primitives.table import primitive


def _range_kernel(*, size: int, dtype: DType) -> Any:
    if size < 0:
        raise ValueError("a negative size")
    check_room("range", (size,), dtype.np_dtype)
    return np.arange(size).astype(dtype.np_dtype)


def _range_result(*, size: Any, dtype: DType) -> ArraySpec:
    if surely_less(size, 0):
        raise invalid(f"range: a size must be >= 0, got {size}")
    return ArraySpec((size,), dtype)


range_ = primitive("range", "", _range_kernel, result=_range_result)


def numbers(size: Any, dtype: DType = dtypes.int64) -> Tensor:
    """The numbers from 0 on, as many as `size`."""
    if is_dynamic(size) or elsewhere_now():
        return range_(size=size, dtype=dtype)
    check_room("range", (size,), dtype.np_dtype)
    return Tensor(np.arange(size).astype(dtype.np_dtype))


def scalar(size: Any, dtype: DType) -> Tensor:
    """A size as a tensor, to compute with."""
    return sizes.tensor_of(size, dtype) if is_dynamic(size) else Tensor(dtype.np_dtype.type(size))


def full(shape: tuple[Any, ...], value: Any, dtype: DType) -> Tensor:
    """A tensor of one number."""
    if is_dynamic(shape) or elsewhere_now():
        return moving.broadcast_to(Tensor(np.array(value, dtype.np_dtype)), shape=shape)
    check_room("fill", shape, dtype.np_dtype)
    return placed(Tensor(np.full(shape, value, dtype.np_dtype)))


def zeros(shape: tuple[Any, ...], dtype: DType) -> Tensor:
    """A tensor of zeros, or of empty strings."""
    if not is_dynamic(shape) and not elsewhere_now():
        check_room("zeros", shape, dtype.np_dtype)
        return placed(Tensor(blank(shape, dtype.np_dtype)))
    return moving.broadcast_to(Tensor(blank((), dtype.np_dtype)), shape=shape)


def identity(rows: Any, columns: Any, dtype: DType) -> Tensor:
    """Ones on the diagonal, and zeros elsewhere."""
    if not is_dynamic((rows, columns)) and not elsewhere_now():
        check_room("eye", (rows, columns), dtype.np_dtype)
        return Tensor(np.eye(rows, columns, dtype=dtype.np_dtype))
    on = binary.equal(_column(rows), numbers(columns))
    return (moving.cast if dtype.is_differentiable else moving.cast_to_discrete)(on, dtype=dtype)


def triangle(rows: Any, columns: Any, k: Any = 0) -> Tensor:
    """Whether each place of a matrix lies on the diagonal `k` or below it."""
    if not is_dynamic((rows, columns, k)) and not elsewhere_now():
        check_room("triangle", (rows, columns), np.dtype(np.bool_))
        return Tensor(np.tri(rows, columns, k, dtype=np.bool_))
    return binary.less_equal(numbers(columns), _column(rows) + scalar(k, dtypes.int64))


def _column(size: Any) -> Tensor:
    return moving.reshape(numbers(size), shape=(size, 1))
