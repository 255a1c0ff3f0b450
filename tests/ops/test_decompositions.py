"""Decompositions, linear systems and functions of matrices: values, gradients, mistakes.

Vectors of a decomposition are defined up to a sign or phase, so gradients are checked of functions that do not depend
on it: values, and projections onto single vectors.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order():
    global RNG
    RNG = np.random.default_rng(3)


def real(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def cplx(*shape: int) -> np.ndarray:
    return real(*shape) + 1j * real(*shape)


def adjoint(x):
    return tf.linalg.adjoint(x)


def hermitian(x):
    return x + adjoint(x)


def positive(x):
    """A positive definite matrix from any."""
    return x @ adjoint(x) + np.eye(x.shape[-1])


def invertible(make, *shape: int) -> np.ndarray:
    return make(*shape) + 3.0 * np.eye(shape[-1])


BOTH = pytest.mark.parametrize("make", [real, cplx])
BATCHES = pytest.mark.parametrize("batch", [(), (2,), (2, 1)])


# Factors.


@BOTH
@BATCHES
def test_cholesky(make, batch):
    a = positive(tf.constant(make(*batch, 3, 3)))
    root = tf.linalg.cholesky(a)
    np.testing.assert_allclose(root.numpy(), np.tril(root.numpy()))
    np.testing.assert_allclose((root @ adjoint(root)).numpy(), a.numpy())
    check_gradients(lambda x: tf.linalg.cholesky(positive(x)), make(*batch, 3, 3))


def test_cholesky_reads_the_lower_triangle_and_has_a_symmetric_gradient():
    a = tf.constant([[4.0, 99.0], [2.0, 5.0]])
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = tf.linalg.cholesky(a)
    assert y.numpy().tolist() == [[2.0, 0.0], [1.0, 2.0]]
    g = tape.gradient(y, a).numpy()
    np.testing.assert_array_equal(g, g.T)


def test_cholesky_of_what_is_not_positive_definite_is_nan():
    good, bad = np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]])
    y = tf.linalg.cholesky([good, bad]).numpy()
    np.testing.assert_array_equal(y[0], good)
    assert np.isnan(y[1][np.tril_indices(2)]).all()


@BOTH
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 2, 3)])
def test_qr(make, shape):
    x = make(*shape)
    q, r = tf.linalg.qr(x)
    np.testing.assert_allclose((q @ r).numpy(), x)
    np.testing.assert_allclose((adjoint(q) @ q).numpy() + 0 * x[..., :1, :1], _eye(q), atol=1e-12)
    # LAPACK makes the diagonal of r real, which fixes the gauge.
    check_gradients(lambda x: tuple(tf.linalg.qr(x)), x)


def _eye(q):
    n = q.shape[-1]
    return np.broadcast_to(np.eye(n), (*q.shape[:-2], n, n))


def test_qr_with_full_matrices():
    x = real(4, 2)
    q, r = tf.linalg.qr(x, full_matrices=True)
    assert q.shape == [4, 4] and r.shape == [4, 2]
    np.testing.assert_allclose((q @ r).numpy(), x)
    check_gradients(lambda x: tuple(tf.linalg.qr(x, full_matrices=True)), real(2, 3))
    with tf.GradientTape() as tape:
        v = tf.Variable(x)
        y = tf.linalg.qr(v, full_matrices=True).q
    with pytest.raises(NotImplementedError, match="full_matrices=True"):
        tape.gradient(y, v)


def svd_invariants(x, full=False):
    s, u, v = tf.linalg.svd(x, full_matrices=full)
    k = s.shape[-1]
    out = [s]
    for i in range(k):
        out.append(u[..., i : i + 1] @ adjoint(v[..., i : i + 1]))
    if full:
        out += [w[..., k:] @ adjoint(w[..., k:]) for w in (u, v)]
    return out


@BOTH
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 4), (2, 3, 2)])
def test_svd(make, shape, full):
    x = make(*shape)
    s, u, v = tf.linalg.svd(x, full_matrices=full)
    k = s.shape[-1]
    np.testing.assert_allclose(s.numpy(), np.linalg.svd(x, compute_uv=False))
    rebuilt = (u.numpy()[..., :k] * s.numpy()[..., None, :]) @ adjoint(v).numpy()[..., :k, :]
    np.testing.assert_allclose(rebuilt, x)
    check_gradients(lambda x: svd_invariants(x, full), x)
    check_gradients(lambda x: tf.linalg.svd(x, compute_uv=False), x)


def test_svd_of_nan_is_nan_and_spares_the_rest_of_the_batch():
    x = np.stack([np.eye(2), np.full((2, 2), np.nan)])
    s, u, v = (t.numpy() for t in tf.linalg.svd(x))
    assert np.isfinite(s[0]).all() and np.isnan(s[1]).all()
    assert np.isnan(u[1]).all() and np.isnan(v[1]).all()
    assert np.isnan(tf.linalg.svd(x, compute_uv=False).numpy()[1]).all()


def test_gradients_at_equal_values_are_finite():
    eye = tf.eye(3, dtype=tf.float64)
    for f in (lambda x: tf.linalg.eigh(x)[1], lambda x: tf.linalg.svd(x)[1]):
        with tf.GradientTape() as tape:
            tape.watch(eye)
            y = f(eye)
        assert np.isfinite(tape.gradient(y, eye).numpy()).all()


@BOTH
@BATCHES
def test_eigh(make, batch):
    x = make(*batch, 3, 3)
    a = hermitian(tf.constant(x))
    values, vectors = tf.linalg.eigh(a)
    assert values.dtype == vectors.dtype == x.dtype
    np.testing.assert_allclose(
        (a @ vectors).numpy(), (vectors.numpy() * values.numpy()[..., None, :])
    )

    def invariants(x):
        values, vectors = tf.linalg.eigh(hermitian(x))
        columns = [vectors[..., i : i + 1] for i in range(3)]
        return [values, *(c @ adjoint(c) for c in columns)]

    check_gradients(invariants, x)
    check_gradients(lambda x: tf.linalg.eigvalsh(hermitian(x)), x)


def test_eigh_reads_the_lower_triangle():
    a = tf.constant([[2.0, 99.0], [1.0, 2.0]], tf.float64)
    np.testing.assert_allclose(tf.linalg.eigvalsh(a).numpy(), [1.0, 3.0])
    check_gradients(tf.linalg.eigvalsh, a.numpy())


@BOTH
def test_eig(make):
    x = make(2, 3, 3)
    values, vectors = tf.linalg.eig(x)
    np.testing.assert_allclose(
        (x @ vectors.numpy()), vectors.numpy() * values.numpy()[..., None, :]
    )

    def invariants(x):
        values, vectors = tf.linalg.eig(x)
        columns = [vectors[..., i : i + 1] for i in range(3)]
        return [values, *(c @ adjoint(c) for c in columns)]

    check_gradients(invariants, x)
    check_gradients(tf.linalg.eigvals, x)


@BOTH
@pytest.mark.parametrize("n", [1, 3, 40, 70])
def test_lu(make, n):
    x = make(2, n, n)
    lu, p = tf.linalg.lu(x, output_idx_type=tf.int64)
    assert p.dtype == tf.int64
    np.testing.assert_allclose(tf.linalg.lu_reconstruct(lu, p).numpy(), x, atol=1e-10)
    assert np.abs(np.tril(lu.numpy(), -1)).max(initial=0) <= 1 + 1e-12
    for one, packed, order in zip(x, lu.numpy(), p.numpy(), strict=True):
        if make is cplx:  # LAPACK measures complex pivots by another norm
            break
        expected, pivots = scipy.linalg.lu_factor(one)
        np.testing.assert_allclose(packed, expected, atol=1e-10)
        rows = np.arange(n)
        for i, j in enumerate(pivots):
            rows[[i, j]] = rows[[j, i]]
        np.testing.assert_array_equal(order, rows)
    if n < 10:
        check_gradients(lambda x: tf.linalg.lu(x).lu, x)


def test_lu_solves_and_inverts():
    x, b = invertible(real, 2, 3, 3), real(3, 2)

    def f(x, b):
        return tf.linalg.lu_solve(*tf.linalg.lu(x), rhs=b)

    np.testing.assert_allclose(f(x, b).numpy(), np.linalg.inv(x) @ b)
    check_gradients(f, x, b)
    inverse = tf.linalg.lu_matrix_inverse(*tf.linalg.lu(x))
    np.testing.assert_allclose(inverse.numpy(), np.linalg.inv(x))


# Systems.


@BOTH
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("flip", [True, False])
def test_triangular_solve(make, lower, flip):
    a, b = invertible(make, 2, 3, 3), make(3, 2)

    def f(a, b):
        return tf.linalg.triangular_solve(a, b, lower=lower, adjoint=flip)

    triangle = np.tril(a) if lower else np.triu(a)
    triangle = triangle.conj().swapaxes(-1, -2) if flip else triangle
    np.testing.assert_allclose(f(a, b).numpy(), np.linalg.inv(triangle) @ b)
    check_gradients(f, a, b)


@pytest.mark.parametrize("n", [0, 1, 31, 33, 100])
def test_triangular_solve_of_any_size(n):
    a, b = np.tril(real(n, n)) + 5 * np.sqrt(n + 1) * np.eye(n), real(n, 3)
    x = tf.linalg.triangular_solve(a, b).numpy()
    np.testing.assert_allclose(a @ x, b, atol=1e-12)


def test_triangular_solve_divides_by_zero():
    y = tf.linalg.triangular_solve([[0.0, 0.0], [1.0, 1.0]], [[1.0], [2.0]])
    assert y.numpy().ravel().tolist() == [np.inf, -np.inf]


@BOTH
@pytest.mark.parametrize("flip", [True, False])
def test_solve(make, flip):
    a, b = invertible(make, 2, 3, 3), make(2, 3, 2)

    def f(a, b):
        return tf.linalg.solve(a, b, adjoint=flip)

    turned = a.conj().swapaxes(-1, -2) if flip else a
    np.testing.assert_allclose(f(a, b).numpy(), np.linalg.solve(turned, b))
    check_gradients(f, a, b)


@BOTH
def test_cholesky_solve(make):
    x, b = make(2, 3, 3), make(3, 1)

    def f(x, b):
        return tf.linalg.cholesky_solve(tf.linalg.cholesky(positive(x)), b)

    a = positive(tf.constant(x)).numpy()
    np.testing.assert_allclose(f(x, b).numpy(), np.linalg.inv(a) @ b)
    check_gradients(f, x, b)


@BOTH
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_lstsq(make, shape, fast):
    a, b = make(*shape), make(shape[0], 2)

    def f(a, b):
        return tf.linalg.lstsq(a, b, fast=fast)

    np.testing.assert_allclose(f(a, b).numpy(), np.linalg.lstsq(a, b)[0], rtol=1e-6)
    check_gradients(f, a, b)


@pytest.mark.parametrize("shape", [(2, 4, 2), (2, 2, 4)])
def test_lstsq_regularised(shape):
    a, b = real(*shape), real(shape[-2], 2)

    def f(a, b):
        return tf.linalg.lstsq(a, b, l2_regularizer=0.3)

    at = a.swapaxes(-1, -2)
    expected = np.linalg.inv(at @ a + 0.3 * np.eye(shape[-1])) @ at @ b
    np.testing.assert_allclose(f(a, b).numpy(), expected)
    check_gradients(f, a, b)


@BOTH
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 3, 3)])
def test_pinv(make, shape):
    x = make(*shape)
    np.testing.assert_allclose(tf.linalg.pinv(x).numpy(), np.linalg.pinv(x))
    check_gradients(tf.linalg.pinv, x)


def test_pinv_of_low_rank():
    def f(a, b):
        return tf.linalg.pinv(a @ b)  # the rank stays two, so there is a derivative

    check_gradients(f, real(4, 2), real(2, 3))
    y = tf.linalg.pinv(np.diag([1.0, 0.1, 0.0]), rcond=0.2).numpy()
    np.testing.assert_array_equal(y, np.diag([1.0, 0.0, 0.0]))


def test_pinv_gradient_at_equal_singular_values():
    check_gradients(tf.linalg.pinv, np.eye(3))


@BOTH
@BATCHES
def test_inverse_and_determinants(make, batch):
    x = make(*batch, 3, 3)
    np.testing.assert_allclose(tf.linalg.inv(x).numpy(), np.linalg.inv(x))
    adjoint_inverse = tf.linalg.inv(x, adjoint=True).numpy()
    np.testing.assert_allclose(adjoint_inverse, np.linalg.inv(x).conj().swapaxes(-1, -2))
    np.testing.assert_allclose(tf.linalg.det(x).numpy(), np.linalg.det(x))
    for found, expected in zip(tf.linalg.slogdet(x), np.linalg.slogdet(x), strict=True):
        assert found.dtype == x.dtype
        np.testing.assert_allclose(found.numpy(), expected)
    check_gradients(lambda x: tf.linalg.inv(x, adjoint=True), x)
    check_gradients(tf.linalg.det, x)
    check_gradients(lambda x: tuple(tf.linalg.slogdet(x)), x)
    check_gradients(lambda x: tf.linalg.logdet(positive(x)), x)


def test_determinants_of_singular_matrices():
    singular = [[1.0, 2.0], [2.0, 4.0]]
    assert tf.linalg.det(singular).numpy() == 0.0
    sign, log = tf.linalg.slogdet(singular)
    assert sign.numpy() == 0.0 and log.numpy() == -np.inf


TRIDIAGONAL = np.stack([real(2, 5), real(2, 5), real(2, 5)], axis=1)


def dense(d: np.ndarray) -> np.ndarray:
    def one(above, main, below):
        return np.diag(main) + np.diag(above[:-1], 1) + np.diag(below[1:], -1)

    return np.stack([one(*x) for x in d])


@BOTH
@pytest.mark.parametrize("pivoting", [True, False])
def test_tridiagonal_solve(make, pivoting):
    d, b = make(2, 3, 5), make(2, 5, 2)

    def f(d, b):
        return tf.linalg.tridiagonal_solve(d, b, partial_pivoting=pivoting)

    np.testing.assert_allclose(f(d, b).numpy(), np.linalg.solve(dense(d), b), rtol=1e-6)
    check_gradients(f, d, b)
    product = tf.linalg.tridiagonal_matmul(d, b)
    np.testing.assert_allclose(product.numpy(), dense(d) @ b)
    check_gradients(tf.linalg.tridiagonal_matmul, d, b)


def test_tridiagonal_pivoting_survives_a_zero_on_the_diagonal():
    d = real(2, 3, 6)
    d[:, 1, [0, 3]] = 0.0
    b = real(2, 6, 1)
    x = tf.linalg.tridiagonal_solve(d, b).numpy()
    np.testing.assert_allclose(dense(d) @ x, b, atol=1e-10)


def test_tridiagonal_formats():
    d, b = real(1, 3, 4), real(1, 4)
    expected = tf.linalg.tridiagonal_solve(d, b).numpy()
    np.testing.assert_allclose(expected, np.linalg.solve(dense(d), b[..., None])[..., 0])
    for form, diagonals in [
        ("matrix", dense(d)),
        ("sequence", [d[:, 0], d[:, 1], d[:, 2]]),
        ("sequence", [d[:, 0, :-1], d[:, 1], d[:, 2, 1:]]),
    ]:
        x = tf.linalg.tridiagonal_solve(diagonals, b, diagonals_format=form)
        np.testing.assert_allclose(x.numpy(), expected)
    rows = tf.linalg.tridiagonal_solve(d, b[:, None, :], transpose_rhs=True)
    np.testing.assert_allclose(rows.numpy()[..., 0], expected)
    with pytest.raises(ValueError, match="diagonals_format"):
        tf.linalg.tridiagonal_solve(d, b, diagonals_format="rows")


def test_tridiagonal_singular_is_nan():
    d = np.stack([np.eye(3), np.ones((3, 3))])
    d[0] = [[1, 1, 0], [2, 2, 2], [0, 1, 1]]
    d[1, 1:] = 0
    x = tf.linalg.tridiagonal_solve(d, np.ones((2, 3))).numpy()
    assert np.isfinite(x[0]).all() and np.isnan(x[1]).all()


@pytest.mark.parametrize("lower", [True, False])
def test_banded_triangular_solve(lower):
    bands, b = np.abs(real(2, 2, 4)) + 0.5, real(2, 4, 1)
    ab = dense(np.stack([bands[:, 0], bands[:, 1], bands[:, 1]], 1))
    for i in range(2):
        if lower:
            ab[i] = np.diag(bands[i, 0]) + np.diag(bands[i, 1, 1:], -1)
        else:
            ab[i] = np.diag(bands[i, 1]) + np.diag(bands[i, 0, :-1], 1)

    def f(bands, b):
        return tf.linalg.banded_triangular_solve(bands, b, lower=lower)

    np.testing.assert_allclose(f(bands, b).numpy(), np.linalg.solve(ab, b))
    check_gradients(f, bands, b)


# Functions of matrices.


@BOTH
@BATCHES
def test_expm(make, batch):
    x = make(*batch, 3, 3)
    np.testing.assert_allclose(tf.linalg.expm(x).numpy(), scipy.linalg.expm(x))
    check_gradients(tf.linalg.expm, x)


def test_expm_of_large_and_small_matrices_in_one_batch():
    x = np.stack([scale * real(4, 4) for scale in (1e-9, 0.1, 1.0, 20.0)])
    expected = np.stack([scipy.linalg.expm(one) for one in x])
    for found, wanted in zip(tf.linalg.expm(x).numpy(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


def test_expm_of_matrices_that_are_halved_a_thousand_times():
    one = np.eye(200)
    assert not tf.linalg.expm(-1e300 * one).numpy().any()
    with np.errstate(all="ignore"):
        assert not np.isfinite(tf.linalg.expm(1e300 * one).numpy()).any()


@BOTH
def test_sqrtm(make):
    x = positive(tf.constant(make(2, 3, 3))).numpy() + 0.3 * make(2, 3, 3)
    y = tf.linalg.sqrtm(x).numpy()
    np.testing.assert_allclose(y, np.stack([scipy.linalg.sqrtm(one) for one in x]))
    check_gradients(tf.linalg.sqrtm, x)


@BOTH
def test_logm(make):
    x = positive(tf.constant(make(2, 3, 3))).numpy() + 0.3 * make(2, 3, 3) + 0j
    y = tf.linalg.logm(x).numpy()
    np.testing.assert_allclose(y, np.stack([scipy.linalg.logm(one) for one in x]), rtol=1e-6)
    np.testing.assert_allclose(tf.linalg.expm(y).numpy(), x)
    check_gradients(tf.linalg.logm, x)


def test_roots_of_awkward_matrices():
    jordan = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    root = tf.linalg.sqrtm(jordan).numpy()
    np.testing.assert_allclose(root @ root, jordan, atol=1e-12)
    log = tf.linalg.logm(jordan + 0j).numpy()
    np.testing.assert_allclose(log, [[0, 1, -0.5], [0, 0, 1], [0, 0, 0]], atol=1e-12)
    singular = np.diag([4.0, 0.0])
    np.testing.assert_allclose(tf.linalg.sqrtm(singular).numpy(), np.diag([2.0, 0.0]), atol=1e-12)
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    np.testing.assert_allclose(
        np.linalg.matrix_power(tf.linalg.sqrtm(turn).numpy(), 2), turn, atol=1e-12
    )
    assert np.isnan(tf.linalg.sqrtm(np.diag([-1.0, 3.0])).numpy()).all()
    assert np.isnan(tf.linalg.sqrtm(np.full((2, 2), np.nan)).numpy()).all()


# The rest.


def test_matrix_rank():
    x = np.stack([np.eye(3), np.ones((3, 3)), np.diag([1.0, 1e-3, 0.0])])
    assert tf.linalg.matrix_rank(x).numpy().tolist() == [3, 1, 2]
    assert tf.linalg.matrix_rank(x, tol=0.5).numpy().tolist() == [3, 1, 1]
    assert tf.linalg.matrix_rank(x, tol=[[2.0], [0.1], [1e-4]]).numpy().tolist() == [0, 1, 2]


@BOTH
def test_spectral_norm(make):
    x = make(2, 3, 4)

    def f(x):
        return tf.linalg.norm(x, ord=2, axis=[0, 2], keepdims=True)

    expected = np.linalg.norm(x, ord=2, axis=(0, 2), keepdims=True)
    np.testing.assert_allclose(f(x).numpy(), expected)
    check_gradients(f, x)


def test_normalize():
    x = real(2, 3)
    y, norm = tf.linalg.normalize(x, axis=1)
    np.testing.assert_allclose(y.numpy(), x / np.linalg.norm(x, axis=1, keepdims=True))
    assert norm.shape == [2, 1]
    check_gradients(lambda x: tf.linalg.normalize(x, ord=1, axis=[0, 1])[0], x)


def test_eigh_tridiagonal():
    main, side = real(4), real(3)
    expected = scipy.linalg.eigh_tridiagonal(main, side, eigvals_only=True)
    np.testing.assert_allclose(tf.linalg.eigh_tridiagonal(main, side).numpy(), expected)
    values, vectors = tf.linalg.eigh_tridiagonal(
        main, side, eigvals_only=False, select="i", select_range=[1, 2]
    )
    np.testing.assert_allclose(values.numpy(), expected[1:3])
    assert vectors.shape == [4, 2]
    span = [expected[1] - 1e-6, expected[3] + 1e-6]
    inside = tf.linalg.eigh_tridiagonal(main, side, select="v", select_range=span)
    np.testing.assert_allclose(inside.numpy(), expected[1:])
    check_gradients(tf.linalg.eigh_tridiagonal, main, side)


ONE_MATRIX = [
    "cholesky",
    "inv",
    "det",
    "slogdet",
    "lu",
    "eigh",
    "eigvalsh",
    "eig",
    "eigvals",
    "expm",
    "sqrtm",
]


@pytest.mark.parametrize("op", ONE_MATRIX)
def test_what_is_no_square_matrix_is_refused(op):
    f = getattr(tf.linalg, op)
    for shape, says in [((3,), "rank >= 2"), ((2, 3), "square"), ((2, 3, 2), "square")]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=says):
            f(real(*shape))
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        f([[1, 0], [0, 1]])


@pytest.mark.parametrize("op", ONE_MATRIX)
@pytest.mark.parametrize("shape", [(0, 0), (0, 2, 2), (2, 0, 0)])
def test_empty_matrices(op, shape):
    getattr(tf.linalg, op)(np.zeros(shape))


def test_singular_matrices_are_named():
    singular = [[1.0, 2.0], [2.0, 4.0]]
    for f in (tf.linalg.inv, tf.linalg.lu, lambda a: tf.linalg.solve(a, [[1.0], [1.0]])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            f(singular)


def test_systems_that_do_not_fit():
    eye = np.eye(2)
    for op in ("solve", "triangular_solve"):
        f = getattr(tf.linalg, op)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"as many rows.*\[3, 1\]"):
            f(eye, np.ones((3, 1)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="rank >= 2"):
            f(eye, np.ones(2))
        with pytest.raises(tf.errors.InvalidArgumentError, match="same dtype"):
            f(tf.constant(eye), tf.ones((2, 1)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="before the last two"):
        tf.linalg.solve(np.stack([eye, eye]), np.ones((2, 1)))


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_single_precision_stays_single(dtype):
    x = (np.eye(3) * 2 + 0.1).astype(dtype)
    for op in [*ONE_MATRIX, "pinv", "qr", "svd", "logdet"]:
        out = getattr(tf.linalg, op)(x)
        for y in out if isinstance(out, tuple) else [out]:
            assert y.dtype.name in ("float32", "complex64", "int32")


def test_eigenvalues_of_a_range_of_values() -> None:
    alpha, beta = tf.constant([1.0, 2.0, 3.0]), tf.constant([0.5, 0.5])
    everything, columns = tf.linalg.eigh_tridiagonal(alpha, beta, eigvals_only=False)
    for span in ((0.8, 2.5), tf.constant([0.8, 2.5])):
        values, vectors = tf.linalg.eigh_tridiagonal(
            alpha, beta, eigvals_only=False, select="v", select_range=span
        )
        np.testing.assert_array_equal(values, everything[1:2])
        np.testing.assert_array_equal(vectors, columns[:, 1:2])
    none = tf.linalg.eigh_tridiagonal(alpha, beta, select="v", select_range=(10.0, 20.0))
    assert none.shape == (0,)


def test_selected_eigenvalues_have_gradients() -> None:
    check_gradients(
        lambda a, b: tf.linalg.eigh_tridiagonal(a, b, select="v", select_range=(0.8, 2.5)),
        [1.0, 2.0, 3.0],
        [0.5, 0.5],
    )


def test_several_matrices_may_have_different_numbers_of_eigenvalues_in_a_range() -> None:
    alpha, beta = tf.ones([2, 3]), tf.ones([2, 2])
    with pytest.raises(ValueError, match="one matrix"):
        tf.linalg.eigh_tridiagonal(alpha, beta, select="v", select_range=(0.0, 1.0))
