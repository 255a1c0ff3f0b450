"""`tf.export`: functions in the formats of other programs."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.exporting.onnx.export import to_onnx as to_onnx
from tapeflow._src.exporting.stablehlo import to_stablehlo as to_stablehlo

__getattr__ = _Missing("tf.export")
