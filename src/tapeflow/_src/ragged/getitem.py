"""`ragged[...]`: rows, ranges and positions, by TensorFlow's rules.

A dimension that is ragged may be sliced, row by row, but not indexed by a number: not all rows may have such a value.
"""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid, no_row, shown
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise import arithmetic
from tapeflow._src.ops.indexing import gathering
from tapeflow._src.ragged.constant import ranges
from tapeflow._src.ragged.partition import RowPartition, splits_of
from tapeflow._src.ragged.tensor import RaggedTensor

_ALL = slice(None)


def getitem(self: RaggedTensor, key: Any) -> Any:
    """A row, a range of rows, or parts of them.

    >>> x = tf.ragged.constant([["a", "b", "c"], ["d"], []])
    >>> x[0].numpy().tolist(), x[0, 1].numpy()
    ([b'a', b'b', b'c'], b'b')
    >>> x[:, -1:]
    <tf.RaggedTensor [[b'c'], [b'd'], []]>
    """
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    for each in keys:
        _check(each)
    return _rows(self, _without_ellipsis(keys, self.shape.rank))


def _check(key: Any) -> None:
    if isinstance(key, (bool, str, float, RaggedTensor)):
        raise TypeError(f"slice or index expected for a RaggedTensor, got {shown(key)}")
    if isinstance(key, Tensor) and (key.ndim or not key.dtype.is_integer):
        raise TypeError(
            f"a RaggedTensor is indexed by scalars and slices, got {shown(key)}. Use tf.gather, or "
            "tf.ragged.boolean_mask."
        )


def _without_ellipsis(keys: list[Any], rank: int | None) -> list[Any]:
    places = [i for i, key in enumerate(keys) if key is Ellipsis]
    if not places:
        return keys
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    at = places[0]
    others = [key for key in keys[at + 1 :] if key is not Ellipsis]  # one is enough
    used = sum(1 for key in [*keys[:at], *others] if key is not None)
    return [*keys[:at], *[_ALL] * max(0, rank - used), *others]


def _rows(x: Any, keys: list[Any]) -> Any:
    """The first key is for the rows of `x`."""
    if not keys:
        return x
    if not isinstance(x, RaggedTensor):
        return x[tuple(keys)]
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = _rows(x, rest)
        count = (
            inner.nrows() if isinstance(inner, RaggedTensor) else shaping.shape(inner, "int64")[0]
        )
        return RaggedTensor.from_uniform_row_length(inner, count, nrows=1)
    if isinstance(key, slice):
        return _inside(_row_range(x, key), rest)
    rows = x._partition.static_nrows
    if isinstance(key, int) and rows is not None and not -rows <= key < rows:
        raise no_row(f"index {key} is out of range: the RaggedTensor has {rows} rows")
    splits = x.row_splits
    start, limit = splits[:-1][key], splits[1:][key]
    return _rows(x.values[start:limit], rest)


def _row_range(x: RaggedTensor, key: slice) -> RaggedTensor:
    if key.start is None and key.stop is None and key.step is None:
        return x
    starts, limits = x.row_splits[:-1][key], x.row_splits[1:][key]
    lengths = limits - starts
    uniform = x._partition.uniform_row_length
    rows = RowPartition(splits_of(lengths), uniform, lengths=lengths)
    if key.step is None or (isinstance(key.step, int) and key.step == 1):
        begin = moving.concat([starts, creation.zeros([1], starts.dtype)], 0)[0]
        # Of no rows there is no first one, and no values either.
        values = x.values[begin : begin + rows.nvals()]
    else:
        places = ranges(starts, convert_to_tensor(1, starts.dtype), lengths)
        values = picked(x.values, places.values)
    return RaggedTensor(values, rows, internal=True)


def _inside(x: Any, keys: list[Any]) -> Any:
    """The first key is for what is in each row of `x`."""
    if not keys:
        return x
    if not isinstance(x, RaggedTensor):
        return x[(_ALL, *keys)]
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = _inside(x, rest)
        return RaggedTensor.from_uniform_row_length(inner, 1, nrows=_row_count(inner))
    if isinstance(key, slice):
        inner = x.with_values(_inside(x.values, rest)) if rest else x
        return inner if key == _ALL else _cut(inner, key)
    if x._partition.uniform_row_length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    place = x.row_starts() + _counted_from_front(key, x)
    return _inside(picked(x.values, place), rest)


def _row_count(x: Any) -> Any:
    return x.nrows() if isinstance(x, RaggedTensor) else shaping.shape(x, "int64")[0]


def _counted_from_front(key: Any, x: RaggedTensor) -> Any:
    length = x._partition.uniform_row_length
    if isinstance(key, Tensor):
        number = shaping.cast(key, x._partition.dtype)
        return gathering.where(number < 0, number + length, number)
    number = int(key)
    if not -length <= number < length:  # type: ignore[operator]
        raise invalid(f"index {number} is out of range for a dimension of size {length}")
    return number % length  # type: ignore[operator]


def _cut(x: RaggedTensor, key: slice) -> RaggedTensor:
    """A range of each row, as Python would take it of a list."""
    lengths = x.row_lengths()
    dtype = lengths.dtype
    step = 1 if key.step is None else int(key.step)
    if not step:
        raise ValueError("slice step cannot be zero")
    low, high = (0, lengths) if step > 0 else (-1, lengths - 1)
    begin = _bound(key.start, low if step > 0 else high, lengths, low, high)
    end = _bound(key.stop, high if step > 0 else low, lengths, low, high)
    one = 1 if step > 0 else -1
    count = arithmetic.maximum((end - begin + (step - one)) // step, 0)
    count = shaping.broadcast_to(count, shaping.shape(lengths))
    places = ranges(x.row_starts() + begin, convert_to_tensor(step, dtype), count)
    uniform = x._partition.uniform_row_length
    if uniform is not None and all(k is None or isinstance(k, int) for k in (key.start, key.stop)):
        uniform = len(range(uniform)[key])
    else:
        uniform = None
    rows = RowPartition(places.row_splits, uniform, lengths=count)
    return RaggedTensor(picked(x.values, places.values), rows, internal=True)


def _bound(given: Any, default: Any, lengths: Tensor, low: Any, high: Any) -> Any:
    if given is None:
        return convert_to_tensor(default, lengths.dtype)
    number = shaping.cast(given, lengths.dtype)
    number = gathering.where(number < 0, number + lengths, number)
    return arithmetic.minimum(arithmetic.maximum(number, low), high)


def picked(values: Any, places: Tensor) -> Any:
    """Rows of values, ragged or not."""
    if not isinstance(values, RaggedTensor):
        return gathering.gather(values, places)
    lengths = gathering.gather(values.row_lengths(), places)
    starts = gathering.gather(values.row_starts(), places)
    inner = ranges(starts, convert_to_tensor(1, starts.dtype), lengths)
    rows = RowPartition(inner.row_splits, values._partition.uniform_row_length, lengths=lengths)
    return RaggedTensor(picked(values.values, inner.values), rows, internal=True)
