"""Decompositions, linear systems and functions of matrices: values, gradients of two orders, errors.

Vectors that are defined only up to a sign are compared through what does not depend on it.
"""

import numpy as np
from case_helpers import second_gradients, value_and_gradients as grads

A = np.array([[4.0, 1.0, 0.5], [0.3, 3.0, -1.0], [1.2, -0.4, 2.0]])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 2.0]])
B = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 0.1]])
C = A + 1j * np.array([[0.1, 0.7, -0.3], [0.2, -0.5, 0.4], [0.9, 0.3, 0.6]])
H = C @ C.conj().T
TALL = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0], [-1.0, 0.5]])
WIDE = TALL.T.copy()
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
RECTANGLE = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
BATCH = np.stack([A, A.T + 1.0])
BANDS = np.array([[1.0, 0.5, 9.0], [4.0, 3.0, 5.0], [9.0, 1.5, -1.0]])
W = np.linspace(0.5, 2.0, 64)


def _weighted(tf, y):
    """A real number in which every element counts differently."""
    if y.dtype.is_complex:
        y = tf.math.real(y) + 2.0 * tf.math.imag(y)
    weights = tf.cast(tf.reshape(W[: int(np.prod(y.shape))], y.shape), y.dtype)
    return tf.reduce_sum(y * weights)


def _first(f, *inputs):
    return lambda tf: grads(tf, lambda *xs: _weighted(tf, f(tf, *xs)), *inputs)


def _second(f, *inputs):
    return lambda tf: second_gradients(tf, lambda *xs: _weighted(tf, f(tf, *xs)), *inputs)


def _value(f):
    return lambda tf: f(tf)


def _svd_parts(tf, x, **kwargs):
    s, u, v = tf.linalg.svd(x, **kwargs)
    k = int(s.shape[-1])
    s = tf.cast(s, x.dtype)
    one = u[..., :1] @ tf.linalg.adjoint(v[..., :1])
    return tf.reshape(one, [-1])[:8] * s[0] + tf.reduce_sum(s[1:k] ** 3)


def _eigh_parts(tf, x):
    values, vectors = tf.linalg.eigh(x)
    one = vectors[..., 1:2]
    return tf.cast(values, x.dtype) + (one @ tf.linalg.adjoint(one))


def _qr_parts(tf, x):
    q, r = tf.linalg.qr(x)
    return tf.linalg.adjoint(r[:1]) @ r[:1] * tf.abs(q[0, 0]) ** 2


def _eig_parts(tf, x):
    values, vectors = tf.linalg.eig(x)
    sizes = vectors * tf.math.conj(vectors)
    return tf.reduce_sum(values**3) + tf.reduce_sum(sizes**2)


DIFFERENTIABLE = {
    "cholesky": (lambda tf, x: tf.linalg.cholesky(x), S),
    "cholesky_complex": (lambda tf, x: tf.linalg.cholesky(x), H),
    "cholesky_of_nonsymmetric": (
        lambda tf, x: tf.linalg.cholesky(x),
        np.triu(S, 1) * 7 + np.tril(S),
    ),
    "cholesky_solve": (lambda tf, x, b: tf.linalg.cholesky_solve(x, b), np.tril(A), B),
    "solve": (lambda tf, x, b: tf.linalg.solve(x, b), A, B),
    "solve_adjoint": (lambda tf, x, b: tf.linalg.solve(x, b, adjoint=True), A, B),
    "solve_complex_adjoint": (lambda tf, x, b: tf.linalg.solve(x, b, adjoint=True), C, B + 1j),
    "solve_batch": (lambda tf, x, b: tf.linalg.solve(x, b), BATCH, np.stack([B, B + 1])),
    "triangular_solve": (lambda tf, x, b: tf.linalg.triangular_solve(x, b), A, B),
    "triangular_solve_upper": (
        lambda tf, x, b: tf.linalg.triangular_solve(x, b, lower=False),
        A,
        B,
    ),
    "triangular_solve_adjoint": (
        lambda tf, x, b: tf.linalg.triangular_solve(x, b, adjoint=True),
        C,
        B + 1j,
    ),
    "triangular_solve_broadcast": (lambda tf, x, b: tf.linalg.triangular_solve(x, b), BATCH, B),
    "lstsq": (lambda tf, x, b: tf.linalg.lstsq(x, b), TALL, TALL[:, :1] + 1),
    "lstsq_regularised": (
        lambda tf, x, b: tf.linalg.lstsq(x, b, l2_regularizer=0.3),
        TALL,
        TALL[:, :1] + 1,
    ),
    "lstsq_wide": (
        lambda tf, x, b: tf.linalg.lstsq(x, b, l2_regularizer=0.3),
        WIDE,
        WIDE[:, :1] + 1,
    ),
    "inv": (lambda tf, x: tf.linalg.inv(x), A),
    "inv_adjoint": (lambda tf, x: tf.linalg.inv(x, adjoint=True), C),
    "pinv_tall": (lambda tf, x: tf.linalg.pinv(x), TALL),
    "pinv_wide": (lambda tf, x: tf.linalg.pinv(x), WIDE),
    "det": (lambda tf, x: tf.linalg.det(x), A),
    "det_batch": (lambda tf, x: tf.linalg.det(x), BATCH),
    "slogdet": (lambda tf, x: tf.linalg.slogdet(x)[1], -A),
    "logdet": (lambda tf, x: tf.linalg.logdet(x), S),
    "qr": (lambda tf, x: _qr_parts(tf, x), A),
    "qr_tall": (lambda tf, x: _qr_parts(tf, x), TALL),
    "qr_wide": (lambda tf, x: _qr_parts(tf, x), WIDE),
    "svd": (lambda tf, x: _svd_parts(tf, x), A),
    "svd_tall": (lambda tf, x: _svd_parts(tf, x), TALL),
    "svd_wide": (lambda tf, x: _svd_parts(tf, x), WIDE),
    "svd_values": (lambda tf, x: tf.linalg.svd(x, compute_uv=False), A),
    "eigh": (lambda tf, x: _eigh_parts(tf, x), S),
    "eigh_of_nonsymmetric": (lambda tf, x: _eigh_parts(tf, x), A),
    "eigvalsh": (lambda tf, x: tf.linalg.eigvalsh(x), S),
    "eig": (lambda tf, x: _eig_parts(tf, x), C),
    "expm": (lambda tf, x: tf.linalg.expm(x), A),
    "expm_batch": (lambda tf, x: tf.linalg.expm(x), np.stack([A * 0.01, A, A * 3.0])),
    "sqrtm": (lambda tf, x: tf.linalg.sqrtm(x), A),
    "norm_spectral": (lambda tf, x: tf.linalg.norm(x, ord=2, axis=[0, 1]), A),
    "norm_spectral_axes": (
        lambda tf, x: tf.linalg.norm(x, ord=2, axis=[0, 2], keepdims=True),
        BATCH,
    ),
    "normalize": (lambda tf, x: tf.linalg.normalize(x, axis=1)[0], A),
    "tridiagonal_solve": (lambda tf, d, b: tf.linalg.tridiagonal_solve(d, b), BANDS, B),
    "tridiagonal_solve_vector": (
        lambda tf, d, b: tf.linalg.tridiagonal_solve(d, b),
        BANDS,
        B[:, 0],
    ),
    "tridiagonal_solve_unpivoted": (
        lambda tf, d, b: tf.linalg.tridiagonal_solve(d, b, partial_pivoting=False),
        BANDS,
        B,
    ),
    "tridiagonal_solve_matrix": (
        lambda tf, d, b: tf.linalg.tridiagonal_solve(d, b, diagonals_format="matrix"),
        S,
        B,
    ),
    "tridiagonal_matmul": (lambda tf, d, b: tf.linalg.tridiagonal_matmul(d, b), BANDS, B),
    "eigvals": (lambda tf, x: tf.reduce_sum(tf.linalg.eigvals(x) ** 2), C),
}
# TensorFlow has no second derivative of these, or one of another gauge.
ONLY_FIRST = {"lstsq", "lstsq_regularised", "lstsq_wide", "eig", "eigvals", "sqrtm"}

CASES = {
    **{f"{name}_gradient": _first(*case) for name, case in DIFFERENTIABLE.items()},
    **{
        f"{name}_second_gradient": _second(*case)
        for name, case in DIFFERENTIABLE.items()
        if name not in ONLY_FIRST and not any(np.iscomplexobj(x) for x in case[1:])
    },
    # Values.
    "cholesky_batch": _value(lambda tf: tf.linalg.cholesky([[[4.0, 2.0], [2.0, 5.0]]] * 2)),
    "cholesky_of_indefinite_is_nan": _value(
        lambda tf: tf.linalg.band_part(tf.linalg.cholesky([[1.0, 2.0], [2.0, 1.0]]), -1, 0)
    ),
    "cholesky_empty": _value(lambda tf: tf.linalg.cholesky(tf.zeros([0, 0]))),
    "lu": _value(lambda tf: tf.linalg.lu(tf.constant(A))),
    "lu_pivots": _value(lambda tf: tf.linalg.lu(tf.constant(A[[2, 0, 1]]), tf.int64)),
    "lu_batch": _value(lambda tf: tf.linalg.lu(tf.constant(BATCH))),
    "lu_complex": _value(lambda tf: tf.linalg.lu(tf.constant(C[[2, 0, 1]]))),
    "lu_solve": _value(lambda tf: tf.linalg.lu_solve(*tf.linalg.lu(tf.constant(A)), rhs=B)),
    "lu_reconstruct": _value(
        lambda tf: tf.linalg.lu_reconstruct(*tf.linalg.lu(tf.constant(BATCH)))
    ),
    "lu_matrix_inverse": _value(
        lambda tf: tf.linalg.lu_matrix_inverse(*tf.linalg.lu(tf.constant(A)))
    ),
    "qr_shapes": _value(
        lambda tf: [
            [t.shape for t in tf.linalg.qr(x, full_matrices=full)]
            for x in (TALL, WIDE)
            for full in (False, True)
        ]
    ),
    "qr_rebuilt": _value(lambda tf: tf.matmul(*tf.linalg.qr(tf.constant(TALL)))),
    "svd_shapes": _value(
        lambda tf: [
            [t.shape for t in tf.linalg.svd(x, full_matrices=full)]
            for x in (TALL, WIDE)
            for full in (False, True)
        ]
    ),
    "svd_float32_values": _value(lambda tf: tf.linalg.svd(RECTANGLE, compute_uv=False)),
    "svd_of_complex_values": _value(lambda tf: tf.linalg.svd(tf.constant(C), compute_uv=False)),
    "svd_of_nan": _value(lambda tf: tf.linalg.svd([[float("nan"), 1.0], [1.0, 1.0]])),
    "svd_empty": _value(lambda tf: [t.shape for t in tf.linalg.svd(tf.zeros([0, 2]))]),
    "eigh_values_of_complex": _value(lambda tf: tf.linalg.eigh(tf.constant(H))[0]),
    "eig_dtypes": _value(
        lambda tf: [t.dtype for t in tf.linalg.eig(tf.constant([[1.0, 2.0], [3.0, 4.0]]))]
    ),
    "eigvals_sum": _value(lambda tf: tf.reduce_sum(tf.linalg.eigvals(tf.constant(A)))),
    "slogdet_complex": _value(lambda tf: tf.linalg.slogdet(tf.constant(C))),
    "slogdet_of_singular": _value(lambda tf: tf.linalg.slogdet([[0.0, 0.0], [2.0, 4.0]])[1]),
    "det_of_singular": _value(lambda tf: tf.linalg.det(SINGULAR)),
    "det_empty": _value(lambda tf: tf.linalg.det(tf.zeros([2, 0, 0]))),
    "logdet_of_indefinite": _value(lambda tf: tf.linalg.logdet([[1.0, 2.0], [2.0, 1.0]])),
    "logdet_complex": _value(lambda tf: tf.linalg.logdet(tf.constant(H))),
    "expm_complex": _value(lambda tf: tf.linalg.expm(tf.constant(C))),
    "det_complex": _value(lambda tf: tf.linalg.det(tf.constant(C))),
    "eigvalsh_of_complex": _value(lambda tf: tf.linalg.eigvalsh(tf.constant(H))),
    "expm_float32": _value(lambda tf: tf.linalg.expm([[0.1, 0.2], [0.3, 0.4]])),
    "logm": _value(lambda tf: tf.linalg.logm(tf.constant(C))),
    "logm_of_negative": _value(lambda tf: tf.linalg.logm(tf.constant([[-1.0 + 0j, 0], [0, 2.0]]))),
    "sqrtm_jordan": _value(lambda tf: tf.linalg.sqrtm(tf.constant([[1.0, 1.0], [0.0, 1.0]]))),
    "sqrtm_rotation": _value(lambda tf: tf.linalg.sqrtm(tf.constant([[0.0, -1.0], [1.0, 0.0]]))),
    "sqrtm_singular": _value(lambda tf: tf.linalg.sqrtm(tf.constant([[1.0, 0.0], [0.0, 0.0]]))),
    "sqrtm_without_real_root": _value(lambda tf: tf.linalg.sqrtm([[-1.0, 0.0], [0.0, 3.0]])),
    "sqrtm_complex": _value(lambda tf: tf.linalg.sqrtm(tf.constant(C))),
    "lstsq_slow": _value(lambda tf: tf.linalg.lstsq(TALL, TALL[:, :1] + 1, fast=False)),
    "lstsq_slow_of_singular": _value(
        lambda tf: tf.linalg.lstsq(np.array(SINGULAR), np.array([[1.0], [2.0]]), fast=False)
    ),
    "lstsq_of_singular": _value(lambda tf: tf.linalg.lstsq(SINGULAR, [[1.0], [2.0]])),
    "lstsq_broadcast": _value(
        lambda tf: tf.linalg.lstsq(np.stack([TALL, TALL + 1]), TALL[:, :1], l2_regularizer=0.1)
    ),
    "pinv_rcond": _value(lambda tf: tf.linalg.pinv(np.diag([1.0, 0.1, 0.0]), rcond=0.2)),
    "pinv_of_singular": _value(lambda tf: tf.linalg.pinv(np.array(SINGULAR))),
    "pinv_batch": _value(lambda tf: tf.linalg.pinv(BATCH)),
    "matrix_rank": _value(
        lambda tf: tf.linalg.matrix_rank(np.stack([np.array(SINGULAR), np.eye(2)]))
    ),
    "matrix_rank_tol": _value(lambda tf: tf.linalg.matrix_rank(np.diag([1.0, 0.1, 0.0]), tol=0.5)),
    "normalize_whole": _value(lambda tf: tf.linalg.normalize(RECTANGLE)),
    "normalize_ord_1": _value(lambda tf: tf.linalg.normalize(RECTANGLE, ord=1, axis=[0, 1])),
    "triangular_solve_by_zero": _value(
        lambda tf: tf.linalg.triangular_solve([[0.0, 0.0], [1.0, 1.0]], [[1.0], [2.0]])
    ),
    "tridiagonal_solve_of_singular": _value(
        lambda tf: tf.linalg.tridiagonal_solve(
            tf.constant([[0.0, 0.0, 0.0], [0.0, 4.0, 4.0], [0.0, 1.0, 1.0]]), tf.ones([3])
        )
    ),
    "tridiagonal_solve_sequence": _value(
        lambda tf: tf.linalg.tridiagonal_solve(
            [tf.constant(BANDS[0, :2]), tf.constant(BANDS[1]), tf.constant(BANDS[2, 1:])],
            tf.constant(B),
            diagonals_format="sequence",
        )
    ),
    "tridiagonal_solve_transposed_rhs": _value(
        lambda tf: tf.linalg.tridiagonal_solve(
            tf.constant(BANDS), tf.constant(B.T.copy()), transpose_rhs=True
        )
    ),
    "banded_triangular_solve": _value(
        lambda tf: tf.linalg.banded_triangular_solve(
            [[2.0, 3.0, 4.0], [9.0, 1.0, 1.5]], [[1.0], [2.0], [3.0]]
        )
    ),
    "banded_triangular_solve_upper": _value(
        lambda tf: tf.linalg.banded_triangular_solve(
            [[1.0, 1.5, 9.0], [2.0, 3.0, 4.0]], [[1.0], [2.0], [3.0]], lower=False
        )
    ),
    "banded_triangular_solve_adjoint": _value(
        lambda tf: tf.linalg.banded_triangular_solve(
            [[2.0, 3.0, 4.0], [9.0, 1.0, 1.5]], [[1.0], [2.0], [3.0]], adjoint=True
        )
    ),
    "eigh_tridiagonal": _value(lambda tf: tf.linalg.eigh_tridiagonal([1.0, 2.0, 3.0], [0.5, 0.5])),
    "eigh_tridiagonal_by_index": _value(
        lambda tf: tf.linalg.eigh_tridiagonal(
            [1.0, 2.0, 3.0], [0.5, 0.5], select="i", select_range=[0, 1]
        )
    ),
    "eigh_tridiagonal_by_value": _value(
        lambda tf: tf.linalg.eigh_tridiagonal(
            [1.0, 2.0, 3.0], [0.5, 0.5], select="v", select_range=[0.0, 2.5]
        )
    ),
    # Several diagonals at once.
    **{
        f"diag_part_{low}_{high}_{align}": _first(
            lambda tf, x, k=(low, high), align=align: tf.linalg.diag_part(
                x, k=k, padding_value=7.0, align=align
            ),
            TALL if low < 0 else WIDE,
        )
        for low, high in [(-1, 1), (-2, 0), (0, 1), (1, 2), (-3, -1)]
        for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
    },
    **{
        f"set_diag_{align}": _first(
            lambda tf, x, d, align=align: tf.linalg.set_diag(x, d, k=(-1, 1), align=align),
            A,
            BANDS,
        )
        for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
    },
    **{
        f"diag_{low}_{high}": _first(
            lambda tf, x, k=(low, high): tf.linalg.diag(x, k=k, padding_value=5.0), BANDS
        )
        for low, high in [(-1, 1), (-2, 0), (0, 2), (1, 3)]
    },
    "diag_rows_and_columns": _value(
        lambda tf: tf.linalg.diag([[1, 2, 3], [4, 5, 0]], k=(-1, 0), num_rows=3, num_cols=4)
    ),
    "diag_of_too_few_rows": _value(lambda tf: tf.linalg.diag([[1, 2]], k=(0, 1))),
    "diag_part_range_reversed": _value(lambda tf: tf.linalg.diag_part(A, k=(1, 0))),
    "set_diag_of_other_shape": _value(lambda tf: tf.linalg.set_diag(A, BANDS[:2], k=(-1, 1))),
    # What has no gradient, and what is no input.
    "qr_full_tall_has_no_gradient": _first(
        lambda tf, x: tf.linalg.qr(x, full_matrices=True)[1], TALL
    ),
    "det_of_singular_has_no_gradient": _first(lambda tf, x: tf.linalg.det(x), np.array(SINGULAR)),
    "inv_of_singular": _value(lambda tf: tf.linalg.inv(SINGULAR)),
    "solve_singular": _value(lambda tf: tf.linalg.solve(SINGULAR, [[1.0], [2.0]])),
    "lu_of_singular": _value(lambda tf: tf.linalg.lu(SINGULAR)),
    "solve_does_not_broadcast": _value(lambda tf: tf.linalg.solve(BATCH, B)),
    "solve_vector": _value(lambda tf: tf.linalg.solve(A, B[:, 0])),
    "solve_other_rows": _value(lambda tf: tf.linalg.solve(A, B[:2])),
    "triangular_solve_other_rows": _value(lambda tf: tf.linalg.triangular_solve(A, B[:2])),
    "eigh_of_nan": _value(lambda tf: tf.linalg.eigh([[float("nan"), 1.0], [1.0, 1.0]])),
    "pinv_of_integers": _value(lambda tf: tf.linalg.pinv([[1]])),
    "pinv_of_vector": _value(lambda tf: tf.linalg.pinv([1.0])),
    "logm_of_real": _value(lambda tf: tf.linalg.logm(A)),
    "matrix_rank_of_vector": _value(lambda tf: tf.linalg.matrix_rank([1.0])),
    "tridiagonal_solve_two_diagonals": _value(
        lambda tf: tf.linalg.tridiagonal_solve(tf.constant(BANDS[:2]), tf.constant(B))
    ),
    "tridiagonal_solve_unknown_format": _value(
        lambda tf: tf.linalg.tridiagonal_solve(
            tf.constant(BANDS), tf.constant(B), diagonals_format="rows"
        )
    ),
    **{
        f"{op}_of_rectangle": _value(lambda tf, op=op: getattr(tf.linalg, op)(RECTANGLE))
        for op in ("cholesky", "inv", "det", "slogdet", "lu", "eigh", "expm", "sqrtm")
    },
    **{
        f"{op}_of_integers": _value(lambda tf, op=op: getattr(tf.linalg, op)([[2, 0], [0, 2]]))
        for op in ("cholesky", "inv", "det", "slogdet", "lu", "eigh", "qr", "svd", "sqrtm")
    },
}
