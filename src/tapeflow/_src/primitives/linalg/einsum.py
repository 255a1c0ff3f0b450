"""Einstein sums.

The attributes are `subscripts`, one string of letters for each input, and `output`. Ellipses have
been spelled out by the public op, with letters of their own: those listed in `stretch` may have
size 1 in some inputs and broadcast.
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from tapeflow._src.core.sizes.dims import is_dynamic, same_sizes
from tapeflow._src.core.sizes.extremes import agreed, broadcast
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.broadcasting import sum_to
from tapeflow._src.primitives.elementwise.builders import conj
from tapeflow._src.primitives.linalg.shared_products import product
from tapeflow._src.primitives.rules import NUMERIC, check_dtype, check_same_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

Subscripts = tuple[str, ...]


def _result(*xs: ArraySpec, subscripts: Subscripts, output: str, stretch: str) -> ArraySpec:
    sizes: dict[str, int] = {}
    equation = f"{','.join(subscripts)}->{output}"
    for x, labels in zip(xs, subscripts, strict=True):
        check_same_dtype("einsum", xs[0], x)
        check_dtype("einsum", "inputs", x, NUMERIC)
        if len(x.shape) != len(labels):
            raise invalid(
                f"einsum: {labels!r} in {equation!r} names {len(labels)} dimensions, and its "
                "input has rank "
                f"{len(x.shape)} (shape {list(x.shape)})"
            )
        for label, size in zip(labels, x.shape, strict=True):
            known = sizes.setdefault(label, size)
            try:
                sizes[label] = (broadcast if label in stretch else agreed)(known, size)
            except ValueError:
                shapes = ", ".join(str(list(each.shape)) for each in xs)
                raise invalid(
                    f"einsum: dimension {label!r} of {equation!r} has size {known} in one "
                    f"place and {size} in "
                    f"another (shapes {shapes})"
                ) from None
    return ArraySpec(tuple(sizes[label] for label in output), xs[0].dtype)


def _check(xs: tuple[Any, ...], subscripts: Subscripts, stretch: str) -> None:
    sizes: dict[str, int] = {}
    for x, labels in zip(xs, subscripts, strict=True):
        if x.ndim != len(labels) or x.dtype != xs[0].dtype or x.dtype.kind in "bO":
            raise ValueError("operands do not fit")
        for label, size in zip(labels, x.shape, strict=True):
            if sizes.setdefault(label, size) != size and label not in stretch:
                raise ValueError("sizes differ")


def _kernel(*xs: Any, subscripts: Subscripts, output: str, stretch: str) -> Any:
    _check(xs, subscripts, stretch)
    dtype = xs[0].dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        # NumPy multiplies half precision without BLAS and adds up in half precision.
        xs = tuple(x.astype(np.float32) for x in xs)
    return _contract(xs, subscripts, output).astype(dtype, copy=False)


def _contract(xs: tuple[Any, ...], subscripts: Subscripts, output: str) -> Any:
    if len(xs) == 1:
        return np.einsum(f"{subscripts[0]}->{output}", xs[0])
    terms = list(zip(xs, subscripts, strict=True))
    if len(terms) > 2:
        equation = f"{','.join(subscripts)}->{output}"
        path: Any = np.einsum_path(equation, *xs, optimize="greedy")[0][1:]
    else:
        path = [(0, 1)]
    for step in path:
        taken = [terms.pop(i) for i in sorted(step, reverse=True)]
        needed = set(output).union(*(labels for _, labels in terms))
        first = taken.pop()
        for other in reversed(taken):
            # An operand still waiting in this step needs its labels too.
            waiting = set().union(*(labels for _, labels in taken if labels is not other[1]))
            first = _pair(*first, *other, needed | waiting)
        terms.append(first)
    ((x, labels),) = terms
    return x.transpose([labels.index(label) for label in output]) if labels != output else x


def _pair(a: Any, a_labels: str, b: Any, b_labels: str, needed: set[str]) -> tuple[Any, str]:
    """Multiplies two operands and sums what is not needed any more: one matrix product, by BLAS."""
    a, a_labels = _own_sums(a, a_labels, needed.union(b_labels))
    b, b_labels = _own_sums(b, b_labels, needed.union(a_labels))
    both = [label for label in a_labels if label in b_labels]
    summed = [label for label in both if label not in needed]
    batch = [label for label in both if label in needed]
    rows = [label for label in a_labels if label not in b_labels]
    columns = [label for label in b_labels if label not in a_labels]
    a = a.transpose([a_labels.index(label) for label in batch + rows + summed])
    b = b.transpose([b_labels.index(label) for label in batch + summed + columns])
    n, m = len(batch), len(batch) + len(rows)
    s = n + len(summed)
    if a.shape[m:] != b.shape[n:s]:  # stretched and summed: rare, so it is spelled out
        inner = np.broadcast_shapes(a.shape[m:], b.shape[n:s])
        a = np.broadcast_to(a, (*a.shape[:m], *inner))
        b = np.broadcast_to(b, (*b.shape[:n], *inner, *b.shape[s:]))
    left = a.reshape((*a.shape[:n], _product(a.shape[n:m]), _product(a.shape[m:])))
    right = b.reshape((*b.shape[:n], _product(b.shape[n:s]), _product(b.shape[s:])))
    out = product(left, right)
    out = out.reshape((*out.shape[:-2], *a.shape[n:m], *b.shape[s:]))
    return out, "".join(batch + rows + columns)


def _product(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _own_sums(x: Any, labels: str, needed: set[str]) -> tuple[Any, str]:
    """Takes diagonals of repeated labels, and sums those that nobody else needs."""
    kept = "".join(label for label in dict.fromkeys(labels) if label in needed)
    return (x, labels) if kept == labels else (np.einsum(f"{labels}->{kept}", x), kept)


def _gradient(
    g: Tensor,
    i: int,
    others: tuple[Tensor | None, ...],
    xs_shapes: tuple[tuple[int, ...], ...],
    subscripts: Subscripts,
    output: str,
    stretch: str,
) -> Tensor:
    """An Einstein sum again, of `g` and the other inputs.

    A label that only this input has was summed, so the gradient is the same all along it: a factor
    of ones. A label repeated in it took a diagonal, so the gradient is zero elsewhere: a factor
    that is the identity matrix.
    """
    labels, shape = subscripts[i], xs_shapes[i]
    factors = [(g, output)]
    factors += [(conj(x), of) for x, of in zip(others, subscripts, strict=True) if x is not None]
    known = set().union(*(of for _, of in factors))
    unused = iter(sorted(set(string.ascii_letters) - known.union(labels)))
    wanted = ""
    for label, size in zip(labels, shape, strict=True):
        if label in wanted:
            fresh = next(unused)
            factors.append((patterns.identity(size, size, g.dtype), label + fresh))
            wanted += fresh
            continue
        wanted += label
        if label not in known or (label in stretch and is_dynamic(size)):
            factors.append((patterns.full((size,), 1, g.dtype), label))
    result = einsum(
        *[x for x, _ in factors],
        subscripts=tuple(of for _, of in factors),
        output=wanted,
        stretch=stretch,
    )
    sizes = zip(labels, shape, result._array.shape, strict=True)
    kept = [n if label in stretch and _is_narrow(n) else size for label, n, size in sizes]
    result = sum_to(result, tuple(kept))
    # A label that was stretched here and summed has size 1 in all the other factors.
    if same_sizes(result._array.shape, shape):
        return result
    return moving.broadcast_to(result, shape=shape)


def _is_narrow(size: Any) -> bool:
    """Whether a size is 1, or may be when the function runs: then there is a factor of ones of that size."""
    return is_dynamic(size) or size == 1


einsum = primitive("einsum", "*xs", _kernel, result=_result, gradients={"xs": _gradient})
