"""`tf.distribute.experimental`: how replicas talk, and what a program does when its machine is taken away."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.distribute.strategy import ValueContext as ValueContext

__getattr__ = _Missing("tf.distribute.experimental")
