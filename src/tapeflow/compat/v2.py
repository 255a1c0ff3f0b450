"""`tf.compat.v2`: the names of `tf`."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing

__getattr__ = _Missing("tf.compat.v2", like="tapeflow")
