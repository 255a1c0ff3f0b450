"""`tf.config`: settings for the whole program."""

from tapeflow.core.missing import Missing as _Missing
from tapeflow.function.settings import (
    functions_run_eagerly as functions_run_eagerly,
    run_functions_eagerly as run_functions_eagerly,
)

__getattr__ = _Missing("tf.config")
