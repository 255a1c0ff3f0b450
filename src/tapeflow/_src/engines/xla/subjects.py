"""All subjects, imported so that the table of lowerings is full."""

from tapeflow._src.engines.xla.array import moving
from tapeflow._src.engines.xla.elementwise import functions
from tapeflow._src.engines.xla.image import resize
from tapeflow._src.engines.xla.indexing import picking, segments, sequences
from tapeflow._src.engines.xla.linalg import (
    decompositions,
    einsum,
    matrix_functions,
    products,
    solvers,
)
from tapeflow._src.engines.xla.nn import activations, attention, conv, morphology, pooling, softmax
from tapeflow._src.engines.xla.random import distributions, numbers
from tapeflow._src.engines.xla.reduction import ordering, reducing
from tapeflow._src.engines.xla.signal import fourier
from tapeflow._src.engines.xla.special import bessel, gamma, incomplete

__all__ = [
    "activations",
    "attention",
    "bessel",
    "conv",
    "decompositions",
    "distributions",
    "einsum",
    "fourier",
    "functions",
    "gamma",
    "incomplete",
    "matrix_functions",
    "morphology",
    "moving",
    "numbers",
    "ordering",
    "picking",
    "pooling",
    "products",
    "reducing",
    "resize",
    "segments",
    "sequences",
    "softmax",
    "solvers",
]
