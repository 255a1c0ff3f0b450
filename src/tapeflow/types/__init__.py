"""`tf.types`: what things are."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.types import experimental as experimental

__getattr__ = _Missing("tf.types")
