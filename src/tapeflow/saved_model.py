"""`tf.saved_model`: models that are loaded and served without the Python code that made them."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.saved_model.loading import (
    contains_saved_model as contains_saved_model,
    load as load,
)
from tapeflow._src.saved_model.saving import save as save

__getattr__ = _Missing("tf.saved_model")
