"""`tensorflow.python.ops.linalg.sparse.sparse`: matrices by rows, and batches of them."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import shown
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.linalg.products import matmul as dense_product
from tapeflow._src.sparse.conversion import from_dense, to_dense
from tapeflow._src.sparse.reduction import sparse_dense_matmul
from tapeflow._src.sparse.tensor import SparseTensor


class CSRSparseMatrix:
    """A sparse matrix, or a batch of them, made of a `tf.SparseTensor` or of the elements of a tensor that are not 0.

    Products with a matrix cost what its elements cost; those of batches and of two sparse ones are computed densely.
    """

    def __init__(self, value: Any, indices: Any = None, name: str | None = None) -> None:
        if isinstance(value, SparseTensor):
            self._sparse = value
        elif indices is None:
            self._sparse = from_dense(value)
        else:
            raise ValueError("CSRSparseMatrix: pass a tf.SparseTensor in place of indices.")
        if self._sparse.shape.rank not in (2, 3):
            raise ValueError(
                f"CSRSparseMatrix: needs a matrix or a batch of them, got shape {self._sparse.shape}"
            )

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._sparse.shape

    @property
    def dtype(self) -> DType:
        """The dtype of its elements."""
        return self._sparse.dtype

    def to_sparse_tensor(self) -> SparseTensor:
        """The matrix as a `tf.SparseTensor`."""
        return self._sparse

    def to_dense(self) -> Tensor:
        """The matrix with its zeros."""
        return to_dense(self._sparse)


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Any:
    """The product of two matrices of which one is sparse, or both: then the result is, too."""
    sparse = [isinstance(x, CSRSparseMatrix) for x in (a, b)]
    if not any(sparse):
        raise ValueError(
            f"matmul: one of the matrices must be a CSRSparseMatrix, got {shown(a)} and {shown(b)}"
        )
    plain = not (transpose_a or transpose_b or adjoint_a or adjoint_b)
    if plain and sparse == [True, False] and a.shape.rank == 2:
        return sparse_dense_matmul(a.to_sparse_tensor(), convert_to_tensor(b))
    operands = [x.to_dense() if isinstance(x, CSRSparseMatrix) else x for x in (a, b)]
    found = dense_product(operands[0], operands[1], transpose_a, transpose_b, adjoint_a, adjoint_b)
    return CSRSparseMatrix(found) if all(sparse) else found
