"""Products of matrices, complex numbers and comparisons of whole tensors, by NumPy's names."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.numpy.dtypes import array_of, floating, promoted
from tapeflow._src.numpy.joining import stack
from tapeflow._src.numpy.reductions import all, sum
from tapeflow._src.numpy.shapes import diagonal, moveaxis, ravel
from tapeflow._src.ops.array.creation import zeros_like
from tapeflow._src.ops.array.shaping import expand_dims, reshape
from tapeflow._src.ops.elementwise import arithmetic, logic
from tapeflow._src.ops.linalg import products
from tapeflow._src.ops.linalg.einsum import einsum as einsum_of


@export("experimental.numpy.matmul")
def matmul(x1: Any, x2: Any) -> Tensor:
    """The product of matrices.

    >>> tf.experimental.numpy.matmul([1, 2], [3, 4]).numpy()
    np.int64(11)
    """
    a, b = promoted(x1, x2)
    ranks = len(a._array.shape), len(b._array.shape)
    if not min(ranks):
        raise ValueError("matmul: scalars cannot be multiplied as matrices")
    if ranks == (1, 1):
        return products.tensordot(a, b, 1)
    if ranks[1] == 1:
        return products.tensordot(a, b, [[-1], [-1]])
    if ranks[0] == 1:
        return products.tensordot(a, b, [[-1], [-2]])
    return products.matmul(a, b)


@export("experimental.numpy.dot")
def dot(a: Any, b: Any) -> Tensor:
    """The product of matrices, vectors and numbers.

    >>> tf.experimental.numpy.dot([1, 2], [3, 4]).numpy()
    np.int64(11)
    """
    a, b = promoted(a, b)
    if not len(a._array.shape) or not len(b._array.shape):
        return a * b
    return products.tensordot(a, b, [[-1], [-1 if len(b._array.shape) == 1 else -2]])


@export("experimental.numpy.vdot")
def vdot(a: Any, b: Any) -> Tensor:
    """The inner product of all elements.

    >>> tf.experimental.numpy.vdot([1, 2], [3, 4]).numpy()
    np.int64(11)
    """
    a, b = promoted(a, b)
    return dot(arithmetic.conj(ravel(a)), ravel(b))


@export("experimental.numpy.inner")
def inner(a: Any, b: Any) -> Tensor:
    """The sums of products along the last dimensions.

    >>> tf.experimental.numpy.inner([1, 2], [3, 4]).numpy()
    np.int64(11)
    """
    a, b = promoted(a, b)
    if not len(a._array.shape) or not len(b._array.shape):
        return a * b
    return products.tensordot(a, b, [[-1], [-1]])


@export("experimental.numpy.outer")
def outer(a: Any, b: Any) -> Tensor:
    """The products of all pairs of elements.

    >>> tf.experimental.numpy.outer([1, 2], [3, 4]).numpy()
    array([[3, 4],
           [6, 8]])
    """
    a, b = promoted(a, b)
    return expand_dims(ravel(a), 1) * expand_dims(ravel(b), 0)


@export("experimental.numpy.tensordot")
def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """The sums of products along dimensions of both.

    >>> tf.experimental.numpy.tensordot([1, 2], [3, 4], 1).numpy()
    np.int64(11)
    """
    first, second = promoted(a, b)
    return products.tensordot(first, second, axes)


@export("experimental.numpy.einsum")
def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Tensor:
    """Sums of products as the letters say.

    >>> tf.experimental.numpy.einsum("i,i", [1.0, 2.0], [3.0, 4.0]).numpy()
    np.float64(11.0)
    """
    kwargs.pop("optimize", None)
    if kwargs:
        raise ValueError(f"einsum: these arguments are not supported: {sorted(kwargs)}")
    return einsum_of(subscripts, *promoted(*operands))


@export("experimental.numpy.kron")
def kron(a: Any, b: Any) -> Tensor:
    """The Kronecker product.

    >>> tf.experimental.numpy.kron([1, 2], [1, 3]).numpy()
    array([1, 3, 2, 6])
    """
    a, b = promoted(a, b)
    rank = builtins.max(len(a._array.shape), len(b._array.shape))
    sides = [[1] * (rank - len(x._array.shape)) + list(x._array.shape) for x in (a, b)]
    left = reshape(a, [n for size in sides[0] for n in (size, 1)])
    right = reshape(b, [n for size in sides[1] for n in (1, size)])
    return reshape(left * right, [n * m for n, m in zip(*sides, strict=True)])


@export("experimental.numpy.cross")
def cross(
    a: Any,
    b: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Tensor:
    """The vector that is orthogonal to two others.

    >>> tf.experimental.numpy.cross([1, 0, 0], [0, 1, 0]).numpy()
    array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promoted(a, b)
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if a._array.shape[-1] not in (2, 3) or b._array.shape[-1] not in (2, 3):
        raise ValueError(
            f"cross: vectors must have 2 or 3 elements, got shapes {a.shape} and {b.shape}"
        )
    flat = a._array.shape[-1] == b._array.shape[-1] == 2
    u = [a[..., i] if i < a._array.shape[-1] else zeros_like(a[..., 0]) for i in range(3)]
    v = [b[..., i] if i < b._array.shape[-1] else zeros_like(b[..., 0]) for i in range(3)]
    last = u[0] * v[1] - u[1] * v[0]
    if flat:
        return last
    return moveaxis(
        stack([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], last], -1), -1, axisc
    )


@export("experimental.numpy.trace")
def trace(
    a: Any,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
) -> Tensor:
    """The sum along a diagonal.

    >>> tf.experimental.numpy.trace([[1, 2], [3, 4]]).numpy()
    np.int64(5)
    """
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype)


@export("experimental.numpy.polyval")
def polyval(p: Any, x: Any) -> Tensor:
    """A polynomial, the highest power first, at `x`.

    >>> tf.experimental.numpy.polyval([1, 2, 3], 2).numpy()
    np.int64(11)
    """
    p, x = promoted(p, x)
    if len(p._array.shape) == 0:
        p = reshape(p, [1])
    total = zeros_like(x)
    for i in range(p._array.shape[0]):
        total = total * x + p[i]
    return total


@export("experimental.numpy.angle")
def angle(z: Any, deg: bool = False) -> Tensor:
    """The angles of complex numbers.

    >>> tf.experimental.numpy.angle(1.0).numpy()
    np.float64(0.0)
    """
    found = arithmetic.angle(floating(z))
    return found * (180.0 / np.pi) if deg else found


@export("experimental.numpy.real")
def real(val: Any) -> Tensor:
    """The real parts.

    >>> tf.experimental.numpy.real(1 + 2j).numpy()
    np.float64(1.0)
    """
    return arithmetic.real(array_of(val))


@export("experimental.numpy.imag")
def imag(val: Any) -> Tensor:
    """The imaginary parts.

    >>> tf.experimental.numpy.imag(1 + 2j).numpy()
    np.float64(2.0)
    """
    return arithmetic.imag(array_of(val))


@export("experimental.numpy.isclose")
def isclose(
    a: Any,
    b: Any,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Whether numbers are nearly equal.

    >>> bool(tf.experimental.numpy.isclose(1.0, 1.0 + 1e-9))
    True
    """
    a, b = promoted(a, b)
    if a.dtype.is_floating or a.dtype.is_complex:
        near = arithmetic.abs(a - b) <= atol + rtol * arithmetic.abs(b)
        found = (a == b) | (near & logic.is_finite(arithmetic.abs(b)))
        return found | ((a != a) & (b != b)) if equal_nan else found
    return a == b


@export("experimental.numpy.allclose")
def allclose(
    a: Any,
    b: Any,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Whether all numbers are nearly equal.

    >>> bool(tf.experimental.numpy.allclose([1.0], [1.0]))
    True
    """
    return all(isclose(a, b, rtol, atol, equal_nan))


@export("experimental.numpy.array_equal")
def array_equal(a1: Any, a2: Any) -> Tensor:
    """Whether tensors have the same shape and elements.

    >>> bool(tf.experimental.numpy.array_equal([1, 2], [1, 2]))
    True
    """
    a, b = promoted(a1, a2)
    if a._array.shape != b._array.shape:
        return array_of(False)
    return all(a == b)


@export("experimental.numpy.iscomplexobj")
def iscomplexobj(x: Any) -> bool:
    """Whether a tensor is one of complex numbers.

    >>> tf.experimental.numpy.iscomplexobj([1.0])
    False
    """
    return array_of(x).dtype.is_complex


@export("experimental.numpy.isrealobj")
def isrealobj(x: Any) -> bool:
    """Whether a tensor is not one of complex numbers.

    >>> tf.experimental.numpy.isrealobj([1.0])
    True
    """
    return not array_of(x).dtype.is_complex


@export("experimental.numpy.isscalar")
def isscalar(num: Any) -> bool:
    """Whether something is a single number.

    >>> tf.experimental.numpy.isscalar(3), tf.experimental.numpy.isscalar([3])
    (True, False)
    """
    if isinstance(num, Tensor):
        return not len(num._array.shape)
    return bool(np.isscalar(num))
