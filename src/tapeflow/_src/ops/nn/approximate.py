"""`tf.math.approx_max_k` and `tf.math.approx_min_k`: the largest and least elements.

TensorFlow's find most of them on TPUs, and all of them elsewhere; these find all of them everywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import DTypeError, invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axis_of, integer
from tapeflow._src.ops.array.shaping import transpose
from tapeflow._src.ops.nn.activations import top_k


class ApproxTopK(NamedTuple):
    """What `tf.math.approx_max_k` gives."""

    values: Tensor
    indices: Tensor


@export("math.approx_max_k", "nn.approx_max_k")
def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The `k` largest elements along a dimension, and where they are. Gradients go to them.

    >>> values, indices = tf.math.approx_max_k([1.0, 5.0, 3.0], k=2)
    >>> values.numpy(), indices.numpy()
    (array([5., 3.], dtype=float32), array([1, 2], dtype=int32))

    Args:
      operand: floats.
      k: how many.
      reduction_dimension: the dimension.
      recall_target: accepted for compatibility: all are found.
      reduction_input_size_override: accepted for compatibility.
      aggregate_to_topk: accepted for compatibility.
      name: accepted for compatibility.
    """
    return _top("approx_max_k", operand, k, reduction_dimension, 1)


@export("math.approx_min_k", "nn.approx_min_k")
def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The `k` least elements along a dimension, and where they are. Gradients go to them.

    >>> tf.math.approx_min_k([1.0, 5.0, 3.0], k=2).indices.numpy()
    array([0, 2], dtype=int32)

    The arguments are those of `tf.math.approx_max_k`.
    """
    return _top("approx_min_k", operand, k, reduction_dimension, -1)


@export("approx_top_k")
def approx_top_k(
    input: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """`tf.math.approx_max_k`, or `tf.math.approx_min_k` if not `is_max_k`.

    >>> tf.approx_top_k([1.0, 5.0, 3.0], k=1, is_max_k=False).values.numpy()
    array([1.], dtype=float32)
    """
    return _top("approx_top_k", input, k, reduction_dimension, 1 if is_max_k else -1)


def _top(op: str, operand: Any, k: Any, dimension: Any, sign: int) -> ApproxTopK:
    x = convert_to_tensor(operand)
    if not x.dtype.is_floating:
        raise DTypeError(None, None, f"{op}: operand must be floats, got {x.dtype.name}")
    rank = len(x._array.shape)
    at, count = axis_of(op, dimension, rank), integer(op, "k", k)
    if count < 0:
        raise invalid(f"{op}: k must not be negative, got {count}")
    order = [*(i for i in range(rank) if i != at), at]
    back = [order.index(i) for i in range(rank)]
    rows = transpose(x, order)
    values, indices = top_k(rows if sign > 0 else -rows, count)
    values = transpose(values, back)
    return ApproxTopK(values if sign > 0 else -values, transpose(indices, back))
