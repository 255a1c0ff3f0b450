"""`tf.nn`: means and variances from sums, with weights, and the losses that are averaged over all replicas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axes_of
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.nn.activations import batch_normalization
from tapeflow._src.primitives.array import checks, moving, patterns
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.reduction import reducing


@export("nn.sufficient_statistics")
def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """The count, sum and sum of squares over `axes`: what `tf.nn.normalize_moments` makes moments of.

    >>> count, total, squares, _ = tf.nn.sufficient_statistics(tf.constant([1.0, 3.0]), axes=[0])
    >>> float(count), float(total), float(squares)
    (2.0, 4.0, 10.0)

    Args:
      x: a tensor.
      axes: the dimension or dimensions to add up.
      shift: what to subtract from x first: near the mean, it keeps the sums precise.
      keepdims: whether to keep the dimensions, with size 1.
      name: accepted for compatibility.

    Returns:
      The number of elements in each sum, the sums, the sums of squares, and the shift.
    """
    x = convert_to_tensor(x)
    axis = axes_of("sufficient_statistics", axes, x)
    count = patterns.scalar(math.prod(x._array.shape[i] for i in axis), x.dtype)
    if shift is not None:
        x, shift = coerce(x, shift)
    moved = x if shift is None else x - shift
    total = reducing.sum_(moved, axis=axis, keepdims=bool(keepdims))
    squares = reducing.sum_(unary.square(moved), axis=axis, keepdims=bool(keepdims))
    return count, total, squares, shift


@export("nn.normalize_moments")
def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The mean and the variance, from what `tf.nn.sufficient_statistics` gives.

    >>> statistics = tf.nn.sufficient_statistics(tf.constant([1.0, 3.0]), axes=[0])
    >>> mean, variance = tf.nn.normalize_moments(*statistics)
    >>> float(mean), float(variance)
    (2.0, 1.0)

    Args:
      counts: how many elements there are.
      mean_ss: their sum.
      variance_ss: the sum of their squares.
      shift: what was subtracted from them, or None.
      name: accepted for compatibility.
    """
    counts, mean_ss = coerce(counts, mean_ss)
    moved = mean_ss / counts
    variance = variance_ss / counts - unary.square(moved)
    return (moved if shift is None else moved + shift), variance


@export("nn.weighted_moments")
def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance over `axes`, of elements that count by their weight.

    >>> mean, variance = tf.nn.weighted_moments(tf.constant([1.0, 3.0]), [0], [3.0, 1.0])
    >>> float(mean), float(variance)
    (1.5, 0.75)

    Args:
      x: a tensor. Half precision is computed in float32.
      axes: the dimension or dimensions to average over.
      frequency_weights: the weights, which broadcast with x.
      keepdims: whether to keep the dimensions, with size 1.
      name: accepted for compatibility.
    """
    x, weights = coerce(x, frequency_weights)
    axis = axes_of("weighted_moments", axes, x)
    half = x.dtype in (dtypes.float16, dtypes.bfloat16)
    wide, weights = (cast(t, dtypes.float32) if half else t for t in (x, weights))
    total = reducing.sum_(weights + moving.zeros_like(wide), axis=axis, keepdims=True)
    mean = binary.divide_no_nan(reducing.sum_(weights * wide, axis=axis, keepdims=True), total)
    squares = weights * unary.square(wide - mean)
    variance = binary.divide_no_nan(reducing.sum_(squares, axis=axis, keepdims=True), total)
    if not keepdims:
        left = reducing.reduced_shape(x._array.shape, axis, False)
        mean, variance = (moving.reshape(t, shape=left) for t in (mean, variance))
    return cast(mean, x.dtype), cast(variance, x.dtype)


@export("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    input: Any,
    mean: Any,
    variance: Any,
    beta: Any,
    gamma: Any,
    variance_epsilon: Any,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """Batch normalization with its older order of arguments: see `tf.nn.batch_normalization`.

    >>> x = tf.constant([[[[1.0], [3.0]]]])
    >>> y = tf.nn.batch_norm_with_global_normalization(x, [2.0], [1.0], [5.0], [9.0], 0.0, False)
    >>> y.numpy().ravel().tolist()
    [4.0, 6.0]

    Args:
      input: a tensor.
      mean: its mean.
      variance: its variance.
      beta: what is added.
      gamma: what is multiplied by, if it is at all.
      variance_epsilon: a small number that keeps the division from overflowing.
      scale_after_normalization: whether to multiply by gamma.
      name: accepted for compatibility.
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)


@export("nn.compute_average_loss")
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """The sum of the losses of examples, divided by the size of the batch of all replicas of `tf.distribute`.

    >>> tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=4).numpy()
    np.float32(0.75)

    Args:
      per_example_loss: the losses, of rank 1 or more.
      sample_weight: what each of them counts for.
      global_batch_size: the size of the batch; by default that of the losses, times the number of replicas.
    """
    losses = convert_to_tensor(per_example_loss)
    if not losses._array.ndim:
        raise ValueError(
            "compute_average_loss: per_example_loss must have at least one dimension, got a scalar"
        )
    if sample_weight is not None:
        losses = losses * cast(sample_weight, losses.dtype)
    count = _replicas("compute_average_loss")
    total = _summed(losses)
    if global_batch_size is None:
        return total / (losses._array.shape[0] * count)
    size = convert_to_tensor(global_batch_size)
    if size._array.ndim:
        raise ValueError(
            f"compute_average_loss: global_batch_size must be a scalar, got shape {size.shape}"
        )
    if not size.dtype.is_integer:
        raise TypeError(
            f"compute_average_loss: global_batch_size must be an integer, got {size.dtype.name}"
        )
    message = "compute_average_loss: global_batch_size must not be negative"
    size = checks.check_bounds(size, low=0, high=np.inf, message=message)
    return binary.divide_no_nan(total, cast(size, total.dtype))


@export("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The sum of the regularization losses, divided by the number of replicas of `tf.distribute`.

    >>> tf.nn.scale_regularization_loss([1.0, 2.0]).numpy()
    np.float32(3.0)
    """
    losses = convert_to_tensor(regularization_loss)
    count = _replicas("scale_regularization_loss")
    return _summed(losses) if count == 1 else _summed(losses) / count


def _replicas(op: str) -> int:
    if context.strategy is None:
        return 1
    if context.replica is None:
        raise RuntimeError(
            f"You are calling `{op}` in cross replica context, while it was expected to be called in replica context."
        )
    return context.strategy.num_replicas_in_sync


def _summed(losses: Tensor) -> Tensor:
    """The sum, and of integers what a division makes of it."""
    total = reducing.sum_(losses, axis=tuple(range(losses._array.ndim)), keepdims=False)
    return total / 1 if total.dtype.is_integer else total
