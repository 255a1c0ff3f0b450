"""Matrix products, Einstein sums and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf
import tapeflow.linalg
import tapeflow.math

RNG = np.random.default_rng(1)


def real(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def cplx(*shape: int) -> np.ndarray:
    return real(*shape) + 1j * real(*shape)


FLAGS = ["", "transpose", "adjoint"]


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("b_flag", FLAGS)
@pytest.mark.parametrize("a_flag", FLAGS)
def test_matmul_flags(a_flag, b_flag, make):
    a = make(2, 3, 4) if not a_flag else make(2, 4, 3)
    b = make(4, 2) if not b_flag else make(2, 4)
    flags = {f"{f}_{side}": True for f, side in ((a_flag, "a"), (b_flag, "b")) if f}

    def turned(x, flag):
        x = x.swapaxes(-1, -2) if flag else x
        return x.conj() if flag == "adjoint" else x

    def f(a, b):
        return tf.linalg.matmul(a, b, **flags)

    np.testing.assert_allclose(f(a, b).numpy(), turned(a, a_flag) @ turned(b, b_flag))
    check_gradients(f, a, b)


def test_matmul_flags_that_exclude_each_other():
    for side in "ab":
        with pytest.raises(ValueError, match="only one"):
            tf.linalg.matmul(
                [[1.0]], [[1.0]], **{f"transpose_{side}": True, f"adjoint_{side}": True}
            )


def test_matmul_dtypes():
    ones = tf.constant(np.ones((2, 200), np.int8))
    wide = tf.linalg.matmul(ones, ones, transpose_b=True, output_type=tf.int32)
    assert wide.numpy().tolist() == [[200, 200], [200, 200]]
    for dtype in ("float16", "bfloat16"):
        x = tf.constant(np.full((1, 3000), 0.5), dtype)
        product = tf.linalg.matmul(x, x, transpose_b=True, a_is_sparse=True)
        assert (product.dtype, float(product[0, 0])) == (dtype, 752 if dtype == "bfloat16" else 750)
    assert tf.linalg.matmul(tf.constant([[1.0]]), [[2]]).dtype == tf.float32
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        tf.linalg.matmul([[1, 2]], tf.constant([[1.0], [2.0]]))


def test_matvec():
    a, b = real(2, 3, 4), real(4)
    np.testing.assert_allclose(tf.linalg.matvec(a, b).numpy(), a @ b)
    check_gradients(tf.linalg.matvec, a, b)
    check_gradients(lambda a, b: tf.linalg.matvec(a, b, adjoint_a=True), cplx(4, 3), cplx(2, 4))
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        tf.linalg.matvec([[1.0]], 1.0)


EQUATIONS: dict[str, tuple[tuple[int, ...], ...]] = {
    "ij,jk->ik": ((2, 3), (3, 4)),
    "ij,jk": ((2, 3), (3, 4)),
    "ba,cb": ((2, 3), (4, 2)),
    "ij->ji": ((2, 3),),
    "ji": ((2, 3),),
    "ij->": ((2, 3),),
    "ij->j": ((2, 3),),
    "ii->i": ((3, 3),),
    "ii->": ((3, 3),),
    "iij->ij": ((3, 3, 2),),
    "iii->i": ((3, 3, 3),),
    "ii,i->i": ((3, 3), (3,)),
    "ij,jj->i": ((2, 3), (3, 3)),
    "i,j->ij": ((2,), (3,)),
    "i,i->": ((3,), (3,)),
    "ij,kl->": ((2, 3), (2, 4)),
    "ij,ik->jk": ((2, 3), (2, 4)),
    "bij,bjk->bik": ((2, 2, 3), (2, 3, 4)),
    "bhqd,bhkd->bhqk": ((2, 2, 3, 2), (2, 2, 4, 2)),
    "abc,cd->abd": ((2, 3, 2), (2, 4)),
    "...ij,...jk->...ik": ((5, 1, 2, 3), (4, 3, 2)),
    "...ij,jk": ((2, 2, 3), (3, 2)),
    "i...->...i": ((2, 3, 4),),
    "...,...->...": ((2, 3), (3,)),
    "ij,jk,kl->il": ((2, 3), (3, 4), (4, 2)),
    "i,j,k->ijk": ((2,), (3,), (2,)),
    "a,ab,abc->abc": ((2,), (2, 3), (2, 3, 2)),
    "ij,jk,ik->": ((2, 3), (3, 4), (2, 4)),
    ",i->i": ((), (3,)),
    "iJ,Jk->ik": ((2, 3), (3, 2)),
    " i j , j k -> i k ": ((2, 3), (3, 4)),
}


@pytest.mark.parametrize("make", [real, cplx])
@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation, make):
    xs = [make(*shape) for shape in EQUATIONS[equation]]
    expected = np.einsum(equation, *xs)
    got = tf.linalg.einsum(equation, *xs)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, atol=1e-13)
    check_gradients(lambda *xs: tf.linalg.einsum(equation, *xs), *xs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32"])
def test_einsum_dtypes(dtype):
    x = tf.constant([[1, 2], [3, 4]], dtype)
    y = tf.linalg.einsum("ij,jk->ik", x, x)
    assert y.dtype == dtype
    assert y.numpy().astype(int).tolist() == [[7, 10], [15, 22]]


M = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize(
    ("equation", "inputs", "error", "message"),
    [
        ("ij,jk->ik", (M, M), tf.errors.InvalidArgumentError, "'j'.*size 3.*2"),
        ("i,i->i", ([1.0], [1.0, 2.0]), tf.errors.InvalidArgumentError, "'i'.*size 1"),
        ("ijk->i", (M,), tf.errors.InvalidArgumentError, "rank 2"),
        ("...ijk->...", (M,), tf.errors.InvalidArgumentError, "rank 2"),
        ("...i->i", (M,), tf.errors.InvalidArgumentError, "the output has no"),
        ("ij->ik", (M,), ValueError, "'k'"),
        ("ij->ii", (M,), ValueError, "twice"),
        ("ij", (M, M), ValueError, "expecting 1"),
        ("i1->i", (M,), ValueError, "format"),
        ("i..j->i", (M,), ValueError, "format"),
        (
            "i,i",
            (M[0], tf.constant([1.0] * 3, tf.float64)),
            tf.errors.InvalidArgumentError,
            "float64",
        ),
    ],
)
def test_einsum_mistakes(equation, inputs, error, message):
    with pytest.raises(error, match=message):
        tf.linalg.einsum(equation, *inputs)


def test_einsum_keywords():
    assert tf.linalg.einsum("i,i", [1.0], [2.0], optimize="optimal", name="dot").numpy() == 2
    with pytest.raises(TypeError, match="foo"):
        tf.linalg.einsum("i", [1.0], foo=1)


@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ((2, 3), (3, 4), 1),
        ((2, 3, 4), (3, 4, 2), 2),
        ((2,), (3,), 0),
        ((3,), (3,), 1),
        ((2, 3), (4, 3), [1, 1]),
        ((2, 3, 4), (4, 2), [[0, -1], [1, 0]]),
        ((2, 3), (2, 3), [[0, 1], [0, 1]]),
    ],
)
def test_tensordot(a, b, axes):
    x, y = real(*a), real(*b)
    expected = np.tensordot(x, y, axes)
    np.testing.assert_allclose(tf.linalg.tensordot(x, y, axes).numpy(), expected, rtol=1e-12)
    check_gradients(lambda x, y: tf.linalg.tensordot(x, y, axes), x, y)


@pytest.mark.parametrize(
    ("axes", "error", "message"),
    [
        (1, tf.errors.InvalidArgumentError, "incompatible"),
        (3, ValueError, "larger"),
        (-1, ValueError, "at least 0"),
        ([[0, 1], [0]], ValueError, "2 != 1"),
        ([[0], [0], [1]], ValueError, "length 2"),
        ([[5], [0]], IndexError, "out of range"),
    ],
)
def test_tensordot_mistakes(axes, error, message):
    with pytest.raises(error, match=message):
        tf.linalg.tensordot(M, M, axes)


@pytest.mark.parametrize("k", [-1, 0, 1, 2])
def test_diagonals(k):
    x = real(2, 3, 4)
    part = np.diagonal(x, k, -2, -1)
    np.testing.assert_array_equal(tf.linalg.diag_part(x, k=k).numpy(), part)
    check_gradients(lambda x: tf.linalg.diag_part(x, k=k), x)
    made = tf.linalg.diag(part, k=k)
    np.testing.assert_array_equal(made.numpy(), [np.diag(row, k) for row in part])
    check_gradients(lambda d: tf.linalg.diag(d, k=k), part)
    put = tf.linalg.set_diag(x, part * 2, k=k).numpy()
    np.testing.assert_array_equal(np.diagonal(put, k, -2, -1), part * 2)
    assert (put != x).sum() == part.size
    check_gradients(lambda x, d: tf.linalg.set_diag(x, d, k=k), x, part)


def test_diag_sizes_and_padding():
    made = tf.linalg.diag([1.0, 2.0], padding_value=9, num_rows=2, num_cols=3)
    assert made.numpy().tolist() == [[1, 9, 9], [9, 2, 9]]
    assert tf.linalg.diag([1, 2], num_rows=4).shape == [4, 2]
    check_gradients(lambda d: tf.linalg.diag(d, padding_value=3.0), real(2, 3))
    assert tf.linalg.diag(tf.constant([1.0], tf.bfloat16)).dtype == tf.bfloat16
    np.testing.assert_array_equal(tf.linalg.diag(tf.constant([True, True])), np.eye(2, dtype=bool))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda: tf.linalg.diag(1.0), "1-dim"),
        (lambda: tf.linalg.diag([1.0, 2.0], num_rows=1, num_cols=1), "1 elements"),
        (lambda: tf.linalg.diag_part([1.0]), "2-dim"),
        (lambda: tf.linalg.diag_part(M, k=5), "out of bounds"),
        (lambda: tf.linalg.set_diag(M, [1.0, 2.0, 3.0]), r"\[3\]"),
        (lambda: tf.linalg.trace([1.0]), "2-dim"),
        (lambda: tf.linalg.band_part([1.0], 0, 0), "2-dim"),
        (lambda: tf.linalg.band_part(M, 7, 0), "number of rows"),
        (lambda: tf.linalg.eye(-1), ">= 0"),
    ],
)
def test_mistakes_with_diagonals(f, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        f()


@pytest.mark.parametrize("align", ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"])
@pytest.mark.parametrize("k", [(-1, 1), (0, 2), (-2, -1)])
def test_several_diagonals(k, align):
    x = real(2, 3, 4)
    parts = tf.linalg.diag_part(x, k=k, align=align)
    rebuilt = tf.linalg.diag(parts, k=k, num_rows=3, num_cols=4, align=align).numpy()
    np.testing.assert_array_equal(rebuilt, np.triu(np.tril(x, k[1]), k[0]))
    check_gradients(lambda x: tf.linalg.diag_part(x, k=k, align=align), x)
    check_gradients(lambda x, d: tf.linalg.set_diag(x, d, k=k, align=align), x, parts.numpy())


def test_several_diagonals_that_do_not_fit():
    with pytest.raises(tf.errors.InvalidArgumentError, match="lowest and the highest"):
        tf.linalg.diag_part(real(3, 3), k=(1, 0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 rows"):
        tf.linalg.diag([[1, 2]], k=(0, 1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="align"):
        tf.linalg.diag_part(real(3, 3), k=(0, 1), align="MIDDLE")


@pytest.mark.parametrize("lower", [-1, 0, 1])
@pytest.mark.parametrize("upper", [-1, 0, 1])
def test_band_part(lower, upper):
    x = real(2, 3, 4)
    expected = x if upper < 0 else np.tril(x, upper)
    expected = expected if lower < 0 else np.triu(expected, -lower)
    np.testing.assert_array_equal(tf.linalg.band_part(x, lower, upper).numpy(), expected)
    check_gradients(lambda x: tf.linalg.band_part(x, lower, upper), x)


def test_trace():
    x = real(2, 3, 4)
    np.testing.assert_allclose(tf.linalg.trace(x).numpy(), np.trace(x, axis1=-2, axis2=-1))
    check_gradients(tf.linalg.trace, x)


def test_transposes():
    x = cplx(2, 3, 4)
    np.testing.assert_array_equal(tf.linalg.matrix_transpose(x).numpy(), x.swapaxes(-1, -2))
    np.testing.assert_array_equal(tf.linalg.adjoint(x).numpy(), x.swapaxes(-1, -2).conj())
    check_gradients(tf.linalg.adjoint, x)
    with pytest.raises(ValueError, match="rank >= 2"):
        tf.linalg.matrix_transpose([1.0])


def test_eye():
    assert tf.linalg.eye(2).numpy().tolist() == [[1, 0], [0, 1]]
    batch = tf.linalg.eye(2, 3, batch_shape=[2, 1], dtype=tf.bfloat16)
    assert (batch.shape, batch.dtype) == ([2, 1, 2, 3], tf.bfloat16)
    assert tf.linalg.eye(tf.constant(2), dtype=tf.bool).numpy().tolist() == [
        [True, False],
        [False, True],
    ]
    with pytest.raises(TypeError, match="integers"):
        tf.linalg.eye(2.0)


def test_cross():
    a, b = real(4, 3), real(4, 3)
    np.testing.assert_allclose(tf.linalg.cross(a, b).numpy(), np.cross(a, b))
    check_gradients(tf.linalg.cross, a, b)
    with pytest.raises(tf.errors.FailedPreconditionError, match="3 elements"):
        tf.linalg.cross([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="same shape"):
        tf.linalg.cross(a, b[0])


def test_tensor_diagonals():
    x: Any = real(2, 3)
    made = tf.linalg.tensor_diag(x)
    assert made.shape == [2, 3, 2, 3]
    np.testing.assert_array_equal(np.einsum("ijij->ij", made.numpy()), x)
    np.testing.assert_array_equal(tf.linalg.tensor_diag_part(made).numpy(), x)
    check_gradients(tf.linalg.tensor_diag, x)
    check_gradients(tf.linalg.tensor_diag_part, real(2, 3, 2, 3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="halves"):
        tf.linalg.tensor_diag_part(real(2, 3))


def test_a_singular_tridiagonal_system_has_a_large_solution() -> None:
    diagonals = [[1.0, 1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, 1.0]]
    matrix = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, -1.0]])
    assert np.linalg.matrix_rank(matrix) == 2
    x = tf.linalg.tridiagonal_solve(
        np.array(diagonals), [1.0, 2.0, 3.0], perturb_singular=True
    ).numpy()
    assert np.isfinite(x).all()
    assert np.abs(x).max() > 1e15
    np.testing.assert_allclose(matrix @ x / np.abs(x).max(), 0, atol=1e-15)  # near the null space


def test_no_pivot_makes_a_solution_overflow() -> None:
    x = tf.linalg.tridiagonal_solve(np.zeros((3, 2)), [1e300, 0.0], perturb_singular=True)
    assert np.isfinite(x).all()


def test_a_regular_tridiagonal_system_is_not_perturbed() -> None:
    diagonals, b = np.array([[1.0, 1, 0], [0, 1, 1], [0, 1, 1]]), [1.0, 2.0, 3.0]
    x = tf.linalg.tridiagonal_solve(diagonals, b, perturb_singular=True)
    np.testing.assert_allclose(x, [-1.0, 1.0, 2.0])
    check_gradients(
        lambda d, b: tf.linalg.tridiagonal_solve(d, b, perturb_singular=True), diagonals, b
    )
    with pytest.raises(ValueError, match="partial_pivoting"):
        tf.linalg.tridiagonal_solve(diagonals, b, perturb_singular=True, partial_pivoting=False)


def test_the_pseudo_inverse_of_what_is_not_finite():
    matrices = [[[1.0, np.inf], [0.0, 1.0]], [[1.0, 2.0], [3.0, 4.0]], [[np.nan, 1.0], [1.0, 1.0]]]
    found = tf.linalg.pinv(tf.constant(matrices)).numpy()
    assert np.isnan(found[[0, 2]]).all()
    np.testing.assert_allclose(found[1], np.linalg.inv(matrices[1]), rtol=1e-5)
    large = tf.constant([[1e30, 1.01, 1.72], [0.5, 2.11, -1.0], [np.inf, -2.16, 2.35]])
    assert np.isnan(tf.linalg.pinv(large)).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64])
@pytest.mark.parametrize("largest", [3, 100, None], ids=["small", "middle", "all"])
def test_products_of_integers_are_exact_and_wrap_around(dtype, largest):
    rng, ends = np.random.default_rng(6), np.iinfo(dtype)
    low, high = (ends.min, ends.max) if largest is None else (max(ends.min, -largest), largest)
    for a_shape, b_shape in (
        ((64, 64), (64, 64)),
        ((3, 50, 70), (70, 40)),
        ((2, 1, 60, 60), (3, 60, 60)),
        ((400, 0), (0, 500)),
        ((0, 400), (400, 500)),
        ((0, 40, 40), (0, 40, 40)),
    ):
        a = rng.integers(low, high, a_shape, dtype, endpoint=True)
        b = rng.integers(low, high, b_shape, dtype, endpoint=True)
        found = tf.matmul(a, b).numpy()
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.matmul(a, b))
        turned = np.ascontiguousarray(b.swapaxes(-1, -2))
        np.testing.assert_array_equal(tf.matmul(a, turned, transpose_b=True), found)


def test_the_smallest_integer_has_no_opposite():
    x = np.full((64, 64), np.iinfo(np.int32).min, np.int32)
    np.testing.assert_array_equal(tf.matmul(x, np.eye(64, dtype=np.int32)), x)
    np.testing.assert_array_equal(tf.matmul(x, np.ones((64, 64), np.int32)), np.zeros((64, 64)))
    large = np.full((64, 64), 2**26 + 1, np.int64)
    np.testing.assert_array_equal(tf.matmul(large, large), large @ large)
