"""Order, rounding and choices, by NumPy's names."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.numpy.creation import place_of
from tapeflow._src.numpy.dtypes import array_of, default_int, floating, met, result_dtype, to
from tapeflow._src.numpy.reductions import no_out
from tapeflow._src.numpy.shapes import atleast_1d, ravel
from tapeflow._src.numpy.unary import truth
from tapeflow._src.ops.array.creation import zeros_like
from tapeflow._src.ops.array.moving import concat
from tapeflow._src.ops.array.shaping import (
    broadcast_dynamic_shape,
    broadcast_to,
    cast,
    shape as shape_of,
    transpose,
)
from tapeflow._src.ops.elementwise import arithmetic
from tapeflow._src.ops.indexing.gathering import gather, where as choose
from tapeflow._src.ops.reduction import sorting

_MOST_DECIMALS = 300  # powers of ten that a float has


def _along(x: Tensor, axis: Any) -> tuple[Tensor, int]:
    """A tensor, laid flat if no axis is given, and the number of the axis, counted from the first one."""
    return (ravel(x), 0) if axis is None else (x, place_of(axis, len(x._array.shape)))


def _check_order(op: str, kind: str, order: Any) -> None:
    if kind not in ("quicksort", "stable", "mergesort", "heapsort"):
        raise ValueError(f"{op}: kind {kind!r} is not supported")
    if order is not None:
        raise ValueError(f"{op}: order must be None: tensors have no fields")


@export("experimental.numpy.sort")
def sort(
    a: Any,
    axis: int | None = -1,
    kind: str = "quicksort",
    order: Any = None,
) -> Tensor:
    """The elements in order.

    >>> tf.experimental.numpy.sort([2, 1]).numpy()
    array([1, 2])
    """
    _check_order("sort", kind, order)
    found = array_of(a)
    return sorting.sort(ravel(found) if axis is None else found, -1 if axis is None else axis)


@export("experimental.numpy.argsort")
def argsort(
    a: Any,
    axis: int | None = -1,
    kind: str = "quicksort",
    order: Any = None,
) -> Tensor:
    """The indices that bring the elements in order.

    >>> tf.experimental.numpy.argsort([2, 1]).numpy()
    array([1, 0])
    """
    _check_order("argsort", kind, order)
    found = array_of(a)
    order_ = sorting.argsort(ravel(found) if axis is None else found, -1 if axis is None else axis)
    return to(order_, default_int())


@export("experimental.numpy.diff")
def diff(a: Any, n: int = 1, axis: int = -1) -> Tensor:
    """The differences of neighbours.

    >>> tf.experimental.numpy.diff([1, 4, 9]).numpy()
    array([3, 5])
    """
    found = array_of(a)
    rank = len(found._array.shape)
    if not rank:
        raise ValueError("diff: a must have at least one dimension")
    if n < 0:
        raise ValueError(f"diff: n must not be negative, got {n}")
    place = place_of(axis, rank)
    lead = (slice(None),) * place
    length = found._array.shape[place]
    for _ in range(min(n, length) if type(length) is int else n):  # after `length` nothing is left
        after, before = found[(*lead, slice(1, None))], found[(*lead, slice(None, -1))]
        found = after != before if found.dtype.is_bool else after - before
    return found


@export("experimental.numpy.around")
def around(a: Any, decimals: int = 0) -> Tensor:
    """The numbers rounded to so many digits after the point.

    >>> tf.experimental.numpy.around(1.26, 1).numpy()
    np.float64(1.3)
    """
    found = array_of(a)
    if not decimals:
        return found if found.dtype.is_bool else arithmetic.round(found)
    if abs(decimals) > _MOST_DECIMALS:  # as good as all of them, or none
        return found if decimals > 0 else zeros_like(found)
    factor = 10.0**decimals
    return cast(arithmetic.round(floating(found) * factor) / factor, found.dtype)


@export("experimental.numpy.round")
def round(a: Any, decimals: int = 0) -> Tensor:
    """The numbers rounded to so many digits after the point.

    >>> tf.experimental.numpy.round(1.26, 1).numpy()
    np.float64(1.3)
    """
    return around(a, decimals)


@export("experimental.numpy.clip")
def clip(a: Any, a_min: Any, a_max: Any) -> Tensor:
    """The numbers brought into a range.

    >>> tf.experimental.numpy.clip([1, 5], 2, 3).numpy()
    array([2, 3])
    """
    if a_min is None and a_max is None:
        raise ValueError("clip: one of a_min and a_max must be given")
    given = [x for x in (a, a_min, a_max) if x is not None]
    found = to(array_of(a), result_dtype(*given))
    if a_min is not None:
        found = arithmetic.maximum(found, to(array_of(a_min), found.dtype))
    return found if a_max is None else arithmetic.minimum(found, to(array_of(a_max), found.dtype))


@export("experimental.numpy.nonzero")
def nonzero(a: Any) -> list[Tensor]:
    """Where elements are not zero: for each dimension the indices along it.

    >>> [x.numpy().tolist() for x in tf.experimental.numpy.nonzero([1, 0, 2])]
    [[0, 2]]
    """
    found = atleast_1d(truth(a))
    places = choose(found)
    return [places[:, i] for i in range(len(found._array.shape))]


@export("experimental.numpy.where")
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of `x` where a condition holds, and of `y` elsewhere.

    >>> tf.experimental.numpy.where([True, False], 1, 2).numpy()
    array([1, 2])
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("where: give both x and y, or neither")
    return choose(truth(condition), *met(x, y))


@export("experimental.numpy.select")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """Elements of the first choice whose condition holds.

    >>> tf.experimental.numpy.select([[True, False]], [[1, 2]], 7).numpy()
    array([1, 7])
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"select: {len(condlist)} conditions need as many choices, got {len(choicelist)}"
        )
    *choices, found = met(*choicelist, default)
    for condition, choice in zip(condlist[::-1], choices[::-1], strict=True):
        found = choose(truth(condition), choice, found)
    return found


@export("experimental.numpy.compress")
def compress(condition: Any, a: Any, axis: int | None = None) -> Tensor:
    """The slices of a tensor where a condition holds.

    >>> tf.experimental.numpy.compress([True, False], [1, 2]).numpy()
    array([1])
    """
    found = array_of(a)
    found, at = _along(found, axis)
    keep = choose(truth(condition))[:, 0]
    return gather(found, keep, axis=at)


@export("experimental.numpy.take")
def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: Any = None,
    mode: str = "clip",
) -> Tensor:
    """The elements of these numbers along a dimension.

    >>> tf.experimental.numpy.take([1, 2, 3], [2, 0]).numpy()
    array([3, 1])
    """
    no_out("take", out)
    found, places = array_of(a), array_of(indices)
    found, at = _along(found, axis)
    length = found._array.shape[at]
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"take: mode must be 'raise', 'clip' or 'wrap', got {mode!r}")
    if mode == "clip":
        places = clip(places, 0, length - 1)
    elif mode == "wrap":
        places = arithmetic.floormod(places, length)
    return gather(found, places, axis=at)


@export("experimental.numpy.take_along_axis")
def take_along_axis(arr: Any, indices: Any, axis: int | None) -> Tensor:
    """For each place along a dimension the element of a number of its own.

    >>> tf.experimental.numpy.take_along_axis([[1, 2], [3, 4]], [[1], [0]], 1).numpy()
    array([[2],
           [3]])
    """
    found, places = array_of(arr), array_of(indices)
    found, at = _along(found, axis)
    rank = len(found._array.shape)
    places = choose(places < 0, places + found._array.shape[at], places)
    order = [*(i for i in range(rank) if i != at), at]
    back = [order.index(i) for i in range(rank)]
    found, places = transpose(found, order), transpose(places, order)
    batch = broadcast_dynamic_shape(shape_of(found)[:-1], shape_of(places)[:-1])
    found = broadcast_to(found, concat([batch, shape_of(found)[-1:]], 0))
    places = broadcast_to(places, concat([batch, shape_of(places)[-1:]], 0))
    return transpose(gather(found, places, axis=rank - 1, batch_dims=rank - 1), back)
