"""Cross entropies."""

from __future__ import annotations

import warnings
from typing import Any

from keras.src.backend.config import epsilon

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor
from tapeflow._src.keras.backend.nn.operands import floats
from tapeflow._src.primitives.reduction.ordering import take_along


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """The cross entropy of probabilities, or logits, and a probability of each class."""
    target, output = _pair(target, output)
    if not output.ndim:
        raise ValueError(
            f"Arguments `target` and `output` must be at least rank 1. Received: target.shape={target.shape}, "
            f"output.shape={output.shape}"
        )
    output, from_logits = _logits(output, from_logits, "Softmax", "categorical_crossentropy")
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(target, output, axis)
    output = output / tf.reduce_sum(output, axis, keepdims=True)
    return -tf.reduce_sum(target * tf.math.log(_inside(output)), axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """The cross entropy of probabilities, or logits, and the number of the right class."""
    target, output = convert_to_tensor(target), floats(output)
    rank = output.ndim
    if not rank:
        raise ValueError(
            f"Argument `output` must be at least rank 1. Received: output.shape={output.shape}"
        )
    if axis not in (-1, rank - 1):
        raise ValueError(f"Only axis=-1 is currently supported. Received: axis={axis}")
    if target.dtype not in (tf.int32, tf.int64):
        target = tf.cast(target, tf.int32)
    if target.ndim == rank and target._array.shape[-1] == 1:
        target = tf.squeeze(target, -1)
    if not _fit(target._array.shape, output._array.shape[:-1]):
        raise ValueError(
            "Arguments `target` and `output` must have the same shape up until the last dimension: "
            f"target.shape={target.shape}, output.shape={output.shape}"
        )
    output, from_logits = _logits(output, from_logits, "Softmax", "sparse_categorical_crossentropy")
    if from_logits:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(target, output)
    # The logarithm of the one probability that counts, and not of all. Negative labels, which would count from the
    # end, are huge without a sign, and out of range.
    places = tf.expand_dims(tf.cast(target, tf.uint32), -1)
    right = take_along(output, places, axis=rank - 1)
    right = tf.squeeze(right, -1) / tf.reduce_sum(output, -1)
    return -tf.math.log(_inside(right))


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Tensor:
    """The cross entropy of each probability, or logit, and that of the target."""
    target, output = _pair(target, output)
    output, from_logits = _logits(output, from_logits, "Sigmoid", "binary_crossentropy")
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(target, output)
    output = _inside(output)
    return -(target * tf.math.log(output) + (1.0 - target) * tf.math.log(1.0 - output))


def _logits(output: Tensor, from_logits: bool, kind: str, loss: str) -> tuple[Tensor, bool]:
    """The logits that probabilities were made of, if they say so: the loss of them is exact where those are 0 or 1."""
    logits = getattr(output, "_keras_logits", None)
    if logits is None:
        return output, from_logits
    if from_logits:
        warnings.warn(
            f'"`{loss}` received `from_logits=True`, but the `output` argument was produced by a {kind} activation '
            "and thus does not represent logits. Was this intended?",
            stacklevel=3,
        )
    return cast(floats(logits), output.dtype), True


def _inside(probability: Tensor) -> Tensor:
    """A probability that has a logarithm."""
    return tf.clip_by_value(probability, epsilon(), 1.0 - epsilon())


def _pair(target: Any, output: Any) -> tuple[Tensor, Tensor]:
    output = floats(output)
    target = cast(target, output.dtype)
    if not _fit(target._array.shape, output._array.shape):
        raise ValueError(
            f"Arguments `target` and `output` must have the same shape. Received: target.shape={target.shape}, "
            f"output.shape={output.shape}"
        )
    return target, output


def _fit(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Whether two shapes may be the same: sizes that are not known yet fit any."""
    if len(a) != len(b):
        return False
    return all(m == n for m, n in zip(a, b, strict=True) if type(m) is type(n) is int)
