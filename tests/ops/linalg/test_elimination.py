"""Triangular and tridiagonal systems and LU factors: by the LAPACK inside NumPy, and without it, the same."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import tapeflow as tf
from tapeflow._src.insides import lapack
from tapeflow._src.primitives.linalg import elimination

RNG = np.random.default_rng(5)
SIZES = (0, 1, 3, 17, 130)


@pytest.fixture(params=[True, False], ids=["library", "numpy alone"], autouse=True)
def way(request, monkeypatch):
    if request.param:
        if lapack.factors(np.dtype(np.float32)) is None:
            pytest.skip("NumPy was built without the OpenBLAS of its wheels")
    else:
        for name in ("triangular", "factors", "tridiagonal"):
            monkeypatch.setattr(elimination, name, lambda dtype: None)


def random(*shape, dtype="float64"):
    x = RNG.normal(size=shape)
    return (x + 1j * RNG.normal(size=shape) if dtype[0] == "c" else x).astype(dtype)


def close(x, y):
    digits = 1e-4 if np.asarray(y).dtype in (np.float32, np.complex64) else 1e-11
    np.testing.assert_allclose(x, y, rtol=digits, atol=digits)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("batch", [(), (0,), (2, 3), (40,)])
def test_triangular_systems_of_all_sizes(dtype, batch):
    for n in SIZES:
        a = random(*batch, n, n, dtype=dtype) / max(n, 1) + np.eye(n, dtype=dtype)
        for columns in (0, 3):
            b = random(*batch, n, columns, dtype=dtype)
            for lower in (True, False):
                read = np.tril(a) if lower else np.triu(a)
                x = tf.linalg.triangular_solve(a, b, lower=lower).numpy()
                close(read @ x, b)
                y = tf.linalg.triangular_solve(a, b, lower=lower, adjoint=True).numpy()
                close(read.swapaxes(-1, -2).conj() @ y, b)


def test_the_other_triangle_is_not_read():
    a = np.tril(random(40, 40)) / 40 + np.eye(40)
    b = random(40, 2)
    dirty = a + np.triu(np.full((40, 40), np.nan), 1)
    close(tf.linalg.triangular_solve(dirty, b), scipy.linalg.solve_triangular(a, b, lower=True))
    close(tf.linalg.triangular_solve(dirty.T, b, lower=False), np.linalg.solve(a.T, b))


def test_matrices_that_lie_in_any_way_and_are_shared_by_a_batch():
    whole = random(2, 80, 80) / 80 + np.eye(80)
    b = random(3, 40, 4)
    for a in (whole[0, ::2, ::2], whole[1, 40:, 40:].T, whole[0, :40, :40][::-1, ::-1]):
        found = elimination.substitute(a, b, True)
        close(np.tril(a) @ found, b)
        assert found.flags.c_contiguous


def test_a_number_that_is_not_finite_reaches_the_rows_that_see_it_and_no_others():
    for bad in (np.nan, np.inf):
        a, b = np.tril(random(40, 40)) / 40 + np.eye(40), random(40, 2)
        a[20, 20] = bad
        x = tf.linalg.triangular_solve(a, b).numpy()
        assert np.isfinite(x[:20]).all()
        assert (x[20] == 0).all() if bad == np.inf else np.isnan(x[20:]).all()
        a[20, 20], b[25, 1] = 1.0, bad
        x = tf.linalg.triangular_solve(a, b).numpy()
        assert np.isfinite(x[:, 0]).all() and np.isfinite(x[:25]).all()
        assert not np.isfinite(x[25:, 1]).any()


def test_a_zero_on_the_diagonal_divides_by_zero():
    a, b = np.eye(20), np.ones((20, 1))
    a[7, 7] = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        x = tf.linalg.triangular_solve(a, b).numpy()
    assert x[7] == np.inf
    assert (x[:7] == 1).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("batch", [(), (0,), (2, 3), (600,)])
def test_factors(dtype, batch):
    for n in SIZES[:4] if batch == (600,) else SIZES:
        x = random(*batch, n, n, dtype=dtype)
        for index in (tf.int32, tf.int64):
            lu, p = tf.linalg.lu(x, output_idx_type=index)
            assert (lu.dtype, p.dtype) == (x.dtype, index)
            below = np.tril(lu, -1) + np.eye(n, dtype=dtype)
            close(below @ np.triu(lu), np.take_along_axis(x, p.numpy()[..., None], -2))
            assert (np.abs(np.tril(lu.numpy(), -1)) <= 1 + 1e-6).all() or dtype[0] == "c"
            assert (np.sort(p.numpy(), -1) == np.arange(n)).all()


def test_of_equal_pivots_the_first_is_taken():
    x = np.array([[1.0, 2.0, 1.0], [-2.0, 1.0, 3.0], [2.0, 2.0, 1.0]])
    lu, p = tf.linalg.lu(x)
    np.testing.assert_array_equal(p, [1, 2, 0])
    close(lu, [[-2, 1, 3], [-1, 3, 4], [-0.5, 2.5 / 3, 2.5 - 10 / 3]])


def test_factors_of_what_has_none():
    with pytest.raises(tf.errors.InvalidArgumentError, match="lu: Input is not invertible"):
        tf.linalg.lu(np.ones((2, 20, 20)))
    x = np.eye(3)
    x[1, 1] = np.nan
    assert np.isnan(tf.linalg.lu(x).lu.numpy()[1, 1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [2, 3, 5, 8, 16])
def test_two_equal_rows_make_no_factors(n, dtype):
    for x in np.random.default_rng(n).normal(size=(5, n, n)).astype(dtype):
        x[n - 1] = x[0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            tf.linalg.lu(x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_factors_of_numbers_below_the_normal_ones(dtype):
    limits = np.finfo(dtype)
    x = np.array([[1, 2], [4, 1]], dtype)
    lu, p = tf.linalg.lu(x * limits.smallest_subnormal * 1024)
    np.testing.assert_array_equal(p, [1, 0])
    np.testing.assert_array_equal(lu[1, 0], 0.25)
    x = random(20, 20, dtype=dtype)
    x[:, 3] *= limits.tiny / 64
    lu, p = (y.numpy() for y in tf.linalg.lu(x))
    close((np.tril(lu, -1) + np.eye(20, dtype=dtype)) @ np.triu(lu), x[p])
    assert np.abs(np.tril(lu, -1)).max() <= 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("batch", [(), (0,), (2, 3), (40,)])
def test_tridiagonal_systems(dtype, batch):
    for n in SIZES:
        d, b = random(*batch, 3, n, dtype=dtype), random(*batch, n, 2, dtype=dtype)
        d[..., 1, :] += 4
        d[..., 0, -1:] = d[..., 2, :1] = np.nan  # not used
        x = tf.linalg.tridiagonal_solve(d, b)
        close(tf.linalg.tridiagonal_matmul(d, x), b)


def test_rows_of_a_tridiagonal_system_change_places():
    d = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0], [0.0, 4.0, 5.0]])
    close(tf.linalg.tridiagonal_solve(d, [1.0, 6.0, 6.0]), [1.0, 1.0, 1.0])


def test_one_singular_tridiagonal_matrix_says_nothing_of_the_others():
    d = np.zeros((2, 3, 4))
    d[0, 1] = 2.0
    x = tf.linalg.tridiagonal_solve(d, np.ones((2, 4, 1))).numpy()
    np.testing.assert_array_equal(x[0], np.full((4, 1), 0.5))
    assert np.isnan(x[1]).all()


def test_inputs_are_not_written_to():
    a, b = random(20, 20) / 20 + np.eye(20), random(20, 3)
    d = random(3, 20) + 4
    kept = [x.copy() for x in (a, b, d)]
    tf.linalg.triangular_solve(a, b)
    tf.linalg.lu(a)
    tf.linalg.tridiagonal_solve(d, b)
    for x, before in zip((a, b, d), kept, strict=True):
        np.testing.assert_array_equal(x, before)
