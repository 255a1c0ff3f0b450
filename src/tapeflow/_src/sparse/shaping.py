"""Sparse tensors of another shape: reshaped, transposed, joined, divided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int32, int64
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axis_of, integer
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise.arithmetic import maximum as larger, minimum as smaller
from tapeflow._src.ops.elementwise.logic import equal, greater_equal, less, logical_and
from tapeflow._src.ops.indexing.gathering import boolean_mask, gather, where
from tapeflow._src.ops.indexing.segments import unsorted_segment_sum
from tapeflow._src.ops.reduction.reducing import reduce_all, reduce_max, reduce_prod, reduce_sum
from tapeflow._src.sparse import places
from tapeflow._src.sparse.tensor import SparseTensor, sparse_of


@export("sparse.reshape")
def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same elements in another shape.

    >>> x = tf.SparseTensor([[0, 1], [1, 2]], [1, 2], [2, 3])
    >>> tf.sparse.reshape(x, [3, -1]).indices.numpy()
    array([[0, 1],
           [2, 1]])

    Args:
      sp_input: a sparse tensor.
      shape: the new shape. One size may be -1: it follows from the others.
      name: accepted for compatibility.
    """
    x = sparse_of("reshape", "sp_input", sp_input)
    wanted = shaping.cast(convert_to_tensor(shape), int64)
    total = places.volume(x.dense_shape)
    static = shaping.get_static_value(wanted)
    if static is not None and (static == -1).sum() > 1:
        raise invalid(f"reshape: only one size of shape may be -1, got {shown(shape)}")
    unknown = equal(wanted, convert_to_tensor(-1, int64))
    one = creation.ones_like(wanted)
    rest = total // larger(reduce_prod(where(unknown, one, wanted)), one[0])
    new = where(unknown, one * rest, wanted)
    volume = shaping.get_static_value(total)
    if static is not None and volume is not None:
        now = shaping.get_static_value(new)
        if now is not None and int(now.prod()) != int(volume):
            raise invalid(
                f"reshape: a sparse tensor of shape {x.shape} has {int(volume)} places, and the shape {shown(shape)} "
                f"{int(now.prod())}"
            )
    found = SparseTensor(
        places.placed(places.numbered(x.indices, x.dense_shape), new), x.values, new
    )
    if static is not None and x.shape.is_fully_defined():
        found.set_shape(_known(static.tolist(), x.shape.num_elements()))
    return found


def _known(sizes: list[int], total: int | None) -> TensorShape:
    if -1 not in sizes:
        return TensorShape(sizes)
    rest = 1
    for size in sizes:
        rest *= size if size != -1 else 1
    return TensorShape([(total or 0) // max(rest, 1) if size == -1 else size for size in sizes])


@export("sparse.transpose")
def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The dimensions in another order.

    >>> x = tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 3])
    >>> tf.sparse.transpose(x).indices.numpy()
    array([[0, 1],
           [1, 0]])

    Args:
      sp_input: a sparse tensor.
      perm: the new order; the reverse of the old one by default.
      name: accepted for compatibility.
    """
    x = sparse_of("transpose", "sp_input", sp_input)
    rank = _rank("transpose", x)
    order = list(range(rank))[::-1] if perm is None else [int(p) for p in convert_to_tensor(perm)]
    found = SparseTensor(gather(x.indices, order, axis=1), x.values, gather(x.dense_shape, order))
    found.set_shape([x.shape[p] for p in order])
    return places.reordered(found)


def _rank(op: str, x: SparseTensor) -> int:
    rank = x.shape.rank
    if rank is None:
        raise ValueError(f"{op}: the rank of the sparse tensor must be known")
    return rank


@export("sparse.expand_dims")
def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """The same with another dimension of size 1.

    >>> x = tf.SparseTensor([[1], [3]], [1, 2], [4])
    >>> tf.sparse.expand_dims(x, 0).indices.numpy()
    array([[0, 1],
           [0, 3]])

    Args:
      sp_input: a sparse tensor.
      axis: where it is put; at the end by default.
      name: accepted for compatibility.
    """
    x = sparse_of("expand_dims", "sp_input", sp_input)
    rank = _rank("expand_dims", x)
    place = axis_of("expand_dims", -1 if axis is None else axis, rank + 1)
    column = creation.zeros_like(x.indices[:, :1])
    one = convert_to_tensor([1], int64)
    found = SparseTensor(
        moving.concat([x.indices[:, :place], column, x.indices[:, place:]], 1),
        x.values,
        moving.concat([x.dense_shape[:place], one, x.dense_shape[place:]], 0),
    )
    sizes = x.shape.as_list()
    found.set_shape([*sizes[:place], 1, *sizes[place:]])
    return found


@export("sparse.concat")
def concat(
    axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Sparse tensors one after the other along a dimension.

    >>> x = tf.SparseTensor([[0, 1]], [7], [1, 2])
    >>> tf.sparse.concat(0, [x, x]).indices.numpy()
    array([[0, 1],
           [1, 1]])

    Args:
      axis: the dimension.
      sp_inputs: the sparse tensors.
      expand_nonconcat_dims: whether other dimensions may differ: the largest size is taken.
      name: accepted for compatibility.
    """
    inputs = [sparse_of("concat", "sp_inputs", x) for x in sp_inputs]
    if not inputs:
        raise ValueError("concat: sp_inputs must have at least one sparse tensor, got none")
    if len(inputs) == 1:
        return inputs[0]
    rank = _rank("concat", inputs[0])
    place = axis_of("concat", axis, rank)
    shapes = moving.stack([x.dense_shape for x in inputs], 0)
    if not expand_nonconcat_dims:
        _check_sizes(inputs, place)
    static = [x.shape.as_list() for x in inputs]
    total = reduce_sum(shapes[:, place])
    largest = reduce_max(shapes, axis=0)
    new = moving.concat([largest[:place], shaping.expand_dims(total, 0), largest[place + 1 :]], 0)
    indices = []
    start: Any = convert_to_tensor(0, int64)
    for x in inputs:
        columns = [x.indices[:, :place], x.indices[:, place : place + 1] + start]
        indices.append(moving.concat([*columns, x.indices[:, place + 1 :]], 1))
        start = start + x.dense_shape[place]
    found = SparseTensor(
        moving.concat(indices, 0), moving.concat([x.values for x in inputs], 0), new
    )
    sizes = [
        None if None in column else max(d or 0 for d in column)
        for column in zip(*static, strict=True)
    ]
    along = [shape[place] for shape in static]
    sizes[place] = None if None in along else sum(d or 0 for d in along)
    found.set_shape(sizes)
    return places.reordered(found)


def _check_sizes(inputs: Sequence[SparseTensor], place: int) -> None:
    first = inputs[0].shape.as_list()
    for x in inputs[1:]:
        sizes = x.shape.as_list()
        pairs = [(a, b) for i, (a, b) in enumerate(zip(first, sizes, strict=False)) if i != place]
        wrong = len(first) != len(sizes) or any(
            a is not None and b is not None and a != b for a, b in pairs
        )
        if wrong:
            raise invalid(
                f"concat: the shapes must be equal but for dimension {place}, got {inputs[0].shape} and {x.shape}. "
                "Use expand_nonconcat_dims=True to take the largest sizes."
            )


@export("sparse.split")
def split(
    sp_input: Any = None, num_split: int | None = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """Parts of a sparse tensor along a dimension: the first ones are larger by one where it cannot be divided.

    >>> x = tf.SparseTensor([[0, 0], [0, 2]], [1, 2], [1, 3])
    >>> [part.shape[1] for part in tf.sparse.split(x, 2, axis=1)]
    [2, 1]

    Args:
      sp_input: a sparse tensor.
      num_split: how many parts.
      axis: the dimension.
      name: accepted for compatibility.
    """
    if sp_input is None or num_split is None or axis is None:
        raise ValueError("split: sp_input, num_split and axis are needed")
    x = sparse_of("split", "sp_input", sp_input)
    count = integer("split", "num_split", num_split)
    place = axis_of("split", axis, _rank("split", x))
    size = x.shape[place]
    if size is None:
        raise ValueError(f"split: the size of dimension {place} must be known, got shape {x.shape}")
    if not 0 < count <= size:
        raise invalid(
            f"split: num_split = {count} is not in [1, {size}], the size of the dimension"
        )
    parts, start = [], 0
    for i in range(count):
        length = size // count + (i < size % count)
        begin = [start if i == place else 0 for i in range(x.shape.rank or 0)]
        extent = [length if i == place else x.dense_shape[i] for i in range(x.shape.rank or 0)]
        parts.append(
            slice_(
                x, begin, moving.stack([shaping.cast(convert_to_tensor(e), int64) for e in extent])
            )
        )
        start += length
    return parts


@export("sparse.slice")
def slice_(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """A part of a sparse tensor.

    >>> x = tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])
    >>> tf.sparse.slice(x, [1, 1], [1, 2]).indices.numpy()
    array([[0, 1]])

    Args:
      sp_input: a sparse tensor.
      start: where the part begins, along each dimension.
      size: how large it is; it ends where the whole does.
      name: accepted for compatibility.
    """
    x = sparse_of("slice", "sp_input", sp_input)
    begin = shaping.cast(convert_to_tensor(start), int64)
    extent = shaping.cast(convert_to_tensor(size), int64)
    end = smaller(begin + extent, x.dense_shape)
    inside = reduce_all(logical_and(greater_equal(x.indices, begin), less(x.indices, end)), axis=1)
    found = places.kept(SparseTensor(x.indices, x.values, x.dense_shape), inside)
    zero = creation.zeros_like(begin)
    return SparseTensor(found.indices - begin, found.values, larger(end - begin, zero))


@export("sparse.fill_empty_rows")
def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Puts an element in the first column of each row of a matrix that has none.

    >>> x = tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 2])
    >>> filled, empty = tf.sparse.fill_empty_rows(x, -1)
    >>> filled.values.numpy(), empty.numpy()
    (array([ 1, -1,  2], dtype=int32), array([False,  True, False]))

    Args:
      sp_input: a sparse matrix.
      default_value: the element.
      name: accepted for compatibility.

    Returns:
      the matrix, and which of the rows were empty.
    """
    x = sparse_of("fill_empty_rows", "sp_input", sp_input)
    default = convert_to_tensor(default_value, x.dtype)
    rows = x.dense_shape[0]
    count = shaping.cast(rows, int32)
    number = unsorted_segment_sum(creation.ones_like(x.indices[:, 0]), x.indices[:, 0], count)
    empty = equal(number, convert_to_tensor(0, int64))
    gone = boolean_mask(creation.range(rows), empty)
    column = shaping.expand_dims(gone, 1)
    others = creation.zeros_like(column)
    rank = _rank("fill_empty_rows", x)
    new = moving.concat([column, *[others] * (rank - 1)], 1)
    filled = SparseTensor(
        moving.concat([x.indices, new], 0),
        moving.concat([x.values, creation.fill(shaping.shape(gone), default)], 0),
        x.dense_shape,
    )
    filled.set_shape(x.shape)
    return places.reordered(filled), empty
