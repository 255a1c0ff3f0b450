"""`tf.summary.experimental`: the default step, and messages as they are."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.summary.state import get_step as get_step, set_step as set_step
from tapeflow._src.summary.writing import (
    summary_scope as summary_scope,
    write_raw_pb as write_raw_pb,
)

__getattr__ = _Missing("tf.summary.experimental")
