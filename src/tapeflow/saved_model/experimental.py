"""`tf.saved_model.experimental`: what is saved of where variables were."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.saved_model.options import VariablePolicy as VariablePolicy

__getattr__ = _Missing("tf.saved_model.experimental")
