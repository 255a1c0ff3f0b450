"""First values of variables: `tf.zeros_initializer` and its relatives."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import constant
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array.creation import ones, zeros
from tapeflow._src.ops.random import numbers


class Initializer:
    """What all initializers share: they are called with a shape and a dtype, and can be made again from a config."""

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        """A first value.

        Args:
          shape: its shape.
          dtype: its dtype.
          **kwargs: `partition_shape` and `partition_offset`, for a part of a larger variable.
        """
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Makes an initializer from what `get_config` gave."""
        if not isinstance(config, dict):
            raise wrong_object(f"{cls.__name__}.from_config", "config", "a dict", config)
        return cls(**{k: v for k, v in config.items() if k != "dtype"})


@export("zeros_initializer")
class zeros_initializer(Initializer):
    """Zeros.

    >>> tf.zeros_initializer()([2]).numpy()
    array([0., 0.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Zeros of `shape`."""
        return zeros(_part(shape, kwargs), _countable(dtype))


@export("ones_initializer")
class ones_initializer(Initializer):
    """Ones.

    >>> tf.ones_initializer()([2]).numpy()
    array([1., 1.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Ones of `shape`."""
        return ones(_part(shape, kwargs), _countable(dtype))


@export("constant_initializer")
class constant_initializer(Initializer):
    """A value, or values as many as the shape holds.

    >>> tf.constant_initializer(3.0)([2]).numpy()
    array([3., 3.], dtype=float32)

    Args:
      value: a Python number, nested list or NumPy array.
      support_partition: accepted for compatibility.
    """

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        if not isinstance(value, (list, tuple, str, bytes)) and not (
            hasattr(value, "__array__") or isinstance(value, (bool, int, float, complex))
        ):
            raise TypeError(
                f"constant_initializer: value must be a number, a list or an array, got {type(value).__name__}"
            )
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        """The value in `shape`, by default in its own dtype."""
        return constant(self.value, dtype=dtype, shape=_part(shape, kwargs))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {"value": self.value}


@export("random_uniform_initializer")
class random_uniform_initializer(Initializer):
    """Uniform random numbers.

    >>> x = tf.random_uniform_initializer(-1.0, 1.0)([100]).numpy()
    >>> bool(x.min() >= -1.0 and x.max() < 1.0)
    True

    Args:
      minval: the lower bound.
      maxval: the upper bound.
      seed: with one, every call gives the same numbers.
    """

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None) -> None:
        self.minval = minval
        self.maxval = maxval
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Random numbers of `shape`."""
        dtype = as_dtype(dtype)
        if not (dtype.is_floating or dtype.is_integer):
            raise ValueError(
                f"random_uniform_initializer: expected a numeric dtype, got {dtype.name}"
            )
        shape = _part(shape, kwargs)
        if self.seed is None:
            return numbers.uniform(shape, self.minval, self.maxval, dtype)
        return numbers.stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


@export("random_normal_initializer")
class random_normal_initializer(Initializer):
    """Normal random numbers.

    >>> tf.random_normal_initializer(stddev=0.1)([2, 3]).shape
    TensorShape([2, 3])

    Args:
      mean: the mean.
      stddev: the standard deviation.
      seed: with one, every call gives the same numbers.
    """

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None) -> None:
        self.mean = mean
        self.stddev = stddev
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Random numbers of `shape`."""
        dtype = as_dtype(dtype)
        if not dtype.is_floating:
            raise ValueError(
                f"random_normal_initializer: expected a floating-point dtype, got {dtype.name}"
            )
        shape = _part(shape, kwargs)
        if self.seed is None:
            return numbers.normal(shape, self.mean, self.stddev, dtype)
        return numbers.stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


def _part(shape: Any, kwargs: dict[str, Any]) -> Any:
    """The shape to make: that of a part, if one is named."""
    for keyword in kwargs:
        if keyword not in ("partition_shape", "partition_offset"):
            raise TypeError(
                f"an initializer takes the keywords partition_shape and partition_offset, got {keyword}"
            )
    return kwargs.get("partition_shape") or shape


def _countable(dtype: Any) -> DType:
    dtype = as_dtype(dtype)
    if dtype is dtypes.string:
        raise ValueError("expected a numeric or bool dtype, got string")
    return dtype
