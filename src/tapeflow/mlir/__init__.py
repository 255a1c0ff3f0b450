"""`tf.mlir`: programs as texts of MLIR."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow.mlir import experimental as experimental
# fmt: on
# isort: on

__getattr__ = _Missing("tf.mlir", later="experimental")
