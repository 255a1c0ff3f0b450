"""`tf.profiler.experimental`: profiles of what runs."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.profiler.session import (
    Profile as Profile,
    ProfilerOptions as ProfilerOptions,
    Trace as Trace,
    start as start,
    stop as stop,
)

__getattr__ = _Missing("tf.profiler.experimental")
