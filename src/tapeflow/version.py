"""`tf.version`: which TensorFlow this is like."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.core.versions import (
    COMPILER_VERSION as COMPILER_VERSION,
    GIT_VERSION as GIT_VERSION,
    VERSION as VERSION,
)

__getattr__ = _Missing("tf.version")
