"""What is known of small integer tensors while tracing: shapes, and what is computed from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.guards import undecided
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.primitives.array.sizes import EXTREMES
from tapeflow._src.primitives.table import Primitive

_SMALL = 64


def contents_after(
    primitive: Primitive, inputs: tuple[Tensor, ...], attrs: Any, output: SymbolicTensor
) -> Any:
    """What is known of the elements of a result, or None."""
    shape = output._array.shape
    if len(shape) > 1 or output._array.dtype.kind not in "iu":
        return None
    if shape and (is_dynamic(shape[0]) or shape[0] > _SMALL):
        return None
    if primitive.name == "shape":
        return _objects(inputs[0]._array.shape)
    if primitive.name == "size":
        return _objects(inputs[0]._array.size)
    known = [contents_of(x) for x in inputs]
    if any(k is None for k in known) or not known:
        return None
    if primitive.name == "cast_to_discrete":
        return _wrapped(known[0], output._array.dtype)
    kernel = EXTREMES.get(primitive.name, primitive.kernel)
    try:
        with undecided():  # what depends on which size is larger is computed when the function runs
            result = np.asarray(kernel(*known, **attrs), object)
    except Exception:  # the kernel does not take objects: then nothing is known
        return None
    return _wrapped(result, output._array.dtype) if result.shape == shape else None


def _wrapped(contents: np.ndarray, dtype: Any) -> np.ndarray | None:
    """The numbers as a dtype holds them. A size that is not known need not fit in 16 bits: then nothing is known."""
    limits = np.iinfo(dtype)
    out = np.empty_like(contents)
    for i, number in enumerate(contents.flat):
        if is_dynamic(number):
            if limits.bits < 32:
                return None
            out.flat[i] = number
        else:
            out.flat[i] = (int(number) - limits.min) % 2**limits.bits + limits.min
    return out


def contents_of(x: Tensor) -> Any:
    """The elements of a small integer tensor, as an array of ints and `Dim`s, or None if they are not known."""
    if isinstance(x, SymbolicTensor):
        return x.contents
    if type(x) is Tensor and x._array.dtype.kind in "iu" and x._array.size <= _SMALL:
        return np.asarray(x._array).astype(object)
    return None


def _objects(values: Any) -> np.ndarray:
    out = np.empty(np.shape(values) if isinstance(values, tuple) else (), object)
    out[...] = values
    return out
