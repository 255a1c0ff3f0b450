"""The whole table: importing this brings every row.

A program loads the rows that it uses, with the ops that are made of them. This is for whoever asks for rows by name, or
for all of them.
"""

# ruff: noqa: F401

from tapeflow._src.primitives.array import checks, moving, patterns, repeating, stacks
from tapeflow._src.primitives.elementwise import binary, strings, unary
from tapeflow._src.primitives.image import resize
from tapeflow._src.primitives.indexing import picking, scattering, segments, sequences
from tapeflow._src.primitives.linalg import (
    decompositions,
    einsum,
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
    morphology,
    pooling,
    softmax,
)
from tapeflow._src.primitives.random import (
    bounded,
    distributions,
    index_shuffle,
    numbers,
    shuffling,
    streams,
)
from tapeflow._src.primitives.reduction import ordering, reducing, running
from tapeflow._src.primitives.signal import fourier
from tapeflow._src.primitives.special import bessel, gamma, incomplete, integrals
from tapeflow._src.primitives.table import TABLE, UNLISTED

__all__ = ["TABLE", "UNLISTED"]
