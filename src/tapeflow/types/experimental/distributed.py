"""`tf.types.experimental.distributed`: values of several replicas."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.distribute.values import Mirrored as Mirrored, PerReplica as PerReplica

__getattr__ = _Missing("tf.types.experimental.distributed")
