"""`tf.experimental`: the exchange of values with other libraries."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.experimental import dlpack as dlpack

__getattr__ = _Missing("tf.experimental")
