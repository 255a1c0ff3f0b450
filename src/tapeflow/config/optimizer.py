"""`tf.config.optimizer`: how `tf.function` makes programs of graphs."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.config.optimizer import (
    get_experimental_options as get_experimental_options,
    get_jit as get_jit,
    set_experimental_options as set_experimental_options,
    set_jit as set_jit,
)
from tapeflow._src.core.missing import Missing as _Missing

__getattr__ = _Missing("tf.config.optimizer")
