"""Matrix products of NumPy arrays, on as many threads as they are worth."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core import settings
from tapeflow._src.insides.blas_threads import one_blas_thread
from tapeflow._src.insides.onednn.products import FLOAT32
from tapeflow._src.insides.onednn.stacks import multiply_stacks
from tapeflow._src.primitives.linalg.quickest import add_by_library, library_of, suits, suits_stack
from tapeflow._src.primitives.sharing import (
    MATRIX_ALONE,
    MEMORY,
    VECTOR_ALONE,
    contention,
    cuts,
    in_parts,
    is_light,
    shared_out,
)


def product(a: Any, b: Any, out: Any = None) -> Any:
    """`np.matmul` of matrices or stacks of them."""
    rows, columns = a.shape[-2], b.shape[-1]
    work = _work(max(a.size * columns, b.size * rows), rows, columns)
    if work == 0 or type(a) is not np.ndarray:  # light, or on a device
        return np.matmul(a, b, out=out)
    return _watched(work, a, b, out)


def product_of(rows: int, terms: int, columns: int) -> Callable[[Any, Any], Any]:
    """The same for matrices of these sizes, `[rows, terms]` and `[terms, columns]`."""
    work = _work(rows * terms * columns, rows, columns)
    return functools.partial(_watched, work) if work else np.matmul


def _work(multiplications: int, rows: int, columns: int) -> int:
    """As what so many of a product count; 0 if BLAS itself uses one thread for them."""
    if rows == 1 or columns == 1:  # which waits for memory
        return multiplications * MEMORY if multiplications >= VECTOR_ALONE else 0
    return multiplications if multiplications >= MATRIX_ALONE else 0


def _watched(work: int, a: Any, b: Any, out: Any = None) -> Any:
    library = library_of(a, b)
    if library is not None:
        if a.ndim == b.ndim == 2 and suits(a, b, out):
            out = np.empty((a.shape[0], b.shape[1]), FLOAT32) if out is None else out
            add_by_library(library, a, b, out)
            return out
        if a.ndim == b.ndim > 2 and suits_stack(a, b, out):
            return _in_parts(multiply_stacks, work, a, b, out)
        if library.awake:
            return _beside_library(work, a, b, out)
    if contention.unwatched > 0 and not settings.deterministic:
        contention.unwatched -= 1
        return np.matmul(a, b, out=out)
    if start := contention.start():
        result = np.matmul(a, b, out=out)
        contention.took(start, work)
        return result
    out = _room(a, b) if out is None else out
    part, size, multiple = _way_to_cut(a, b, out)
    shared_out(lambda i, j: np.matmul(*part(i, j)), size, work, multiple)
    return out


def _beside_library(work: int, a: Any, b: Any, out: Any) -> Any:
    """The same without BLAS's threads."""
    if is_light(work):
        with one_blas_thread():
            return np.matmul(a, b, out=out)
    return _in_parts(np.matmul, work, a, b, out)


def _in_parts(multiply: Callable[..., Any], work: int, a: Any, b: Any, out: Any) -> Any:
    out = _room(a, b) if out is None else out
    part, size, multiple = _way_to_cut(a, b, out)
    in_parts(lambda i, j: multiply(*part(i, j)), size, work, multiple)
    return out


def _room(a: Any, b: Any) -> Any:
    """Memory for a product."""
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) if a.ndim + b.ndim > 4 else ()
    return np.empty((*stack, a.shape[-2], b.shape[-1]), a.dtype)


def tasks(a: Any, b: Any, out: Any, count: int) -> list[Callable[[], Any]]:
    """At most `count` tasks that together write the product of `a` and `b`, each by one thread."""
    part, size, multiple = _way_to_cut(a, b, out)
    multiply: Callable[..., Any] = np.matmul
    library = library_of(a, b)
    if library is not None and a.ndim == b.ndim == 2 and suits(a, b, out):
        multiply = library.alone
    elif library is not None and a.ndim == b.ndim > 2 and suits_stack(a, b, out):
        multiply = multiply_stacks

    def task(i: int, j: int) -> Callable[[], Any]:
        return lambda: multiply(*part(i, j))

    return [task(i, j) for i, j in cuts(size, count, multiple)]


Cut = tuple[Callable[[int, int], tuple[Any, Any, Any]], int, int]


def _way_to_cut(a: Any, b: Any, out: Any) -> Cut:
    """How to take a part of the stack, the rows or the columns, how many there are, and the multiple to cut at."""
    *stack, rows, columns = out.shape
    whole = a.ndim == b.ndim == out.ndim  # else the first sizes may be equal by chance
    if stack and stack[0] > 1 and whole and a.shape[0] == b.shape[0]:
        return lambda i, j: (a[i:j], b[i:j], out[i:j]), stack[0], 1
    if rows >= columns:
        return lambda i, j: (a[..., i:j, :], b, out[..., i:j, :]), rows, 16
    return lambda i, j: (a, b[..., i:j], out[..., i:j]), columns, 16
