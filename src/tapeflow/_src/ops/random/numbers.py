"""`tf.random`: random numbers, with TensorFlow's rules for seeds.

The bits and the transforms are in `tapeflow._src.primitives.random.numbers`; here are names, arguments and
seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.devices import elsewhere_now, on_this_computer
from tapeflow._src.core.placement.remote import beside, device_of, is_known, made_beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, ints
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.random import numbers, shuffling
from tapeflow._src.primitives.random.streams import PER_NUMBER, next_state, stateless, streams

_UNIFORM = (
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
    dtypes.int32,
    dtypes.int64,
)


@export("random.set_seed")
def set_seed(seed: Any) -> None:
    """Sets the global seed, and begins every sequence of random numbers again.

    >>> tf.random.set_seed(7)
    >>> a = tf.random.uniform([2])
    >>> tf.random.set_seed(7)
    >>> b = tf.random.uniform([2])
    >>> bool((a.numpy() == b.numpy()).all())
    True

    Two seeds decide what a random op gives: the global one and the op's own, its argument `seed`.

    - Neither is set: other numbers in each run of the program.
    - The global seed only: the numbers follow from it and from the place of the call in the
      sequence of calls.
    - The op's seed only: a sequence that is the same in each run of the program.
    - Both: a sequence that follows from both.

    Calls with the same op seed go on in one sequence; they do not repeat the same numbers. Inside of a `tf.function`
    each op has a sequence of its own, which goes on with each call of the function. The numbers are TensorFlow's.

    Args:
      seed: an integer. `None` takes the seed away again.
    """
    streams.set_seed(seed)


@export("random.normal")
def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Random numbers from a normal distribution.

    >>> tf.random.normal([2, 3], mean=1.0).shape
    TensorShape([2, 3])

    Gradients flow to `mean` and `stddev`: the result is `mean + stddev * noise`.

    Args:
      shape: the shape of the noise.
      mean: the mean, which broadcasts with `shape`.
      stddev: the standard deviation, which broadcasts with `shape`.
      dtype: a floating-point dtype.
      seed: see `tf.random.set_seed`.
      name: accepted for compatibility.
    """
    dtype = as_dtype(dtype)
    moved = scale_and_shift(stddev, mean, dtype)
    state, dims = stream_of("normal", shape, dtype, seed), _shape(shape)
    with made_beside(dims, dtype, *moved, shape):
        return scaled(numbers.normal(state(), shape=dims, dtype=dtype), *moved)


@export("random.truncated_normal")
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Normal random numbers within two standard deviations of the mean.

    >>> bool((abs(tf.random.truncated_normal([100]).numpy()) <= 2.0).all())
    True

    Args:
      shape: the shape of the noise.
      mean: the mean before truncation, which broadcasts with `shape`.
      stddev: the standard deviation before truncation.
      dtype: a floating-point dtype.
      seed: see `tf.random.set_seed`.
      name: accepted for compatibility.
    """
    dtype = as_dtype(dtype)
    moved = scale_and_shift(stddev, mean, dtype)
    state, dims = stream_of("truncated_normal", shape, dtype, seed), _shape(shape)
    with made_beside(dims, dtype, *moved, shape):
        return scaled(numbers.truncated_normal(state(), shape=dims, dtype=dtype), *moved)


@export("random.uniform")
def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Random numbers that are equally likely everywhere in `[minval, maxval)`.

    >>> x = tf.random.uniform([100], 0, 6, dtype=tf.int32).numpy()
    >>> bool(x.min() >= 0 and x.max() < 6)
    True

    Args:
      shape: the shape of the result.
      minval: the lower bound, which can be drawn.
      maxval: the upper bound, which cannot. It is 1 by default for floats, and needed for integers.
      dtype: float16, bfloat16, float32, float64, int32 or int64.
      seed: see `tf.random.set_seed`.
      name: accepted for compatibility.
    """
    dtype = as_dtype(dtype)
    if dtype not in _UNIFORM:
        accepted = ", ".join(d.name for d in _UNIFORM)
        raise ValueError(f"random.uniform: dtype must be one of {accepted}, got {dtype.name}")
    if maxval is None and dtype.is_integer:
        raise ValueError(f"random.uniform: must specify maxval for integer dtype {dtype.name}")
    state = stream_of("uniform", shape, dtype, seed)
    return uniform_from(state, shape, minval, maxval, dtype)


def uniform_from(state: Any, shape: Any, minval: Any, maxval: Any, dtype: DType) -> Tensor:
    """What all uniform ops share; `state()` gives the state to draw from."""
    low, high = _like(minval, dtype), _like(1 if maxval is None else maxval, dtype)
    dims = _shape(shape)
    with made_beside(dims, dtype, low, high, shape):
        if dtype.is_integer:
            # On a device nobody looks at the bounds, but these are mostly known here.
            scalars = not low._array.shape and not high._array.shape
            if elsewhere_now() and scalars and is_known(low) and is_known(high):
                numbers.check_bounds(low._array, high._array, dims)
            return numbers.uniform_integers(state(), low, high, shape=dims, dtype=dtype)
        unit = numbers.uniform(state(), shape=dims, dtype=dtype)
        return (
            unit if are_numbers((minval, maxval), (0, None), (0, 1)) else between(unit, low, high)
        )


def between(unit: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Numbers from 0 up to 1, which they are less than, brought to the range from `low` up to `high`.

    As in TensorFlow, rounding may give `high` itself where `low` is not 0.
    """
    return scaled(unit, high - low, low)


@export("random.shuffle")
def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """The rows of a tensor in random order.

    >>> sorted(tf.random.shuffle([1, 2, 3]).numpy().tolist())
    [1, 2, 3]

    Args:
      value: a tensor, shuffled along its first dimension. It gets no gradient.
      seed: see `tf.random.set_seed`.
      name: accepted for compatibility.
    """
    value = convert_to_tensor(value)
    rows = value._array.shape[0] if value._array.shape else 0
    # A word for each row but the last, and four words in each block.
    state = next_state(f"shuffle {value.dtype.name}", op_seed(seed), ((rows + 2) // 4,))
    if device_of(value) is None or not rows:
        return shuffling.shuffle(state, value)
    with on_this_computer():  # the rows themselves stay where they are
        order = shuffling.shuffle(state, Tensor(np.arange(rows)))
    return picking.gather(value, order, axis=0, batch_dims=0)


@export("random.categorical")
def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None
) -> Tensor:
    """Draws class numbers with the probabilities `softmax(logits)`.

    >>> tf.random.categorical([[0.0, -100.0]], 3).numpy()
    array([[0, 0, 0]])

    Args:
      logits: unscaled log probabilities, a matrix `[batch, classes]`.
      num_samples: how many to draw for each row.
      dtype: int32 or int64 (the default).
      seed: see `tf.random.set_seed`.
      name: accepted for compatibility.

    Returns:
      A tensor of shape `[batch, num_samples]`.
    """
    logits, dtype = convert_to_tensor(logits), _class_dtype(dtype)
    count = integer("categorical", "num_samples", num_samples)
    rows = logits._array.shape[0] if logits._array.shape else 0
    blocks = (rows, (count + 3) // 4 * 4, 2 * PER_NUMBER)
    state = next_state(f"categorical {logits.dtype.name} {dtype.name}", op_seed(seed), blocks)
    return numbers.categorical(state, logits, num_samples=count, dtype=dtype)


def _class_dtype(dtype: Any) -> DType:
    dtype = dtypes.int64 if dtype is None else as_dtype(dtype)
    if dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"random.categorical: dtype must be int32 or int64, got {dtype.name}")
    return dtype


# The same as functions of a seed alone.

_ALGORITHMS = ("philox", "threefry", "auto_select")


def check_algorithm(alg: Any) -> None:
    """Raises for the name of an algorithm that there is not. Their bits are the same here."""
    if isinstance(alg, str) and alg.lower() not in _ALGORITHMS:
        raise ValueError(
            f"Unsupported algorithm {shown(alg)}. There are {', '.join(map(repr, _ALGORITHMS))}."
        )


@export("random.stateless_normal")
def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Normal random numbers that are a function of `seed`: the same at every call.

    >>> a = tf.random.stateless_normal([2], seed=[1, 2])
    >>> b = tf.random.stateless_normal([2], seed=[1, 2])
    >>> bool((a.numpy() == b.numpy()).all())
    True

    Args:
      shape: the shape of the noise.
      seed: two integers.
      mean: the mean, which broadcasts with `shape`.
      stddev: the standard deviation, which broadcasts with `shape`.
      dtype: a floating-point dtype.
      name: accepted for compatibility.
      alg: accepted for compatibility.
    """
    check_algorithm(alg)
    dtype = as_dtype(dtype)
    moved = scale_and_shift(stddev, mean, dtype)
    with made_beside(_shape(shape), dtype, *moved, shape):
        noise = numbers.normal(stateless(seed), shape=_shape(shape), dtype=dtype)
        return scaled(noise, *moved)


@export("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Like `tf.random.truncated_normal`, as a function of `seed`.

    >>> tf.random.stateless_truncated_normal([2], seed=[1, 2]).shape
    TensorShape([2])
    """
    check_algorithm(alg)
    dtype = as_dtype(dtype)
    moved = scale_and_shift(stddev, mean, dtype)
    with made_beside(_shape(shape), dtype, *moved, shape):
        noise = numbers.truncated_normal(stateless(seed), shape=_shape(shape), dtype=dtype)
        return scaled(noise, *moved)


@export("random.stateless_uniform")
def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Like `tf.random.uniform`, as a function of `seed`.

    >>> tf.random.stateless_uniform([2], seed=[1, 2]).shape
    TensorShape([2])

    For an integer dtype with `minval=None` and `maxval=None` all values of the dtype are equally
    likely.
    """
    check_algorithm(alg)
    dtype = as_dtype(dtype)
    if dtype.is_integer and (minval is None) != (maxval is None):
        raise ValueError(
            f"random.stateless_uniform: for dtype {dtype.name}, minval and maxval must both be "
            "None or both be given, "
            f"got minval={shown(minval)} and maxval={shown(maxval)}"
        )
    if dtype.is_integer and minval is None:
        with beside(shape):
            return numbers.any_integers(stateless(seed), shape=_shape(shape), dtype=dtype)
    return uniform_from(lambda: stateless(seed), shape, minval, maxval, dtype)


@export("random.stateless_categorical")
def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Like `tf.random.categorical`, as a function of `seed`.

    >>> tf.random.stateless_categorical([[0.0, -100.0]], 3, seed=[1, 2]).numpy()
    array([[0, 0, 0]])
    """
    return numbers.categorical(
        stateless(seed),
        logits,
        num_samples=integer("categorical", "num_samples", num_samples),
        dtype=_class_dtype(dtype),
    )


# Arguments.


def stream_of(op: str, shape: Any, dtype: DType, seed: Any) -> Callable[[], Tensor]:
    """Gives the next state for an op that draws numbers of a shape.

    In TensorFlow, an op of another dtype is another kernel, with a stream of its own, and so is one whose shape is of
    another dtype.
    """
    kernel = f"{op} {dtype.name}"
    if getattr(shape, "dtype", None) in (dtypes.int64, np.int64):
        kernel += " int64"
    return lambda: next_state(kernel, op_seed(seed), (*_shape(shape), PER_NUMBER))


def op_seed(seed: Any) -> int | None:
    """The seed of an op as an int."""
    if seed is None:
        return None
    if isinstance(seed, (str, bytes)) or not hasattr(seed, "__int__"):
        raise TypeError(f"seed must be an integer or None, got {shown(seed)}")
    try:
        return int(seed)
    except OverflowError:
        raise TypeError(f"seed must be an integer or None, got {shown(seed)}") from None


def _like(value: Any, dtype: DType) -> Any:
    """A parameter as a tensor of `dtype`."""
    return convert_to_tensor(value, dtype)


def are_numbers(values: tuple[Any, ...], *expected: tuple[Any, ...]) -> bool:
    """Whether values are Python's own, which no gradient flows to, and those that are expected."""
    return all(type(v) in _NUMBERS for v in values) and values in expected


_NUMBERS = int, float, type(None)


def scale_and_shift(scale: Any, shift: Any, dtype: DType) -> tuple[Tensor, ...]:
    """Both as tensors; or nothing where they would change nothing."""
    return () if are_numbers((scale, shift), (1, 0)) else (_like(scale, dtype), _like(shift, dtype))


def scaled(noise: Tensor, scale: Tensor | None = None, shift: Any = None) -> Tensor:
    """What `scale_and_shift` gave, applied."""
    return noise if scale is None else noise * scale + shift


def _shape(shape: Any) -> tuple[int, ...]:
    return ints("random", "shape", shape)
