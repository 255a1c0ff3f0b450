"""Pseudo-inverses without the singular values that are small, but may be far from zero.

Their derivative is that of Golub and Pereyra, which takes what is left out for zero, and a correction, for which the
singular vectors are needed.
"""

from __future__ import annotations

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.linalg import decompositions, solvers
from tapeflow._src.primitives.linalg.matrices import adjoint, as_dtype_of, column, product, row
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.table import TABLE, primitive


def _gradient(g: Tensor, x: Tensor, rcond: Tensor, y: Tensor) -> Tensor:
    """Where Golub and Pereyra have a^2, this has a^2 - b^2, for an a that is kept and a b that is not."""
    s, u, v = decompositions.svd(x, full=False)
    if type(s._array.shape[-1]) is int and s._array.shape[-1] == 0:
        return moving.zeros_like(x)
    greatest = reducing.max_(s, axis=(s._array.ndim - 1,), keepdims=True)
    limit = moving.reshape(rcond, shape=(*rcond._array.shape, 1)) * greatest
    kept = moving.cast(binary.greater(s, limit), dtype=s.dtype)
    apart = binary.not_equal(row(kept), column(kept))
    a, b = binary.maximum(row(s), column(s)), binary.minimum(row(s), column(s))
    one = moving.ones_like(a)
    gap = moving.select(apart, a * a - b * b, one)
    zero = moving.zeros_like(a)
    ratio = moving.select(apart, b / moving.select(apart, a, one) / gap, zero)
    share = moving.select(apart, ratio * b / moving.select(apart, a, one), zero)
    inner = product(product(u, g, adjoint_a=True, adjoint_b=True), v)  # u^H g^H v
    turned = as_dtype_of(share, x) * inner + as_dtype_of(ratio, x) * adjoint(inner)
    plain = solvers.pseudo_inverse_gradient(g, x, y)
    return plain + product(product(u, turned), v, adjoint_b=True)


truncated_inverse = primitive(
    "truncated_inverse",
    "x rcond",
    TABLE["pseudo_inverse"].kernel,
    result=TABLE["pseudo_inverse"].result,
    gradients={"x": _gradient},
)
