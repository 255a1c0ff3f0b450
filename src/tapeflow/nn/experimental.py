"""`tf.nn.experimental`: dropout that a seed decides."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.ops.nn.dropout import (
    general_dropout as general_dropout,
    stateless_dropout as stateless_dropout,
)

__getattr__ = _Missing("tf.nn.experimental")
