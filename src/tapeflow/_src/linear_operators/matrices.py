"""Operators that are given by their elements, or by a few of them: full, triangular, three diagonals, a permutation."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.linear_operators.base import (
    LinearOperator,
    dense_matmul,
    hints,
    parameter,
    same_batch,
)
from tapeflow._src.ops.array.creation import zeros
from tapeflow._src.ops.array.moving import concat, roll, stack
from tapeflow._src.ops.array.shaping import broadcast_to, shape as shape_of
from tapeflow._src.ops.elementwise.arithmetic import abs as abs_, conj
from tapeflow._src.ops.elementwise.functions import log
from tapeflow._src.ops.linalg.diagonals import band_part, diag_part, eye
from tapeflow._src.ops.linalg.products import adjoint as adjoint_of
from tapeflow._src.ops.linalg.solvers import triangular_solve
from tapeflow._src.ops.linalg.tridiagonal import tridiagonal_matmul, tridiagonal_solve
from tapeflow._src.ops.reduction.reducing import reduce_prod, reduce_sum


class _Stored(LinearOperator):
    """An operator with a tensor of the shape of its matrix."""

    _matrix: Any

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Any:
        return shape_of(self._matrix)

    def _check_matrix(self, name: str) -> None:
        if self._matrix.shape.rank is not None and self._matrix.shape.rank < 2:
            raise ValueError(
                f"Argument {name} must have at least 2 dimensions, got shape {self._matrix.shape}"
            )


@export("linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(_Stored):
    """A matrix with all of its elements.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> operator.matvec([1.0, 1.0]).numpy()
    array([3., 7.], dtype=float32)

    Args:
      matrix: the elements, with the batch before rows and columns.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint.
      is_positive_definite: a hint.
      is_square: a hint.
      name: of the operator.
    """

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        self._matrix = parameter(matrix, "matrix")
        self._check_matrix("matrix")
        super().__init__(
            self._matrix.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
            parameters={"matrix": matrix},
        )

    @property
    def matrix(self) -> Any:
        """The elements."""
        return self._matrix

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return dense_matmul(convert_to_tensor(self._matrix), x, adjoint, adjoint_arg)

    def _to_dense(self) -> Any:
        return convert_to_tensor(self._matrix)


@export("linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular(_Stored):
    """A matrix with zeros above its diagonal.

    >>> operator = tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]])
    >>> operator.to_dense().numpy()
    array([[2., 0.],
           [1., 4.]], dtype=float32)
    >>> operator.solvevec([2.0, 5.0]).numpy()
    array([1., 1.], dtype=float32)

    Args:
      tril: the elements; those above the diagonal are not looked at.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint.
      is_positive_definite: a hint.
      is_square: a hint, which must not be false.
      name: of the operator.
    """

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._matrix = parameter(tril, "tril")
        self._check_matrix("tril")
        super().__init__(
            self._matrix.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
            name=name,
            parameters={"tril": tril},
        )

    @property
    def tril(self) -> Any:
        """The elements as they were given."""
        return self._matrix

    def _to_dense(self) -> Any:
        return band_part(convert_to_tensor(self._matrix), -1, 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return dense_matmul(self._to_dense(), x, adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        matrix, rhs = same_batch(self._to_dense(), adjoint_of(rhs) if adjoint_arg else rhs)
        return triangular_solve(matrix, rhs, lower=True, adjoint=adjoint)

    def _diag_part(self) -> Any:
        return diag_part(convert_to_tensor(self._matrix))

    def _determinant(self) -> Any:
        return reduce_prod(self._diag_part(), axis=-1)

    def _log_abs_determinant(self) -> Any:
        return reduce_sum(log(abs_(self._diag_part())), axis=-1)

    def _eigvals(self) -> Any:
        return self._diag_part()


@export("linalg.LinearOperatorTridiag")
class LinearOperatorTridiag(LinearOperator):
    """A matrix with elements on three diagonals only.

    >>> operator = tf.linalg.LinearOperatorTridiag([[1.0, 2.0, 0.0], [5.0, 6.0, 7.0], [0.0, 3.0, 4.0]])
    >>> operator.to_dense().numpy()
    array([[5., 1., 0.],
           [3., 6., 2.],
           [0., 4., 7.]], dtype=float32)

    Args:
      diagonals: the diagonals above, in and below the middle, in one of the formats.
      diagonals_format: "compact": `[..., 3, n]`; "sequence": a list of three; "matrix": `[..., n, n]`.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint.
      is_positive_definite: a hint.
      is_square: a hint, which must not be false.
      name: of the operator.
    """

    def __init__(
        self,
        diagonals: Any,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorTridiag",
    ) -> None:
        if diagonals_format not in ("compact", "sequence", "matrix"):
            raise ValueError(
                "Argument `diagonals_format` must be one of compact, matrix, or sequence, got "
                f"{shown(diagonals_format)}"
            )
        if is_square is False:
            raise ValueError("Only square tridiagonal operators currently supported.")
        if diagonals_format == "sequence":
            self._diagonals: Any = [parameter(d, "diagonals") for d in diagonals]
            if len(self._diagonals) != 3:
                raise ValueError(
                    "LinearOperatorTridiag: diagonals_format 'sequence' takes three of them (above, main, below), got "
                    f"{len(self._diagonals)}"
                )
        else:
            self._diagonals = parameter(diagonals, "diagonals")
        least = {"compact": 2, "sequence": 1, "matrix": 2}[diagonals_format]
        given = self._diagonals if diagonals_format == "sequence" else [self._diagonals]
        if any(d.shape.rank is not None and d.shape.rank < least for d in given):
            raise ValueError(
                f"LinearOperatorTridiag: with diagonals_format {diagonals_format!r} diagonals have {least} or more "
                f"dimensions, got shapes {[d.shape.as_list() for d in given]}"
            )
        kind = given[0].dtype
        self._format = diagonals_format
        super().__init__(
            kind,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
            name=name,
            parameters={"diagonals": diagonals, "diagonals_format": diagonals_format},
        )

    @property
    def diagonals(self) -> Any:
        """The diagonals as they were given."""
        return self._diagonals

    @property
    def diagonals_format(self) -> str:
        """How they were given."""
        return self._format

    def _middle(self) -> Any:
        if self._format == "sequence":
            return convert_to_tensor(self._diagonals[1])
        given = convert_to_tensor(self._diagonals)
        return given[..., 1, :] if self._format == "compact" else diag_part(given)

    def _compact(self) -> Any:
        """All three in one tensor, each as long as the matrix."""
        if self._format == "compact":
            return convert_to_tensor(self._diagonals)
        if self._format == "matrix":
            given = convert_to_tensor(self._diagonals)
            return diag_part(given, k=(-1, 1), align="LEFT_RIGHT")
        above, middle, below = (convert_to_tensor(d) for d in self._diagonals)
        n = shape_of(middle)[-1]
        above = (
            concat([above, zeros_last(above)], -1) if above.shape[-1] != middle.shape[-1] else above
        )
        below = (
            concat([zeros_last(below), below], -1) if below.shape[-1] != middle.shape[-1] else below
        )
        total = above + middle + below
        return stack(
            [broadcast_to(d, shape_of(total)) for d in (above, middle, below)], axis=-2
        ) + zeros([n], self.dtype)

    def _shape(self) -> TensorShape:
        middle = self._middle().shape
        return middle.concatenate(middle[-1:])

    def _shape_tensor(self) -> Any:
        shape = shape_of(self._middle())
        return concat([shape, shape[-1:]], 0)

    def _diag_part(self) -> Any:
        return self._middle()

    def _to_dense(self) -> Any:
        n = shape_of(self._middle())[-1]
        return tridiagonal_matmul(*same_batch(self._compact(), eye(n, dtype=self.dtype)))

    def _transposed(self) -> Any:
        above, middle, below = (self._compact()[..., i, :] for i in range(3))
        return conj(stack([roll(below, -1, -1), middle, roll(above, 1, -1)], axis=-2))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        diagonals = self._transposed() if adjoint else self._compact()
        return tridiagonal_matmul(*same_batch(diagonals, x), diagonals_format="compact")

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        diagonals = self._transposed() if adjoint else self._compact()
        return tridiagonal_solve(*same_batch(diagonals, rhs), diagonals_format="compact")

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorTridiag(self._transposed(), **hints(self))


def zeros_last(x: Any) -> Any:
    """A zero for each row."""
    return zeros(concat([shape_of(x)[:-1], [1]], 0), x.dtype)
