"""How tensors and variables print: TensorFlow's `repr` and `str`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.shapes import TensorShape


def value_text(array: Any, as_repr: bool) -> str:
    """The value alone. NumPy 2 prints scalars as `np.float32(3.0)`; TensorFlow prints the number."""
    if array.ndim:
        text = repr(array) if as_repr else str(array)
        return "\n" + text if as_repr and "\n" in text else text
    value = array[()]
    if not isinstance(value, np.generic):
        return repr(value)  # bytes
    return repr(value.item()) if as_repr else str(value)


def tensor_repr(array: Any, dtype: DType) -> str:
    """`<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>`."""
    shape = TensorShape._of(array.shape)
    return f"<tf.Tensor: shape={shape}, dtype={dtype.name}, numpy={value_text(array, True)}>"


def tensor_str(array: Any, dtype: DType) -> str:
    """`tf.Tensor([1. 2.], shape=(2,), dtype=float32)`."""
    shape = TensorShape._of(array.shape)
    text = value_text(array, False)
    newline = "\n" if "\n" in text else ""
    return f"tf.Tensor({newline}{text}, shape={shape}, dtype={dtype.name})"


def variable_repr(name: str, shape: TensorShape, array: Any, dtype: DType) -> str:
    """`<tf.Variable 'w:0' shape=() dtype=float32, numpy=3.0>`; in a trace, where it has no value, without one."""
    has_value = isinstance(array, (np.ndarray, np.generic))
    value = f", numpy={value_text(array, True)}" if has_value else ""
    return f"<tf.Variable '{name}' shape={shape} dtype={dtype.name}{value}>"


def describe(value: Any) -> str:
    """A tensor in an error message: `float32[2,3]`."""
    dims = ",".join("?" if d is None else str(d) for d in value.shape)
    return f"{value.dtype.name}[{dims}]"
