"""Clipping: keeping values, or the norms of gradients, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axes_of
from tapeflow._src.ops.array import shaping as ops
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.rules import FLOAT, check_dtype
from tapeflow._src.primitives.specs import ArraySpec


@export("clip_by_value")
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Limits every element to the range from `clip_value_min` to `clip_value_max`.

    The gradient passes where the element was within the bounds or on them, and stops where it was
    cut off.

    >>> tf.clip_by_value([-2.0, 0.5, 3.0], 0.0, 1.0).numpy()
    array([0. , 0.5, 1. ], dtype=float32)

    Args:
      t: a tensor or `tf.IndexedSlices`.
      clip_value_min: the lower bound: a number, or a tensor that broadcasts to the shape of `t`.
      clip_value_max: the upper bound. Where the bounds cross, the lower one holds.
      name: accepted for compatibility.
    """
    if isinstance(t, IndexedSlices):
        values = clip_by_value(t.values, clip_value_min, clip_value_max)
        return IndexedSlices(values, t.indices, t.dense_shape)
    t = convert_to_tensor(t)
    clipped = binary.maximum(binary.minimum(t, clip_value_max), clip_value_min)
    if clipped._array.shape != t._array.shape:
        raise ValueError(
            f"clip_by_value: the bounds must broadcast to the shape of t, {t.shape}; with them "
            "the result would have "
            f"shape {clipped.shape}."
        )
    return clipped


@export("clip_by_norm")
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Scales a tensor down so that its Euclidean norm is at most `clip_norm`.

    >>> tf.clip_by_norm([3.0, 4.0], 1.0).numpy()
    array([0.6, 0.8], dtype=float32)

    Args:
      t: a tensor or `tf.IndexedSlices`.
      clip_norm: the greatest norm to allow: a positive scalar.
      axes: the dimensions to take the norm over: an int, a list, or None for all.
      name: accepted for compatibility.
    """
    if isinstance(t, IndexedSlices):
        return IndexedSlices(clip_by_norm(t.values, clip_norm, axes), t.indices, t.dense_shape)
    t = convert_to_tensor(t)
    check_dtype("clip_by_norm", "t", ArraySpec(t._array.shape, t.dtype), FLOAT)
    if isinstance(clip_norm, Tensor) or hasattr(clip_norm, "__tf_tensor__"):
        clip_norm = ops.cast(clip_norm, t.dtype)
    else:
        clip_norm = convert_to_tensor(clip_norm, t.dtype)
    clip_norm = binary.maximum(clip_norm, 0.0)
    over = axes_of("clip_by_norm", axes, t)
    squares = reducing.sum_(t * t, axis=over, keepdims=True)
    # The square root has no gradient at zero, so a zero is replaced before it and put back after.
    positive = binary.greater(squares, moving.zeros_like(squares))
    safe = moving.select(positive, squares, moving.ones_like(squares))
    norm = moving.select(positive, unary.sqrt(safe), squares)
    clipped = t * clip_norm / binary.maximum(norm, clip_norm)
    if clipped._array.shape != t._array.shape:
        raise ValueError(
            f"clip_by_norm: clip_norm {list(clip_norm.shape)} must broadcast to the shape of t, "
            f"{list(t.shape)}; with it, the result would have shape {list(clipped.shape)}."
        )
    return clipped


@export("linalg.global_norm")
def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """The Euclidean norm of several tensors taken together.

    >>> tf.linalg.global_norm([tf.constant([3.0]), tf.constant([[4.0]]), None]).numpy()
    np.float32(5.0)

    Args:
      t_list: a list of float tensors, `tf.IndexedSlices` and Nones. A None counts as nothing.
      name: accepted for compatibility.
    """
    _check_list(t_list)
    halves = [_half_square(values) for t in t_list if (values := _values(t)) is not None]
    if not halves:
        return convert_to_tensor(np.float32(0.0))
    return unary.sqrt(binary.add_n(*halves) * 2.0)


@export("clip_by_global_norm")
def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """Scales several tensors by one factor so that their global norm is at most `clip_norm`.

    This is the usual cure for exploding gradients: their directions stay as they are.

    >>> gradients = [tf.constant([3.0]), None, tf.constant([4.0])]
    >>> clipped, norm = tf.clip_by_global_norm(gradients, 1.0)
    >>> clipped[0].numpy(), clipped[1], clipped[2].numpy(), norm.numpy()
    (array([0.6], dtype=float32), None, array([0.8], dtype=float32), np.float32(5.0))

    Args:
      t_list: a list of float tensors, `tf.IndexedSlices` and Nones.
      clip_norm: the greatest norm to allow: a positive scalar.
      use_norm: the global norm, if it is known already.
      name: accepted for compatibility.

    Returns:
      The list of clipped tensors, with None where None was given, and the global norm before
      clipping. If that is infinite or NaN, all elements are NaN, so that the trouble is not hidden.
    """
    _check_list(t_list)
    norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    bound = clip_norm if isinstance(clip_norm, Tensor) else convert_to_tensor(clip_norm, norm.dtype)
    one = moving.ones_like(norm)
    # min(1 / norm, 1 / bound) rather than bound / norm: a norm of zero scales by one.
    scale = bound * binary.minimum(one / norm, one / bound)
    scale = scale + (norm - norm)  # 0, or NaN for a norm that is not finite
    clipped = [_scaled(t, scale) for t in t_list]
    return clipped, norm


def _check_list(t_list: Any) -> None:
    if not isinstance(t_list, Sequence) or isinstance(t_list, (str, bytes)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")


def _values(t: Any) -> Tensor | None:
    if t is None:
        return None
    return t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t)


def _half_square(x: Tensor) -> Tensor:
    check_dtype("global_norm", "t_list", ArraySpec(x._array.shape, x.dtype), FLOAT)
    axes = tuple(range(x._array.ndim))
    return reducing.sum_(unary.square(x), axis=axes, keepdims=False) * 0.5


def _scaled(t: Any, scale: Tensor) -> Any:
    values = _values(t)
    if values is None:
        return None
    values = values * ops.cast(scale, values.dtype)
    return (
        IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values
    )
