"""What CuPy computes: for each primitive, a function of arrays of CuPy's and of numbers, with the row's attributes.

A function that cannot do it for these dtypes or shapes gives `NotImplemented`, and XLA does it. So does everything that
is not in this table: convolutions and attention, where XLA has cuDNN, and what is rare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import cupy  # pyright: ignore[reportMissingImports]
import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.engines.cuda import softmaxes, sums, transforms, vectors
from tapeflow._src.insides import cupy_products

Kernel = Callable[..., Any]
Axes = tuple[int, ...] | None

# As `dtype.char` has them; E is bfloat16.
_FLOATS = frozenset("efd")
_ROUNDED_ONCE = _FLOATS | {"E"}
_NUMBERS = _ROUNDED_ONCE | frozenset("bBhHiIlLqQ")


def _for_dtypes(name: str, kernel: Kernel, chars: frozenset[str]) -> Kernel:
    """A kernel of one or two arrays of one dtype: CuPy's, which starts quickly, or for large arrays ours."""
    has_own = name in vectors.CODES

    def checked(x: Any, *others: Any) -> Any:
        char = x.dtype.char
        for y in others:
            if y.dtype != x.dtype:
                return NotImplemented
        if has_own and char in _ROUNDED_ONCE:
            large = x.size >= vectors.LARGE or (others and others[0].size >= vectors.LARGE)
            if large or char not in chars:
                found = vectors.run(name, (x, *others))
                if found is not NotImplemented:
                    return found
        return kernel(x, *others) if char in chars else NotImplemented

    return checked


def _of_cupy(names: Sequence[str], chars: frozenset[str]) -> dict[str, Kernel]:
    return {name: _for_dtypes(name, getattr(cupy, name), chars) for name in names}


def _unary(name: str, code: str) -> Kernel:
    kernel = cupy.ElementwiseKernel("T x", "T y", f"y = {code}", f"tapeflow_{name}")
    return _for_dtypes(name, kernel, _FLOATS)  # it would round bfloat16 at each step


def _binary(name: str, code: str) -> Kernel:
    kernel = cupy.ElementwiseKernel("T a, T b", "T y", f"y = {code}", f"tapeflow_{name}")
    return _for_dtypes(name, kernel, _FLOATS)


def _own(name: str) -> Kernel:
    """One of ours for arrays of all sizes."""

    def checked(x: Any, *others: Any) -> Any:
        if x.dtype.char not in _ROUNDED_ONCE or any(y.dtype != x.dtype for y in others):
            return NotImplemented
        return vectors.run(name, (x, *others))

    return checked


_UNARY = (
    *("square", "sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan"),
    *("sinh", "cosh", "tanh", "negative", "floor", "ceil", "rint", "abs"),
)
_ELEMENTWISE: dict[str, Kernel] = {
    **_of_cupy(_UNARY, _ROUNDED_ONCE),
    "rsqrt": _unary("rsqrt", "rsqrt(x)"),
    "reciprocal": _unary("reciprocal", "T(1) / x"),
    "sigmoid": _unary("sigmoid", "T(1) / (T(1) + exp(-x))"),
    "silu": _unary("silu", "x / (T(1) + exp(-x))"),
    "relu": _unary("relu", "x != x || x > T(0) ? x : T(0)"),
    "gelu_tanh": _own("gelu_tanh"),
    "gelu_tanh_gradient": _own("gelu_tanh_gradient"),
    "erf": _unary("erf", "erf(x)"),
    **_of_cupy(("add", "subtract", "multiply"), _NUMBERS),
    "divide": _for_dtypes("divide", cupy.divide, _ROUNDED_ONCE),
    **_of_cupy(("maximum", "minimum"), _NUMBERS),
    "squared_difference": _binary("squared_difference", "(a - b) * (a - b)"),
    "divide_no_nan": _binary("divide_no_nan", "b == T(0) ? T(0) : a / b"),
    "relu_gradient": _binary("relu_gradient", "a * T(b > T(0))"),
    **_of_cupy(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), _NUMBERS),
    **_of_cupy(("logical_and", "logical_or", "logical_not"), frozenset("?")),
}


def _power(x: Any, y: Any) -> Any:
    if x.dtype.char not in _FLOATS or x.dtype != y.dtype:
        return NotImplemented
    if isinstance(y, np.generic) and y == 2:
        return cupy.square(x)
    return cupy.power(x, y)


def _add_n(*xs: Any) -> Any:
    first = xs[0]
    if len(xs) < 2 or first.dtype.char not in _NUMBERS:
        return NotImplemented
    if any(x.dtype != first.dtype or x.shape != first.shape for x in xs):
        return NotImplemented
    total = cupy.add(first, xs[1])
    for x in xs[2:]:
        cupy.add(total, x, total)
    return total


# Moving.

_SMALL = 2**20  # bytes


def _part(part: Any, whole: Any) -> Any:
    """A view, unless it would keep much more memory than it is."""
    if whole.nbytes <= _SMALL or part.nbytes * 4 >= whole.nbytes:
        return part
    return part.copy()


def _cast(x: Any, *, dtype: DType) -> Any:
    target = dtype.np_dtype
    if x.dtype.char not in _NUMBERS | {"?"} or target.char not in _NUMBERS | {"?"}:
        return NotImplemented
    if x.dtype.char in _ROUNDED_ONCE and target.kind in "iu":
        return NotImplemented  # what is no integer becomes what XLA makes of it
    if x.size >= vectors.LARGE and x.dtype != target and target.char in _ROUNDED_ONCE:
        found = vectors.run("cast", (x,), target)
        if found is not NotImplemented:
            return found
    return x.astype(target)


def _select(condition: Any, a: Any, b: Any) -> Any:
    if condition.dtype != np.bool_ or a.dtype != b.dtype:
        return NotImplemented
    if condition.size >= vectors.LARGE:
        found = vectors.run("select", (condition, a, b), a.dtype)
        if found is not NotImplemented:
            return found
    if isinstance(a, np.generic) and isinstance(b, np.generic):
        a = cupy.asarray(a)  # the dtype is that of an array
    return _where(condition, a, b)


_where = cupy.ElementwiseKernel("bool c, T a, T b", "T y", "y = c ? a : b", "tapeflow_select")


def _dropout(x: Any, keep: Any, *, scale: float) -> Any:
    if x.dtype.char not in _FLOATS or keep.dtype != np.bool_:
        return NotImplemented
    if x.size >= vectors.LARGE:
        found = vectors.run("dropout", (x, keep, x.dtype.type(scale)))
        if found is not NotImplemented:
            return found
    return _kept(x, keep, x.dtype.type(scale))


_kept = cupy.ElementwiseKernel(
    "T x, bool keep, T scale", "T y", "y = keep ? x * scale : T(0)", "tapeflow_dropout"
)


def _joined(join: Callable[..., Any]) -> Kernel:
    def kernel(*xs: Any, axis: int) -> Any:
        if any(x.dtype != xs[0].dtype for x in xs):
            return NotImplemented
        return join([cupy.asarray(x) for x in xs], axis)

    return kernel


def _split(x: Any, *, sizes: tuple[int, ...], axis: int) -> Any:
    if sum(sizes) != x.shape[axis]:
        return NotImplemented
    lead = (slice(None),) * axis
    pieces, start = [], 0
    for size in sizes:
        pieces.append(_part(x[(*lead, slice(start, start + size))], x))
        start += size
    return tuple(pieces)


def _unstack(x: Any, *, axis: int) -> Any:
    lead = (slice(None),) * axis
    return tuple([_part(x[(*lead, i)], x) for i in range(x.shape[axis])])


def _getitem(x: Any, *, index: Any) -> Any:
    return _part(x[index], x)


def _put(x: Any, *, shape: tuple[int, ...], index: Any) -> Any:
    out = cupy.zeros(shape, x.dtype)
    out[index] = x
    return out


_rows = cupy.ElementwiseKernel(
    "raw T x, I index, int64 width, int64 size",
    "T y",
    "y = index < 0 || index >= size ? T(0) : x[index * width + i % width]",
    "tapeflow_rows",
)


def _take_rows(x: Any, indices: Any, *, axis: int, batch_dims: int) -> Any:
    if batch_dims or axis or x.ndim != 2 or not x.size or not indices.ndim:
        return NotImplemented
    if indices.dtype.char not in "ilq" or x.dtype.char not in _ROUNDED_ONCE:
        return NotImplemented
    out = cupy.empty((*indices.shape, x.shape[1]), x.dtype)
    _rows(cupy.ascontiguousarray(x), indices[..., None], x.shape[1], x.shape[0], out)
    return out


def _scatter_rows(
    x: Any, indices: Any, *, shape: tuple[int, ...], axis: int, batch_dims: int
) -> Any:
    if batch_dims or axis or len(shape) != 2 or x.dtype.char not in "fd":
        return NotImplemented
    out = cupy.zeros(shape, x.dtype)
    # Indices that are out of range are left out, as in XLA.
    good = (indices >= 0) & (indices < shape[0])
    cupy.add.at(out, indices * good, x * good[..., None].astype(x.dtype))
    return out


# Reducing.


def _sum(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    if x.dtype.char not in _ROUNDED_ONCE:
        return NotImplemented
    lead = len(axis or ())
    if axis and lead < x.ndim and sorted(a % x.ndim for a in axis) == [*range(lead)]:
        found = sums.columns(x, math.prod(x.shape[:lead]))
        if found is not NotImplemented:
            shape = (1,) * lead * keepdims + x.shape[lead:]
            return found.astype(x.dtype, copy=False).reshape(shape)
    if x.dtype.char in "fd":
        return cupy.add.reduce(x, axis=axis, keepdims=keepdims)
    # A thousand terms would already lose what is added.
    return cupy.add.reduce(x, axis=axis, keepdims=keepdims, dtype=np.float32).astype(x.dtype)


def _sum_like(x: Any, *, shape: tuple[int, ...]) -> Any:
    if x.shape == shape:
        return x
    lead = x.ndim - len(shape)
    axes = [i for i, d in enumerate(x.shape) if i < lead or (shape[i - lead] == 1 and d != 1)]
    found = _sum(x, axis=tuple(axes), keepdims=False)
    return found if found is NotImplemented else found.reshape(shape)


_means = cupy.ReductionKernel(
    "T x", "T y", "x", "a + b", "y = a / T(_in_ind.size() / _out_ind.size())", "0", "tapeflow_mean"
)


def _mean(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    if x.dtype.char not in "fd" or not x.size:
        return NotImplemented
    return _means(x, axis=axis, keepdims=keepdims)


_variances = cupy.ReductionKernel(
    "T x, T mean",
    "T y",
    "(x - mean) * (x - mean)",
    "a + b",
    "y = a / T(_in_ind.size() / _out_ind.size())",
    "0",
    "tapeflow_variance",
)


def _variance(x: Any, mean: Any, *, axis: Axes, keepdims: bool) -> Any:
    if x.dtype.char not in "fd" or x.dtype != mean.dtype or not x.size:
        return NotImplemented
    return _variances(x, mean, axis=axis, keepdims=keepdims)


def _extreme(ufunc: Any) -> Kernel:
    def kernel(x: Any, *, axis: Axes, keepdims: bool) -> Any:
        if x.dtype.char not in "fd" or not x.size:
            return NotImplemented
        return ufunc(x, axis=axis, keepdims=keepdims)

    return kernel


# Products.


def _matmul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    if a.dtype != b.dtype or a.dtype.char not in _ROUNDED_ONCE or a.ndim < 2 or b.ndim < 2:
        return NotImplemented
    if transpose_a:
        a = a.swapaxes(-1, -2)
    if transpose_b:
        b = b.swapaxes(-1, -2)
    if a.shape[-1] != b.shape[-2]:
        return NotImplemented
    if a.ndim > 2 and b.ndim == 2 and a.size and a.flags.c_contiguous:
        # One product, not one for each matrix.
        return _product(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
    return _product(a, b) if a.ndim == b.ndim == 2 else cupy.matmul(a, b)


def _product(a: Any, b: Any) -> Any:
    found = cupy_products.product(a, b)
    return cupy.dot(a, b) if found is NotImplemented else found


def _softmax_gradient(u: Any, p: Any, *, axis: int) -> Any:
    if u.dtype != p.dtype or p.dtype.char not in "fd" or u.shape != p.shape:
        return NotImplemented
    inner = cupy.add.reduce(u * p, axis=axis, keepdims=True)
    return _softmax_gradients(u, p, inner)


_softmax_gradients = cupy.ElementwiseKernel(
    "T u, T p, T s", "T y", "y = u * p - p * s", "tapeflow_softmax_gradient"
)


def _l2_loss(x: Any) -> Any:
    if x.dtype.char not in "fd" or not x.size:
        return NotImplemented
    return _halves(x)


_halves = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a * T(0.5)", "0", "tapeflow_l2")


def _reshape(x: Any, *, shape: tuple[int, ...]) -> Any:
    return x.reshape(shape) if math.prod(shape) == x.size else NotImplemented


KERNELS: dict[str, Kernel] = {
    **_ELEMENTWISE,
    "power": _power,
    "add_n": _add_n,
    "identity": lambda x: x,
    "stop_gradient": lambda x: x,
    "reshape": _reshape,
    "transpose": lambda x, *, perm: x.transpose(perm),
    "broadcast_to": lambda x, *, shape: cupy.broadcast_to(x, shape),
    "zeros_like": lambda x: cupy.zeros(x.shape, x.dtype),
    "ones_like": lambda x: cupy.ones(x.shape, x.dtype),
    "cast": _cast,
    "select": _select,
    "dropout": _dropout,
    "concat": _joined(cupy.concatenate),
    "stack": _joined(cupy.stack),
    "split": _split,
    "unstack": _unstack,
    "getitem": _getitem,
    "put": _put,
    "gather": _take_rows,
    "scatter_rows": _scatter_rows,
    "sum": _sum,
    "sum_like": _sum_like,
    "mean": _mean,
    "variance_about_mean": _variance,
    "max": _extreme(cupy.amax),
    "min": _extreme(cupy.amin),
    "matmul": _matmul,
    "softmax": softmaxes.softmax,
    "softmax_gradient": _softmax_gradient,
    "log_softmax": softmaxes.log_softmax,
    "sparse_softmax_cross_entropy": softmaxes.sparse_softmax_cross_entropy,
    "sparse_softmax_cross_entropy_gradient": softmaxes.sparse_softmax_cross_entropy_gradient,
    "l2_loss": _l2_loss,
    "fft": transforms.fft,
    "rfft": transforms.rfft,
    "irfft": transforms.irfft,
}
OF_COMPLEX = frozenset(("fft", "irfft"))
"""Those that are for complex numbers."""
