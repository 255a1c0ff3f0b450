"""`tf.autograph.experimental`: what to convert, and how."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.function.autograph.calls import do_not_convert as do_not_convert
from tapeflow._src.function.autograph.directives import set_loop_options as set_loop_options
from tapeflow._src.function.autograph.options import Feature as Feature

__getattr__ = _Missing("tf.autograph.experimental")
