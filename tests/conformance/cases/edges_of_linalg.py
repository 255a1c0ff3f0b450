"""Linear algebra at its edges, in eager mode and in functions: complex gradients, ranges, tolerances that broadcast."""

import numpy as np
from case_helpers import derivatives, everywhere

_rng = np.random.default_rng(3)


def _real(*shape):
    return _rng.uniform(-2.0, 2.0, shape)


def _complex(*shape):
    return _real(*shape) + 1j * _real(*shape)


DIAGONALS, RIGHT = _complex(3, 4), _complex(4, 2)
SEVERAL, RIGHTS = _complex(2, 3, 3), _complex(2, 3, 1)
UNUSED = np.array([[1.0, 2.0, np.nan], [1.0, 1.0, 1.0], [np.inf, 1.0, 1.0]])
ALPHA, BETA = _real(5), _real(4)
LEVELS = np.stack([np.diag([1.0, 1e-3, 1e-8]), np.diag([2.0, 2e-3, 2e-8]), np.eye(3)])
CUT = np.array([[3.0, 0.2, 0.1], [0.1, 2.5, -0.2], [0.3, 0.1, 0.9]])


def _differentiated(f, *inputs):
    return lambda tf: everywhere(tf, derivatives(tf, lambda *xs: f(tf, *xs)), *inputs)


def _jacobian(f, *inputs):
    return lambda tf: tf.test.compute_gradient(lambda *xs: f(tf, *xs), list(inputs))[0]


def _eigenvalues(alpha=ALPHA, beta=BETA, **arguments):
    return lambda tf: tf.linalg.eigh_tridiagonal(alpha, beta, **arguments)


def _by_value(first, last, **arguments):
    """Both ends are eigenvalues as they were found."""

    def case(tf):
        values = tf.linalg.eigh_tridiagonal(ALPHA, BETA)
        return tf.linalg.eigh_tridiagonal(
            ALPHA, BETA, select="v", select_range=(values[first], values[last]), **arguments
        )

    return case


def _vectors(**arguments):
    """Each vector has a sign of its own."""

    def case(tf):
        values, vectors = tf.linalg.eigh_tridiagonal(ALPHA, BETA, eigvals_only=False, **arguments)
        return values, tf.abs(vectors)

    return case


def _rank(tol, x=LEVELS):
    return lambda tf: everywhere(tf, lambda x: tf.linalg.matrix_rank(x, tol=tol), x)


def _pinv(x, rcond):
    def case(tf):
        x_ = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x_)
            y = tf.linalg.pinv(x_, rcond=rcond)
            total = tf.reduce_sum(y * np.arange(1.0, x.size + 1).reshape(y.shape))
        return y, tape.gradient(total, x_)

    return case


CASES = {
    "tridiagonal_matmul": _differentiated(
        lambda tf, d, x: tf.linalg.tridiagonal_matmul(d, x), DIAGONALS.real, RIGHT.real
    ),
    "tridiagonal_matmul_complex": _differentiated(
        lambda tf, d, x: tf.linalg.tridiagonal_matmul(d, x), DIAGONALS, RIGHT
    ),
    "tridiagonal_matmul_batch": _differentiated(
        lambda tf, d, x: tf.linalg.tridiagonal_matmul(d, x), SEVERAL, RIGHTS
    ),
    "tridiagonal_matmul_of_sequences": _differentiated(
        lambda tf, a, b, c, x: tf.linalg.tridiagonal_matmul([a, b, c], x, "sequence"),
        *(*DIAGONALS, RIGHT),
    ),
    "tridiagonal_matmul_of_matrices": _differentiated(
        lambda tf, m, x: tf.linalg.tridiagonal_matmul(m, x, "matrix"), _complex(4, 4), RIGHT
    ),
    "tridiagonal_matmul_unused_elements": lambda tf: everywhere(
        tf, lambda d: tf.linalg.tridiagonal_matmul(d, tf.ones([3, 1], d.dtype)), UNUSED
    ),
    "tridiagonal_solve_unused_elements": lambda tf: everywhere(
        tf, lambda d: tf.linalg.tridiagonal_solve(d, tf.ones([3, 1], d.dtype)), UNUSED
    ),
    "tridiagonal_solve_complex": _jacobian(
        lambda tf, d, x: tf.linalg.tridiagonal_solve(d, x),
        np.array([[0j], [2j], [0j]]),
        np.array([[1 + 1j]]),
    ),
    # Jacobians, of complex numbers as pairs of real ones.
    "jacobian_tridiagonal_matmul": _jacobian(
        lambda tf, d, x: tf.linalg.tridiagonal_matmul(d, x), DIAGONALS[:, :2], RIGHT[:2, :1]
    ),
    "jacobian_product": _jacobian(lambda tf, a, b: a * b, RIGHT[0], RIGHT[1]),
    "jacobian_abs": _jacobian(lambda tf, a: tf.abs(a), RIGHT[0]),
    "jacobian_complex": _jacobian(lambda tf, a: tf.complex(a, 2.0 * a), RIGHT[0].real),
    "jacobian_gather": _jacobian(lambda tf, a: tf.gather(a, [0, 0, 1]), RIGHT[0]),
    "jacobian_unconnected": _jacobian(lambda tf, a: tf.constant([1.0, 2.0]), RIGHT[0]),
    "jacobian_of_ints": _jacobian(lambda tf, a: 2 * a, np.arange(3)),
    "jacobian_steps": lambda tf: tf.test.compute_gradient(
        lambda x: x**3, [np.array([10.0])], delta=0.5
    ),
    # Eigenvalues by number and by value.
    "eigh_tridiagonal": _eigenvalues(),
    "eigh_tridiagonal_by_number": _eigenvalues(select="i", select_range=(1, 3)),
    "eigh_tridiagonal_first": _eigenvalues(select="i", select_range=[0, 0]),
    "eigh_tridiagonal_by_value": _eigenvalues(select="v", select_range=(-1.0, 1.5)),
    "eigh_tridiagonal_whole_numbers": _eigenvalues(
        np.array([1.0, 2.0, 3.0]), np.zeros(2), select="v", select_range=(1.0, 2.0)
    ),
    "eigh_tridiagonal_ends": _by_value(1, 3),
    "eigh_tridiagonal_nothing": _eigenvalues(select="v", select_range=(50.0, 60.0)),
    "eigh_tridiagonal_vectors": _vectors(),
    "eigh_tridiagonal_vectors_by_number": _vectors(select="i", select_range=(1, 2)),
    "eigh_tridiagonal_vectors_by_value": _vectors(select="v", select_range=(-1.0, 1.5)),
    "eigh_tridiagonal_complex": _eigenvalues(
        ALPHA.astype(np.complex128), _complex(4), select="i", select_range=(0, 1)
    ),
    "eigh_tridiagonal_no_numbers": _eigenvalues(select="i", select_range=(3, 2)),
    "eigh_tridiagonal_no_interval": _eigenvalues(select="v", select_range=(1.0, 1.0)),
    "eigh_tridiagonal_beyond": _eigenvalues(select="i", select_range=(3, 7)),
    "eigh_tridiagonal_bad_select": _eigenvalues(select="x"),
    "eigh_tridiagonal_two_dtypes": _eigenvalues(ALPHA, np.float32(BETA)),
    # Tolerances.
    "matrix_rank": _rank(None),
    "matrix_rank_number": _rank(0.01),
    "matrix_rank_for_each_value": _rank([0.01, 1e-5, 1e-9]),
    "matrix_rank_for_each_matrix": _rank([[0.01], [1e-5], [2.0]]),
    "matrix_rank_for_one": _rank([[0.01], [1e-5]], LEVELS[0]),
    "matrix_rank_bad_tolerance": lambda tf: tf.linalg.matrix_rank(LEVELS, tol=[0.1, 0.2]),
    "pinv": _pinv(CUT, None),
    "pinv_cut": _pinv(CUT, 0.4),
    "pinv_cut_tall": _pinv(np.concatenate([CUT, CUT[:1]]), 0.4),
    "pinv_coinciding": _pinv(np.diag([2.0, 2.0, 1.0]), None),
}
