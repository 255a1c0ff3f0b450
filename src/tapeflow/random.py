"""`tf.random`: random numbers."""

from tapeflow.core.missing import Missing as _Missing
from tapeflow.ops.random import (
    categorical as categorical,
    normal as normal,
    set_seed as set_seed,
    shuffle as shuffle,
    stateless_categorical as stateless_categorical,
    stateless_normal as stateless_normal,
    stateless_truncated_normal as stateless_truncated_normal,
    stateless_uniform as stateless_uniform,
    truncated_normal as truncated_normal,
    uniform as uniform,
)

__getattr__ = _Missing("tf.random")
