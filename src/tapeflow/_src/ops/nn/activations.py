"""`tf.nn`: activations, normalisation, embeddings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axes_of, axis_of, integer, number
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.nn import activations
from tapeflow._src.primitives.reduction import ordering, reducing
from tapeflow._src.primitives.rules import invalid
from tapeflow._src.primitives.special import gamma

# Activations.


@export("nn.relu")
def relu(features: Any, name: str | None = None) -> Tensor:
    """max(x, 0). Its slope at 0 is 0.

    >>> tf.nn.relu([-1.0, 2.0]).numpy()
    array([0., 2.], dtype=float32)
    """
    return unary.relu(features)


@export("nn.relu6")
def relu6(features: Any, name: str | None = None) -> Tensor:
    """min(max(x, 0), 6).

    >>> tf.nn.relu6([-1.0, 2.0, 8.0]).numpy()
    array([0., 2., 6.], dtype=float32)
    """
    return activations.relu6(features)


@export("nn.leaky_relu")
def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """Positive numbers as they are, and alpha times the others. Integers become float32.

    >>> tf.nn.leaky_relu([-1.0, 2.0]).numpy()
    array([-0.2,  2. ], dtype=float32)

    Args:
      features: a real tensor.
      alpha: the slope for x <= 0, a Python number.
      name: accepted for compatibility.
    """
    features = convert_to_tensor(features)
    if isinstance(alpha, Tensor) or not hasattr(alpha, "__float__"):
        raise TypeError(f"leaky_relu: alpha must be a Python number, got {shown(alpha)}")
    alpha = number("leaky_relu", "alpha", alpha)
    if features.dtype.is_integer:
        features = moving.cast(features, dtype=dtypes.float32)
    if alpha < 0:
        return moving.select(binary.greater(features, 0.0), features, features * alpha)
    return activations.leaky_relu(features, alpha=alpha)


@export("nn.crelu")
def crelu(features: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """The relu of x and the relu of -x, side by side along `axis`.

    >>> tf.nn.crelu([-1.0, 2.0]).numpy()
    array([0., 2., 1., 0.], dtype=float32)
    """
    features = convert_to_tensor(features)
    axis = axis_of("crelu", axis, features.ndim)
    return unary.relu(moving.concat(features, -features, axis=axis))


@export("nn.elu")
def elu(features: Any, name: str | None = None) -> Tensor:
    """Positive numbers as they are, and exp(x) - 1 for the others.

    >>> tf.nn.elu([-1.0, 2.0]).numpy().round(4)
    array([-0.6321,  2.    ], dtype=float32)
    """
    return activations.elu(features)


@export("nn.selu")
def selu(features: Any, name: str | None = None) -> Tensor:
    """The elu scaled so that layers of it keep mean 0 and variance 1.

    >>> tf.nn.selu([-1.0, 2.0]).numpy().round(4)
    array([-1.1113,  2.1014], dtype=float32)
    """
    return activations.selu(features)


@export("nn.gelu")
def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """The product of x and the probability that a standard normal number is below x.

    >>> tf.nn.gelu([-1.0, 2.0]).numpy().round(4)
    array([-0.1587,  1.9545], dtype=float32)

    Args:
      features: a float tensor.
      approximate: whether to use the approximation by `tanh`, which is faster.
      name: accepted for compatibility.
    """
    features = convert_to_tensor(features)
    if not features.dtype.is_floating:
        raise ValueError(
            f"gelu: `features.dtype` must be a floating point dtype, got {features.dtype.name}. "
            "Use tf.cast to change it."
        )
    if approximate:
        return activations.gelu_tanh(features)
    # Of primitives and not one of its own: the tape keeps the erf, which takes as long as all the rest.
    # Halved first: twice a large number would be infinite.
    return features * ((gamma.erf(features * _ROOT_HALF) + 1.0) * 0.5)


_ROOT_HALF = 0.7071067811865476


@export("nn.silu")
def silu(features: Any, beta: Any = 1.0) -> Tensor:
    """The product x * sigmoid(beta * x).

    >>> tf.nn.silu([-1.0, 2.0]).numpy().round(4)
    array([-0.2689,  1.7616], dtype=float32)
    """
    if type(beta) is float and beta == 1.0:
        return activations.silu(features)
    features = convert_to_tensor(features)
    return features * unary.sigmoid(features * beta)


swish = silu


# Normalisation.


@export("linalg.l2_normalize", "math.l2_normalize", "nn.l2_normalize")
def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """Divides by the Euclidean norm: x / sqrt(max(sum(x**2), epsilon)), the sum over `axis`.

    >>> tf.nn.l2_normalize([3.0, 4.0]).numpy().round(4)
    array([0.6, 0.8], dtype=float32)

    Args:
      x: a float or complex tensor.
      axis: the dimension or dimensions of a vector; all of them by default.
      epsilon: a lower bound for the squared norm.
      name: accepted for compatibility.
      dim: the old name of `axis`.
    """
    x = convert_to_tensor(x)
    axes = axes_of("l2_normalize", axis if dim is None else dim, x)
    squares = unary.square(unary.abs_(x) if x.dtype.is_complex else x)
    total = reducing.sum_(squares, axis=axes, keepdims=True)
    scale = unary.rsqrt(binary.maximum(total, epsilon))
    return x * (moving.cast(scale, dtype=x.dtype) if x.dtype.is_complex else scale)


@export("nn.moments")
def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The mean and the variance of x over `axes`. Half precision is computed in float32.

    >>> mean, variance = tf.nn.moments(tf.constant([1.0, 3.0]), axes=[0])
    >>> float(mean), float(variance)
    (2.0, 1.0)

    Args:
      x: a tensor.
      axes: the dimension or dimensions to average over.
      shift: not used, as in TensorFlow.
      keepdims: whether to keep the averaged dimensions, with size 1.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(x)
    axis = axes_of("moments", axes, x)
    half = x.dtype in (dtypes.float16, dtypes.bfloat16)
    wide = moving.cast(x, dtype=dtypes.float32) if half else x
    mean = reducing.mean(wide, axis=axis, keepdims=True)
    variance = activations.variance(wide, mean, axis=axis, keepdims=keepdims)
    if not keepdims:
        mean = moving.reshape(mean, shape=variance._array.shape)
    if half:
        return moving.cast(mean, dtype=x.dtype), moving.cast(variance, dtype=x.dtype)
    return mean, variance


@export("nn.batch_normalization")
def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + variance_epsilon) * scale + offset.

    >>> x = tf.constant([[1.0], [3.0]])
    >>> mean, variance = tf.nn.moments(x, axes=[0])
    >>> tf.nn.batch_normalization(x, mean, variance, None, None, 0.0).numpy().tolist()
    [[-1.0], [1.0]]

    Args:
      x: a tensor.
      mean: the mean, which broadcasts to x.
      variance: the variance, which broadcasts to x.
      offset: what to add in the end, or `None`.
      scale: what to multiply with, or `None`.
      variance_epsilon: a small number that keeps the root away from 0.
      name: accepted for compatibility.
    """
    x, mean, variance = convert_to_tensor(x), convert_to_tensor(mean), convert_to_tensor(variance)
    factor = unary.rsqrt(variance + variance_epsilon)
    if scale is not None:
        factor = factor * scale
    shift = -mean * factor if offset is None else offset - mean * factor
    if factor.dtype is not x.dtype:
        factor, shift = moving.cast(factor, dtype=x.dtype), moving.cast(shift, dtype=x.dtype)
    return x * factor + shift


@export("math.zero_fraction", "nn.zero_fraction")
def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of elements that are 0.

    >>> tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]).numpy()
    np.float32(0.5)
    """
    value = convert_to_tensor(value)
    zero = moving.cast(binary.equal(value, moving.zeros_like(value)), dtype=dtypes.float32)
    return reducing.mean(zero, axis=axes_of("zero_fraction", None, zero), keepdims=False)


# Simple layers.


@export("nn.bias_add")
def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """Adds a vector to the channels of a tensor.

    >>> tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy()
    array([[11., 22.]], dtype=float32)

    Args:
      value: a tensor of rank 2 or more.
      bias: one number for each channel.
      data_format: "N...C" (the default) if channels are the last dimension, "NC..." if they are the
        second.
      name: accepted for compatibility.
    """
    if data_format is not None and not (
        isinstance(data_format, str) and re.match("N.*C$|NC", data_format, re.DOTALL)
    ):
        raise ValueError(
            "bias_add: `data_format` must be of the form `N...C` or `NC...`, "
            f"received {shown(data_format)}"
        )
    first = data_format is not None and not data_format.endswith("C")
    value = convert_to_tensor(value)
    bias = convert_to_tensor(bias)
    shape, channels = value._array.shape, bias._array.shape
    if len(shape) < 2:
        raise invalid(f"bias_add: the input must be at least 2D, got shape {list(shape)}")
    if len(channels) != 1 or channels[0] != shape[1 if first else -1]:
        raise invalid(
            "bias_add: must provide as many biases as the channels of the input: "
            f"bias {list(channels)} vs. input {list(shape)} with data_format={shown(data_format)}"
        )
    if first and len(shape) > 2:
        bias = moving.reshape(bias, shape=(channels[0],) + (1,) * (len(shape) - 2))
    return binary.add(value, bias)


@export("nn.embedding_lookup")
def embedding_lookup(
    params: Any, ids: Any, max_norm: float | None = None, name: str | None = None
) -> Tensor:
    """The rows of `params` with the numbers `ids`.

    >>> tf.nn.embedding_lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [1, 0]).numpy()
    array([[3., 4.],
           [1., 2.]], dtype=float32)

    The gradient to a single tensor or variable is a `tf.IndexedSlices` of just these rows.

    Args:
      params: a tensor or variable, or a list of them that together hold the rows, in order.
      ids: int32 or int64 row numbers, of any shape.
      max_norm: if given, rows with a larger Euclidean norm are scaled down to it.
      name: accepted for compatibility.

    Returns:
      A tensor of shape `ids.shape + params.shape[1:]`.
    """
    if params is None:
        raise ValueError("embedding_lookup: params must be specified")
    if isinstance(params, Sequence):
        if not params:
            raise ValueError(
                "embedding_lookup: need at least one tensor in params, got an empty list"
            )
        parts = [convert_to_tensor(p) for p in params]
        table = parts[0] if len(parts) == 1 else moving.concat(*parts, axis=0)
    else:
        table = convert_to_tensor(params)
    ids = convert_to_tensor(ids)
    rows = picking.gather(table, ids, axis=0, batch_dims=0)
    if max_norm is None:
        return rows
    return _clip(rows, max_norm, tuple(range(ids.ndim, rows.ndim)))


def _clip(rows: Tensor, max_norm: float, axes: tuple[int, ...]) -> Tensor:
    squares = reducing.sum_(rows * rows, axis=axes, keepdims=True)
    # The root has no slope at 0, and rows of zeros are not to be clipped.
    positive = binary.greater(squares, 0.0)
    safe = moving.select(positive, squares, moving.ones_like(squares))
    norm = moving.select(positive, unary.sqrt(safe), squares)
    return rows * max_norm / binary.maximum(norm, max_norm)


# Ranking.


class TopKV2(NamedTuple):
    """What `tf.nn.top_k` returns."""

    values: Tensor
    indices: Tensor


@export("math.top_k", "nn.top_k")
def top_k(
    input: Any,
    k: Any = 1,
    sorted: bool = True,
    index_type: Any = dtypes.int32,
    name: str | None = None,
) -> TopKV2:
    """The `k` largest elements of the last dimension, and where they are.

    Of equal ones the first comes first.

    >>> tf.nn.top_k([1.0, 3.0, 2.0], k=2).values.numpy()
    array([3., 2.], dtype=float32)

    Args:
      input: a real tensor of rank 1 or more.
      k: how many.
      sorted: accepted for compatibility: the elements are always sorted, largest first.
      index_type: the dtype of the indices.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input)
    indices = activations.top_k_indices(x, k=integer("top_k", "k", k), dtype=as_dtype(index_type))
    return TopKV2(ordering.take_along(x, indices, axis=x.ndim - 1), indices)


@export("math.in_top_k", "nn.in_top_k")
def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether the prediction for the target class is among the `k` largest of its row.

    >>> tf.nn.in_top_k([0, 2], [[0.1, 0.9, 0.5], [0.1, 0.9, 0.5]], k=2).numpy()
    array([False,  True])

    Classes that tie are all in. A target out of range or a row that is not finite is not.
    """
    return activations.in_top_k(targets, predictions, k=integer("in_top_k", "k", k))


export_value("swish", "nn.swish")
