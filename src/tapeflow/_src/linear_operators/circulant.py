"""Operators that Fourier transforms make diagonal: circulant ones, of one to three dimensions, and Toeplitz's."""

from __future__ import annotations

import math
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape, broadcast_static_shape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.linear_operators.base import LinearOperator, parameter
from tapeflow._src.ops.array.creation import ones, range as range_, zeros
from tapeflow._src.ops.array.moving import concat, reverse
from tapeflow._src.ops.array.shaping import (
    broadcast_dynamic_shape,
    broadcast_to,
    cast,
    expand_dims,
    reshape,
    shape as shape_of,
    transpose,
)
from tapeflow._src.ops.debugging.assertions import assert_less, assert_near
from tapeflow._src.ops.elementwise.arithmetic import abs as abs_, conj, imag, real
from tapeflow._src.ops.elementwise.functions import log
from tapeflow._src.ops.indexing.gathering import gather
from tapeflow._src.ops.linalg.products import adjoint as adjoint_of
from tapeflow._src.ops.reduction.reducing import reduce_max, reduce_min, reduce_prod, reduce_sum
from tapeflow._src.ops.signal.fourier import fft, fft2d, fft3d, ifft, ifft2d, ifft3d

_FORWARD = {1: fft, 2: fft2d, 3: fft3d}
_BACK = {1: ifft, 2: ifft2d, 3: ifft3d}


class _Circulant(LinearOperator):
    """A circulant operator of `depth` dimensions, by the transform of its first column."""

    _depth: int
    _real_wanted: bool

    def _setup(self, spectrum: Any, wanted: Any, name: str, known: dict[str, bool | None]) -> None:
        self._spectrum = parameter(spectrum, "spectrum")
        rank = self._spectrum.shape.rank
        if rank is not None and rank < self._depth:
            raise ValueError(
                f"Argument spectrum must have at least {self._depth} dimensions, got {self._spectrum.shape}"
            )
        wanted = as_dtype(wanted)
        if not self._spectrum.dtype.is_complex:
            if known["is_self_adjoint"] is False:
                raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
            known["is_self_adjoint"] = True
        if known["is_square"] is False:
            raise ValueError("A circulant operator is always square.")
        known["is_square"] = True
        LinearOperator.__init__(
            self,
            wanted,
            name=name,
            parameters={"spectrum": spectrum, "input_output_dtype": wanted},
            **known,
        )
        self._complex = (
            dtypes.complex128 if wanted.size // (1 + wanted.is_complex) == 8 else dtypes.complex64
        )

    @property
    def spectrum(self) -> Any:
        """The Fourier transform of the first column."""
        return self._spectrum

    @property
    def block_depth(self) -> int:
        """How many dimensions it has: 1, 2 or 3."""
        return self._depth

    @property
    def block_shape(self) -> TensorShape:
        """The sizes of these dimensions."""
        return self._spectrum.shape[-self._depth :]

    def block_shape_tensor(self) -> Tensor:
        """The same as a tensor."""
        return shape_of(self._spectrum)[-self._depth :]

    def convolution_kernel(self, name: str | None = "convolution_kernel") -> Tensor:
        """The first column, in its dimensions."""
        kernel = _BACK[self._depth](self._values())
        return cast(kernel, self.dtype) if self.dtype.is_complex else cast(real(kernel), self.dtype)

    def assert_hermitian_spectrum(self, name: str | None = "assert_hermitian_spectrum") -> Any:
        """Raises if the spectrum is not that of real numbers."""
        largest = cast(1e-5, self._complex.real_dtype)
        kernel = _BACK[self._depth](self._values())
        return assert_less(reduce_max(abs_(imag(kernel))), largest, "Spectrum was not Hermitian")

    def _values(self) -> Any:
        return cast(convert_to_tensor(self._spectrum), self._complex)

    def _shape(self) -> TensorShape:
        sizes = self.block_shape.as_list()
        size = None if None in sizes else math.prod(d for d in sizes if d is not None)
        return self._spectrum.shape[: -self._depth].concatenate([size, size])

    def _shape_tensor(self) -> Any:
        shape = shape_of(self._spectrum)
        size = expand_dims(reduce_prod(shape[-self._depth :]), 0)
        return concat([shape[: -self._depth], size, size], 0)

    def _filtered(self, x: Any, factor: Any) -> Any:
        """The columns of `x`, whose transforms are multiplied by `factor`."""
        x = cast(x, self._complex)
        batch = broadcast_dynamic_shape(self.batch_shape_tensor(), shape_of(x)[:-2])
        x = broadcast_to(x, concat([batch, shape_of(x)[-2:]], 0))
        count = x.shape.rank - 2
        lead = list(range(count))
        columns = shape_of(x)[-1:]
        x = transpose(x, [*lead, count + 1, count])
        block = self.block_shape_tensor()
        x = reshape(x, concat([batch, columns, block], 0))
        y = _BACK[self._depth](_FORWARD[self._depth](x) * expand_dims(factor, -self._depth - 1))
        y = reshape(y, concat([batch, columns, [-1]], 0))
        y = transpose(y, [*lead, count + 1, count])
        return cast(y, self.dtype) if self.dtype.is_complex else cast(real(y), self.dtype)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        factor = conj(self._values()) if adjoint else self._values()
        return self._filtered(adjoint_of(x) if adjoint_arg else x, factor)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        factor = conj(self._values()) if adjoint else self._values()
        return self._filtered(adjoint_of(rhs) if adjoint_arg else rhs, 1.0 / factor)

    def _flat(self, x: Any) -> Any:
        return reshape(x, concat([shape_of(x)[: -self._depth], [-1]], 0))

    def _back(self, x: Any) -> Any:
        return cast(x, self.dtype) if self.dtype.is_complex else cast(real(x), self.dtype)

    def _determinant(self) -> Any:
        return self._back(reduce_prod(self._flat(self._values()), axis=-1))

    def _log_abs_determinant(self) -> Any:
        return cast(reduce_sum(log(abs_(self._flat(self._values()))), axis=-1), self.dtype)

    def _trace(self) -> Any:
        return self._back(reduce_sum(self._flat(self._values()), axis=-1))

    def _diag_part(self) -> Any:
        size = cast(self.domain_dimension_tensor(), self.dtype)
        each = expand_dims(self._trace() / size, -1)
        return each * ones(self.domain_dimension_tensor()[None], self.dtype)

    def _eigvals(self) -> Any:
        return self._flat(convert_to_tensor(self._spectrum))

    def cond(self, name: str | None = "cond") -> Any:
        """The condition number: by how much a relative error may grow."""
        sizes = abs_(self._flat(self._values()))
        return cast(reduce_max(sizes, axis=-1) / reduce_min(sizes, axis=-1), self.dtype)

    def _like(self, spectrum: Any, **known: Any) -> LinearOperator:
        return type(self)(spectrum, input_output_dtype=self.dtype, **known)  # pyright: ignore

    def _adjoint(self) -> LinearOperator:
        return self._like(
            conj(convert_to_tensor(self._spectrum)),
            is_non_singular=self.is_non_singular,
            is_positive_definite=self.is_positive_definite,
        )

    def _inverse(self) -> LinearOperator:
        return self._like(
            1.0 / convert_to_tensor(self._spectrum),
            is_non_singular=True,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
        )

    def _times(self, other: LinearOperator) -> LinearOperator:
        if isinstance(other, type(self)) and other.dtype is self.dtype:
            product = self._values() * other._values()
            return self._like(
                product,
                is_non_singular=True if self.is_non_singular and other.is_non_singular else None,
            )
        return super()._times(other)

    def _assert_self_adjoint(self) -> Any:
        part = imag(self._values())
        return assert_near(
            part,
            zeros(shape_of(part), part.dtype),
            message="Not self-adjoint: the spectrum has imaginary parts.",
        )


def _known(*hints: bool | None) -> dict[str, bool | None]:
    names = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")
    return dict(zip(names, hints, strict=True))


@export("linalg.LinearOperatorCirculant")
class LinearOperatorCirculant(_Circulant):
    """A circulant matrix: each column is the one before it, moved down by one.

    >>> operator = tf.linalg.LinearOperatorCirculant(tf.signal.fft([1.0 + 0j, 2.0, 3.0]), tf.complex64)
    >>> tf.math.real(operator.to_dense()).numpy().round(4)
    array([[1., 3., 2.],
           [2., 1., 3.],
           [3., 2., 1.]], dtype=float32)

    Args:
      spectrum: the Fourier transform of the first column.
      input_output_dtype: the dtype of the matrix, real or complex.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint; it is always true if `spectrum` is real.
      is_positive_definite: a hint.
      is_square: a hint, which must not be false.
      name: of the operator.
    """

    _depth = 1

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:
        known = _known(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._setup(spectrum, input_output_dtype, name, known)


@export("linalg.LinearOperatorCirculant2D")
class LinearOperatorCirculant2D(_Circulant):
    """A circulant matrix of circulant blocks: a convolution in two dimensions that begins again at the edges.

    >>> operator = tf.linalg.LinearOperatorCirculant2D(tf.ones([2, 2]), tf.float32)
    >>> operator.matvec([1.0, 2.0, 3.0, 4.0]).numpy()
    array([1., 2., 3., 4.], dtype=float32)

    The arguments are those of `tf.linalg.LinearOperatorCirculant`; the spectrum has two dimensions.
    """

    _depth = 2

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant2D",
    ) -> None:
        known = _known(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._setup(spectrum, input_output_dtype, name, known)


@export("linalg.LinearOperatorCirculant3D")
class LinearOperatorCirculant3D(_Circulant):
    """The same as `tf.linalg.LinearOperatorCirculant2D` in three dimensions.

    >>> tf.linalg.LinearOperatorCirculant3D(tf.ones([2, 2, 2]), tf.float32).trace().numpy()
    np.float32(8.0)
    """

    _depth = 3

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str = "LinearOperatorCirculant3D",
    ) -> None:
        known = _known(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._setup(spectrum, input_output_dtype, name, known)


@export("linalg.LinearOperatorToeplitz")
class LinearOperatorToeplitz(LinearOperator):
    """A Toeplitz matrix: the same number along each diagonal. Products go by Fourier transforms.

    >>> operator = tf.linalg.LinearOperatorToeplitz([1.0, 2.0, 3.0], [1.0, 4.0, 5.0])
    >>> operator.to_dense().numpy()
    array([[1., 4., 5.],
           [2., 1., 4.],
           [3., 2., 1.]], dtype=float32)

    Args:
      col: the first column.
      row: the first row, whose first element is that of the column.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint.
      is_positive_definite: a hint.
      is_square: a hint, which must not be false.
      name: of the operator.
    """

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        self._col, self._row = parameter(col, "col"), parameter(row, "row")
        for argument, value in (("col", self._col), ("row", self._row)):
            if not value.shape.rank:
                raise ValueError(
                    f"Argument {argument} must have at least 1 dimension, got {value.shape}"
                )
        if self._col.shape[-1] != self._row.shape[-1]:
            raise ValueError(
                f"Expected square matrix, got `col` and `row` of shapes {self._col.shape} and {self._row.shape}"
            )
        super().__init__(
            self._col.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
            name=name,
            parameters={"col": col, "row": row},
        )

    @property
    def col(self) -> Any:
        """The first column."""
        return self._col

    @property
    def row(self) -> Any:
        """The first row."""
        return self._row

    def _shape(self) -> TensorShape:
        whole = self._col.shape[:-1]
        batch = broadcast_static_shape(whole, self._row.shape[:-1])
        return batch.concatenate([self._col.shape[-1]] * 2)

    def _shape_tensor(self) -> Any:
        batch = broadcast_dynamic_shape(shape_of(self._col)[:-1], shape_of(self._row)[:-1])
        size = shape_of(self._col)[-1:]
        return concat([batch, size, size], 0)

    def _ends(self, adjoint: bool) -> tuple[Any, Any]:
        col, row = convert_to_tensor(self._col), convert_to_tensor(self._row)
        return (conj(row), conj(col)) if adjoint else (col, row)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        col, row = self._ends(adjoint)
        # The first column of a circulant matrix, of which this is the corner.
        first = col[..., :1]
        batch = broadcast_dynamic_shape(shape_of(col)[:-1], shape_of(row)[:-1])

        def spread(part: Any) -> Any:
            return broadcast_to(part, concat([batch, shape_of(part)[-1:]], 0))

        column = concat([spread(p) for p in (col, first, reverse(row[..., 1:], [-1]))], -1)
        kind = (
            dtypes.complex128
            if self.dtype.size // (1 + self.dtype.is_complex) == 8
            else dtypes.complex64
        )
        operator = LinearOperatorCirculant(fft(cast(column, kind)), input_output_dtype=self.dtype)
        padded = concat([x, zeros(shape_of(x), x.dtype)], -2)
        size = shape_of(x)[-2]
        return operator.matmul(padded)[..., :size, :]

    def _to_dense(self) -> Any:
        col, row = self._ends(False)
        batch = broadcast_dynamic_shape(shape_of(col)[:-1], shape_of(row)[:-1])
        n = shape_of(col)[-1]

        def spread(part: Any) -> Any:
            return broadcast_to(part, concat([batch, shape_of(part)[-1:]], 0))

        along = concat([spread(reverse(row[..., 1:], [-1])), spread(col)], -1)
        places = expand_dims(range_(n), 1) - range_(n) + (n - 1)
        return gather(along, places, axis=-1)

    def _diag_part(self) -> Any:
        col, row = self._ends(False)
        first = col[..., :1] + 0 * row[..., :1]
        return first * ones([1], self.dtype) * ones(shape_of(col)[-1:], self.dtype)

    def _trace(self) -> Any:
        return reduce_sum(self._diag_part(), axis=-1)

    def _adjoint(self) -> LinearOperator:
        col, row = self._ends(True)
        return LinearOperatorToeplitz(
            col,
            row,
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
        )
