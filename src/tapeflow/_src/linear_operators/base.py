"""What all linear operators share: shapes, hints, and answers by the dense matrix where there is no quicker way."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.linear_operators.description import Description
from tapeflow._src.ops.array.moving import concat
from tapeflow._src.ops.array.shaping import (
    broadcast_dynamic_shape,
    broadcast_to,
    cast,
    expand_dims,
    shape as shape_of,
    squeeze,
)
from tapeflow._src.ops.control.grouping import no_op
from tapeflow._src.ops.debugging.assertions import assert_less, assert_near
from tapeflow._src.ops.elementwise.arithmetic import abs as abs_
from tapeflow._src.ops.elementwise.functions import exp, log
from tapeflow._src.ops.linalg.decompositions import cholesky, eigvals, eigvalsh, svd
from tapeflow._src.ops.linalg.diagonals import diag_part, eye
from tapeflow._src.ops.linalg.products import adjoint, matmul
from tapeflow._src.ops.linalg.solvers import cholesky_solve, slogdet, solve
from tapeflow._src.ops.reduction.reducing import reduce_max, reduce_min, reduce_sum


@export("linalg.LinearOperator")
class LinearOperator(Description):
    """The base of operators: a matrix, or a batch of them, that need not be stored element by element.

    A class of your own has `_shape`, `_matmul` and, unless the dense matrix will do, `_solve` and the like.

    >>> class Doubling(tf.linalg.LinearOperator):
    ...     def _shape(self):
    ...         return tf.TensorShape([3, 3])
    ...     def _matmul(self, x, adjoint=False, adjoint_arg=False):
    ...         return 2.0 * (tf.linalg.adjoint(x) if adjoint_arg else x)
    >>> double = Doubling(tf.float32)
    >>> double.matvec([1.0, 2.0, 3.0]).numpy(), double.trace().numpy()
    (array([2., 4., 6.], dtype=float32), np.float32(6.0))

    Args:
      dtype: of the matrix.
      graph_parents: accepted for compatibility.
      is_non_singular: whether it is known that it can be inverted; `None` if that is not known, as with all hints.
      is_self_adjoint: whether it is its own conjugate transpose.
      is_positive_definite: whether `x^H A x` has a positive real part for all `x` but zero.
      is_square: whether it has as many rows as columns.
      name: of the operator.
      parameters: what it was made with, by name.
    """

    _dispatches = True  # functions of `tf.linalg` take it, too: see `dispatching`

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        for hint, value in (
            ("is_non_singular", is_non_singular),
            ("is_self_adjoint", is_self_adjoint),
            ("is_positive_definite", is_positive_definite),
            ("is_square", is_square),
        ):
            if value is not None and not isinstance(value, bool):
                raise ValueError(f"{hint} must be True, False or None, got {shown(value)}")
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square = is_square
        self._dtype = as_dtype(dtype)
        self._own_name = name or type(self).__name__
        self._given = dict(parameters or {})
        super().__init__(name=None)

    # Products.

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _matmul")

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = "matmul"
    ) -> Any:
        """The product with a matrix, or with another operator.

        >>> tf.linalg.LinearOperatorDiag([1.0, 2.0]).matmul([[1.0], [1.0]]).numpy()
        array([[1.],
               [2.]], dtype=float32)

        Args:
          x: a matrix, a batch of them, or an operator.
          adjoint: whether this operator's conjugate transpose is meant.
          adjoint_arg: whether that of `x` is.
          name: accepted for compatibility.
        """
        if isinstance(x, LinearOperator):
            from_left = self.adjoint() if adjoint else self
            return from_left._times(x.adjoint() if adjoint_arg else x)
        x = self._operand("matmul", x, -1 if adjoint_arg else -2, adjoint)
        return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _operand(self, op: str, x: Any, axis: int, adjoint: bool, solving: bool = False) -> Tensor:
        if isinstance(x, Tensor) and x.dtype is not self.dtype:
            raise TypeError(
                f"{op}: the operator is {self.dtype.name} and x {x.dtype.name}. Use tf.cast to change one of them."
            )
        x = convert_to_tensor(x, self.dtype)
        own = self.range_dimension if adjoint is not solving else self.domain_dimension
        if x.shape.rank is not None:
            if x.shape.rank < -axis:
                raise ValueError(
                    f"{op}: x must be a matrix, got shape {x.shape}. Use {op[:5]}vec for vectors."
                )
            size = x.shape[axis]
            if own is not None and size is not None and own != size:
                raise ValueError(
                    f"Dimensions are not compatible: {op} of an operator of shape {self.shape} and x of shape {x.shape}"
                )
        return x

    def _times(self, other: LinearOperator) -> LinearOperator:
        """The product with an operator, as an operator."""
        return rules.product(self, other)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: Any, adjoint: bool = False, name: str | None = "matvec") -> Tensor:
        """The product with a vector.

        >>> tf.linalg.LinearOperatorDiag([1.0, 2.0]).matvec([3.0, 4.0]).numpy()
        array([3., 8.], dtype=float32)
        """
        x = self._operand("matvec", x, -1, adjoint)
        return self._matvec(x, adjoint=adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return squeeze(self._matmul(expand_dims(x, -1), adjoint=adjoint), axis=-1)

    # Systems.

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        dense = self.to_dense()
        rhs = _adjoint(rhs) if adjoint_arg else rhs
        dense, rhs = same_batch(dense, rhs)
        if self.is_positive_definite and self.is_self_adjoint:
            return cholesky_solve(cholesky(dense), rhs)
        return solve(dense, rhs, adjoint=adjoint)

    def _check_solvable(self, op: str) -> None:
        if self.is_non_singular is False:
            raise NotImplementedError(
                f"{op}: the operator is said to be singular (is_non_singular=False)."
            )
        if self.is_square is False:
            raise NotImplementedError(f"{op}: the operator of shape {self.shape} is not square.")

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = "solve"
    ) -> Any:
        """The matrix whose product with the operator is `rhs`.

        >>> tf.linalg.LinearOperatorDiag([1.0, 2.0]).solve([[1.0], [1.0]]).numpy()
        array([[1. ],
               [0.5]], dtype=float32)

        Args:
          rhs: a matrix, a batch of them, or an operator.
          adjoint: whether this operator's conjugate transpose is meant.
          adjoint_arg: whether that of `rhs` is.
          name: accepted for compatibility.
        """
        self._check_solvable("solve")
        if isinstance(rhs, LinearOperator):
            from_left = self.adjoint() if adjoint else self
            return from_left.inverse()._times(rhs.adjoint() if adjoint_arg else rhs)
        rhs = self._operand("solve", rhs, -1 if adjoint_arg else -2, adjoint, solving=True)
        return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str | None = "solve") -> Tensor:
        """The vector whose product with the operator is `rhs`.

        >>> tf.linalg.LinearOperatorDiag([1.0, 2.0]).solvevec([1.0, 1.0]).numpy()
        array([1. , 0.5], dtype=float32)
        """
        self._check_solvable("solvevec")
        rhs = self._operand("solvevec", rhs, -1, adjoint, solving=True)
        return self._solvevec(rhs, adjoint=adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return squeeze(self._solve(expand_dims(rhs, -1), adjoint=adjoint), axis=-1)

    # Other operators.

    def adjoint(self, name: str | None = "adjoint") -> LinearOperator:
        """The conjugate transpose, as an operator."""
        return self if self.is_self_adjoint else self._adjoint()

    def _adjoint(self) -> LinearOperator:
        return rules.adjoint(self)

    @property
    def H(self) -> LinearOperator:
        """The conjugate transpose, as an operator."""
        return self.adjoint()

    def inverse(self, name: str | None = "inverse") -> LinearOperator:
        """The inverse, as an operator."""
        if self.is_square is False:
            raise ValueError(
                "Cannot compute the Inverse: This operator represents a non square matrix."
            )
        if self.is_non_singular is False:
            raise ValueError(
                "Cannot compute the Inverse: This operator represents a singular matrix."
            )
        return self._inverse()

    def _inverse(self) -> LinearOperator:
        return rules.inverse(self)

    def cholesky(self, name: str | None = "cholesky") -> LinearOperator:
        """The lower triangular operator whose product with its adjoint is this one."""
        if not self.is_self_adjoint or not self.is_positive_definite:
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix."
            )
        return self._cholesky()

    def _cholesky(self) -> LinearOperator:
        return rules.triangular(cholesky(self.to_dense()), is_non_singular=True)

    # Numbers.

    def _to_dense(self) -> Any:
        batch = self.batch_shape_tensor()
        return self._matmul(
            eye(self.domain_dimension_tensor(), batch_shape=batch, dtype=self.dtype)
        )

    def to_dense(self, name: str | None = "to_dense") -> Tensor:
        """The matrix with all of its elements.

        >>> tf.linalg.LinearOperatorDiag([1.0, 2.0]).to_dense().numpy()
        array([[1., 0.],
               [0., 2.]], dtype=float32)
        """
        return self._to_dense()

    def diag_part(self, name: str | None = "diag_part") -> Tensor:
        """The diagonal."""
        return self._diag_part()

    def _diag_part(self) -> Any:
        return diag_part(self.to_dense())

    def trace(self, name: str | None = "trace") -> Tensor:
        """The sum of the diagonal."""
        return self._trace()

    def _trace(self) -> Any:
        return reduce_sum(self.diag_part(), axis=-1)

    def _check_square(self, op: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(f"{op}: the operator of shape {self.shape} is not square.")

    def determinant(self, name: str | None = "det") -> Tensor:
        """The determinant."""
        self._check_square("determinant")
        return self._determinant()

    def _determinant(self) -> Any:
        if self.is_self_adjoint and self.is_positive_definite:
            return exp(self._log_abs_determinant())
        sign, log_abs = slogdet(self.to_dense())
        return sign * cast(exp(log_abs), sign.dtype)

    def log_abs_determinant(self, name: str | None = "log_abs_det") -> Tensor:
        """The logarithm of the absolute value of the determinant."""
        self._check_square("log_abs_determinant")
        return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Any:
        if self.is_self_adjoint and self.is_positive_definite:
            return 2.0 * reduce_sum(log(abs_(diag_part(cholesky(self.to_dense())))), axis=-1)
        return slogdet(self.to_dense())[1]

    def eigvals(self, name: str | None = "eigvals") -> Tensor:
        """The eigenvalues; of an operator that is self-adjoint, in ascending order."""
        self._check_square("eigvals")
        return self._eigvals()

    def _eigvals(self) -> Any:
        if self.is_self_adjoint:
            return eigvalsh(self.to_dense())
        return eigvals(self.to_dense())

    def cond(self, name: str | None = "cond") -> Tensor:
        """The condition number: by how much a relative error may grow."""
        if self.is_self_adjoint:
            sizes = abs_(self.eigvals())
        else:
            sizes = svd(self.to_dense(), compute_uv=False)
        return reduce_max(sizes, axis=-1) / reduce_min(sizes, axis=-1)

    def add_to_tensor(self, x: Any, name: str | None = "add_to_tensor") -> Tensor:
        """The sum of the matrix and a tensor."""
        return self._add_to_tensor(convert_to_tensor(x, self.dtype))

    def _add_to_tensor(self, x: Any) -> Any:
        return self.to_dense() + x

    # Checks.

    def assert_non_singular(self, name: str | None = "assert_non_singular") -> Any:
        """Raises if the matrix cannot be inverted, to the precision of its dtype."""
        return self._assert_non_singular()

    def _assert_non_singular(self) -> Any:
        kind = self.dtype.real_dtype.np_dtype
        least = float(np.sqrt(np.finfo(kind).eps))
        return assert_less(
            self.cond(), convert_to_tensor(1 / least, self.dtype.real_dtype), "Singular matrix."
        )

    def assert_positive_definite(self, name: str | None = "assert_positive_definite") -> Any:
        """Raises if the matrix is not positive definite."""
        return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Any:
        if self.is_self_adjoint:
            return cholesky(self.to_dense())
        raise NotImplementedError(
            "assert_positive_definite is there for self-adjoint operators only."
        )

    def assert_self_adjoint(self, name: str | None = "assert_self_adjoint") -> Any:
        """Raises if the matrix is not its own adjoint."""
        if self._is_self_adjoint:
            return no_op()
        return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        return assert_near(_adjoint(dense), dense, message="Matrix was not equal to its adjoint.")

    def __repr__(self) -> str:
        return f"<tf.linalg.{type(self).__name__} shape={self.shape} dtype={self.dtype.name}>"


class _Rules:
    """How operators are multiplied, adjoined, inverted and decomposed: the classes for it are made from the base."""

    product: Any
    adjoint: Any
    inverse: Any
    triangular: Any


rules = _Rules()


def _adjoint(x: Any) -> Any:
    return adjoint(x)


def same_batch(a: Any, b: Any) -> tuple[Any, Any]:
    """Two batches of matrices, brought to one shape of batches."""
    left, right = a.shape[:-2], b.shape[:-2]
    if left == right and left.is_fully_defined():
        return a, b
    batch = broadcast_dynamic_shape(shape_of(a)[:-2], shape_of(b)[:-2])
    return tuple(broadcast_to(x, concat([batch, shape_of(x)[-2:]], 0)) for x in (a, b))  # pyright: ignore[reportReturnType]


def parameter(value: Any, name: str, dtype: Any = None) -> Any:
    """An argument that may change: variables stay what they are, and are read when they are needed."""
    if value is None:
        raise ValueError(f"LinearOperator: {name} must be a tensor, got None")
    if isinstance(value, Variable) or isinstance(getattr(value, "handle", None), Variable):
        return value
    return convert_to_tensor(value, dtype)


def hints(operator: LinearOperator) -> dict[str, Any]:
    """What is known of an operator, as arguments for another."""
    return {
        "is_non_singular": operator.is_non_singular,
        "is_self_adjoint": operator.is_self_adjoint,
        "is_positive_definite": operator.is_positive_definite,
        "is_square": operator.is_square,
    }


def dense_matmul(a: Any, x: Any, adjoint_a: bool, adjoint_x: bool) -> Any:
    """The product of dense matrices, whose batches broadcast."""
    return matmul(a, x, adjoint_a=adjoint_a, adjoint_b=adjoint_x)


def all_true(values: Any) -> bool | None:
    """True if all are; else nothing is known."""
    return True if all(values) else None
