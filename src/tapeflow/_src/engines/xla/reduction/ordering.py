"""Sorting, picking along an axis and searching. NaN is larger than any number, as in NumPy.

How many elements are nonzero or distinct is known only from values, so those primitives run on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow._src.core.dtypes import DType
from tapeflow._src.engines.xla.lowerings import ON_HOST, check, lowering

ON_HOST["nonzero"] = "how many elements are nonzero depends on values"
ON_HOST["unique"] = "how many elements are distinct depends on values"
ON_HOST["distinct"] = "how many elements are distinct depends on values"


# XLA sorts integers several times faster than floats, whose comparison it spells out for NaN and for the two zeros. So
# floats are sorted as the integers that their bits make.


def _key(x: Any) -> Any:
    """Integers in the order of the elements."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    number = lax.bitcast_convert_type(
        jnp.where(jnp.isnan(x), jnp.array(np.nan, x.dtype), x), _integer(x.dtype)
    )
    return _turned(number)


def _integer(dtype: Any) -> np.dtype:
    return np.dtype(f"int{8 * dtype.itemsize}")


def _turned(number: Any) -> Any:
    """Negative floats are ordered by their size, so all bits but the sign are turned. Twice gives the same again."""
    info = jnp.iinfo(number.dtype)
    return number ^ ((number >> (info.bits - 1)) & info.max)


@lowering("sort")
def _sort(x: Any, *, axis: int, descending: bool) -> Any:
    key = _key(x)
    out = lax.sort(~key if descending else key, dimension=axis, is_stable=False)
    out = ~out if descending else out
    return out if out.dtype == x.dtype else lax.bitcast_convert_type(_turned(out), x.dtype)


@lowering("argsort")
def _argsort(x: Any, *, axis: int, descending: bool) -> Any:
    """Equal elements keep their order: a key and a place in one integer are sorted quicker than a pair of them."""
    key = _key(x)
    if key.dtype != x.dtype:
        # The two zeros are equal, but the key of the negative one is one less.
        key = jnp.where(key == -1, 0, key)
    key = ~key if descending else key
    places = lax.broadcasted_iota(np.int32, x.shape, axis)
    if key.dtype.itemsize > 4:
        return lax.sort((key, places), dimension=axis, is_stable=True, num_keys=1)[1]
    wide = np.uint64 if key.dtype.kind == "u" else np.int64
    both = (key.astype(wide) << 32) | places.astype(wide)
    return lax.sort(both, dimension=axis, is_stable=False).astype(np.int32)


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
    if not x.shape[-1] or not values.size:
        return jnp.zeros(values.shape, dtype.np_dtype)

    def by(method: str) -> Callable[..., Any]:
        return jax.vmap(lambda row, wanted: jnp.searchsorted(row, wanted, side, method=method))

    found = lax.platform_dependent(
        x.reshape(-1, x.shape[-1]),
        values.reshape(-1, values.shape[-1]),
        cpu=by("scan"),
        default=by("scan_unrolled"),  # a loop would be a launch for each of its steps
    )
    return found.reshape(values.shape).astype(dtype.np_dtype)


@check("searchsorted")
def _are_sorted(x: Any) -> Any:
    """In what is not sorted every way of searching finds something else."""
    return (x[..., 1:] >= x[..., :-1]).all()
