"""`tf.linalg`: products, decompositions, linear systems, diagonals and norms of matrices."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.ops.elementwise.clip import global_norm as global_norm
from tapeflow._src.ops.linalg.decompositions import (
    cholesky as cholesky,
    eig as eig,
    eigh as eigh,
    eigh_tridiagonal as eigh_tridiagonal,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    lu as lu,
    lu_matrix_inverse as lu_matrix_inverse,
    lu_reconstruct as lu_reconstruct,
    lu_solve as lu_solve,
    matrix_rank as matrix_rank,
    qr as qr,
    svd as svd,
)
from tapeflow._src.ops.linalg.diagonals import (
    band_part as band_part,
    diag as diag,
    diag_part as diag_part,
    eye as eye,
    set_diag as set_diag,
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
    trace as trace,
)
from tapeflow._src.ops.linalg.einsum import einsum as einsum
from tapeflow._src.ops.linalg.matrix_functions import expm as expm, logm as logm, sqrtm as sqrtm
from tapeflow._src.ops.linalg.norm import norm as norm, normalize as normalize
from tapeflow._src.ops.linalg.products import (
    adjoint as adjoint,
    cross as cross,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    matvec as matvec,
    tensordot as tensordot,
)
from tapeflow._src.ops.linalg.solvers import (
    banded_triangular_solve as banded_triangular_solve,
    cholesky_solve as cholesky_solve,
    det as det,
    inv as inv,
    logdet as logdet,
    lstsq as lstsq,
    pinv as pinv,
    slogdet as slogdet,
    solve as solve,
    triangular_solve as triangular_solve,
)
from tapeflow._src.ops.linalg.tridiagonal import (
    tridiagonal_matmul as tridiagonal_matmul,
    tridiagonal_solve as tridiagonal_solve,
)
from tapeflow._src.ops.nn.activations import l2_normalize as l2_normalize

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow._src.linear_operators.base import LinearOperator as LinearOperator
    from tapeflow._src.linear_operators.blocks import (
        LinearOperatorBlockDiag as LinearOperatorBlockDiag,
        LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
    )
    from tapeflow._src.linear_operators.circulant import (
        LinearOperatorCirculant as LinearOperatorCirculant,
        LinearOperatorCirculant2D as LinearOperatorCirculant2D,
        LinearOperatorCirculant3D as LinearOperatorCirculant3D,
        LinearOperatorToeplitz as LinearOperatorToeplitz,
    )
    from tapeflow._src.linear_operators.combined import (
        LinearOperatorAdjoint as LinearOperatorAdjoint,
        LinearOperatorComposition as LinearOperatorComposition,
        LinearOperatorInversion as LinearOperatorInversion,
    )
    from tapeflow._src.linear_operators.kronecker import (
        LinearOperatorKronecker as LinearOperatorKronecker,
    )
    from tapeflow._src.linear_operators.low_rank import (
        LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
    )
    from tapeflow._src.linear_operators.matrices import (
        LinearOperatorFullMatrix as LinearOperatorFullMatrix,
        LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
        LinearOperatorTridiag as LinearOperatorTridiag,
    )
    from tapeflow._src.linear_operators.nothing import LinearOperatorZeros as LinearOperatorZeros
    from tapeflow._src.linear_operators.orthogonal import (
        LinearOperatorHouseholder as LinearOperatorHouseholder,
        LinearOperatorPermutation as LinearOperatorPermutation,
    )
    from tapeflow._src.linear_operators.simple import (
        LinearOperatorDiag as LinearOperatorDiag,
        LinearOperatorIdentity as LinearOperatorIdentity,
        LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
    )
    from tapeflow.linalg import experimental as experimental

__getattr__ = _Missing(
    "tf.linalg",
    later="experimental",
    names={
        "linear_operators.base": "LinearOperator",
        "linear_operators.blocks": "LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular",
        "linear_operators.circulant": "LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorToeplitz",
        "linear_operators.combined": "LinearOperatorComposition LinearOperatorAdjoint LinearOperatorInversion",
        "linear_operators.kronecker": "LinearOperatorKronecker",
        "linear_operators.low_rank": "LinearOperatorLowRankUpdate",
        "linear_operators.matrices": "LinearOperatorFullMatrix LinearOperatorLowerTriangular LinearOperatorTridiag",
        "linear_operators.nothing": "LinearOperatorZeros",
        "linear_operators.orthogonal": "LinearOperatorHouseholder LinearOperatorPermutation",
        "linear_operators.simple": "LinearOperatorIdentity LinearOperatorScaledIdentity LinearOperatorDiag",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
