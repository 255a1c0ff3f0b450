"""`tf.sysconfig`: what this installation can do."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.config.build import get_build_info as get_build_info
from tapeflow._src.core.missing import Missing as _Missing

__getattr__ = _Missing("tf.sysconfig")
