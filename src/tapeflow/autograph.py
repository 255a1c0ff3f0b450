"""`tf.autograph`: Python's control flow inside `tf.function`."""

from tapeflow import _autograph_experimental as experimental  # noqa: F401
from tapeflow.core.missing import Missing as _Missing
from tapeflow.function.autograph import (
    set_verbosity as set_verbosity,
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)

__getattr__ = _Missing("tf.autograph")
