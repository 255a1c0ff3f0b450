"""`tf.compat`: names for programs that run on several versions of TensorFlow."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401, E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow.compat import v1 as v1, v2 as v2
    from tapeflow._src.compat.text import (
        as_bytes as as_bytes, as_text as as_text, as_text as as_str, as_str_any as as_str_any,
        path_to_str as path_to_str, dimension_value as dimension_value,
        dimension_at_index as dimension_at_index, forward_compatible as forward_compatible,
        bytes_or_text_types as bytes_or_text_types, complex_types as complex_types,
        integral_types as integral_types, real_types as real_types
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.compat",
    later="v1 v2",
    names={
        "compat.text": "as_bytes as_text as_str:as_text as_str_any path_to_str dimension_value dimension_at_index forward_compatible bytes_or_text_types complex_types integral_types real_types"
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
