"""Ragged tensors as tensors, lists, arrays and text, and the way back."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype, int64, string
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise import arithmetic, logic
from tapeflow._src.ops.indexing import gathering
from tapeflow._src.ops.reduction import reducing
from tapeflow._src.ragged.tensor import RaggedTensor, positive_axis

# To tensors.


def to_tensor(
    self: RaggedTensor, default_value: Any = None, name: str | None = None, shape: Any = None
) -> Tensor:
    """The rows in a tensor, with `default_value` where they have none.

    >>> tf.ragged.constant([[9, 8, 7], [], [6]]).to_tensor().numpy()
    array([[9, 8, 7],
           [0, 0, 0],
           [6, 0, 0]], dtype=int32)

    Args:
      self: the ragged tensor.
      default_value: what to fill rows with: 0 by default, or "" for strings.
      name: accepted for compatibility.
      shape: of the result, with None for sizes that follow from the rows. Longer rows are cut off.
    """
    flat = self.flat_values
    if default_value is None:
        default_value = "" if flat.dtype is string else creation.zeros([], flat.dtype)
    default = convert_to_tensor(default_value, dtype_hint=flat.dtype)
    if default.dtype is not flat.dtype:
        raise ValueError(
            f"default_value: Tensor conversion requested dtype {flat.dtype.name} for Tensor with dtype "
            f"{default.dtype.name}: {default!r}"
        )
    if default.ndim >= flat.ndim and default.ndim:
        raise invalid(
            f"default_value.shape={default.shape} and rt_input.flat_values.shape={flat.shape} are incompatible: "
            f"default_value.rank = {default.ndim} must be less than rt_input.flat_values.rank = {flat.ndim}"
        )
    sizes = _wanted_sizes(self, shape)
    return _dense(self, shaping.broadcast_to(default, shaping.shape(flat)[1:]), sizes)


def _wanted_sizes(self: RaggedTensor, shape: Any) -> list[Any]:
    rank = self.shape.rank or 0
    if shape is None or (isinstance(shape, TensorShape) and shape.rank is None):
        return [None] * rank
    if isinstance(shape, Tensor):
        if shape.symbolic:
            if shape.shape[0] is None:
                raise ValueError("to_tensor: the number of elements of `shape` must be known")
            sizes = [shape[i] for i in range(shape.shape[0])]
        else:
            sizes = [None if n < 0 else n for n in np.asarray(shape._array).tolist()]
    else:
        dims = shape.as_list() if isinstance(shape, TensorShape) else list(shape)
        sizes = [None if isinstance(n, int) and n < 0 else n for n in dims]
    if len(sizes) != rank:
        raise invalid(
            f"Shapes {self.shape} and {TensorShape([s if isinstance(s, int) else None for s in sizes])} must have "
            "the same rank"
        )
    return sizes


def _dense(values: Any, default: Tensor, sizes: list[Any]) -> Tensor:
    """Values as a tensor of these sizes, where they are given."""
    if not isinstance(values, RaggedTensor):
        return values
    inner = _dense(values.values, default, sizes[1:])
    rows = values._partition
    lengths = rows.row_lengths()
    width = sizes[1]
    if width is None:
        width = rows.uniform_row_length
    if width is None:
        zero = creation.zeros([1], lengths.dtype)
        width = reducing.reduce_max(moving.concat([zero, lengths], 0))
    starts = rows.row_starts()
    if sizes[0] is not None:
        starts, lengths = _resized(starts, sizes[0]), _resized(lengths, sizes[0])
    columns = creation.range(shaping.cast(width, lengths.dtype))
    if isinstance(width, int):
        columns = creation.range(width, dtype=lengths.dtype)
    there = logic.less(columns, lengths[:, None])
    # A row of defaults after the values is where the missing ones are taken from.
    filler = shaping.broadcast_to(default, shaping.shape(inner)[1:])
    source = moving.concat([inner, filler[None]], 0)
    last = shaping.shape(inner, lengths.dtype)[0]
    places = gathering.where(there, columns + starts[:, None], last)
    return gathering.gather(source, places)


def _resized(vector: Tensor, size: Any) -> Tensor:
    """A vector cut off at a size, or made longer by zeros."""
    wanted = shaping.cast(size, vector.dtype)
    more = arithmetic.maximum(wanted - shaping.shape(vector, vector.dtype)[0], 0)
    longer = moving.concat(
        [vector, creation.fill(more[None], convert_to_tensor(0, vector.dtype))], 0
    )
    return longer[: size if isinstance(size, int) else wanted]


# From tensors.


def from_tensor(
    cls: Any,
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> RaggedTensor:
    """The rows of a tensor, without what fills them at their ends.

    >>> x = tf.constant([[5, 7, 0], [0, 3, 0], [6, 0, 0]])
    >>> tf.RaggedTensor.from_tensor(x, padding=0)
    <tf.RaggedTensor [[5, 7], [0, 3], [6]]>
    >>> tf.RaggedTensor.from_tensor(x, lengths=[1, 0, 3])
    <tf.RaggedTensor [[5], [], [6, 0, 0]]>

    Args:
      cls: the class.
      tensor: of rank 2 or more.
      lengths: of the rows, or a list of the lengths at each level.
      padding: a value that does not count at the end of rows.
      ragged_rank: how many times the values are divided into rows.
      name: accepted for compatibility.
      row_splits_dtype: int32 or int64.
    """
    dtype = as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank!r}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    tensor = convert_to_tensor(tensor)
    if tensor.ndim <= ragged_rank:
        raise ValueError(
            f"The rank of `tensor` must be greater than ragged_rank = {ragged_rank}: got shape {tensor.shape}"
        )
    if isinstance(lengths, (list, tuple)) and lengths and _is_vector(lengths[0]):
        return _from_nested_lengths(cls, tensor, lengths, ragged_rank, dtype)
    shape = shaping.shape(tensor, dtype)
    if ragged_rank > 1:
        flat = shaping.reshape(tensor, moving.concat([[-1], shape[ragged_rank:]], 0))
        result = from_tensor(cls, flat, lengths, padding, row_splits_dtype=dtype)
        for axis in range(ragged_rank - 1, 0, -1):
            size = tensor.shape[axis]
            rows = reducing.reduce_prod(shape[:axis])
            result = cls.from_uniform_row_length(
                result, shape[axis] if size is None else size, rows
            )
        return result
    if padding is not None:
        lengths = _without_padding(tensor, padding, dtype)
    if lengths is None:
        values = shaping.reshape(tensor, moving.concat([[-1], shape[2:]], 0))
        rows, width = tensor.shape[0], tensor.shape[1]
        return cls.from_uniform_row_length(
            values,
            convert_to_tensor(shape[1] if width is None else width, dtype),
            convert_to_tensor(shape[0] if rows is None else rows, dtype),
        ).with_row_splits_dtype(dtype)
    lengths = shaping.cast(convert_to_tensor(lengths, dtype_hint=dtype), dtype)
    lengths.shape.assert_has_rank(1)
    tensor.shape[:1].assert_is_compatible_with(lengths.shape[:1])
    lengths = arithmetic.minimum(arithmetic.maximum(lengths, 0), shape[1])
    values = gathering.boolean_mask(tensor, gathering.sequence_mask(lengths, shape[1]))
    return cls.from_row_lengths(values, lengths, validate=False)


def _is_vector(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0


def _from_nested_lengths(
    cls: Any, tensor: Tensor, lengths: Any, ragged_rank: int, dtype: Any
) -> RaggedTensor:
    if ragged_rank not in (1, len(lengths)):
        raise ValueError(
            "If Argument `lengths` is a tuple of row_lengths, argument `ragged_rank` must be len(lengths): "
            f"{len(lengths)}. Received ragged_rank: {ragged_rank}."
        )
    first, *others = [shaping.cast(convert_to_tensor(x, dtype_hint=dtype), dtype) for x in lengths]
    result = from_tensor(cls, tensor, first, row_splits_dtype=dtype)
    if not others:
        return result
    return result.with_values(_from_nested_lengths(cls, result.values, others, 1, dtype))


def _without_padding(tensor: Tensor, padding: Any, dtype: Any) -> Tensor:
    """The lengths of rows without what is equal to `padding` at their ends."""
    padding = convert_to_tensor(padding, dtype_hint=tensor.dtype)
    if padding.dtype is not tensor.dtype:
        raise ValueError(
            f"padding: expected dtype {tensor.dtype.name}, as the tensor, got {padding.dtype.name}"
        )
    tensor.shape[2:].assert_is_compatible_with(padding.shape)
    filled = logic.equal(tensor, padding)
    if filled.ndim > 2:
        filled = reducing.reduce_all(filled, axis=list(range(2, filled.ndim)))
    ends = creation.range(1, shaping.shape(tensor, dtype)[1] + 1)
    zero = creation.zeros_like(ends)
    none = creation.zeros(moving.concat([shaping.shape(tensor)[:1], [1]], 0), dtype)
    return reducing.reduce_max(
        moving.concat([none, gathering.where(filled, zero, ends)], 1), axis=1
    )


# Fewer dimensions.


def merge_dims(self: RaggedTensor, outer_axis: int, inner_axis: int) -> Any:
    """The dimensions from `outer_axis` to `inner_axis` as one.

    >>> tf.ragged.constant([[[1, 2], [3]], [[4]]]).merge_dims(1, 2)
    <tf.RaggedTensor [[1, 2, 3], [4]]>
    """
    rank = self.shape.rank
    outer = positive_axis(outer_axis, rank, "outer_axis")
    inner = positive_axis(inner_axis, rank, "inner_axis")
    if not outer <= inner:
        raise ValueError(
            f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis})."
        )
    return merged(self, outer, inner)


def merged(value: Any, outer: int, inner: int) -> Any:
    """The same for any tensor, and for axes that are counted from the front."""
    if outer == inner:
        return value
    if not isinstance(value, RaggedTensor):
        shape = shaping.shape(value)
        return shaping.reshape(value, moving.concat([shape[:outer], [-1], shape[inner + 1 :]], 0))
    if not outer:
        return merged(value.values, 0, inner - 1)
    if outer > 1:
        return value.with_values(merged(value.values, outer - 1, inner - 1))
    values, splits = value.values, value.row_splits
    while isinstance(values, RaggedTensor) and inner > 1:
        splits = gathering.gather(shaping.cast(values.row_splits, splits.dtype), splits)
        values, inner = values.values, inner - 1
    if inner > 1:
        sizes = shaping.shape(values, splits.dtype)[1:inner]
        splits, values = splits * reducing.reduce_prod(sizes), merged(values, 0, inner - 1)
    return RaggedTensor.from_row_splits(values, splits, validate=False)


# To Python and NumPy.


def to_list(self: RaggedTensor) -> list[Any]:
    """The rows as nested lists of Python numbers.

    >>> tf.ragged.constant([[1, 2], []]).to_list()
    [[1, 2], []]
    """
    values, splits = _concrete(self, "to_list")
    rows = values.to_list() if isinstance(values, RaggedTensor) else values.numpy().tolist()
    return [rows[a:b] for a, b in itertools.pairwise(splits)]


def numpy(self: RaggedTensor) -> Any:
    """The rows as an array, or as an array of arrays where they have different lengths.

    >>> tf.ragged.constant([[1, 2], [3, 4]]).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    values, splits = _concrete(self, "numpy")
    array = np.asarray(values.numpy())
    rows = [array[a:b] for a, b in itertools.pairwise(splits)]
    if len({len(row) for row in rows}) == 1:
        return np.array(rows, array.dtype)
    result = np.empty(len(rows), object)
    for i, row in enumerate(rows):
        result[i] = row
    return result


def _concrete(self: RaggedTensor, how: str) -> tuple[Any, list[int]]:
    if self.row_splits.symbolic or self.flat_values.symbolic:
        raise ValueError(
            f"RaggedTensor.{how}() is only supported in eager mode: inside tf.function there are no values yet."
        )
    return self.values, self.row_splits.numpy().tolist()


def text(self: RaggedTensor) -> str:
    """As TensorFlow shows it."""
    if self.row_splits.symbolic or self.flat_values.symbolic:
        return f"tf.RaggedTensor(values={self.values}, row_splits={self.row_splits})"
    return f"<tf.RaggedTensor {_text(numpy(self))}>"


def printed(self: RaggedTensor, edge: int) -> str:
    """As `tf.print` shows it."""
    return _rows_text(to_list(self), sys.maxsize if edge < 0 else edge)


def _rows_text(value: Any, edge: int) -> str:
    if isinstance(value, list):
        texts = [_rows_text(x, edge) for x in (value if len(value) <= 2 * edge else value[:edge])]
        if len(value) > 2 * edge:
            texts += ["...", *[_rows_text(x, edge) for x in value[-edge:]]]
        return f"[{', '.join(texts)}]"
    if isinstance(value, bytes):
        return f"'{value.decode(errors='replace')}'"
    return f"{value:f}" if isinstance(value, float) else str(int(value))


def _text(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return str(value)
    if not value.size:
        return repr(value.tolist())
    return np.array2string(value, separator=", ", formatter={"all": _text})  # type: ignore[arg-type]
