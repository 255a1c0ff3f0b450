"""Raw ops of matrices and signals."""

from __future__ import annotations

from tapeflow._src.core import dtypes
from tapeflow._src.core.export import export_value
from tapeflow._src.ops.linalg import (
    decompositions,
    diagonals,
    einsum,
    matrix_functions,
    products,
    solvers,
    tridiagonal,
)
from tapeflow._src.ops.signal import fourier
from tapeflow._src.raw_ops.raw_op import RawOp

Cholesky = RawOp("Cholesky", lambda *, input: decompositions.cholesky(input))
MatrixDeterminant = RawOp("MatrixDeterminant", lambda *, input: solvers.det(input))
DiagPart = RawOp("DiagPart", lambda *, input: diagonals.tensor_diag_part(input))
FFT = RawOp("FFT", lambda *, input: fourier.fft(input))
IFFT = RawOp("IFFT", lambda *, input: fourier.ifft(input))
FFT2D = RawOp("FFT2D", lambda *, input: fourier.fft2d(input))
IFFT2D = RawOp("IFFT2D", lambda *, input: fourier.ifft2d(input))
FFT3D = RawOp("FFT3D", lambda *, input: fourier.fft3d(input))
IFFT3D = RawOp("IFFT3D", lambda *, input: fourier.ifft3d(input))
MatrixSquareRoot = RawOp("MatrixSquareRoot", lambda *, input: matrix_functions.sqrtm(input))
MatrixLogarithm = RawOp("MatrixLogarithm", lambda *, input: matrix_functions.logm(input))
LogMatrixDeterminant = RawOp("LogMatrixDeterminant", lambda *, input: solvers.slogdet(input))
Diag = RawOp("Diag", lambda *, diagonal: diagonals.tensor_diag(diagonal))
MatMul = RawOp(
    "MatMul",
    lambda *, a, b, transpose_a=False, transpose_b=False, grad_a=False, grad_b=False: (
        products.matmul(a, b, transpose_a, transpose_b)
    ),
)
BatchMatMul = RawOp(
    "BatchMatMul",
    lambda *, x, y, adj_x=False, adj_y=False, grad_x=False, grad_y=False: products.matmul(
        x, y, adjoint_a=adj_x, adjoint_b=adj_y
    ),
)
BatchMatMulV2 = RawOp(
    "BatchMatMulV2",
    lambda *, x, y, adj_x=False, adj_y=False, grad_x=False, grad_y=False: products.matmul(
        x, y, adjoint_a=adj_x, adjoint_b=adj_y
    ),
)
BatchMatMulV3 = RawOp(
    "BatchMatMulV3",
    lambda *, x, y, Tout, adj_x=False, adj_y=False, grad_x=False, grad_y=False: products.matmul(
        x, y, adjoint_a=adj_x, adjoint_b=adj_y, output_type=Tout
    ),
)
MatrixInverse = RawOp("MatrixInverse", lambda *, input, adjoint=False: solvers.inv(input, adjoint))
MatrixSolve = RawOp(
    "MatrixSolve", lambda *, matrix, rhs, adjoint=False: solvers.solve(matrix, rhs, adjoint)
)
MatrixTriangularSolve = RawOp(
    "MatrixTriangularSolve",
    lambda *, matrix, rhs, lower=True, adjoint=False: solvers.triangular_solve(
        matrix, rhs, lower, adjoint
    ),
)
MatrixDiag = RawOp("MatrixDiag", lambda *, diagonal: diagonals.diag(diagonal))
MatrixDiagPart = RawOp("MatrixDiagPart", lambda *, input: diagonals.diag_part(input))
MatrixDiagPartV2 = RawOp(
    "MatrixDiagPartV2",
    lambda *, input, k, padding_value: diagonals.diag_part(
        input, k=k, padding_value=padding_value, align="LEFT_LEFT"
    ),
)
MatrixDiagPartV3 = RawOp(
    "MatrixDiagPartV3",
    lambda *, input, k, padding_value, align="RIGHT_LEFT": diagonals.diag_part(
        input, k=k, padding_value=padding_value, align=align
    ),
)
MatrixSetDiag = RawOp(
    "MatrixSetDiag", lambda *, input, diagonal: diagonals.set_diag(input, diagonal)
)
MatrixBandPart = RawOp(
    "MatrixBandPart",
    lambda *, input, num_lower, num_upper: diagonals.band_part(input, num_lower, num_upper),
)
Qr = RawOp("Qr", lambda *, input, full_matrices=False: decompositions.qr(input, full_matrices))
Einsum = RawOp("Einsum", lambda *, inputs, equation: einsum.einsum(equation, *inputs))
Lu = RawOp(
    "Lu", lambda *, input, output_idx_type=dtypes.int32: decompositions.lu(input, output_idx_type)
)
TridiagonalSolve = RawOp(
    "TridiagonalSolve",
    lambda *, diagonals, rhs, partial_pivoting=True, perturb_singular=False: (
        tridiagonal.tridiagonal_solve(diagonals, rhs)
    ),
)

export_value("Cholesky", "raw_ops.Cholesky")
export_value("MatrixDeterminant", "raw_ops.MatrixDeterminant")
export_value("DiagPart", "raw_ops.DiagPart")
export_value("FFT", "raw_ops.FFT")
export_value("IFFT", "raw_ops.IFFT")
export_value("FFT2D", "raw_ops.FFT2D")
export_value("IFFT2D", "raw_ops.IFFT2D")
export_value("FFT3D", "raw_ops.FFT3D")
export_value("IFFT3D", "raw_ops.IFFT3D")
export_value("MatrixSquareRoot", "raw_ops.MatrixSquareRoot")
export_value("MatrixLogarithm", "raw_ops.MatrixLogarithm")
export_value("LogMatrixDeterminant", "raw_ops.LogMatrixDeterminant")
export_value("Diag", "raw_ops.Diag")
export_value("MatMul", "raw_ops.MatMul")
export_value("BatchMatMul", "raw_ops.BatchMatMul")
export_value("BatchMatMulV2", "raw_ops.BatchMatMulV2")
export_value("BatchMatMulV3", "raw_ops.BatchMatMulV3")
export_value("MatrixInverse", "raw_ops.MatrixInverse")
export_value("MatrixSolve", "raw_ops.MatrixSolve")
export_value("MatrixTriangularSolve", "raw_ops.MatrixTriangularSolve")
export_value("MatrixDiag", "raw_ops.MatrixDiag")
export_value("MatrixDiagPart", "raw_ops.MatrixDiagPart")
export_value("MatrixDiagPartV2", "raw_ops.MatrixDiagPartV2")
export_value("MatrixDiagPartV3", "raw_ops.MatrixDiagPartV3")
export_value("MatrixSetDiag", "raw_ops.MatrixSetDiag")
export_value("MatrixBandPart", "raw_ops.MatrixBandPart")
export_value("Qr", "raw_ops.Qr")
export_value("Einsum", "raw_ops.Einsum")
export_value("Lu", "raw_ops.Lu")
export_value("TridiagonalSolve", "raw_ops.TridiagonalSolve")
