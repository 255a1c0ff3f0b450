"""Activations: functions of single elements, and the softmax family."""

from __future__ import annotations

from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor, shape
from tapeflow._src.keras.backend.nn.operands import floats

# Bent lines.


def relu(x: Any) -> Tensor:
    """`x` where it is positive, and else 0."""
    return tf.nn.relu(convert_to_tensor(x))


def relu6(x: Any) -> Tensor:
    """`x` between 0 and 6."""
    return tf.nn.relu6(convert_to_tensor(x))


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Tensor:
    """`x` where it is positive, and else a small multiple of it."""
    return tf.nn.leaky_relu(floats(x), negative_slope)


def hard_sigmoid(x: Any) -> Tensor:
    """The line (x + 3) / 6, cut off at 0 and 1."""
    return tf.nn.relu6(floats(x) + 3.0) * (1 / 6)


def hard_silu(x: Any) -> Tensor:
    """`x` times its hard sigmoid."""
    x = floats(x)
    return x * hard_sigmoid(x)


def hard_tanh(x: Any) -> Tensor:
    """`x` between -1 and 1."""
    return tf.clip_by_value(floats(x), -1.0, 1.0)


def hard_shrink(x: Any, threshold: float = 0.5) -> Tensor:
    """x, and 0 within the threshold."""
    x = floats(x)
    return tf.where(tf.abs(x) > threshold, x, 0.0)


def soft_shrink(x: Any, threshold: float = 0.5) -> Tensor:
    """`x` moved towards 0 by the threshold, and 0 within it."""
    x = floats(x)
    return x - tf.clip_by_value(x, -threshold, threshold)


def threshold(x: Any, threshold: float, default_value: float) -> Tensor:
    """`x` above the threshold, and else a value."""
    x = floats(x)
    return tf.where(x > threshold, x, default_value)


def sparse_sigmoid(x: Any) -> Tensor:
    """The line (x + 1) / 2, cut off at 0 and 1."""
    return tf.clip_by_value((floats(x) + 1.0) * 0.5, 0.0, 1.0)


def sparse_plus(x: Any) -> Tensor:
    """0 up to -1, x from 1 on, and a parabola between."""
    x = floats(x)
    return tf.where(x < 1.0, tf.square(tf.nn.relu(x + 1.0)) * 0.25, x)


# Smooth curves.


def sigmoid(x: Any) -> Tensor:
    """1 / (1 + exp(-x)). Losses find the logits that it was made of."""
    x = floats(x)
    return _made_of(x, tf.nn.sigmoid(x))


def log_sigmoid(x: Any) -> Tensor:
    """The logarithm of the sigmoid."""
    return tf.math.log_sigmoid(floats(x))


def tanh(x: Any) -> Tensor:
    """The hyperbolic tangent."""
    return tf.nn.tanh(floats(x))


def tanh_shrink(x: Any) -> Tensor:
    """The difference x - tanh(x)."""
    x = floats(x)
    return x - tf.nn.tanh(x)


def softplus(x: Any) -> Tensor:
    """log(1 + exp(x))."""
    return tf.nn.softplus(floats(x))


def softsign(x: Any) -> Tensor:
    """The quotient x / (1 + |x|)."""
    return tf.nn.softsign(floats(x))


def silu(x: Any) -> Tensor:
    """`x` times its sigmoid."""
    return tf.nn.silu(floats(x))


def squareplus(x: Any, b: float = 4) -> Tensor:
    """(x + sqrt(x² + b)) / 2."""
    x = floats(x)
    return (x + tf.sqrt(tf.square(x) + b)) * 0.5


def elu(x: Any, alpha: float = 1.0) -> Tensor:
    """`x` where it is positive, and else alpha (exp(x) - 1)."""
    x = floats(x)
    bent = tf.nn.elu(x)
    return bent if alpha == 1.0 else tf.where(x > 0.0, x, bent * alpha)


def celu(x: Any, alpha: float = 1.0) -> Tensor:
    """`x` where it is positive, and else alpha (exp(x / alpha) - 1), which is smooth for every alpha."""
    x = floats(x)
    return tf.nn.elu(x) if alpha == 1.0 else tf.nn.elu(x / alpha) * alpha


def selu(x: Any) -> Tensor:
    """The elu scaled so that layers of it keep mean 0 and variance 1."""
    return tf.nn.selu(floats(x))


def gelu(x: Any, approximate: bool = True) -> Tensor:
    """`x` times the probability that a normal number is below it."""
    return tf.nn.gelu(floats(x), approximate)


def glu(x: Any, axis: int = -1) -> Tensor:
    """One half of x times the sigmoid of the other."""
    x = floats(x)
    if shape(x)[axis] % 2:
        raise ValueError(f"glu: the size of axis {axis} must be even, got shape {x.shape}")
    value, gate = tf.split(x, 2, axis)
    return value * tf.nn.sigmoid(gate)


# Functions of a whole axis.


def softmax(x: Any, axis: int | None = -1) -> Tensor:
    """Exponentials scaled to add up to 1 along an axis, or over all elements if it is None.

    Losses find the logits that it was made of.
    """
    x = floats(x)
    if axis is None:
        return _made_of(x, tf.reshape(tf.nn.softmax(tf.reshape(x, [-1])), shape(x)))
    return _made_of(x, tf.nn.softmax(x, axis))


def _made_of(logits: Any, probabilities: Any) -> Any:
    """Probabilities that remember their logits; ragged ones, of which there are no such losses, do not."""
    if isinstance(probabilities, tf.Tensor):
        vars(probabilities)["_keras_logits"] = logits
    return probabilities


def log_softmax(x: Any, axis: int | None = -1) -> Tensor:
    """The logarithm of the softmax."""
    x = floats(x)
    if axis is None:
        return tf.reshape(tf.nn.log_softmax(tf.reshape(x, [-1])), shape(x))
    return tf.nn.log_softmax(x, axis)


def sparsemax(x: Any, axis: int = -1) -> Tensor:
    """Like a softmax, but what is far below the maximum is 0."""
    x = floats(x)
    falling = tf.sort(x, axis, direction="DESCENDING")
    sums = tf.cumsum(falling, axis)
    ranks_shape = [1] * len(shape(x))
    ranks_shape[axis] = -1
    ranks = tf.reshape(tf.range(1, shape(x)[axis] + 1), ranks_shape)
    in_support = falling * tf.cast(ranks, x.dtype) > sums - 1.0
    count = tf.reduce_sum(tf.cast(in_support, x.dtype), axis, keepdims=True)
    # All of Keras's backends add up the partial sums here, and a model must predict the same on each of them. For
    # probabilities that add up to 1 where more than one is left, it would be the elements.
    total = tf.reduce_sum(tf.where(in_support, sums, 0.0), axis, keepdims=True)
    return tf.nn.relu(x - (total - 1.0) / count)
