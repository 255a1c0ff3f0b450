"""`tf.compat`: names for programs that run on several versions of TensorFlow."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

import typing as _typing

from tapeflow._src.compat.text import (
    as_bytes as as_bytes,
    as_str_any as as_str_any,
    as_text as as_str,
    as_text as as_text,
    bytes_or_text_types as bytes_or_text_types,
    complex_types as complex_types,
    dimension_at_index as dimension_at_index,
    dimension_value as dimension_value,
    forward_compatible as forward_compatible,
    integral_types as integral_types,
    path_to_str as path_to_str,
    real_types as real_types,
)
from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow.compat import v1 as v1, v2 as v2

__getattr__ = _Missing("tf.compat", later="v1 v2")
