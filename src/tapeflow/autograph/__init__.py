"""`tf.autograph`: Python's control flow inside `tf.function`."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.function.autograph.inspection import (
    set_verbosity as set_verbosity,
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)
from tapeflow.autograph import experimental as experimental

__getattr__ = _Missing("tf.autograph")
