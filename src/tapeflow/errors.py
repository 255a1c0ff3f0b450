"""`tf.errors`: the exceptions ops raise."""

from tapeflow.core.errors import *  # noqa: F403
from tapeflow.core.missing import Missing as _Missing

__getattr__ = _Missing("tf.errors")
