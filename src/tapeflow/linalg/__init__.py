"""`tf.linalg`: products, decompositions, linear systems, diagonals and norms of matrices."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow.linalg import experimental as experimental
    from tapeflow._src.linear_operators.base import LinearOperator as LinearOperator
    from tapeflow._src.linear_operators.blocks import (
        LinearOperatorBlockDiag as LinearOperatorBlockDiag,
        LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular
    )
    from tapeflow._src.linear_operators.circulant import (
        LinearOperatorCirculant as LinearOperatorCirculant,
        LinearOperatorCirculant2D as LinearOperatorCirculant2D,
        LinearOperatorCirculant3D as LinearOperatorCirculant3D,
        LinearOperatorToeplitz as LinearOperatorToeplitz
    )
    from tapeflow._src.linear_operators.combined import (
        LinearOperatorComposition as LinearOperatorComposition,
        LinearOperatorAdjoint as LinearOperatorAdjoint,
        LinearOperatorInversion as LinearOperatorInversion
    )
    from tapeflow._src.linear_operators.kronecker import (
        LinearOperatorKronecker as LinearOperatorKronecker
    )
    from tapeflow._src.linear_operators.low_rank import (
        LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
    )
    from tapeflow._src.linear_operators.matrices import (
        LinearOperatorFullMatrix as LinearOperatorFullMatrix,
        LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
        LinearOperatorTridiag as LinearOperatorTridiag
    )
    from tapeflow._src.linear_operators.nothing import LinearOperatorZeros as LinearOperatorZeros
    from tapeflow._src.linear_operators.orthogonal import (
        LinearOperatorHouseholder as LinearOperatorHouseholder,
        LinearOperatorPermutation as LinearOperatorPermutation
    )
    from tapeflow._src.linear_operators.simple import (
        LinearOperatorIdentity as LinearOperatorIdentity,
        LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
        LinearOperatorDiag as LinearOperatorDiag
    )
    from tapeflow._src.ops.elementwise.clip import global_norm as global_norm
    from tapeflow._src.ops.linalg.decompositions import (
        cholesky as cholesky, qr as qr, lu as lu, lu_reconstruct as lu_reconstruct,
        lu_solve as lu_solve, lu_matrix_inverse as lu_matrix_inverse, svd as svd,
        matrix_rank as matrix_rank, eigh as eigh, eigvalsh as eigvalsh, eig as eig,
        eigvals as eigvals, eigh_tridiagonal as eigh_tridiagonal
    )
    from tapeflow._src.ops.linalg.diagonals import (
        diag as diag, diag_part as diag_part, set_diag as set_diag, band_part as band_part,
        trace as trace, tensor_diag as tensor_diag, tensor_diag_part as tensor_diag_part, eye as eye
    )
    from tapeflow._src.ops.linalg.einsum import einsum as einsum
    from tapeflow._src.ops.linalg.matrix_functions import expm as expm, sqrtm as sqrtm, logm as logm
    from tapeflow._src.ops.linalg.norm import norm as norm, normalize as normalize
    from tapeflow._src.ops.linalg.products import (
        matmul as matmul, matvec as matvec, tensordot as tensordot, cross as cross,
        matrix_transpose as matrix_transpose, adjoint as adjoint
    )
    from tapeflow._src.ops.linalg.solvers import (
        solve as solve, triangular_solve as triangular_solve, cholesky_solve as cholesky_solve,
        banded_triangular_solve as banded_triangular_solve, lstsq as lstsq, inv as inv,
        pinv as pinv, det as det, slogdet as slogdet, logdet as logdet
    )
    from tapeflow._src.ops.linalg.tridiagonal import (
        tridiagonal_solve as tridiagonal_solve, tridiagonal_matmul as tridiagonal_matmul
    )
    from tapeflow._src.ops.nn.activations import l2_normalize as l2_normalize
# fmt: on
# isort: on

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
        "ops.elementwise.clip": "global_norm",
        "ops.linalg.decompositions": "cholesky qr lu lu_reconstruct lu_solve lu_matrix_inverse svd matrix_rank eigh eigvalsh eig eigvals eigh_tridiagonal",
        "ops.linalg.diagonals": "diag diag_part set_diag band_part trace tensor_diag tensor_diag_part eye",
        "ops.linalg.einsum": "einsum",
        "ops.linalg.matrix_functions": "expm sqrtm logm",
        "ops.linalg.norm": "norm normalize",
        "ops.linalg.products": "matmul matvec tensordot cross matrix_transpose adjoint",
        "ops.linalg.solvers": "solve triangular_solve cholesky_solve banded_triangular_solve lstsq inv pinv det slogdet logdet",
        "ops.linalg.tridiagonal": "tridiagonal_solve tridiagonal_matmul",
        "ops.nn.activations": "l2_normalize",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
