"""Tensors of sizes that are known only when a function runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dims import Atom, Dim, Ratio
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.tensor import Tensor
from tapeflow.primitives import array, binary, indexing


def tensor_of(size: Dim, dtype: Any = None) -> Tensor:
    """A size as a scalar tensor, int32 unless told."""
    total: Tensor | None = None
    for product, factor in size.terms.items():
        term = convert_to_tensor(factor, dtypes.int64)
        for atom in product:
            term = term * _of_atom(atom)
        total = term if total is None else total + term
    assert total is not None
    return _cast(total, dtypes.int32 if dtype is None else as_dtype(dtype))


def vector_of(shape: tuple[Any, ...], dtype: DType = dtypes.int32) -> Tensor:
    """A shape as a tensor."""
    if not any(type(size) is Dim for size in shape):
        return Tensor(np.array(shape, dtype.np_dtype))
    return array.stack(*[convert_to_tensor(size, dtype) for size in shape], axis=0)


def _of_atom(atom: Atom) -> Tensor:
    if isinstance(atom, Ratio):
        a, b = (convert_to_tensor(x, dtypes.int64) for x in (atom.a, atom.b))
        return (binary.floor_divide if atom.kind == "//" else binary.floor_mod)(a, b)
    assert atom.origin is not None
    tensor, axis, position = atom.origin
    if axis is not None:
        return indexing.getitem(array.shape_of(tensor, dtype=dtypes.int64), index=(axis,))
    if tensor._array.ndim:
        tensor = indexing.getitem(array.reshape(tensor, shape=(-1,)), index=(position,))
    return _cast(tensor, dtypes.int64)


def _cast(x: Tensor, dtype: DType) -> Tensor:
    if x.dtype is dtype:
        return x
    return (array.cast if dtype.is_differentiable else array.cast_to_discrete)(x, dtype=dtype)
