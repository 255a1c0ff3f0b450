"""Keras's dtype rules: what operands of different dtypes become together.

They are JAX's. Numbers of Python are weak (a float16 tensor plus 1.5 is float16), integers meet floats in the float's
dtype, and what is neither gives `keras.config.floatx()`. Unlike JAX, 64 bits stay where an operand has them.
"""

from __future__ import annotations

from typing import Any

from keras.src.backend.common.dtypes import result_type
from keras.src.backend.config import floatx as floatx_name

import tapeflow as tf
from tapeflow._src.core.convert import scalar
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.sizes.dims import Dim
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor, dtype_of
from tapeflow._src.keras.backend.sparse.kinds import is_ragged, on_values

_NUMBERS = frozenset({float, int, bool, complex})
"""Python's own. All but complex ones take the dtype of the tensors that they meet."""

_WIDE = {
    tf.int32: (tf.int64, (tf.int64,)),
    tf.uint32: (tf.uint64, (tf.uint64,)),
    tf.float32: (tf.float64, (tf.float64,)),
    tf.complex64: (tf.complex128, (tf.complex128, tf.float64)),
}
"""What Keras narrows to 32 bits (JAX has no more), and the operands for which it must not."""

_results: dict[Any, DType] = {}
_FLOATS: dict[str, DType] = {}


def floatx() -> DType:
    """The dtype of floats that nothing else is said of."""
    name = floatx_name()
    found = _FLOATS.get(name)
    if found is None:
        found = _FLOATS[name] = dtype_of(name)
    return found


def kind_of(x: Any) -> Any:
    """What the rules know of an operand: its dtype, or for a number of Python its type."""
    if isinstance(x, Tensor):
        return x.dtype
    if type(x) in _NUMBERS:
        return type(x)
    if isinstance(x, (DType, type)):
        return x
    if isinstance(x, Dim):
        return int
    if isinstance(x, float):  # NumPy's float64 is one
        return float
    dtype = getattr(x, "dtype", None)
    return convert_to_tensor(x).dtype if dtype is None else dtype_of(dtype)


def result_dtype(*operands: Any) -> DType:
    """The dtype in which operands meet: tensors, arrays, numbers, dtypes of ours, or types as `float`."""
    return _met(*[kind_of(x) for x in operands])


def _met(*kinds: Any) -> DType:
    key = (floatx_name(), kinds)
    found = _results.get(key)
    if found is None:
        found = _results[key] = _lookup(*kinds)
    return found


def _lookup(*kinds: Any) -> DType:
    names = [kind.name if isinstance(kind, DType) else kind for kind in kinds]
    found = dtype_of(result_type(*names))
    wide, causes = _WIDE.get(found, (found, ()))
    if any(kind in causes for kind in kinds if isinstance(kind, DType)):
        return wide
    floats = any(isinstance(kind, DType) and kind.is_floating for kind in kinds)
    return floatx() if found is tf.float32 and not floats else found


def promoted(*xs: Any) -> list[Tensor]:
    """Tensors of the dtype in which the operands meet."""
    if len(xs) == 2:
        a, b = xs
        if isinstance(a, Tensor) and isinstance(b, Tensor) and a._array.dtype is b._array.dtype:
            return [a, b]
    operands = [_operand(x) for x in xs]
    dtype = _met(*[kind_of(x) for x in operands])
    return [_cast(x, dtype) for x in operands]


def promoted_floats(*xs: Any) -> list[Tensor]:
    """Tensors of the dtype in which the operands meet a Python float: a floating or complex one."""
    operands = [_operand(x) for x in xs]
    dtype = _met(*[kind_of(x) for x in operands], float)
    return [_cast(x, dtype) for x in operands]


def _operand(x: Any) -> Any:
    """A tensor, or a number as it is."""
    if isinstance(x, Tensor) or type(x) in _NUMBERS or isinstance(x, (Dim, float)):
        return x
    return convert_to_tensor(x)


def _cast(x: Any, dtype: DType) -> Tensor:
    if isinstance(x, Tensor):
        return x if x.dtype is dtype else tf.cast(x, dtype)
    if dtype.is_floating and type(x) in (float, int):
        return scalar(x, dtype.np_dtype)
    return convert_to_tensor(x, dtype)


def as_float(x: Any) -> Tensor:
    """A floating or complex tensor as it is; integers and booleans as `floatx()`."""
    if not isinstance(x, Tensor):
        x = convert_to_tensor(x)
        if is_ragged(x):
            return on_values(as_float, x)
    return x if x._array.dtype.kind in "fc" or x.dtype.is_floating else tf.cast(x, floatx())


def as_number(x: Any, dtype: Any = "int32") -> Tensor:
    """A tensor that can be computed with: booleans become integers."""
    if not isinstance(x, Tensor):
        x = convert_to_tensor(x)
        if is_ragged(x):
            return on_values(as_number, x, dtype)
    return tf.cast(x, dtype_of(dtype)) if x._array.dtype.kind == "b" else x


def as_truth(x: Any) -> Tensor:
    """Booleans: numbers are true unless they are 0."""
    if not isinstance(x, Tensor):
        x = convert_to_tensor(x)
        if is_ragged(x):
            return on_values(as_truth, x)
    return x if x._array.dtype.kind == "b" else tf.cast(x, tf.bool)
