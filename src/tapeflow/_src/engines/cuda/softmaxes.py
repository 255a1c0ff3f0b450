"""Softmax and cross entropy of the rows of a matrix by kernels of ours: one pass, where CuPy takes several."""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy  # pyright: ignore[reportMissingImports]

_THREADS = 256

# One block of threads for each row. The largest number and the sum of exponentials are found in one pass: when a larger
# number comes, the sum so far is scaled down.
_SOURCE = r"""
template <typename T> struct Both { T top, sum; };

template <typename T> __device__ Both<T> joined(Both<T> a, Both<T> b) {
    if (a.top < b.top) { Both<T> c = a; a = b; b = c; }
    if (b.sum != T(0)) a.sum += b.sum * exp(b.top - a.top);
    return a;
}

template <typename T> __device__ Both<T> of_row(const T* x, long long n) {
    __shared__ T tops[THREADS], sums[THREADS];
    Both<T> own = {-INFINITY, T(0)};
    bool is_nan = false;
    for (long long i = threadIdx.x; i < n; i += THREADS) {
        T v = x[i];
        if (v != v || v == INFINITY) is_nan = true;  // as where infinities are subtracted
        if (v == -INFINITY) continue;
        Both<T> one = {v, T(1)};
        own = joined(own, one);
    }
    if (is_nan) { own.top = INFINITY; own.sum = NAN; }
    tops[threadIdx.x] = own.top; sums[threadIdx.x] = own.sum;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half) {
            Both<T> a = {tops[threadIdx.x], sums[threadIdx.x]};
            Both<T> b = {tops[threadIdx.x + half], sums[threadIdx.x + half]};
            a = a.sum != a.sum ? a : b.sum != b.sum ? b : joined(a, b);
            tops[threadIdx.x] = a.top; sums[threadIdx.x] = a.sum;
        }
        __syncthreads();
    }
    Both<T> all = {tops[0], sums[0]};
    return all;
}

template <typename T> __global__ void softmax(const T* x, T* y, long long n) {
    x += blockIdx.x * n; y += blockIdx.x * n;
    Both<T> all = of_row(x, n);
    for (long long i = threadIdx.x; i < n; i += THREADS) y[i] = exp(x[i] - all.top) / all.sum;
}

template <typename T> __global__ void log_softmax(const T* x, T* y, long long n) {
    x += blockIdx.x * n; y += blockIdx.x * n;
    Both<T> all = of_row(x, n);
    T shift = log(all.sum);
    for (long long i = threadIdx.x; i < n; i += THREADS) y[i] = (x[i] - all.top) - shift;
}

template <typename T> __global__ void loss(const T* x, const long long* labels, T* y, long long n) {
    x += blockIdx.x * n;
    Both<T> all = of_row(x, n);
    long long label = labels[blockIdx.x];
    if (threadIdx.x == 0)
        y[blockIdx.x] = label < 0 || label >= n ? T(NAN) : log(all.sum) - (x[label] - all.top);
}

template <typename T>
__global__ void loss_gradient(const T* u, const T* x, const long long* labels, T* y, long long n) {
    x += blockIdx.x * n; y += blockIdx.x * n;
    Both<T> all = of_row(x, n);
    T weight = u[blockIdx.x];
    long long label = labels[blockIdx.x];
    bool bad = label < 0 || label >= n;
    for (long long i = threadIdx.x; i < n; i += THREADS) {
        T p = exp(x[i] - all.top) * (weight / all.sum);
        y[i] = bad ? T(NAN) : i == label ? p - weight : p;
    }
}
"""

_NAMES = ("softmax", "log_softmax", "loss", "loss_gradient")
_TYPES = {"f": "float", "d": "double"}


@cache
def _kernels() -> Any:
    names = [f"{name}<{kind}>" for name in _NAMES for kind in _TYPES.values()]
    return cupy.RawModule(
        code=_SOURCE.replace("THREADS", str(_THREADS)),
        options=("--std=c++14",),
        name_expressions=names,
    )


@cache
def _kernel(name: str, char: str) -> Any:
    return _kernels().get_function(f"{name}<{_TYPES[char]}>")


def _along_rows(name: str, x: Any, axis: int) -> Any:
    if x.dtype.char not in _TYPES or axis not in (-1, x.ndim - 1) or not x.size:
        return NotImplemented
    x = cupy.ascontiguousarray(x)
    out = cupy.empty_like(x)
    width = x.shape[-1]
    _kernel(name, x.dtype.char)((x.size // width,), (_THREADS,), (x, out, width))
    return out


def softmax(x: Any, *, axis: int) -> Any:
    """The exponentials, divided by their sum."""
    return _along_rows("softmax", x, axis)


def log_softmax(x: Any, *, axis: int) -> Any:
    """Its logarithm."""
    return _along_rows("log_softmax", x, axis)


def sparse_softmax_cross_entropy(x: Any, labels: Any) -> Any:
    """Minus the logarithm of the softmax at each row's label; NaN for a label that is none, as XLA has it."""
    if x.dtype.char not in _TYPES or x.ndim < 1 or not x.size or x.shape[:-1] != labels.shape:
        return NotImplemented
    x = cupy.ascontiguousarray(x)
    out = cupy.empty(labels.shape, x.dtype)
    numbers = cupy.ascontiguousarray(labels.astype("q"))
    width = x.shape[-1]
    _kernel("loss", x.dtype.char)((out.size,), (_THREADS,), (x, numbers, out, width))
    return out


def sparse_softmax_cross_entropy_gradient(u: Any, x: Any, labels: Any) -> Any:
    """By the logits."""
    if x.dtype.char not in _TYPES or not x.size or u.dtype != x.dtype:
        return NotImplemented
    if u.shape != labels.shape or x.shape[:-1] != labels.shape:
        return NotImplemented
    x, u = cupy.ascontiguousarray(x), cupy.ascontiguousarray(u)
    out = cupy.empty_like(x)
    numbers = cupy.ascontiguousarray(labels.astype("q"))
    width = x.shape[-1]
    _kernel("loss_gradient", x.dtype.char)((labels.size,), (_THREADS,), (u, x, numbers, out, width))
    return out
