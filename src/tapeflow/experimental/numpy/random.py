"""`tf.experimental.numpy.random`: random numbers, by NumPy's names."""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.numpy.random import (
    poisson as poisson,
    rand as rand,
    randint as randint,
    randn as randn,
    random as random,
    seed as seed,
    standard_normal as standard_normal,
    uniform as uniform,
)

__getattr__ = _Missing("tf.experimental.numpy.random")
