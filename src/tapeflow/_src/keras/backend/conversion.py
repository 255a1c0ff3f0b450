"""What the functions of the backend are given, as dense tensors. What Keras itself calls is in `core`."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src.backend.common import KerasVariable
from keras.src.backend.common.keras_tensor import KerasTensor
from keras.src.backend.common.variables import standardize_dtype

import tapeflow as tf
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable as TapeflowVariable
from tapeflow._src.keras.backend.sparse.kinds import (
    is_composite,
    is_ragged,
    is_sparse_tensor,
    on_values,
    sizes_of,
)

_DTYPES: dict[Any, DType] = {}


def dtype_of(dtype: Any) -> DType:
    """What Keras calls a dtype (a string, a type of Python, NumPy's or ours) as ours."""
    try:
        return _DTYPES[dtype]
    except (KeyError, TypeError):
        found = as_dtype(standardize_dtype(dtype))
    if dtype is not None:  # None is Keras's floatx, which may change
        _DTYPES[dtype] = found
    return found


def convert_to_tensor(x: Any, dtype: Any = None) -> Tensor:
    """A tensor; unlike `tf.convert_to_tensor`, one of another dtype is cast. A ragged one stays so."""
    if isinstance(x, Tensor):
        return x if dtype is None else cast(x, dtype)
    if isinstance(x, KerasVariable):
        x = x.value
    if isinstance(x, (TapeflowVariable, CompositeTensor)):
        tensor: Any = x if is_ragged(x) else tf.convert_to_tensor(x)
        return tensor if dtype is None else cast(tensor, dtype)
    if isinstance(x, KerasTensor):
        raise ValueError(
            "A KerasTensor is symbolic: it has a shape and a dtype, and no value. Use ops from `keras.ops` on it, or "
            "put the computation into the `call` of a layer."
        )
    if type(x).__module__.startswith("tensorflow."):
        x = np.asarray(x)  # a tensor of TensorFlow, out of tf.data, would give itself as the tensor
    if dtype is None:
        return tf.convert_to_tensor(x)
    wanted = dtype_of(dtype)
    if wanted.is_floating or wanted.is_complex or wanted is tf.string:
        try:
            return tf.convert_to_tensor(x, wanted)
        except (TypeError, ValueError):
            if wanted is tf.string:
                raise
    # Floats for integers, or integers for booleans: converted as they are, and cast.
    return cast(tf.convert_to_tensor(x), wanted)


def shape(x: Any) -> tuple[Any, ...]:
    """The sizes. One that is known only when a function runs computes like an integer."""
    if isinstance(x, KerasTensor):
        return x.shape
    if isinstance(x, KerasVariable):
        return x._shape  # pyright: ignore[reportReturnType]
    if not isinstance(x, Tensor):
        if isinstance(x, CompositeTensor) and (is_sparse_tensor(x) or is_ragged(x)):
            return sizes_of(x)
        known = getattr(x, "shape", None)  # of an array, or of a tensor inside TensorFlow's tf.data
        if known is not None:
            return tuple(known)
        x = convert_to_tensor(x)
    return tuple(x._array.shape)


def cast(x: Any, dtype: Any) -> Any:
    """The same numbers in another dtype. What is sparse or ragged stays so."""
    wanted = dtype_of(dtype)
    if isinstance(x, Tensor):
        if x.dtype is wanted:
            return x
        if wanted in _SMALL_UNSIGNED and x.dtype.is_floating:
            # C leaves open what a negative number becomes. Keras's quantizers want 0, as on its other backends.
            x = tf.maximum(x, 0)
        return tf.cast(x, wanted)
    if is_composite(x):
        return on_values(cast, x, wanted)
    if not isinstance(x, (TapeflowVariable, KerasVariable)):
        return cast(convert_to_tensor(x), wanted)
    return tf.cast(x, wanted)


_SMALL_UNSIGNED = (tf.uint8, tf.uint16)
