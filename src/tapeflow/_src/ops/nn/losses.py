"""Softmax and the losses that go with it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import broadcast_shapes
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axis_of
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.nn import activations, softmax as softmax_rows


@export("math.softmax", "nn.softmax")
def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Exponentials scaled to add up to 1 along an axis.

    >>> tf.nn.softmax([0.0, 0.0]).numpy()
    array([0.5, 0.5], dtype=float32)

    Args:
      logits: a float tensor of rank 1 or more.
      axis: the dimension to normalise; the last by default.
      name: accepted for compatibility.
    """
    logits = convert_to_tensor(logits)
    return softmax_rows.softmax(logits, axis=_axis("softmax", axis, logits))


@export("math.log_softmax", "nn.log_softmax")
def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """The logarithm of the softmax, exact where the softmax itself would round to 0.

    >>> tf.nn.log_softmax([0.0, 200.0]).numpy()
    array([-200.,    0.], dtype=float32)

    Args:
      logits: a float tensor of rank 1 or more.
      axis: the dimension to normalise; the last by default.
      name: accepted for compatibility.
    """
    logits = convert_to_tensor(logits)
    return softmax_rows.log_softmax(logits, axis=_axis("log_softmax", axis, logits))


def _axis(op: str, axis: Any, logits: Tensor) -> int:
    rank = logits.ndim
    if not rank:
        return 0  # the primitive names the mistake
    return rank - 1 if axis is None else axis_of(op, axis, rank)


@export("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: Any = -1, name: str | None = None
) -> Tensor:
    """The cross entropy between probabilities and the softmax of logits.

    >>> labels, logits = [[0.0, 1.0]], [[1.0, 1.0]]
    >>> tf.nn.softmax_cross_entropy_with_logits(labels, logits).numpy().round(4)
    array([0.6931], dtype=float32)

    Gradients flow to both `logits` and `labels`; use `tf.stop_gradient` on labels that are
    computed. The gradient to the logits is `softmax(logits) - labels`, which takes the labels to
    add up to 1.

    Args:
      labels: for each example the probability of each class.
      logits: unscaled log probabilities, of the same shape.
      axis: the dimension of the classes.
      name: accepted for compatibility.

    Returns:
      The loss of each example: a tensor of the same shape without the dimension `axis`.
    """
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels)
    if labels.dtype is not logits.dtype:
        labels = moving.cast(labels, dtype=logits.dtype)
    axis = _axis("softmax_cross_entropy_with_logits", axis, logits)
    if logits._array.shape != labels._array.shape:
        logits, labels = _matched(logits, labels)
    return softmax_rows.softmax_cross_entropy(logits, labels, axis=axis)


def _matched(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Labels in the shape of the logits, where one row may stand for all, and both as wide as the wider."""
    shape, labels_shape = logits._array.shape, labels._array.shape
    if shape and labels_shape and _rows_and_width(shape) == _rows_and_width(labels_shape):
        return logits, moving.reshape(labels, shape=shape)
    try:
        common = broadcast_shapes(shape, labels_shape)
    except ValueError:
        return logits, labels  # the primitive names the mistake
    if not shape or not labels_shape or _rows_and_width(common)[0] != _rows_and_width(shape)[0]:
        raise invalid(
            f"softmax_cross_entropy_with_logits: labels of shape {list(labels_shape)} do not fit logits of shape "
            f"{list(shape)}: there must be one loss for each row of the logits"
        )
    wide = (*shape[:-1], common[-1])
    logits = moving.broadcast_to(logits, shape=wide)
    return logits, moving.reshape(moving.broadcast_to(labels, shape=common), shape=wide)


def _rows_and_width(shape: tuple[Any, ...]) -> tuple[Any, Any]:
    return math.prod(shape[:-1]), shape[-1]


@export("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Tensor:
    """The cross entropy between class numbers and the softmax of logits.

    >>> tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[1.0, 1.0]]).numpy().round(4)
    array([0.6931], dtype=float32)

    Args:
      labels: the class of each example, an int32 or int64 tensor of any rank.
      logits: unscaled log probabilities, of the shape of `labels` with the classes as one more
        dimension at the end.
      name: accepted for compatibility.

    Returns:
      The loss of each example, in the shape of `labels` and the dtype of `logits`.
    """
    if labels is None or logits is None:
        raise ValueError(_missing("sparse_softmax_cross_entropy_with_logits", labels, logits))
    return softmax_rows.sparse_softmax_cross_entropy(logits, labels)


@export("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """The cross entropy between probabilities and the sigmoid of logits, element by element.

    >>> tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]).numpy().round(4)
    array([0.6931], dtype=float32)

    Args:
      labels: probabilities, of the dtype and shape of `logits`.
      logits: a float tensor.
      name: accepted for compatibility.
    """
    if labels is None or logits is None:
        raise ValueError(_missing("sigmoid_cross_entropy_with_logits", labels, logits))
    return softmax_rows.sigmoid_cross_entropy(logits, labels)


@export("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
) -> Tensor:
    """Like `tf.nn.sigmoid_cross_entropy_with_logits`, with another weight on positive examples.

    >>> tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [0.0, 0.0], 2.0).numpy().round(4)
    array([1.3863, 0.6931], dtype=float32)

    Args:
      labels: probabilities, of the dtype and shape of `logits`.
      logits: a float tensor.
      pos_weight: the weight of positive examples. Above 1 it favours recall, below 1 precision.
      name: accepted for compatibility.
    """
    logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
    if logits._array.shape != labels._array.shape:
        raise ValueError(
            "weighted_cross_entropy_with_logits: `logits` and `labels` must have the same shape, "
            f"received ({logits._array.shape} vs {labels._array.shape})."
        )
    if isinstance(pos_weight, np.ndarray):  # NumPy has other words for a mistake
        pos_weight = convert_to_tensor(pos_weight, dtype_hint=labels.dtype)
    weight = (pos_weight - 1) * labels + 1
    return (1 - labels) * logits + weight * unary.softplus(-logits)


def _missing(op: str, labels: Any, logits: Any) -> str:
    return (
        f"Both `labels` and `logits` must be provided for {op}, "
        f"received labels={shown(labels)} and logits={shown(logits)}"
    )


@export("nn.log_poisson_loss")
def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """The negative log-likelihood of counts under a Poisson distribution of a given log rate.

    >>> tf.nn.log_poisson_loss([1.0], [0.0]).numpy()
    array([1.], dtype=float32)

    Args:
      targets: the counts.
      log_input: the logarithm of the rate, of the same shape.
      compute_full_loss: whether to add Stirling's approximation of log(targets!), which has no
        gradient in `log_input`.
      name: accepted for compatibility.
    """
    log_input, targets = convert_to_tensor(log_input), convert_to_tensor(targets)
    if log_input._array.shape != targets._array.shape:
        raise ValueError(
            "log_poisson_loss: `log_input` and `targets` must have the same shape, received "
            f"({log_input._array.shape} vs {targets._array.shape})."
        )
    loss = unary.exp(log_input) - log_input * targets
    if compute_full_loss:
        stirling = targets * unary.log(targets) - targets + unary.log(targets * _TAU) * 0.5
        small = binary.logical_and(
            binary.greater_equal(targets, 0.0), binary.less_equal(targets, 1.0)
        )
        loss = loss + moving.select(small, moving.zeros_like(stirling), stirling)
    return loss


_TAU = 6.283185307179586


@export("nn.l2_loss")
def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Half the sum of squares.

    >>> tf.nn.l2_loss([3.0, 4.0]).numpy()
    np.float32(12.5)
    """
    return activations.l2_loss(t)
