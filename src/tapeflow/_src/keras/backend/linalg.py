"""Decompositions, linear systems and norms of matrices, which are the last two dimensions of a tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from keras.src import tree

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor
from tapeflow._src.keras.backend.dtypes import as_float, promoted_floats
from tapeflow._src.primitives.linalg import decompositions


def cholesky(a: Any, upper: bool = False) -> Tensor:
    """The triangle whose product with its transpose is a positive definite matrix."""
    root = tf.linalg.cholesky(as_float(a))
    if type(root) is Tensor and np.isnan(root._array).any():
        raise ValueError("cholesky: the matrix is not positive definite")
    return tf.linalg.adjoint(root) if upper else root


def cholesky_inverse(a: Any, upper: bool = False) -> Tensor:
    """The inverse of the matrix that a triangle is the Cholesky factor of."""
    a = as_float(a)
    size = a._array.shape[-1]
    root = tf.linalg.triangular_solve(a, tf.eye(size, dtype=a.dtype), lower=not upper)
    return tf.matmul(root, root, adjoint_a=not upper, adjoint_b=upper)


def det(a: Any) -> Tensor:
    """The determinant."""
    return tf.linalg.det(as_float(a))


def eig(a: Any) -> tuple[Tensor, Tensor]:
    """The eigenvalues, and the eigenvectors in columns. Both are complex."""
    return tf.linalg.eig(as_float(a))


def eigh(a: Any) -> tuple[Tensor, Tensor]:
    """The eigenvalues of a Hermitian matrix in rising order, and the eigenvectors in columns."""
    return decompositions.eigh(as_float(a))


def inv(a: Any) -> Tensor:
    """The inverse."""
    return tf.linalg.inv(as_float(a))


def lu_factor(x: Any) -> tuple[Tensor, Tensor]:
    """Both triangles in one matrix, and with which row each row is swapped, one after the other."""
    lu, order = decompositions.lu(as_float(x), dtype=tf.int32)
    count, batch = min(lu._array.shape[-2:]), order._array.ndim - 1
    place = tf.range(order._array.shape[-1])
    # A row that was swapped away before its turn is found by following it to where it went.
    (pivots,) = tf.while_loop(
        lambda found: tf.reduce_any(found < place),
        lambda found: [tf.where(found < place, tf.gather(order, found, batch_dims=batch), found)],
        [order],
    )
    return lu, pivots[..., :count]


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The norm of vectors, along one axis, or of matrices, along two."""
    x = as_float(x)
    rank = x._array.ndim
    axes = tuple(range(rank)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if any(not -rank <= a < rank for a in axes):
        raise ValueError(f"norm: axis={axis} is not among the axes of a tensor of rank {rank}")
    axes = tuple([a % rank for a in axes])
    if (axis is None and ord is None) or (len(axes) == 1 and ord == 2):
        return _euclidean(x, axes, keepdims)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError(f"norm: ord={ord!r} is defined along one or two axes, got axis={axis}")


def qr(x: Any, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Orthogonal columns and an upper triangle, whose product is the matrix."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: Expected one of {{'reduced', 'complete'}}. Received: mode={mode}")
    q, r = tf.linalg.qr(as_float(x), full_matrices=mode == "complete")
    return q, r


def solve(a: Any, b: Any) -> Tensor:
    """The x for which `a @ x` is `b`, a vector or several in columns."""
    return _solved(tf.linalg.solve, a, b)


def solve_triangular(a: Any, b: Any, lower: bool = False) -> Tensor:
    """What `solve` gives, where only one triangle of `a` is read."""
    return _solved(lambda a, b: tf.linalg.triangular_solve(a, b, lower=lower), a, b)


def svd(x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """The left singular vectors in columns, the singular values, and the right vectors in rows."""
    x = as_float(x)
    if not compute_uv:
        return tf.linalg.svd(x, compute_uv=False)
    s, u, v = tf.linalg.svd(x, full_matrices=full_matrices)
    return u, s, tf.linalg.adjoint(v)


def lstsq(a: Any, b: Any, rcond: Any = None) -> Tensor:
    """The smallest x that brings `a @ x` nearest to `b`."""
    a, b = promoted_floats(a, b)
    if a.ndim != 2 or b.ndim not in (1, 2) or a._array.shape[0] != b._array.shape[0]:
        raise ValueError(
            "lstsq: needs a matrix, and a vector or a matrix with as many rows, "
            f"got shapes {list(a.shape)} and {list(b.shape)}"
        )
    precision = float(np.finfo(a.dtype.real_dtype.np_dtype).eps)
    if rcond is None:
        rcond = convert_to_tensor(max(a._array.shape), a.dtype.real_dtype) * precision
    elif rcond < 0:
        rcond = precision
    inverse = tf.linalg.pinv(a, rcond)
    return tf.linalg.matvec(inverse, b) if b.ndim == 1 else tf.matmul(inverse, b)


def matrix_rank(x: Any, tol: Any = None) -> Tensor:
    """How many singular values are greater than `tol`."""
    x = as_float(x)
    _check_matrices("matrix_rank", x)
    return tf.linalg.matrix_rank(x, None if tol is None else convert_to_tensor(tol, x.dtype))


def pinv(x: Any, rcond: float | None = None) -> Tensor:
    """The pseudo-inverse: singular values up to the share `rcond` of the greatest count as zero."""
    x = as_float(x)
    _check_matrices("pinv", x)
    return tf.linalg.pinv(x, rcond)


def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """What a function returns, and how that changes when its arguments move along `tangents`."""
    primals = tree.map_structure(convert_to_tensor, primals)
    flat = tree.flatten(primals)
    directions = [cast(t, p.dtype) for t, p in zip(tree.flatten(tangents), flat, strict=True)]
    with tf.autodiff.ForwardAccumulator(flat, directions) as accumulator:
        out = fun(*primals)
    out, *aux = out if has_aux else (out,)
    moved = tree.map_structure(
        lambda y: accumulator.jvp(y, unconnected_gradients=tf.UnconnectedGradients.ZERO), out
    )
    return (out, moved, *aux)


# Norms.


def _euclidean(x: Tensor, axes: Sequence[int], keepdims: bool) -> Tensor:
    squares = tf.square(tf.abs(x)) if x.dtype.is_complex else tf.square(x)
    return tf.sqrt(tf.reduce_sum(squares, axes, keepdims))


def _vector_norm(x: Tensor, ord: Any, axes: Sequence[int], keepdims: bool) -> Tensor:
    if isinstance(ord, str):
        raise ValueError(f"norm: ord={ord!r} is for matrices, and there is one axis")
    if ord is None:
        return _euclidean(x, axes, keepdims)
    sizes = tf.abs(x)
    if math.isinf(ord):
        return (tf.reduce_max if ord > 0 else tf.reduce_min)(sizes, axes, keepdims)
    if ord == 0:
        return tf.reduce_sum(tf.cast(sizes != 0, sizes.dtype), axes, keepdims)
    if ord == 1:
        return tf.reduce_sum(sizes, axes, keepdims)
    return tf.reduce_sum(sizes**ord, axes, keepdims) ** (1.0 / ord)


_OF_SINGULAR_VALUES = {2: tf.reduce_max, -2: tf.reduce_min, "nuc": tf.reduce_sum}


def _matrix_norm(x: Tensor, ord: Any, axes: Sequence[int], keepdims: bool) -> Tensor:
    if ord in (None, "fro"):
        return _euclidean(x, axes, keepdims)
    row, column = axes
    if ord in _OF_SINGULAR_VALUES:
        others = [a for a in range(x._array.ndim) if a not in axes]
        values = tf.linalg.svd(tf.transpose(x, [*others, row, column]), compute_uv=False)
        y = _OF_SINGULAR_VALUES[ord](values, -1)
        for a in sorted(axes) if keepdims else ():
            y = tf.expand_dims(y, a)
        return y
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError(f"norm: ord={ord!r} is not a norm of matrices")
    added, compared = (row, column) if abs(ord) == 1 else (column, row)
    sums = tf.reduce_sum(tf.abs(x), added, keepdims=True)
    y = (tf.reduce_max if ord > 0 else tf.reduce_min)(sums, compared, keepdims=True)
    return y if keepdims else tf.squeeze(y, list(axes))


# Arguments.


def _solved(solver: Callable[[Tensor, Tensor], Tensor], a: Any, b: Any) -> Tensor:
    a, b = promoted_floats(a, b)
    if b.ndim == a.ndim - 1:
        return tf.squeeze(solver(a, tf.expand_dims(b, -1)), -1)
    return solver(a, b)


def _check_matrices(op: str, x: Tensor) -> None:
    if x._array.ndim < 2:
        raise ValueError(f"{op}: needs at least two dimensions, got shape {list(x.shape)}")
