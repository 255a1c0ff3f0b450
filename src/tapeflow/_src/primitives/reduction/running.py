"""Running sums and products along an axis, and the recurrence behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.reduction.reducing import refuse
from tapeflow._src.primitives.rules import NUMERIC, check_dtype
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import calls, primitive


def _cumulative_kernel(ufunc: Any, neutral: int) -> Callable[..., Any]:
    def kernel(x: Any, *, axis: int, exclusive: bool, reverse: bool) -> Any:
        refuse(x, "bO")
        if reverse:
            x = np.flip(x, axis)
        out = ufunc.accumulate(x, axis=axis, dtype=x.dtype)
        if exclusive:
            shifted = np.full_like(out, neutral)
            to = [slice(None)] * x.ndim
            source = list(to)
            to[axis], source[axis] = slice(1, None), slice(None, -1)
            shifted[tuple(to)] = out[tuple(source)]
            out = shifted
        return np.flip(out, axis) if reverse else out

    return kernel


def _cumulative_result(op: str) -> Callable[..., ArraySpec]:
    def rule(x: ArraySpec, *, axis: int, exclusive: bool, reverse: bool) -> ArraySpec:
        check_dtype(op, "x", x, NUMERIC)
        return x

    return rule


def _recurrence_kernel(x: Any, a: Any, *, axis: int, reverse: bool) -> Any:
    out = np.empty_like(x)
    steps = range(x.shape[axis])
    rows, factors, results = (np.moveaxis(each, axis, 0) for each in (x, a, out))
    last: Any = x.dtype.type(0)
    for i in reversed(steps) if reverse else steps:
        last = results[i] = rows[i] + factors[i] * last
    return out


def shifted(x: Tensor, axis: int, reverse: bool) -> Tensor:
    """Each element is the one before it (after it, if `reverse`), and the first is 0."""
    shape = x._array.shape
    n = shape[axis]
    sides = tuple(
        (0, 0) if i != axis else ((0, 1) if reverse else (1, 0)) for i in range(len(shape))
    )
    longer = moving.pad(x, Tensor(x._array.dtype.type(0)), paddings=sides)
    part = slice(1, n + 1) if reverse else slice(0, n)
    return calls.getitem(longer, index=(*(slice(None),) * axis, part))


def _recurrence_terms_gradient(g: Tensor, a: Tensor, axis: int, reverse: bool) -> Tensor:
    factors = binary.conj(shifted(a, axis, not reverse))
    return recurrence(g, factors, axis=axis, reverse=not reverse)


def _recurrence_factors_gradient(
    g: Tensor, a: Tensor, y: Tensor, axis: int, reverse: bool
) -> Tensor:
    return _recurrence_terms_gradient(g, a, axis, reverse) * binary.conj(shifted(y, axis, reverse))


# y[i] = x[i] + a[i] * y[i - 1] along an axis (i + 1, if `reverse`): what running products need.
recurrence = primitive(
    "recurrence",
    "x a",
    _recurrence_kernel,
    result=lambda x, a, *, axis, reverse: x,
    gradients={"x": _recurrence_terms_gradient, "a": _recurrence_factors_gradient},
)


def _cumprod_gradient(g: Tensor, x: Tensor, axis: int, exclusive: bool, reverse: bool) -> Tensor:
    """The products that an element is in, without dividing by it: it may be zero.

    They all begin with the product up to it, and go on with a run of what comes after it.
    """
    x = binary.conj(x)
    if exclusive:
        g = shifted(g, axis, not reverse)
    after = recurrence(g, shifted(x, axis, not reverse), axis=axis, reverse=not reverse)
    return cumprod(x, axis=axis, exclusive=True, reverse=reverse) * after


cumsum = primitive(
    "cumsum",
    "x",
    _cumulative_kernel(np.add, 0),
    result=_cumulative_result("cumsum"),
    gradients={
        "x": lambda g, axis, exclusive, reverse: cumsum(
            g, axis=axis, exclusive=exclusive, reverse=not reverse
        )
    },
)
cumprod = primitive(
    "cumprod",
    "x",
    _cumulative_kernel(np.multiply, 1),
    result=_cumulative_result("cumprod"),
    gradients={"x": _cumprod_gradient},
)
