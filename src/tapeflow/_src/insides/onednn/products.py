"""Matrix products of float32, by the library's `dnnl_sgemm`.

It is one call without descriptions of anything, and no slower than the library's primitive of products, which is told
where each array is by a call of its own.
"""

from __future__ import annotations

import functools
import os
import threading
from ctypes import c_char, c_float, c_int64, c_ssize_t

import numpy as np

from tapeflow._src.insides.blas_threads import allowed_threads
from tapeflow._src.insides.fallback import slower
from tapeflow._src.insides.onednn.library import Failed, OneDnn, onednn

FLOAT32 = np.dtype(np.float32)
Order = tuple[bytes, int]
"""Whether the rows of a matrix lie in memory one after the other, or the columns, and how many elements apart."""

# The library's own numbers.
_AVX512 = 0x20

# An array of NumPy's is Python's header, two words, and then where its elements are.
_HEADER = object.__basicsize__
_word = c_ssize_t.from_address


def address(array: np.ndarray) -> int:
    """Where the elements of an array are: what `array.ctypes.data` says, in a fifth of its time."""
    return _word(id(array) + _HEADER).value


class Products:
    """The library's product of matrices.

    Attributes:
      awake: whether its threads have been used, and may be waiting for more.
    """

    def __init__(self, library: OneDnn) -> None:
        self.awake = False
        self._let_compute = library.let_compute
        self._gemm = gemm = library.library.dnnl_sgemm
        matrix = [c_ssize_t, c_int64]
        gemm.argtypes = [
            c_char,
            c_char,
            *[c_int64] * 3,
            c_float,
            *matrix,
            *matrix,
            c_float,
            *matrix,
        ]

    def add(
        self,
        a: np.ndarray,
        b: np.ndarray,
        out: np.ndarray,
        scale: float,
        keep: float,
        alone: bool,
    ) -> None:
        """Writes `keep * out + scale * a @ b` to `out`. What is there is not read if it is not kept.

        Args:
          a: a matrix of float32 that has an `order`, as all three.
          b: another.
          out: where to write; its rows lie one after the other, and share no memory with the others.
          scale: a factor for the product.
          keep: a factor for what is there.
          alone: whether one thread computes; else, as many as NumPy's BLAS would take, too.
        """
        (rows, terms), columns = a.shape, b.shape[1]
        (a_order, a_step), (b_order, b_step), (_, step) = order(a), order(b), order(out)  # type: ignore[misc]
        if alone:
            self._let_compute(1)
        else:
            self.awake = True
            self._let_compute(allowed_threads())
        status = self._gemm(
            *(a_order, b_order, rows, columns, terms, scale),
            *(address(a), a_step, address(b), b_step, keep, address(out), step),
        )
        if status:
            raise Failed(None, None, f"oneDNN: sgemm ended with status {status}")

    def alone(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        """Writes `a @ b` to `out`, by one thread."""
        self.add(a, b, out, 1.0, 0.0, True)


def order(x: np.ndarray) -> Order | None:
    """How a matrix of float32 lies in memory; None if the library cannot read it there."""
    far, near = x.strides
    rows, columns = x.shape
    if near == 4 and far >= 4 * columns and not far % 4:
        return b"N", far >> 2
    if far == 4 and near >= 4 * rows and not near % 4:
        return b"T", near >> 2
    return None


@functools.cache
def products() -> Products | None:
    """The library's products, if they are quicker than NumPy's here: on processors with AVX-512."""
    library = onednn()
    if library is None:
        return None
    try:
        if not library.library.dnnl_get_effective_cpu_isa() & _AVX512:
            return None
        found = Products(library)
    except AttributeError as error:
        slower(f"oneDNN has no product of its own ({error})", "NumPy computes all products")
        return None
    sample = np.empty(3, np.float32)[1:]
    if address(sample) != sample.ctypes.data:
        slower("NumPy's arrays are not as they were", "NumPy computes all products")
        return None
    return found


@functools.cache
def prepare() -> None:
    """Lets the library write its machine code in the background: that takes as long as a thousand small products.

    A process that forks or ends meanwhile waits for it.
    """
    found = products()
    if found is None:
        return
    x = np.zeros((64, 64), np.float32)
    thread = threading.Thread(
        target=found.alone, args=(x, x, np.empty_like(x)), name="tapeflow-onednn"
    )
    thread.start()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=thread.join)
