"""`tf.mlir.experimental`: functions as texts of MLIR, and passes over such texts."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.exporting.mlir import (
        convert_function as convert_function, run_pass_pipeline as run_pass_pipeline,
        write_bytecode as write_bytecode
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.mlir.experimental",
    names={"exporting.mlir": "convert_function run_pass_pipeline write_bytecode"},
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
