"""Jacobians: backward passes for many elements of the target at once.

Each element of the target has a seed of its own, which is 1 there and 0 elsewhere. The seeds are stacked, and one
backward pass carries all of them (see `tapeflow._src.primitives.batching`), or as many as memory allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._src.autodiff import backprop
from tapeflow._src.autodiff.targets_and_sources import source_ids
from tapeflow._src.core.context import recorders
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.placement.devices import elsewhere_now
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import surely_unequal
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.specs import ArraySpec

if TYPE_CHECKING:
    from tapeflow._src.autodiff.tape import GradientTape

BYTES_AT_ONCE = 2**21
"""About how large the largest array of a backward pass may get. A pass for more rows would be no faster: what does
not fit in the processor's caches anyway gains nothing from being longer."""

MOST_AT_ONCE = 2**24
"""The same where the result is large, so that it does not matter beside it, or where the number of passes counts for
more than what they hold: where they are written down, in a graph or on a tape, or are made of kernels on a device."""

_PARTS = 8  # of a large result


def jacobian(
    tape: GradientTape, target: Tensor, sources: list[Any], zero: bool, loop: bool = False
) -> list[Any]:
    """For each source, the derivatives stacked to shape `target.shape + source.shape`, or None."""
    shape = target._array.shape
    count = target._array.size
    for source in sources:
        _check_source(source)

    def seeds(start: int, stop: int) -> Tensor:
        if is_dynamic(shape):
            return moving.reshape(
                patterns.identity(count, count, target.dtype), shape=(count, *shape)
            )
        if elsewhere_now():
            return moving.reshape(
                _units(start, stop, count, target.dtype), shape=(stop - start, *shape)
            )
        rows = np.zeros((stop - start, count), target._array.dtype)
        rows[np.arange(stop - start), np.arange(start, stop)] = 1
        return Tensor(rows.reshape(stop - start, *shape))

    columns = _rows(tape, target, sources, count, seeds, loop)
    return [
        _shaped(column, (*shape, *_sizes(source)), source, zero)
        for column, source in zip(columns, sources, strict=True)
    ]


def batch_jacobian(tape: GradientTape, target: Tensor, source: Any, loop: bool = False) -> Tensor:
    """A seed for each element of a row, in all rows at once: a row depends on its own row alone.

    An unconnected source has zeros, as in TensorFlow, where it is the same whatever is asked for.
    """
    shape = target._array.shape
    _check_source(source)
    source_shape = _sizes(source)
    if len(shape) < 2 or len(source_shape) < 2 or surely_unequal(shape[0], source_shape[0]):
        raise ValueError(
            f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match, and "
            "at least two dimensions in both."
        )
    width = math.prod(shape[1:])

    def seeds(start: int, stop: int) -> Tensor:
        if is_dynamic(shape):
            units = patterns.identity(width, width, target.dtype)
            units = moving.reshape(units, shape=(width, 1, *shape[1:]))
            return moving.broadcast_to(units, shape=(width, *shape))
        if elsewhere_now():
            units = _units(start, stop, width, target.dtype)
            units = moving.reshape(units, shape=(stop - start, 1, *shape[1:]))
            return moving.broadcast_to(units, shape=(stop - start, *shape))
        rows = np.zeros((stop - start, shape[0], width), target._array.dtype)
        rows[np.arange(stop - start), :, np.arange(start, stop)] = 1
        return Tensor(rows.reshape(stop - start, *shape))

    (column,) = _rows(tape, target, [source], width, seeds, loop)
    if column is not None:
        rank = len(source_shape) + 1
        column = moving.transpose(column, perm=(1, 0, *range(2, rank)))
    return _shaped(column, (*shape, *source_shape[1:]), source, zero=True)


def _units(start: int, stop: int, count: int, dtype: Any) -> Tensor:
    """Some rows of the identity, made by ops: on a device, nothing has to be copied to it."""
    column = moving.reshape(patterns.numbers(stop - start), shape=(stop - start, 1))
    return moving.cast(binary.equal(column + start, patterns.numbers(count)), dtype=dtype)


def _check_source(source: Any) -> None:
    if not hasattr(source, "__tf_tensor__") and not isinstance(source, Tensor):
        raise wrong_object("jacobian", "each source", "a tensor or variable", source)


def _rows(
    tape: GradientTape,
    target: Tensor,
    sources: list[Any],
    count: int,
    seeds: Callable[[int, int], Tensor],
    loop: bool,
) -> list[Tensor | None]:
    """For each source the gradients for `count` seeds, stacked; None where there are none."""
    if not target._id:
        return [None] * len(sources)
    if is_dynamic(target._array.shape):
        return _unknown_rows(tape, target, sources, seeds(0, count), loop)
    step = 1 if loop else _at_once(tape, target, sources, count)
    columns = [_Column(count) for _ in sources]
    for start in range(0, max(count, 1), step):
        stop = min(start + step, count)
        run = _one if loop and count else _many
        with beside(target):
            seed = seeds(start, stop)
        found = run(tape, target, sources, seed)
        for column, part in zip(columns, found, strict=True):
            column.add(start, part)
        found = part = None  # before the next rows are computed
    return [column.whole() for column in columns]


def _unknown_rows(
    tape: GradientTape, target: Tensor, sources: list[Any], seeds: Tensor, loop: bool
) -> list[Any]:
    """The same inside of a function that does not know how many there are: all at once, or in a loop of its own."""
    if not loop:
        return _many(tape, target, sources, seeds)
    from tapeflow._src.ops.control.functional import map_fn  # which no derivative needs otherwise

    trial = tape._backward({target._id: moving.zeros_like(target)}, sources, release=False)
    connected = [source for source, g in zip(sources, trial, strict=True) if g is not None]

    def row(seed: Tensor) -> list[Tensor]:
        found = tape._backward({target._id: seed}, connected, release=False)
        return [backprop.dense(g) for g in found]

    dtypes = [as_dtype(source.dtype) for source in connected]
    found = iter(map_fn(row, seeds, fn_output_signature=dtypes) if connected else ())
    return [None if g is None else next(found) for g in trial]


def _many(tape: GradientTape, target: Tensor, sources: list[Any], seeds: Tensor) -> list[Any]:
    # Only Jacobians and `vectorized_map` need it.
    from tapeflow._src.primitives.batching import Batch

    batch = Batch(seeds._array.shape[0])
    with batch.entered():
        found = tape._backward({target._id: batch.wrap(seeds)}, sources, release=False)
        return [None if g is None else batch.full(backprop.dense(g)) for g in found]


def _one(tape: GradientTape, target: Tensor, sources: list[Any], seeds: Tensor) -> list[Any]:
    seed = moving.reshape(seeds, shape=target._array.shape)
    found = tape._backward({target._id: seed}, sources, release=False)
    return [None if g is None else moving.stack(backprop.dense(g), axis=0) for g in found]


class _Column:
    """The gradients of one source, some rows after the others.

    Where nobody follows what is computed, they are written to where they stay: joined in the end, they would be there
    twice.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._parts: list[Tensor | None] = []
        self._array: np.ndarray | None = None

    def add(self, start: int, part: Tensor | None) -> None:
        """Takes the rows from `start` on."""
        if self._array is None:
            if type(part) is not Tensor or len(part._array) == self._count or recorders():
                self._parts.append(part)
                return
            first = part._array
            self._array = np.empty((self._count, *first.shape[1:]), first.dtype)
        rows = convert_to_tensor(part)._array
        place = self._array[start : start + len(rows)]
        assert place.shape == rows.shape and place.dtype == rows.dtype
        place[...] = rows

    def whole(self) -> Tensor | None:
        """All of them, or None if there are none."""
        if self._array is not None:
            return Tensor(self._array)
        if self._parts[0] is None or len(self._parts) == 1:
            return self._parts[0]
        return moving.concat(*[part for part in self._parts if part is not None], axis=0)


def _shaped(column: Any, shape: Any, source: Any, zero: bool) -> Any:
    if column is not None:
        return moving.reshape(column, shape=shape)
    # A variable of Keras calls its dtype by name.
    return backprop.zeros(ArraySpec(shape, as_dtype(source.dtype))) if zero else None


def _sizes(source: Any) -> tuple[Any, ...]:
    """The shape of a tensor or variable, where sizes may be unknown."""
    if isinstance(source, Tensor):
        return source._array.shape
    shape = tuple(source.shape)
    return convert_to_tensor(source)._array.shape if None in shape else tuple(map(int, shape))


def _at_once(tape: GradientTape, target: Tensor, sources: list[Any], count: int) -> int:
    """How many of `count` seeds to carry in one pass: few where there are large arrays on the way."""
    largest = _largest(tape, target, sources)
    if type(target) is not Tensor or recorders() or elsewhere_now():
        return max(1, MOST_AT_ONCE // largest)
    row = max(1, sum(map(_bytes_of_source, sources)))
    most = max(BYTES_AT_ONCE, count * row // _PARTS)
    step = min(most, MOST_AT_ONCE) // largest
    if step < count:  # else the pass gives the result, and nothing else is there for it
        step = min(step, most // row)
    return max(1, step)


def _largest(tape: GradientTape, target: Tensor, sources: list[Any]) -> int:
    """The bytes of the largest gradient that there is likely to be for one seed."""
    largest = max(1, _bytes(target), *map(_bytes_of_source, sources))
    records = tape._records or []
    wanted = {i for ids in source_ids(tape._reads, sources) for i in ids if i}
    needed = backprop.reachable(records, wanted)
    for output, operation, edges in records:
        if type(output) is not int:
            for spec in operation.outputs:
                largest = max(largest, _bytes(spec.shape) // 4 * spec.dtype.size)
        elif output in needed:
            for source, _, kept in edges:
                if source in needed:
                    for each in kept:
                        largest = max(largest, _bytes(each, needed))
    return largest


def _bytes_of_source(source: Any) -> int:
    return _bytes(_sizes(source)) // 4 * as_dtype(source.dtype).size


def _bytes(kept: Any, needed: set[int] | None = None) -> int:
    """The size of what a rule keeps, which is that of the gradients around it: an array, or a shape.

    What is known to have no gradient, such as a matrix that another is multiplied by, does not count.
    """
    if isinstance(kept, Tensor):
        if needed is not None and kept._id and kept._id not in needed:
            return 0
        size = kept._array.size
        return 0 if is_dynamic(size) else size * kept._array.dtype.itemsize
    if type(kept) is tuple and all(type(d) is int for d in kept):
        return int(np.prod(kept, dtype=np.int64)) * 4
    return 0
