"""`tf.xla.experimental`: computations that XLA compiles."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.function.compiled import compile as compile, jit_scope as jit_scope

__getattr__ = _Missing("tf.xla.experimental")
