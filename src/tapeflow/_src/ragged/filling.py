"""`tf.ragged_fill_empty_rows`: a value for each row that has none."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import bool_, int64
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise.logic import equal
from tapeflow._src.ops.indexing.gathering import boolean_mask, gather
from tapeflow._src.ops.indexing.scattering import tensor_scatter_nd_update
from tapeflow._src.ops.indexing.segments import unsorted_segment_sum
from tapeflow._src.ops.reduction.reducing import reduce_sum
from tapeflow._src.ops.reduction.sorting import argsort
from tapeflow._src.primitives.array import checks


class RaggedFillEmptyRows(NamedTuple):
    """What `tf.ragged_fill_empty_rows` gives."""

    output_value_rowids: Tensor
    output_values: Tensor
    empty_row_indicator: Tensor
    reverse_index_map: Tensor


class RaggedFillEmptyRowsGrad(NamedTuple):
    """What `tf.ragged_fill_empty_rows_grad` gives."""

    d_values: Tensor
    d_default_value: Tensor


@export("ragged_fill_empty_rows")
def ragged_fill_empty_rows(
    value_rowids: Any, values: Any, nrows: Any, default_value: Any, name: str | None = None
) -> RaggedFillEmptyRows:
    """Gives each row that has no value one. Gradients flow to the values and to the default.

    >>> filled = tf.ragged_fill_empty_rows([0, 2, 2], [1, 2, 3], 4, -1)
    >>> filled.output_value_rowids.numpy(), filled.output_values.numpy()
    (array([0, 1, 2, 2, 3]), array([ 1, -1,  2,  3, -1], dtype=int32))

    Args:
      value_rowids: the row of each value.
      values: the values.
      nrows: how many rows there are.
      default_value: the value of rows that have none, a scalar.
      name: accepted for compatibility.

    Returns:
      The rows, the values, which rows had none, and where each value is now.
    """
    op = "ragged_fill_empty_rows"
    rows, count = convert_to_tensor(value_rowids, int64), convert_to_tensor(nrows, int64)
    values = convert_to_tensor(values)
    default = convert_to_tensor(default_value, values.dtype)
    for argument, x, rank in (
        ("value_rowids", rows, 1),
        ("values", values, 1),
        ("nrows", count, 0),
        ("default_value", default, 0),
    ):
        if x.shape.rank not in (None, rank):
            what = "a vector" if rank else "a scalar"
            raise invalid(f"{op}: {argument} must be {what}, got shape {x.shape}")
    if not rows.shape.is_compatible_with(values.shape):
        raise invalid(
            f"{op}: value_rowids and values must have one length, got {rows.shape} and {values.shape}"
        )
    low = checks.check_bounds(
        rows, low=0, high=math.inf, message=f"{op}: rows must not be negative"
    )
    checked = checks.check_bounds(
        count - 1 - low, low=0, high=math.inf, message=f"{op}: rows must be less than nrows"
    )
    rows = count - 1 - checked
    number = unsorted_segment_sum(creation.ones_like(rows), rows, count)
    empty = equal(number, convert_to_tensor(0, int64))
    gone = boolean_mask(creation.range(count), empty)
    everything = moving.concat([rows, gone], 0)
    order = argsort(everything, stable=True)
    filled = moving.concat([values, creation.fill(shaping.shape(gone), default)], 0)
    places = tensor_scatter_nd_update(
        creation.zeros_like(everything),
        shaping.expand_dims(order, 1),
        creation.range(shaping.size(everything, int64)),
    )
    return RaggedFillEmptyRows(
        gather(everything, order),
        gather(filled, order),
        empty,
        places[: shaping.size(rows)],
    )


@export("ragged_fill_empty_rows_grad")
def ragged_fill_empty_rows_grad(
    reverse_index_map: Any, grad_values: Any, name: str | None = None
) -> RaggedFillEmptyRowsGrad:
    """The gradients of `tf.ragged_fill_empty_rows`, for the values and for the default.

    >>> found = tf.ragged_fill_empty_rows_grad([0, 2], [1.0, 2.0, 3.0])
    >>> found.d_values.numpy(), found.d_default_value.numpy()
    (array([1., 3.], dtype=float32), np.float32(2.0))

    Args:
      reverse_index_map: where each value has gone.
      grad_values: the gradient of what came out.
      name: accepted for compatibility.
    """
    op = "ragged_fill_empty_rows_grad"
    places, g = convert_to_tensor(reverse_index_map, int64), convert_to_tensor(grad_values)
    for argument, x in (("reverse_index_map", places), ("grad_values", g)):
        if x.shape.rank not in (None, 1):
            raise invalid(f"{op}: {argument} must be a vector, got shape {x.shape}")
    rest = tensor_scatter_nd_update(
        creation.ones_like(g, dtype=bool_),
        shaping.expand_dims(places, 1),
        creation.zeros_like(places, dtype=bool_),
    )
    return RaggedFillEmptyRowsGrad(gather(g, places), reduce_sum(boolean_mask(g, rest)))
