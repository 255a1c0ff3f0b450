"""Arguments that belong to neither library: each library makes its own objects of them.

A value is an `Array`, a `Code`, a Python constant, or a list, tuple or dict of values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

NUMPY = {"bfloat16": np.dtype(ml_dtypes.bfloat16), "string": np.dtype(object)}


def numpy_dtype(name: str) -> np.dtype[Any]:
    return NUMPY.get(name) or np.dtype(name)


@dataclass(frozen=True, eq=False)
class Array:
    """An array, and the form in which it is handed over."""

    values: np.ndarray[Any, Any]
    form: str = "tensor"

    @property
    def dtype(self) -> str:
        return "string" if self.values.dtype.kind == "O" else self.values.dtype.name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def is_differentiable(self) -> bool:
        inexact = self.dtype.startswith(("float", "bfloat", "complex"))
        return inexact and self.form in ("tensor", "variable")

    def make(self, tf: Any) -> Any:
        if self.form == "list":
            return self.values.tolist()
        if self.form == "numpy":
            return self.values.copy()
        dtype = getattr(tf, self.dtype)
        if self.form == "variable":
            return tf.Variable(self.values, dtype=dtype)
        return tf.constant(self.values, dtype=dtype)

    def __repr__(self) -> str:
        """The Python that makes it."""
        written = repr(_written(self.values))
        if self.values.size == 0 and self.values.ndim > 1:
            written = f"np.zeros({self.shape})"
        if self.form == "list":
            return written
        if self.form == "numpy":
            name = "tf.bfloat16.as_numpy_dtype" if self.dtype == "bfloat16" else repr(self.dtype)
            return f"np.array({written}, {name})"
        maker = "tf.Variable" if self.form == "variable" else "tf.constant"
        return f"{maker}({written}, dtype=tf.{self.dtype})"


def _written(values: np.ndarray[Any, Any]) -> Any:
    """Nested lists with no more digits than the dtype has."""
    if values.dtype.name in ("float16", "bfloat16", "float32"):
        flat = [float(str(value)) for value in values.ravel()]
        nested = np.empty(values.shape, object)
        nested.ravel()[:] = flat
        return nested.tolist() if values.ndim else flat[0]
    return values.tolist()


@dataclass(frozen=True)
class Code:
    """A piece of Python, such as `tf.float32` or a lambda."""

    text: str

    def __repr__(self) -> str:
        return self.text


def arrays_in(value: Any, path: str) -> dict[str, Array]:
    """The arrays of a value, each with the name it has in the call."""
    if isinstance(value, Array):
        return {path: value}
    if isinstance(value, (list, tuple)):
        items: Any = enumerate(value)
    elif isinstance(value, dict):
        items = value.items()
    else:
        return {}
    found: dict[str, Array] = {}
    for key, item in items:
        found |= arrays_in(item, f"{path}_{key}")
    return found


def written(value: Any, path: str = "") -> str:
    """The Python for a value; with a `path`, names stand for the arrays."""
    if isinstance(value, Array):
        return path or repr(value)
    if isinstance(value, list):
        return f"[{', '.join(_items(value, path))}]"
    if isinstance(value, tuple):
        return f"({''.join(item + ', ' for item in _items(value, path))})"
    if isinstance(value, dict):
        pairs = [f"{key!r}: {written(v, path and f'{path}_{key}')}" for key, v in value.items()]
        return f"{{{', '.join(pairs)}}}"
    return repr(value)


def _items(values: Any, path: str) -> list[str]:
    return [written(value, path and f"{path}_{index}") for index, value in enumerate(values)]
