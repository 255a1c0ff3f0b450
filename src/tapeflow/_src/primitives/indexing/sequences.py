"""Primitives on sequences: running log-sums, reversed parts, permutations; division towards zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary as arithmetic, unary
from tapeflow._src.primitives.elementwise.builders import binary
from tapeflow._src.primitives.reduction import reducing, running
from tapeflow._src.primitives.rules import FLOAT, INT, REAL, check_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

# log(sum(exp(x))) of all elements so far.


def _cumulative_kernel(x: Any, *, axis: int, exclusive: bool, reverse: bool) -> Any:
    reducing.refuse(x, "iubcO")
    if x.dtype.itemsize == 2:
        wide = x.astype(np.float32)
        out = _cumulative_kernel(wide, axis=axis, exclusive=exclusive, reverse=reverse)
        return out.astype(x.dtype)
    if reverse:
        x = np.flip(x, axis)
    out = np.logaddexp.accumulate(x, axis=axis)
    if exclusive:
        first = np.full_like(np.take(out, [0] if x.shape[axis] else [], axis), -np.inf)
        cut = (*(slice(None),) * axis, slice(0, max(x.shape[axis] - 1, 0)))
        out = np.concatenate([first, out[cut]], axis)
    return np.flip(out, axis) if reverse else out


def _cumulative_result(x: ArraySpec, *, axis: int, exclusive: bool, reverse: bool) -> ArraySpec:
    check_dtype("cumulative_logsumexp", "x", x, FLOAT)
    return x


def _cumulative_gradient(g: Tensor, x: Tensor, axis: int, exclusive: bool, reverse: bool) -> Tensor:
    """The share of an element in each of the sums it is in.

    All factors are shares of a sum in a later sum, so none is above 1 and nothing overflows.
    """
    if not x._array.size:
        return x * g  # nothing, that depends on both
    if exclusive:
        g = running.shifted(g, axis, not reverse)
    y = cumulative_logsumexp(x, axis=axis, exclusive=False, reverse=reverse)
    y = moving.select(unary.is_finite(y), y, moving.zeros_like(y))
    # Beyond the last sum there is none, and the difference there may be anything.
    growth = y - running.shifted(y, axis, not reverse)
    later = unary.exp(arithmetic.minimum(growth, moving.zeros_like(growth)))
    return unary.exp(x - y) * running.recurrence(g, later, axis=axis, reverse=not reverse)


cumulative_logsumexp = primitive(
    "cumulative_logsumexp",
    "x",
    _cumulative_kernel,
    result=_cumulative_result,
    gradients={"x": _cumulative_gradient},
)

# The beginning of each sequence of a batch, reversed. It is its own inverse and its own adjoint.


def _reverse_result(x: ArraySpec, lengths: ArraySpec, *, axis: int, batch_axis: int) -> ArraySpec:
    check_dtype("reverse_sequence", "seq_lengths", lengths, INT)
    if lengths.shape != (x.shape[batch_axis],):
        raise invalid(
            f"reverse_sequence: seq_lengths must have one length for each of the "
            f"{x.shape[batch_axis]} sequences of input {list(x.shape)}, got shape "
            f"{list(lengths.shape)}"
        )
    return x


def _reverse_kernel(x: Any, lengths: Any, *, axis: int, batch_axis: int) -> Any:
    count = x.shape[axis]
    if lengths.dtype.kind not in "iu" or lengths.shape != (x.shape[batch_axis],):
        raise ValueError("seq_lengths do not fit")
    wrong = np.flatnonzero((lengths < 0) | (lengths > count))
    if wrong.size:
        raise invalid(
            f"reverse_sequence: seq_lengths[{wrong[0]}] = {lengths[wrong[0]]} is not in "
            f"[0, {count}], the size of dimension {axis} of input {list(x.shape)}"
        )
    places = np.broadcast_to(np.arange(count), (lengths.size, count))
    length = lengths.astype(np.int64)[:, None]
    source = np.where(places < length, length - 1 - places, places)
    moved = np.moveaxis(x, (batch_axis, axis), (0, 1))
    out = moved[np.arange(lengths.size)[:, None], source]
    return np.moveaxis(out, (0, 1), (batch_axis, axis))


reverse_sequence = primitive(
    "reverse_sequence",
    "x lengths",
    _reverse_kernel,
    result=_reverse_result,
    gradients={
        "x": lambda g, lengths, axis, batch_axis: reverse_sequence(
            g, lengths, axis=axis, batch_axis=batch_axis
        )
    },
)

# Permutations and coordinates.


def _invert_result(x: ArraySpec) -> ArraySpec:
    check_dtype("invert_permutation", "x", x, INT)
    if len(x.shape) != 1:
        raise invalid(f"invert_permutation: expects a vector, got shape {list(x.shape)}")
    return x


def _invert_kernel(x: Any) -> Any:
    if x.dtype.kind not in "iu" or x.ndim != 1:
        raise TypeError("not a vector of integers")
    if x.size and (x.min() < 0 or x.max() >= x.size):
        wrong = x[(x < 0) | (x >= x.size)][0]
        raise invalid(f"invert_permutation: {wrong} is not between 0 and {x.size - 1}")
    counts = np.bincount(x, minlength=x.size)
    if x.size and counts.max() > 1:
        raise invalid(f"invert_permutation: {counts.argmax()} is duplicated in the input")
    out = np.empty_like(x)
    out[x] = np.arange(x.size, dtype=x.dtype)
    return out


invert_permutation = primitive("invert_permutation", "x", _invert_kernel, result=_invert_result)


def _unravel_result(x: ArraySpec, dims: ArraySpec) -> ArraySpec:
    for name, spec in (("indices", x), ("dims", dims)):
        check_dtype("unravel_index", name, spec, INT)
    if len(x.shape) > 1 or len(dims.shape) != 1:
        raise invalid(
            "unravel_index: indices must be a scalar or a vector, and dims a vector; got shapes "
            f"{list(x.shape)} and {list(dims.shape)}"
        )
    return ArraySpec((*dims.shape, *x.shape), x.dtype)


def _unravel_kernel(x: Any, dims: Any) -> Any:
    if x.ndim > 1 or dims.ndim != 1 or x.dtype.kind not in "iu" or dims.dtype.kind not in "iu":
        raise ValueError("not a vector of integers")
    size = int(np.prod(dims))
    if x.size and (np.min(x) < 0 or np.max(x) >= size):
        raise invalid(
            f"unravel_index: an index is out of bounds of dims {dims.tolist()}: {x.tolist()}"
        )
    return np.stack(np.unravel_index(x, tuple(dims.tolist()))).astype(x.dtype)


unravel_index = primitive("unravel_index", "x dims", _unravel_kernel, result=_unravel_result)

# Division that rounds towards zero, as in C, and what it leaves over.


def _truncate_divide_kernel(a: Any, b: Any) -> Any:
    reducing.refuse(a, "bcO")
    if a.dtype.kind in "iu":
        if not np.all(b):
            raise invalid("truncatediv: integer division by zero")
        quotient = a // b
        return (quotient + ((quotient < 0) & (quotient * b != a))).astype(a.dtype)
    return np.trunc(a / b)


def _truncate_mod_kernel(a: Any, b: Any) -> Any:
    reducing.refuse(a, "bcO")
    if a.dtype.kind in "iu" and not np.all(b):
        raise invalid("truncatemod: integer division by zero")
    return np.fmod(a, b)


truncate_divide = binary("truncate_divide", _truncate_divide_kernel, accepts=REAL)
truncate_mod = binary(
    "truncate_mod",
    _truncate_mod_kernel,
    accepts=REAL,
    a=lambda g: g,
    b=lambda g, a, b: arithmetic.multiply(-g, truncate_divide(a, b)),
)
next_after = binary(
    "next_after",
    np.nextafter,
    accepts=FLOAT,
    a=lambda g: g,
    b=lambda g: moving.zeros_like(g),
)
