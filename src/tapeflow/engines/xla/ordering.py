"""Sorting, picking along an axis and searching. NaN is larger than any number, as in NumPy.

How many elements are nonzero or distinct is known only from values, so those primitives run on the host.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow.core.dtypes import DType
from tapeflow.engines.xla.lowerings import ON_HOST, lowering

ON_HOST["nonzero"] = "how many elements are nonzero depends on values"
ON_HOST["unique"] = "how many elements are distinct depends on values"


@lowering("sort")
def _sort(x: Any, *, axis: int, descending: bool) -> Any:
    out = lax.sort(x, dimension=axis, is_stable=False)
    return jnp.flip(out, axis) if descending else out


@lowering("argsort")
def _argsort(x: Any, *, axis: int, descending: bool) -> Any:
    """Equal elements keep their order: for the descending one, they are sorted backwards from the back."""
    places = lax.broadcasted_iota(np.int32, x.shape, axis)
    if descending:
        x, places = jnp.flip(x, axis), jnp.flip(places, axis)
    _, order = lax.sort((x, places), dimension=axis, is_stable=True, num_keys=1)
    return jnp.flip(order, axis) if descending else order


# The indices come from `argsort` and `top_k`, so they are in range.


@lowering("take_along")
def _take_along(x: Any, indices: Any, *, axis: int) -> Any:
    if not indices.size:
        return jnp.zeros(indices.shape, x.dtype)
    return jnp.take_along_axis(x, indices, axis, mode="promise_in_bounds")


@lowering("put_along")
def _put_along(x: Any, indices: Any, *, size: int, axis: int) -> Any:
    out = jnp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    at = tuple(
        indices if i == axis else lax.broadcasted_iota(indices.dtype, indices.shape, i)
        for i in range(x.ndim)
    )
    return out.at[at].set(x, mode="promise_in_bounds", unique_indices=True)


@lowering("searchsorted")
def _searchsorted(x: Any, values: Any, *, side: str, dtype: DType) -> Any:
    """Few elements are all compared at once; many are searched by halves, in steps that XLA fuses."""
    if not x.shape[-1] or not values.size:
        return jnp.zeros(values.shape, dtype.np_dtype)
    method = "compare_all" if x.shape[-1] <= 32 else "scan_unrolled"
    search = jax.vmap(lambda row, wanted: jnp.searchsorted(row, wanted, side, method=method))
    found = search(x.reshape(-1, x.shape[-1]), values.reshape(-1, values.shape[-1]))
    return found.reshape(values.shape).astype(dtype.np_dtype)
