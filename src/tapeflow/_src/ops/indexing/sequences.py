"""Sequences: running log-sums, order, permutations; polynomials and division towards zero."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.sizes.extremes import larger
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axis_of
from tapeflow._src.ops.array.shaping import alike, cast, is_tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.indexing import picking, sequences
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.rules import invalid


@export("math.cumulative_logsumexp")
def cumulative_logsumexp(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The logarithm of the running sum of `exp(x)` along an axis, without overflow.

    >>> tf.math.cumulative_logsumexp([1000.0, 1000.0]).numpy().round(2)
    array([1000.  , 1000.69], dtype=float32)

    Args:
      x: the tensor.
      axis: the dimension to run along.
      exclusive: whether an element is left out of its own sum; the first sum is then -inf.
      reverse: whether to run from the end to the beginning.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(x)
    at = axis_of("cumulative_logsumexp", axis, x._array.ndim)
    return sequences.cumulative_logsumexp(x, axis=at, exclusive=exclusive, reverse=reverse)


@export("reverse_sequence")
def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: Any = None,
    batch_axis: Any = None,
    name: str | None = None,
) -> Tensor:
    """Reverses the first `seq_lengths[i]` elements of sequence `i`, and leaves the rest in place.

    >>> tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy()
    array([[2, 1, 3],
           [6, 5, 4]], dtype=int32)

    Args:
      input: a batch of sequences.
      seq_lengths: the length of each.
      seq_axis: the dimension that runs along a sequence.
      batch_axis: the dimension that runs over the sequences; 0 by default.
      name: accepted for compatibility.
    """
    if seq_axis is None:
        raise TypeError("reverse_sequence: seq_axis is needed, the dimension of the sequences")
    x = convert_to_tensor(input)
    rank = x._array.ndim
    axis = axis_of("reverse_sequence", seq_axis, rank, argument="seq_axis")
    batch = 0 if batch_axis is None else batch_axis
    batch = axis_of("reverse_sequence", batch, rank, argument="batch_axis")
    if axis == batch:
        raise invalid(f"reverse_sequence: seq_axis and batch_axis are both {axis}")
    return sequences.reverse_sequence(
        x, convert_to_tensor(seq_lengths), axis=axis, batch_axis=batch
    )


@export("math.invert_permutation")
def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`: `y[x[i]] = i`.

    >>> tf.math.invert_permutation([2, 0, 1]).numpy()
    array([1, 2, 0], dtype=int32)
    """
    return sequences.invert_permutation(convert_to_tensor(x))


@export("unravel_index")
def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """The coordinates, in a tensor of shape `dims`, of elements numbered row by row.

    >>> tf.unravel_index([2, 5, 7], [3, 3]).numpy()
    array([[0, 1, 2],
           [2, 2, 1]], dtype=int32)
    """
    indices, dims = coerce(indices, dims)
    return sequences.unravel_index(indices, dims)


@export("math.is_non_decreasing")
def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element is less than the one before it, in the order of rows.

    >>> tf.math.is_non_decreasing([1, 1, 3]).numpy()
    np.True_
    """
    return _ordered(x, "is_non_decreasing", binary.less_equal)


@export("math.is_strictly_increasing")
def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element is greater than the one before it, in the order of rows.

    >>> tf.math.is_strictly_increasing([1, 1, 3]).numpy()
    np.False_
    """
    return _ordered(x, "is_strictly_increasing", binary.less)


def _ordered(x: Any, op: str, in_order: Any) -> Tensor:
    x = convert_to_tensor(x)
    if not (x.dtype.is_integer or x.dtype.is_floating):
        raise TypeError(f"{op}: x must be numeric, got {x.dtype.name}")
    n = x._array.size
    flat = moving.reshape(x, shape=(n,))
    first = picking.getitem(flat, index=(slice(0, larger(n - 1, 0)),))
    second = picking.getitem(flat, index=(slice(1, n),))
    return reducing.all_(in_order(first, second), axis=(0,), keepdims=False)


# Sums and polynomials.


@export("math.accumulate_n")
def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """The sum of a list of tensors of one shape and dtype.

    >>> tf.math.accumulate_n([[1, 2], [3, 4], [5, 6]]).numpy()
    array([ 9, 12], dtype=int32)

    Args:
      inputs: the tensors.
      shape: the shape they must have, if given.
      tensor_dtype: the dtype they must have, if given.
      name: accepted for compatibility.
    """
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(
            "accumulate_n: inputs must be a list of at least one tensor, all of one dtype and shape"
        )
    tensors = alike("accumulate_n", inputs)
    if any(x.dtype is not tensors[0].dtype for x in tensors):
        raise ValueError("accumulate_n: all inputs must have one dtype")
    if tensor_dtype is not None and tensors[0].dtype != tensor_dtype:
        raise TypeError(
            f"accumulate_n: tensor_dtype is {tensor_dtype}, and the inputs are "
            f"{tensors[0].dtype.name}"
        )
    for x in tensors:
        wanted = tensors[0].shape if shape is None else TensorShape(shape)
        if not wanted.is_compatible_with(x.shape):
            raise ValueError(f"accumulate_n: shapes {wanted} and {x.shape} are not compatible")
    return binary.add_n(*tensors)


@export("math.polyval")
def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The polynomial with the coefficients `coeffs`, the highest power first, at `x`.

    >>> tf.math.polyval([1.0, 2.0, 3.0], 2.0).numpy()
    np.float32(11.0)
    """
    if not isinstance(coeffs, list):
        raise ValueError(
            f"polyval: coeffs must be a list of numbers or tensors, got {type(coeffs)}"
        )
    x = convert_to_tensor(x)
    if not coeffs:
        return moving.zeros_like(x)
    # x decides the dtype of plain numbers, as it does for operators.
    total, *rest = [coerce(x, c)[1] for c in coeffs]
    for c in rest:
        total = c + total * x
    return total


# Division.


@export("truncatediv")
def truncatediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The quotient `x / y`, rounded towards zero.

    >>> tf.truncatediv([-7, 7], 2).numpy()
    array([-3,  3], dtype=int32)
    """
    return sequences.truncate_divide(x, y)


@export("truncatemod")
def truncatemod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """What a division towards zero leaves over. It has the sign of `x`.

    >>> tf.truncatemod([-7, 7], 2).numpy()
    array([-1,  1], dtype=int32)
    """
    return sequences.truncate_mod(x, y)


@export("realdiv")
def realdiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The quotient of floats or complex numbers; integers are refused.

    >>> tf.realdiv(3.0, 2.0).numpy()
    np.float32(1.5)
    """
    return binary.divide(x, y)


@export("math.nextafter")
def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """The next number after `x1` that the dtype has, in the direction of `x2`.

    >>> tf.math.nextafter(1.0, 2.0).numpy()
    np.float32(1.0000001)

    What is no tensor is made one of float32, or of the dtype of the other.
    """
    if not is_tensor(x1) and not is_tensor(x2):
        x1 = cast(x1, dtypes.float32)
        x2 = cast(x2, dtypes.float32)
    return sequences.next_after(x1, x2)
