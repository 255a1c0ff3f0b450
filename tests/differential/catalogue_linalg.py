"""Decompositions, solvers and functions of matrices."""

import numpy as np
from tests.differential.calls import expression, op
from tests.differential.draw import (
    WIDE,
    Draw,
    bools,
    derived,
    floats,
    numbers,
    one_of,
    shaped,
    shapes,
)
from tests.differential.values import Array

SHAPES = ((2, 2), (3, 3), (2, 3, 3), (1, 1))
KINDS = (*WIDE, "float64", "complex128")
RIGHT = shaped("matrix", lambda dice, of: (*of[:-1], 2), edges=0.0)


def square(kind, dtypes=KINDS, sizes=SHAPES):
    """Well-conditioned square matrices: `plain`, `symmetric`, `positive` or `lower`."""

    def make(dice, drawn):
        shape, dtype = dice.one(sizes), dice.one(dtypes)
        values = numbers(dice, shape, dtype, -1.0, 1.0)
        adjoint = np.swapaxes(values.conj(), -1, -2)
        spread = np.diag(np.arange(1.0, shape[-1] + 1)).astype(values.dtype)
        if kind == "plain":
            values = values + 2 * spread
        if kind == "symmetric":
            values = values + adjoint + 3 * spread
        if kind == "positive":
            values = values @ adjoint + spread
        if kind == "lower":
            values = np.tril(values) + 2 * spread
        return Array(values.astype(dtype))

    return Draw(make)


LOOSE = {"_loose": 50.0, "_bad": False}
op("linalg.cholesky", input=square("positive"), **LOOSE)
op("linalg.det", input=square("plain"), **LOOSE)
op("linalg.inv", input=square("plain"), adjoint=bools(), **LOOSE)
op("linalg.logdet", matrix=square("positive"), **LOOSE)
op("linalg.slogdet", input=square("plain"), **LOOSE)
op("linalg.expm", input=square("plain", WIDE), _second=False, **LOOSE)
op("linalg.logm", input=square("positive", ("complex128",)), _gradients=False, **LOOSE)
op("linalg.sqrtm", input=square("positive", WIDE), _gradients=False, **LOOSE)
op("linalg.solve", matrix=square("plain"), rhs=RIGHT, adjoint=bools(), **LOOSE)
op(
    "linalg.triangular_solve",
    matrix=square("lower"),
    rhs=RIGHT,
    lower=bools(),
    adjoint=bools(),
    **LOOSE,
)
op(
    "linalg.cholesky_solve",
    chol=square("lower"),
    rhs=shaped("chol", lambda dice, of: (*of[:-1], 2), edges=0.0),
    **LOOSE,
)
op(
    "linalg.lstsq",
    matrix=floats(shape=one_of((3, 2), (2, 4, 2)), dtypes=("float64",), edges=0.0),
    rhs=RIGHT,
    l2_regularizer=one_of(0.0, 0.5),
    _loose=1e4,
    _bad=False,
    _second=False,
)
op("linalg.pinv", a=square("plain", WIDE), **LOOSE)
op("linalg.matrix_rank", a=floats(shape=shapes(2, 3), dtypes=WIDE, edges=0.0), _bad=False)
op(
    "linalg.normalize",
    tensor=floats(shape=shapes(1, 2), dtypes=WIDE, edges=0.0),
    ord=one_of("euclidean", 1, 2),
    axis=one_of(None, -1),
    _loose=10.0,
)
op("linalg.eigvalsh", tensor=square("symmetric"), _second=False, **LOOSE)
expression(
    "tf.linalg.svd(x, compute_uv=False)", x=square("plain", WIDE), _loose=50.0, _second=False
)
# Signs and phases of vectors are free, so what they make together is compared.
expression(
    "(lambda e, v: (e, v @ tf.linalg.diag(tf.cast(e, v.dtype)) @ tf.linalg.adjoint(v)))(*tf.linalg.eigh(x))",
    x=square("symmetric"),
    _loose=50.0,
    _second=False,
)
expression(
    "(lambda q, r: q @ r)(*tf.linalg.qr(x))", x=square("plain", WIDE), _loose=50.0, _second=False
)
expression(
    "(lambda s, u, v: (s, u @ tf.linalg.diag(s) @ tf.linalg.adjoint(v)))(*tf.linalg.svd(x))",
    x=square("plain", WIDE),
    _loose=50.0,
    _second=False,
)
expression(
    "(lambda e, v: v @ tf.linalg.diag(e) @ tf.linalg.inv(v))(*tf.linalg.eig(x))",
    x=square("symmetric", WIDE),
    _loose=200.0,
    _second=False,
    _gradients=False,
)
expression(
    "tf.sort(tf.math.real(tf.linalg.eigvals(x)))",
    x=square("symmetric", WIDE),
    _loose=200.0,
    _second=False,
)
op("linalg.lu", input=square("plain", WIDE), _second=False, **LOOSE)
LU = {
    "lower_upper": square("lower", WIDE, ((3, 3),)),
    "perm": derived(lambda dice, lower_upper: Array(dice.rng.permutation(3).astype("int32"))),
}
op("linalg.lu_matrix_inverse", **LU, **LOOSE, _second=False)
op("linalg.lu_reconstruct", **LU, **LOOSE)
op(
    "linalg.lu_solve",
    **LU,
    rhs=shaped("lower_upper", lambda dice, of: (3, 2), edges=0.0),
    **LOOSE,
    _second=False,
)
op(
    "linalg.eigh_tridiagonal",
    alpha=floats(shape=(4,), dtypes=WIDE, edges=0.0),
    beta=shaped("alpha", lambda dice, of: (3,), low=0.5, edges=0.0),
    _gradients=False,
    **LOOSE,
)
op(
    "linalg.banded_triangular_solve",
    bands=derived(lambda dice: Array(numbers(dice, (2, 4), dice.one(WIDE), 1.0, 2.0))),
    rhs=shaped("bands", lambda dice, of: (4, 2), edges=0.0),
    lower=bools(),
    adjoint=bools(),
    **LOOSE,
)


def diagonals(dice):
    values = numbers(dice, (3, 4), "float64", 0.1, 0.5) + np.array([[0.0], [2.0], [0.0]])
    return Array(values.astype(dice.one(WIDE)))


DIAGONALS = derived(diagonals)
op(
    "linalg.tridiagonal_matmul",
    diagonals=DIAGONALS,
    rhs=shaped("diagonals", lambda dice, of: (4, 2), edges=0.0),
    **LOOSE,
)
op(
    "linalg.tridiagonal_solve",
    diagonals=DIAGONALS,
    rhs=shaped("diagonals", lambda dice, of: (4, 2), edges=0.0),
    partial_pivoting=bools(),
    **LOOSE,
)
