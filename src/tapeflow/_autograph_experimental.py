"""`tf.autograph.experimental`: what to convert, and how."""

from tapeflow.core.missing import Missing as _Missing
from tapeflow.function.autograph import (
    Feature as Feature,
    do_not_convert as do_not_convert,
    set_loop_options as set_loop_options,
)

__getattr__ = _Missing("tf.autograph.experimental")
