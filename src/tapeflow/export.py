"""`tf.export`: functions in the formats of other programs."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.exporting.onnx.export import to_onnx as to_onnx
    from tapeflow._src.exporting.stablehlo import to_stablehlo as to_stablehlo
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.export", names={"exporting.onnx.export": "to_onnx", "exporting.stablehlo": "to_stablehlo"}
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
