"""`tf.linalg.LinearOperator`: matrices by what is known of them, not by all of their elements.

One operator is made of others, so all are loaded together, when the first is asked for.
"""

from tapeflow._src.linear_operators import (
    blocks,
    circulant,
    combined,
    dispatching,
    kronecker,
    low_rank,
    matrices,
    nothing,
    orthogonal,
    simple,
)

__all__ = [
    "blocks",
    "circulant",
    "combined",
    "dispatching",
    "kronecker",
    "low_rank",
    "matrices",
    "nothing",
    "orthogonal",
    "simple",
]
