"""`tf.linalg`: products, diagonals and norms of matrices."""

from tapeflow.ops.clip import global_norm as global_norm
from tapeflow.ops.einsum import einsum as einsum
from tapeflow.ops.linalg import adjoint as adjoint
from tapeflow.ops.linalg import band_part as band_part
from tapeflow.ops.linalg import cross as cross
from tapeflow.ops.linalg import diag as diag
from tapeflow.ops.linalg import diag_part as diag_part
from tapeflow.ops.linalg import eye as eye
from tapeflow.ops.linalg import matmul as matmul
from tapeflow.ops.linalg import matrix_transpose as matrix_transpose
from tapeflow.ops.linalg import matvec as matvec
from tapeflow.ops.linalg import set_diag as set_diag
from tapeflow.ops.linalg import tensor_diag as tensor_diag
from tapeflow.ops.linalg import tensor_diag_part as tensor_diag_part
from tapeflow.ops.linalg import tensordot as tensordot
from tapeflow.ops.linalg import trace as trace
from tapeflow.ops.reduction import norm as norm
