"""`tf.profiler`: where the time of a program goes."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.profiler import experimental as experimental

__getattr__ = _Missing("tf.profiler")
