"""`tf.sets`: the last dimension of tensors as sets."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.sparse.sets import (
        intersection as intersection, union as union, difference as difference, size as size
    )
# fmt: on
# isort: on

__getattr__ = _Missing("tf.sets", names={"sparse.sets": "intersection union difference size"})


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
