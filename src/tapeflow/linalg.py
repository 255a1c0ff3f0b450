"""`tf.linalg`: products, diagonals and norms of matrices."""

from tapeflow.core.missing import Missing as _Missing
from tapeflow.ops.clip import global_norm as global_norm
from tapeflow.ops.diagonals import (
    band_part as band_part,
    diag as diag,
    diag_part as diag_part,
    eye as eye,
    set_diag as set_diag,
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
    trace as trace,
)
from tapeflow.ops.einsum import einsum as einsum
from tapeflow.ops.linalg import (
    adjoint as adjoint,
    cross as cross,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    matvec as matvec,
    tensordot as tensordot,
)
from tapeflow.ops.norm import norm as norm

__getattr__ = _Missing("tf.linalg")
