"""Primitives that replace elements: `tf.tensor_scatter_nd_update`, `tf.one_hot`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.sizes.extremes import surely_less
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.indices import places
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.indexing.picking import scatter_nd_result
from tapeflow._src.primitives.rules import INT, REAL, check_dtype, check_same_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive


def _result(op: str, accepts: frozenset[str] | None = None) -> Callable[..., ArraySpec]:
    def rule(x: ArraySpec, indices: ArraySpec, updates: ArraySpec) -> ArraySpec:
        check_same_dtype(op, x, updates)
        if accepts is not None:
            check_dtype(op, "tensor", x, accepts)
        return scatter_nd_result(indices, updates, shape=x.shape, batch_dims=0, op=op)

    return rule


def _kernel(
    op: str, combine: Callable[[Any, Any, Any], Any], refused: str = ""
) -> Callable[..., Any]:
    """Applies `combine(rows of a copy, row numbers, updates)`, but to the kinds refused."""

    def kernel(x: Any, indices: Any, updates: Any) -> Any:
        if x.dtype.kind in refused:
            raise TypeError(f"no kernel for {x.dtype}")
        depth = indices.shape[-1]
        if x.dtype != updates.dtype or updates.shape != indices.shape[:-1] + x.shape[depth:]:
            raise ValueError("updates do not fit")
        rows, table = places(op, indices, x.shape)
        out = np.array(x).reshape(table)
        combine(out, rows, updates.reshape(rows.size, *table[1:]))
        return out.reshape(x.shape)

    return kernel


def _replace(out: Any, rows: Any, updates: Any) -> None:
    out[rows] = updates


scatter_update = primitive(
    "scatter_update",
    "x indices updates",
    _kernel("tensor_scatter_nd_update", _replace),
    result=_result("tensor_scatter_nd_update"),
    gradients={
        "x": lambda g, indices: scatter_update(
            g, indices, moving.zeros_like(picking.gather_nd(g, indices, batch_dims=0))
        ),
        "updates": lambda g, indices: picking.gather_nd(g, indices, batch_dims=0),
    },
)


def _shares(indices: Tensor, x: Tensor, updates: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """How much of each result came from `x` and from each update: equal extremes share evenly."""
    dtype = x.dtype
    won_x = moving.cast(binary.equal(x, y), dtype=dtype)
    won = moving.cast(
        binary.equal(updates, picking.gather_nd(y, indices, batch_dims=0)), dtype=dtype
    )
    count = won_x + picking.scatter_nd(indices, won, shape=x._array.shape, batch_dims=0)
    return won_x / count, won / picking.gather_nd(count, indices, batch_dims=0)


def _extreme(name: str, ufunc: Any) -> Callable[..., Tensor]:
    op = f"tensor_scatter_nd_{name}"
    return primitive(
        f"scatter_{name}",
        "x indices updates",
        _kernel(op, ufunc.at, "bcO"),
        result=_result(op, REAL),
        gradients={
            "x": lambda g, indices, x, updates, y: g * _shares(indices, x, updates, y)[0],
            "updates": lambda g, indices, x, updates, y: (
                picking.gather_nd(g, indices, batch_dims=0) * _shares(indices, x, updates, y)[1]
            ),
        },
    )


scatter_max = _extreme("max", np.maximum)
scatter_min = _extreme("min", np.minimum)


def _one_hot_result(
    indices: ArraySpec, on: ArraySpec, off: ArraySpec, *, depth: int, axis: int
) -> ArraySpec:
    check_dtype("one_hot", "indices", indices, INT)
    check_same_dtype("one_hot", on, off)
    for name, value in (("on_value", on), ("off_value", off)):
        if value.shape:
            raise invalid(f"one_hot: {name} must be a scalar, got shape {list(value.shape)}")
    if surely_less(depth, 0):
        raise invalid(f"one_hot: depth must be non-negative, got {depth}")
    return ArraySpec((*indices.shape[:axis], depth, *indices.shape[axis:]), on.dtype)


def _one_hot_kernel(indices: Any, on: Any, off: Any, *, depth: int, axis: int) -> Any:
    if indices.dtype.kind not in "iu" or on.dtype != off.dtype or on.ndim or off.ndim:
        raise TypeError("dtypes or shapes do not fit")
    flat = np.reshape(indices, -1)
    check_room("one_hot", (*indices.shape, max(depth, 0)), off.dtype)
    out = np.full((flat.size, depth), off[()], off.dtype)
    hot = np.flatnonzero((flat >= 0) & (flat < depth))  # an index outside has no hot element
    out[hot, flat[hot]] = on[()]
    return np.moveaxis(out.reshape(*indices.shape, depth), -1, axis)


one_hot = primitive("one_hot", "indices on off", _one_hot_kernel, result=_one_hot_result)
