"""Random numbers, by NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.numpy.creation import sizes
from tapeflow._src.numpy.dtypes import array_of, default_float, to
from tapeflow._src.ops.array.shaping import shape as shape_of
from tapeflow._src.ops.random import distributions, numbers
from tapeflow._src.ops.random.numbers import set_seed


@export("experimental.numpy.random.seed")
def seed(s: int) -> None:
    """Sets the seed: as `tf.random.set_seed`.

    >>> tf.experimental.numpy.random.seed(1)
    """
    set_seed(s)


@export("experimental.numpy.random.rand")
def rand(*size: int) -> Tensor:
    """Numbers from 0 to 1.

    >>> tf.experimental.numpy.random.rand(2, 3).shape
    TensorShape([2, 3])
    """
    return uniform(0.0, 1.0, size or None)


@export("experimental.numpy.random.random")
def random(size: Any = None) -> Tensor:
    """Numbers from 0 to 1.

    >>> tf.experimental.numpy.random.random((2,)).shape
    TensorShape([2])
    """
    return uniform(0.0, 1.0, size)


@export("experimental.numpy.random.uniform")
def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers from a range.

    >>> tf.experimental.numpy.random.uniform(size=[2]).dtype
    tf.float64
    """
    low, high = array_of(low, default_float()), array_of(high, default_float())
    shape = shape_of(low + high) if size is None else sizes(size)
    return numbers.uniform(shape, dtype=default_float()) * (high - low) + low


@export("experimental.numpy.random.randn")
def randn(*args: int) -> Tensor:
    """Numbers of the normal distribution.

    >>> tf.experimental.numpy.random.randn(2).shape
    TensorShape([2])
    """
    return standard_normal(args)


@export("experimental.numpy.random.standard_normal")
def standard_normal(size: Any = None) -> Tensor:
    """Numbers of the normal distribution.

    >>> tf.experimental.numpy.random.standard_normal([2]).dtype
    tf.float64
    """
    return numbers.normal([] if size is None else sizes(size), dtype=default_float())


@export("experimental.numpy.random.randint")
def randint(
    low: Any,
    high: Any = None,
    size: Any = None,
    dtype: Any = np.int64,
) -> Tensor:
    """Whole numbers from a range, without its end.

    >>> int(tf.experimental.numpy.random.randint(1))
    0
    """
    low, high = (0, low) if high is None else (low, high)
    wanted = as_dtype(dtype)
    wide = wanted if wanted.name in ("int32", "int64") else as_dtype(np.int64)
    found = numbers.uniform([] if size is None else sizes(size), low, high, wide)
    return to(found, wanted)


@export("experimental.numpy.random.poisson")
def poisson(lam: Any = 1.0, size: Any = None) -> Tensor:
    """How many events there are, of so many on average.

    >>> tf.experimental.numpy.random.poisson(0.0).numpy()
    np.int64(0)
    """
    shape = [] if size is None else sizes(size)
    found = distributions.poisson(shape, array_of(lam, default_float()), dtype=default_float())
    return to(found, np.int64)
