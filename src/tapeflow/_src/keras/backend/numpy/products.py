"""Products of vectors, matrices and tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from keras.src.backend.common.backend_utils import vectorize_impl

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor, shape as shape_of
from tapeflow._src.keras.backend.dtypes import as_float, promoted
from tapeflow._src.keras.backend.numpy.shapes import moveaxis
from tapeflow._src.keras.backend.sparse.kinds import is_sparse_tensor
from tapeflow._src.primitives.linalg import products


def _multiplied(op: Callable[..., Tensor], xs: tuple[Any, ...]) -> Tensor:
    """A sum of products in the dtype in which the operands meet. For booleans, and is times and or is plus."""
    xs_ = promoted(*xs)
    if not xs_[0].dtype.is_bool:
        return op(*xs_)
    return tf.cast(op(*[tf.cast(x, tf.int32) for x in xs_]), tf.bool)


def _wide(*xs: Any) -> tuple[Tensor, ...]:
    """Tensors; if all of them are int8, as int32, so that sums of their products fit."""
    tensors = tuple([convert_to_tensor(x) for x in xs])
    if all(x.dtype is tf.int8 for x in tensors):
        return tuple([tf.cast(x, tf.int32) for x in tensors])
    return tensors


def matmul(x1: Any, x2: Any) -> Tensor:
    """The product of the matrices in the last two axes, or of vectors."""
    if (
        isinstance(x1, Tensor)
        and isinstance(x2, Tensor)
        and x1.dtype is x2.dtype
        and x1.dtype.is_floating
        and x1.ndim > 1
        and x2.ndim > 1
    ):
        return products.matmul(x1, x2, transpose_a=False, transpose_b=False)
    if is_sparse_tensor(x1) or is_sparse_tensor(x2):
        from tapeflow._src.keras.backend.sparse.products import matmul as of_sparse

        return of_sparse(matmul, x1, x2)
    return _multiplied(_matmul, _wide(x1, x2))


def _matmul(a: Tensor, b: Tensor) -> Tensor:
    row, column = a.ndim == 1, b.ndim == 1
    if row:
        a = tf.expand_dims(a, 0)
    if column:
        b = tf.expand_dims(b, 1)
    out = tf.matmul(a, b)
    gone = [-2] * row + [-1] * column
    return tf.squeeze(out, gone) if gone else out


def dot(x1: Any, x2: Any) -> Tensor:
    """The products summed over the last axis of the first and the last but one of the second."""
    return _multiplied(_dot, (x1, x2))


def _dot(a: Tensor, b: Tensor) -> Tensor:
    if not a.ndim or not b.ndim:
        return a * b
    return tf.tensordot(a, b, [[-1], [max(b.ndim - 2, 0)]])


def vdot(x1: Any, x2: Any) -> Tensor:
    """The product of all elements, of which the first are conjugated, summed."""
    return _multiplied(_vdot, (x1, x2))


def _vdot(a: Tensor, b: Tensor) -> Tensor:
    return tf.tensordot(tf.math.conj(tf.reshape(a, [-1])), tf.reshape(b, [-1]), 1)


def inner(x1: Any, x2: Any) -> Tensor:
    """The products summed over the last axes of both."""
    return _multiplied(_inner, (x1, x2))


def _inner(a: Tensor, b: Tensor) -> Tensor:
    return tf.tensordot(a, b, [[-1], [-1]]) if a.ndim and b.ndim else a * b


def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Tensor:
    """The products summed over chosen axes."""
    if isinstance(axes, (list, tuple)):
        axes = [[side] if isinstance(side, int) else side for side in axes]
    return _multiplied(lambda a, b: tf.tensordot(a, b, axes), (x1, x2))


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Tensor:
    """The products summed by Einstein's convention."""
    return _multiplied(lambda *xs: tf.einsum(subscripts, *xs), _wide(*operands))


def outer(x1: Any, x2: Any) -> Tensor:
    """The product of each element with each."""
    a, b = promoted(x1, x2)
    return _times(tf.reshape(a, [-1, 1]), tf.reshape(b, [1, -1]))


def _times(a: Tensor, b: Tensor) -> Tensor:
    return tf.logical_and(a, b) if a.dtype.is_bool else a * b


def kron(x1: Any, x2: Any) -> Tensor:
    """The second in the place of each element of the first, times that."""
    a, b = promoted(x1, x2)
    rank = max(a.ndim, b.ndim)
    ours = (*[1] * (rank - a.ndim), *shape_of(a))
    theirs = (*[1] * (rank - b.ndim), *shape_of(b))
    a = tf.reshape(a, [n for size in ours for n in (size, 1)])
    b = tf.reshape(b, [n for size in theirs for n in (1, size)])
    return tf.reshape(_times(a, b), [n * m for n, m in zip(ours, theirs, strict=True)])


def cross(
    x1: Any, x2: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """The vectors that are at right angles to two; of two vectors in a plane, how long they are."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promoted(x1, x2)
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    flat = [shape_of(x)[-1] == 2 for x in (a, b)]
    a0, a1, *a2 = tf.unstack(a, 2 if flat[0] else 3, axis=-1)
    b0, b1, *b2 = tf.unstack(b, 2 if flat[1] else 3, axis=-1)
    last = a0 * b1 - a1 * b0
    if all(flat):
        return last
    zero = tf.zeros((), a.dtype)
    a2, b2 = (a2 or [zero])[0], (b2 or [zero])[0]
    return moveaxis(tf.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, last], axis=-1), -1, axisc)


def slogdet(x: Any) -> tuple[Tensor, Tensor]:
    """The sign of the determinant, and the logarithm of its absolute value."""
    sign, log_abs = tf.linalg.slogdet(as_float(x))
    return sign, log_abs


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Iterable[int | str] | None = None,
    signature: str | None = None,
) -> Callable[..., Any]:
    """A function for single elements, or for what its signature says, as one for tensors of them."""
    fixed = set(excluded or ())

    def vectorized(*args: Any, **kwargs: Any) -> Any:
        kept = {i: arg for i, arg in enumerate(args) if i in fixed}
        rest = [arg for i, arg in enumerate(args) if i not in fixed]

        def of_the_rest(*xs: Any) -> Any:
            given = iter(xs)
            return pyfunc(
                *[kept[i] if i in kept else next(given) for i in range(len(args))], **kwargs
            )

        return vectorize_impl(of_the_rest, _mapped, signature=signature)(*rest)

    return vectorized


def _mapped(function: Callable[..., Any], in_axes: tuple[int | None, ...]) -> Callable[..., Any]:
    """A function of tensors, some of which have a first axis to map it over."""

    def mapped(*xs: Tensor) -> Any:
        batched = [x for x, axis in zip(xs, in_axes, strict=True) if axis == 0]

        def one(elements: list[Tensor]) -> Any:
            given = iter(elements)
            return function(
                *[x if axis is None else next(given) for x, axis in zip(xs, in_axes, strict=True)]
            )

        return tf.vectorized_map(one, batched)

    return mapped
