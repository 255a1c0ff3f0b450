"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.tensor import Tensor
from tapeflow.primitives import reduction
from tapeflow.primitives.elementwise import conj
from tapeflow.primitives.rules import NUMERIC, broadcast_or_raise, check_dtype, check_same_dtype, invalid
from tapeflow.primitives.table import ArraySpec, primitive


def _matmul_kernel(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    if a.dtype != b.dtype or a.ndim < 2 or b.ndim < 2 or a.dtype.kind == "b":
        raise ValueError("operands do not fit")
    if transpose_a:
        a = a.swapaxes(-1, -2)
    if transpose_b:
        b = b.swapaxes(-1, -2)
    if a.dtype.itemsize == 2 and a.dtype.kind not in "iu":
        # NumPy multiplies half precision without BLAS and adds up in half precision.
        return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    return np.matmul(a, b)


def _matmul_result(
    a: ArraySpec, b: ArraySpec, *, transpose_a: bool, transpose_b: bool
) -> ArraySpec:
    check_same_dtype("matmul", a, b)
    check_dtype("matmul", "a", a, NUMERIC)
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise invalid(
            f"matmul: both tensors must have at least two dimensions, got shapes {list(a.shape)} and {list(b.shape)}. "
            "For vectors use tf.linalg.matvec or tf.tensordot."
        )
    rows, inner_a = a.shape[-2:][::-1] if transpose_a else a.shape[-2:]
    inner_b, columns = b.shape[-2:][::-1] if transpose_b else b.shape[-2:]
    if inner_a != inner_b and None not in (inner_a, inner_b):
        raise invalid(
            f"matmul: Matrix size-incompatible: the inner dimensions {inner_a} and {inner_b} differ "
            f"(a: {list(a.shape)}, b: {list(b.shape)}, transpose_a={transpose_a}, transpose_b={transpose_b})"
        )
    batch = broadcast_or_raise(
        "matmul", ArraySpec(a.shape[:-2], a.dtype), ArraySpec(b.shape[:-2], b.dtype)
    )
    return ArraySpec((*batch, rows, columns), a.dtype)


def _product(a: Tensor, b: Tensor, transpose_a: bool, transpose_b: bool) -> Tensor:
    return matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def _left_gradient(
    g: Tensor, b: Tensor, a_shape: tuple[int, ...], transpose_a: bool, transpose_b: bool
) -> Tensor:
    b = conj(b)
    da = _product(b, g, transpose_b, True) if transpose_a else _product(g, b, False, not transpose_b)
    return reduction.sum_to(da, a_shape)


def _right_gradient(
    g: Tensor, a: Tensor, b_shape: tuple[int, ...], transpose_a: bool, transpose_b: bool
) -> Tensor:
    a = conj(a)
    db = _product(g, a, True, transpose_a) if transpose_b else _product(a, g, not transpose_a, False)
    return reduction.sum_to(db, b_shape)


matmul = primitive(
    "matmul",
    "a b",
    _matmul_kernel,
    result=_matmul_result,
    gradients={"a": _left_gradient, "b": _right_gradient},
)
