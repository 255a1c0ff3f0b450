"""Products of matrices and tensors, and turning matrices about."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import no_row, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.arguments import integer, several
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise.builders import conj
from tapeflow._src.primitives.linalg import einsum as einsum_primitive, products
from tapeflow._src.primitives.rules import check_same_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec

# Products.


@export("matmul", "linalg.matmul")
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product of the last two dimensions. The dimensions before them broadcast.

    >>> tf.linalg.matmul([[1, 2], [3, 4]], [[5], [6]]).numpy()
    array([[17],
           [39]], dtype=int32)

    Args:
      a: a tensor with at least two dimensions.
      b: another, of the same dtype.
      transpose_a: whether to transpose the matrices of `a` first.
      transpose_b: whether to transpose the matrices of `b` first.
      adjoint_a: whether to transpose and conjugate the matrices of `a` first.
      adjoint_b: whether to transpose and conjugate the matrices of `b` first.
      a_is_sparse: accepted for compatibility, a hint that makes no difference here.
      b_is_sparse: the same.
      output_type: the dtype to multiply in and to return; by default that of `a`.
      grad_a: accepted for compatibility.
      grad_b: the same.
      name: the same.
    """
    if transpose_a and adjoint_a:
        raise ValueError("matmul: only one of `transpose_a` and `adjoint_a` can be True.")
    if transpose_b and adjoint_b:
        raise ValueError("matmul: only one of `transpose_b` and `adjoint_b` can be True.")
    if type(a) is not Tensor:
        a = a._read() if type(a) is Variable else convert_to_tensor(a)
    if type(b) is not Tensor:
        b = b._read() if type(b) is Variable else convert_to_tensor(b, dtype_hint=a.dtype)
    if output_type is not None:
        a, b = _as_dtype(a, output_type), _as_dtype(b, output_type)
    if adjoint_a:
        a, transpose_a = conj(a), True
    if adjoint_b:
        b, transpose_b = conj(b), True
    return products.matmul(a, b, transpose_a=bool(transpose_a), transpose_b=bool(transpose_b))


def _as_dtype(x: Tensor, dtype: Any) -> Tensor:
    dtype = as_dtype(dtype)
    return x if x.dtype is dtype else moving.cast(x, dtype=dtype)


@export("linalg.matvec")
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a matrix and a vector. The dimensions before those broadcast.

    >>> tf.linalg.matvec([[1, 2], [3, 4]], [5, 6]).numpy()
    array([17, 39], dtype=int32)

    Args:
      a: a tensor with at least two dimensions.
      b: a tensor with at least one, of the same dtype.
      transpose_a: whether to transpose the matrices of `a` first.
      adjoint_a: whether to transpose and conjugate the matrices of `a` first.
      a_is_sparse: accepted for compatibility, a hint that makes no difference here.
      b_is_sparse: the same.
      name: the same.
    """
    a = convert_to_tensor(a)
    b = convert_to_tensor(b, dtype_hint=a.dtype)
    if not b._array.ndim:
        raise invalid("matvec: b must have at least one dimension, got a scalar")
    column = moving.reshape(b, shape=(*b._array.shape, 1))
    out = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return moving.reshape(out, shape=out._array.shape[:-1])


@export("tensordot", "linalg.tensordot")
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Sums the products over chosen dimensions of two tensors.

    >>> tf.tensordot([[1, 2], [3, 4]], [5, 6], axes=1).numpy()
    array([17, 39], dtype=int32)
    >>> tf.tensordot([1, 2], [3, 4], axes=0).numpy()
    array([[3, 4],
           [6, 8]], dtype=int32)

    Args:
      a: a tensor.
      b: another, of the same dtype.
      axes: how many of the last dimensions of `a` to sum with the first of `b`, or a pair: which
        dimensions of `a`, and which of `b`.
      name: accepted for compatibility.
    """
    a = convert_to_tensor(a)
    b = convert_to_tensor(b, dtype_hint=a.dtype)
    check_same_dtype(
        "tensordot", ArraySpec(a._array.shape, a.dtype), ArraySpec(b._array.shape, b.dtype)
    )
    of_a, of_b = _dot_axes(a._array.ndim, b._array.ndim, axes)
    sizes_a = [a._array.shape[i] for i in of_a]
    sizes_b = [b._array.shape[i] for i in of_b]
    if sizes_a != sizes_b:
        raise invalid(
            f"tensordot: Matrix size-incompatible: dimensions {of_a} of a have sizes {sizes_a} "
            f"and dimensions {of_b} of "
            f"b have sizes {sizes_b} (a: {list(a._array.shape)}, b: {list(b._array.shape)}, "
            f"axes={axes})"
        )
    letters = iter(string.ascii_letters)
    left = [next(letters) for _ in range(a._array.ndim)]
    right = [next(letters) for _ in range(b._array.ndim)]
    output = [label for i, label in enumerate(left) if i not in of_a]
    output += [label for i, label in enumerate(right) if i not in of_b]
    for i, j in zip(of_a, of_b, strict=True):
        right[j] = left[i]
    return einsum_primitive.einsum(
        a, b, subscripts=("".join(left), "".join(right)), output="".join(output), stretch=""
    )


def _dot_axes(rank_a: int, rank_b: int, axes: Any) -> tuple[list[int], list[int]]:
    if not isinstance(axes, (list, tuple)):
        is_array = np.isscalar(axes) or hasattr(axes, "__array__")
        axes = np.asarray(axes).tolist() if is_array else several("tensordot", axes)
    if not isinstance(axes, (list, tuple)):
        n = integer("tensordot", "axes", axes)
        if n < 0:
            raise ValueError(f"tensordot: `axes` must be at least 0. Received: {n}.")
        if n > min(rank_a, rank_b):
            raise ValueError(
                "tensordot: `axes` must not be larger than the number of dimensions of a "
                f"({rank_a}) and of b "
                f"({rank_b}). Received: {n}."
            )
        return list(range(rank_a - n, rank_a)), list(range(n))
    if len(axes) != 2:
        raise ValueError(
            f"tensordot: `axes` must be an integer or have length 2. Received {shown(axes)}."
        )
    of_a, of_b = ([integer("tensordot", "axes", i) for i in np.ravel(side)] for side in axes)
    if len(of_a) != len(of_b):
        raise ValueError(
            f"tensordot: different number of contraction axes of a and b, {len(of_a)} != "
            f"{len(of_b)}."
        )
    for axis, rank, which in [*((i, rank_a, "a") for i in of_a), *((i, rank_b, "b") for i in of_b)]:
        if not -rank <= axis < rank:
            raise no_row(f"tensordot: axis {axis} is out of range: {which} has rank {rank}.")
    return [i % rank_a for i in of_a], [i % rank_b for i in of_b]


@export("linalg.cross")
def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The cross product of vectors of three elements, along the last dimension.

    >>> tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy()
    array([0, 0, 1], dtype=int32)
    """
    a = convert_to_tensor(a)
    return products.cross(a, convert_to_tensor(b, dtype_hint=a.dtype))


# Turning matrices about.


@export("linalg.matrix_transpose")
def matrix_transpose(
    a: Any, name: str | None = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """Swaps the last two dimensions.

    >>> tf.linalg.matrix_transpose([[1, 2, 3]]).shape
    TensorShape([3, 1])

    Args:
      a: a tensor with at least two dimensions.
      name: accepted for compatibility.
      conjugate: whether to conjugate the elements as well.
    """
    a = convert_to_tensor(a)
    rank = a._array.ndim
    if rank < 2:
        raise ValueError(
            "matrix_transpose: `a` should be a (batch) matrix with rank >= 2. Received shape "
            f"{a.shape}."
        )
    if conjugate:
        a = conj(a)
    return moving.transpose(a, perm=(*range(rank - 2), rank - 1, rank - 2))


@export("linalg.adjoint")
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """Swaps the last two dimensions and conjugates.

    >>> tf.linalg.adjoint([[1 + 1j, 2.0]]).numpy()
    array([[1.-1.j],
           [2.-0.j]])
    """
    return matrix_transpose(matrix, conjugate=True)
