"""`tf.experimental.dlpack`: values as capsules of DLPack, for other libraries and from them."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.core.placement.exchange import from_dlpack as from_dlpack, to_dlpack as to_dlpack

__getattr__ = _Missing("tf.experimental.dlpack")
