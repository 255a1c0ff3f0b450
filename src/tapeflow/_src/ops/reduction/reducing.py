"""Reductions along axes: sums, means, extremes and where they are, norms, running sums."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.arguments import axes_of, axis_of
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.reduction import reducing, running
from tapeflow._src.primitives.rules import INEXACT, check_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec


@export("reduce_sum", "math.reduce_sum")
def reduce_sum(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = False, name: str | None = None
) -> Tensor:
    """The sum of the elements along `axis`.

    >>> tf.math.reduce_sum([[1, 2], [3, 4]], axis=1).numpy()
    array([3, 7], dtype=int32)

    Args:
      input_tensor: the tensor to reduce.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input_tensor)
    return reducing.sum_(x, axis=axes_of("reduce_sum", axis, x), keepdims=bool(keepdims))


@export("reduce_mean", "math.reduce_mean")
def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = False, name: str | None = None
) -> Tensor:
    """The mean of the elements along `axis`. That of integers is an integer, rounded towards zero.

    >>> tf.math.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=0).numpy()
    array([2., 3.], dtype=float32)

    Args:
      input_tensor: the tensor to reduce.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input_tensor)
    return reducing.mean(x, axis=axes_of("reduce_mean", axis, x), keepdims=bool(keepdims))


@export("reduce_max", "math.reduce_max")
def reduce_max(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = False, name: str | None = None
) -> Tensor:
    """The greatest element along `axis`. Equal ones share the gradient.

    >>> tf.math.reduce_max([[1, 2], [3, 4]], axis=1).numpy()
    array([2, 4], dtype=int32)

    Args:
      input_tensor: the tensor to reduce.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input_tensor)
    return reducing.max_(x, axis=axes_of("reduce_max", axis, x), keepdims=bool(keepdims))


@export("reduce_min", "math.reduce_min")
def reduce_min(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = False, name: str | None = None
) -> Tensor:
    """The least element along `axis`. Equal ones share the gradient.

    >>> tf.math.reduce_min([[1, 2], [3, 4]], axis=1).numpy()
    array([1, 3], dtype=int32)

    Args:
      input_tensor: the tensor to reduce.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input_tensor)
    return reducing.min_(x, axis=axes_of("reduce_min", axis, x), keepdims=bool(keepdims))


@export("reduce_prod", "math.reduce_prod")
def reduce_prod(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = False, name: str | None = None
) -> Tensor:
    """The product of the elements along `axis`.

    >>> tf.math.reduce_prod([[1, 2], [3, 4]], axis=1).numpy()
    array([ 2, 12], dtype=int32)

    Args:
      input_tensor: the tensor to reduce.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input_tensor)
    return reducing.prod(x, axis=axes_of("reduce_prod", axis, x), keepdims=bool(keepdims))


def _bools(value: Any) -> Tensor:
    has_dtype = isinstance(value, (Tensor, Variable))
    return convert_to_tensor(value, None if has_dtype else dtypes.bool_)


@export("reduce_any", "math.reduce_any")
def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = False, name: str | None = None
) -> Tensor:
    """Whether any element along `axis` is true.

    >>> tf.math.reduce_any([[True, False], [False, False]], axis=1).numpy()
    array([ True, False])

    Args:
      input_tensor: the tensor to reduce.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    x = _bools(input_tensor)
    return reducing.any_(x, axis=axes_of("reduce_any", axis, x), keepdims=bool(keepdims))


@export("reduce_all", "math.reduce_all")
def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = False, name: str | None = None
) -> Tensor:
    """Whether all elements along `axis` are true.

    >>> tf.math.reduce_all([[True, False], [True, True]], axis=1).numpy()
    array([False,  True])

    Args:
      input_tensor: the tensor to reduce.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    x = _bools(input_tensor)
    return reducing.all_(x, axis=axes_of("reduce_all", axis, x), keepdims=bool(keepdims))


@export("reduce_logsumexp", "math.reduce_logsumexp")
def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = False, name: str | None = None
) -> Tensor:
    """log(sum(exp(x))) along `axis`, computed so that it does not overflow.

    >>> tf.math.reduce_logsumexp([0.0, 0.0, 0.0]).numpy().round(4)
    np.float32(1.0986)

    Args:
      input_tensor: the tensor to reduce.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input_tensor)
    return reducing.logsumexp(x, axis=axes_of("reduce_logsumexp", axis, x), keepdims=bool(keepdims))


@export("math.reduce_euclidean_norm")
def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = False, name: str | None = None
) -> Tensor:
    """The square root of the sum of squares along `axis`.

    >>> tf.math.reduce_euclidean_norm([[3.0, 4.0], [6.0, 8.0]], axis=1).numpy()
    array([ 5., 10.], dtype=float32)

    Args:
      input_tensor: the tensor to reduce.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input_tensor)
    return reducing.euclidean_norm(
        x, axis=axes_of("reduce_euclidean_norm", axis, x), keepdims=bool(keepdims)
    )


@export("math.reduce_variance")
def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = False, name: str | None = None
) -> Tensor:
    """The mean of the squared distances to the mean along `axis`.

    >>> tf.math.reduce_variance([1.0, 2.0, 3.0, 4.0]).numpy()
    np.float32(1.25)

    Args:
      input_tensor: a float or complex tensor. The variance of complex numbers is real.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    return _variance("reduce_variance", input_tensor, axis, keepdims)


@export("math.reduce_std")
def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = False, name: str | None = None
) -> Tensor:
    """The standard deviation along `axis`: the square root of the variance.

    >>> tf.math.reduce_std([[1.0, 3.0], [2.0, 2.0]], axis=1).numpy()
    array([1., 0.], dtype=float32)

    Args:
      input_tensor: a float or complex tensor.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    return unary.sqrt(_variance("reduce_std", input_tensor, axis, keepdims))


def _variance(op: str, value: Any, axis: Any, keepdims: bool | None) -> Tensor:
    x = convert_to_tensor(value)
    check_dtype(op, "input_tensor", ArraySpec(x._array.shape, x.dtype), INEXACT)
    axes = axes_of(op, axis, x)
    away = x - reducing.mean(x, axis=axes, keepdims=True)
    squared = unary.square(unary.abs_(away) if x.dtype.is_complex else away)
    return reducing.mean(squared, axis=axes, keepdims=bool(keepdims))


@export("math.count_nonzero")
def count_nonzero(
    input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """How many elements along `axis` are not zero (of strings, not empty).

    >>> tf.math.count_nonzero([[0, 1, 0], [1, 1, 0]], axis=1).numpy()
    array([1, 2])

    Args:
      input: the tensor to look at.
      axis: the dimensions to reduce: an int, a list of them, or None for all.
      keepdims: whether to keep the reduced dimensions, with length 1.
      dtype: the dtype of the counts.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input)
    axes = axes_of("count_nonzero", axis, x)
    return reducing.count_nonzero(x, axis=axes, keepdims=bool(keepdims), dtype=as_dtype(dtype))


# Where the extremes are.


@export("argmax", "math.argmax")
def argmax(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """The position of the greatest element along `axis`, the first one if there are several.

    >>> tf.math.argmax([[1, 5, 2], [7, 0, 7]], axis=1).numpy()
    array([1, 0])

    Args:
      input: the tensor to look at.
      axis: the dimension to look along; the first if not given.
      output_type: the dtype of the result: int16, uint16, int32 or int64.
      name: accepted for compatibility.
    """
    return _position("argmax", reducing.argmax, input, axis, output_type)


@export("argmin", "math.argmin")
def argmin(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """The position of the least element along `axis`, the first one if there are several.

    >>> tf.math.argmin([[1, 5, 2], [7, 0, 0]], axis=1).numpy()
    array([0, 1])

    Args:
      input: the tensor to look at.
      axis: the dimension to look along; the first if not given.
      output_type: the dtype of the result: int16, uint16, int32 or int64.
      name: accepted for compatibility.
    """
    return _position("argmin", reducing.argmin, input, axis, output_type)


_POSITIONS = (dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64)


def _position(op: str, primitive: Any, value: Any, axis: Any, output_type: Any) -> Tensor:
    x = convert_to_tensor(value)
    dtype = as_dtype(output_type)
    if dtype not in _POSITIONS:
        raise invalid(f"{op}: output_type must be int16, uint16, int32 or int64, got {dtype.name}")
    return primitive(x, axis=axis_of(op, 0 if axis is None else axis, x.ndim), dtype=dtype)


# Running sums and products.


@export("cumsum", "math.cumsum")
def cumsum(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The running sum along `axis`.

    >>> tf.math.cumsum([1, 2, 3]).numpy()
    array([1, 3, 6], dtype=int32)
    >>> tf.math.cumsum([1, 2, 3], exclusive=True, reverse=True).numpy()
    array([5, 3, 0], dtype=int32)

    Args:
      x: the tensor to sum.
      axis: the dimension to go along.
      exclusive: whether each sum leaves out the element at its own place.
      reverse: whether to begin at the end.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(x)
    axis = axis_of("cumsum", axis, x.ndim)
    return running.cumsum(x, axis=axis, exclusive=bool(exclusive), reverse=bool(reverse))


@export("math.cumprod")
def cumprod(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The running product along `axis`. Its gradient is right where elements are zero, too.

    >>> tf.math.cumprod([1, 2, 3]).numpy()
    array([1, 2, 6], dtype=int32)
    >>> tf.math.cumprod([1, 2, 3], exclusive=True).numpy()
    array([1, 1, 2], dtype=int32)

    Args:
      x: the tensor to multiply.
      axis: the dimension to go along.
      exclusive: whether each product leaves out the element at its own place.
      reverse: whether to begin at the end.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(x)
    axis = axis_of("cumprod", axis, x.ndim)
    return running.cumprod(x, axis=axis, exclusive=bool(exclusive), reverse=bool(reverse))
