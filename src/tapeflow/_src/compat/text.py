"""Texts and sizes that may have one of two types: `tf.compat.as_bytes` and its like."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.shapes import TensorShape

bytes_or_text_types = (bytes, str)
complex_types = (numbers.Complex, np.number)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)


@export("compat.as_bytes")
def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """A text as bytes.

    >>> tf.compat.as_bytes("one")
    b'one'
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {shown(bytes_or_text)}")


@export("compat.as_text", "compat.as_str")
def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as a text.

    >>> tf.compat.as_text(b"one")
    'one'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text).decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {shown(bytes_or_text)}")


@export("compat.as_str_any")
def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Bytes as a text, and anything else as `str` writes it.

    >>> tf.compat.as_str_any(3)
    '3'
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


@export("compat.path_to_str")
def path_to_str(path: Any) -> Any:
    """A path as a text.

    >>> import pathlib
    >>> tf.compat.path_to_str(pathlib.PurePosixPath("a/b"))
    'a/b'
    """
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


@export("compat.dimension_value")
def dimension_value(dimension: Any) -> Any:
    """A size of a shape, which is a number or `None`.

    >>> tf.compat.dimension_value(tf.TensorShape([2, None])[0])
    2
    """
    return getattr(dimension, "value", dimension)


@export("compat.dimension_at_index")
def dimension_at_index(shape: Any, index: int) -> Any:
    """A size of a shape, `None` if its rank is not known.

    >>> tf.compat.dimension_at_index(tf.TensorShape([2, 3]), 1)
    3
    """
    shape = TensorShape(shape)
    return None if shape.rank is None else shape[index]


@export("compat.forward_compatible")
def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether a change of TensorFlow's of that day may be used: always.

    >>> tf.compat.forward_compatible(2020, 1, 1)
    True
    """
    return True


export_value("bytes_or_text_types", "compat.bytes_or_text_types")
export_value("complex_types", "compat.complex_types")
export_value("integral_types", "compat.integral_types")
export_value("real_types", "compat.real_types")
