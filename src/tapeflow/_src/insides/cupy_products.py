"""Products of matrices on GPUs: tensor cores for float32, and calls of cuBLAS without what CuPy does around them.

CuPy has both, and documents neither.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tapeflow._src.insides.fallback import slower

# cuBLAS's own numbers of what it computes in, and of dtypes.
_FLOAT32, _FLOAT64, _TF32 = 68, 70, 77
_CODES = {"f": 0, "d": 1, "e": 2, "E": 14}
_DEFAULT = -1  # its choice of an algorithm


class _Float32:
    compute = _FLOAT32


_float32 = _Float32()


def allow_tensor_cores(allowed: bool = True) -> None:
    """Lets products of float32 round their factors to 10 bits (TF32), as TensorFlow and XLA do by default."""
    _float32.compute = _TF32 if allowed else _FLOAT32
    try:
        from cupy._core import (  # pyright: ignore[reportMissingImports]
            _routines_linalg as products,
        )

        kind: Any = products.COMPUTE_TYPE_TF32 if allowed else products.COMPUTE_TYPE_DEFAULT
        products.set_compute_type(np.float32, kind)
    except RuntimeError:  # CUDA's own: there is no GPU, and no product on one
        return
    except (ImportError, AttributeError):
        slower(
            "this version of CuPy has no switch for tensor cores", "products of float32 are slower"
        )


def product(a: Any, b: Any) -> Any:
    """The product of two matrices of one dtype, if they lie as cuBLAS has it; else `NotImplemented`."""
    gemm = _gemm()
    code = _CODES.get(a.dtype.char)
    left, right = _laid(a), _laid(b)
    if gemm is None or code is None or left is None or right is None:
        return NotImplemented
    return gemm(a, b, left, right, code)


def _laid(x: Any) -> tuple[int, int] | None:
    """Whether a matrix lies transposed, and how far apart its rows, or columns, are."""
    if not x.size:
        return None
    flags = x.flags
    if flags.c_contiguous:
        return 0, x.shape[1]
    return (1, x.shape[0]) if flags.f_contiguous else None


@cache
def _gemm() -> Callable[..., Any] | None:
    try:
        import cupy  # pyright: ignore[reportMissingImports]

        cublas = cupy.cuda.cublas
        multiply, handle = cublas.gemmEx, cupy.cuda.device.get_cublas_handle
    except (ImportError, AttributeError):
        slower("this version of CuPy has no gemmEx", "small products on a GPU take longer")
        return None
    ones, zeros = (
        {char: np.array(x, "d" if char == "d" else "f") for char in _CODES} for x in (1, 0)
    )
    one, zero = ({c: x.ctypes.data for c, x in each.items()} for each in (ones, zeros))

    def gemm(a: Any, b: Any, left: tuple[int, int], right: tuple[int, int], code: int) -> Any:
        (m, k), n = a.shape, b.shape[1]
        char = a.dtype.char
        compute = {"f": _float32.compute, "d": _FLOAT64}.get(char, _FLOAT32)
        out = cupy.ndarray((m, n), a.dtype)
        # It counts by columns: what it takes for the product is that of the transposes, in the other order.
        multiply(
            *(handle(), right[0], left[0], n, m, k, one[char]),
            *(b.data.ptr, code, right[1], a.data.ptr, code, left[1], zero[char]),
            *(out.data.ptr, code, n, compute, _DEFAULT),
        )
        return out

    gemm.numbers = ones, zeros  # type: ignore[attr-defined]  # which the addresses are of
    return gemm
