"""The primitives, by kind. Importing this package fills the table."""

from tapeflow._src.primitives import rules, storage, table
from tapeflow._src.primitives.array import checks, moving, patterns, repeating
from tapeflow._src.primitives.elementwise import binary, builders, strings, unary
from tapeflow._src.primitives.image import resize
from tapeflow._src.primitives.indexing import picking, scattering, segments, sequences
from tapeflow._src.primitives.linalg import (
    decompositions,
    einsum,
    matrices,
    matrix_functions,
    perturbed,
    products,
    solvers,
    truncated_inverse,
)
from tapeflow._src.primitives.nn import (
    activations,
    attention,
    conv,
    conv_kernels,
    morphology,
    pooling,
    softmax,
    windows,
)
from tapeflow._src.primitives.random import bounded, distributions, index_shuffle, numbers
from tapeflow._src.primitives.reduction import ordering, reducing, running
from tapeflow._src.primitives.signal import fourier
from tapeflow._src.primitives.special import bessel, gamma, incomplete, integrals

__all__ = [
    "activations",
    "attention",
    "bessel",
    "binary",
    "bounded",
    "builders",
    "checks",
    "conv",
    "conv_kernels",
    "decompositions",
    "distributions",
    "einsum",
    "fourier",
    "gamma",
    "incomplete",
    "index_shuffle",
    "integrals",
    "matrices",
    "matrix_functions",
    "morphology",
    "moving",
    "numbers",
    "ordering",
    "patterns",
    "perturbed",
    "picking",
    "pooling",
    "products",
    "reducing",
    "repeating",
    "resize",
    "rules",
    "running",
    "scattering",
    "segments",
    "sequences",
    "softmax",
    "solvers",
    "storage",
    "strings",
    "table",
    "truncated_inverse",
    "unary",
    "windows",
]
