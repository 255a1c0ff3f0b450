"""Random tensors from Keras's seeds.

Keras's random functions are functions of a seed: an integer, or a `SeedGenerator`, whose state is a variable that each
draw counts up. The state is the seed of stateless draws, as in Keras on TensorFlow, so that the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.backend.config import floatx
from keras.src.random.seed_generator import (
    SeedGenerator as SeedGenerator,
    draw_seed as draw_seed,
    make_default_seed as make_default_seed,
)

import tapeflow as tf
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable as TapeflowVariable
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor, dtype_of
from tapeflow._src.keras.backend.dtypes import as_float
from tapeflow._src.ops.arguments import ints
from tapeflow._src.ops.random.numbers import between
from tapeflow._src.primitives.nn import activations
from tapeflow._src.primitives.random import distributions, numbers
from tapeflow._src.primitives.random.streams import stateless

_NEXT = tf.constant([0, 1], tf.int64)
_SEEDS = tf.constant(2**31 - 2, tf.int64)
_OTHER = tf.constant(12, tf.int64)


def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None
) -> Tensor:
    """Numbers from a normal distribution."""
    dtype = dtype_of(dtype or floatx())
    noise = numbers.normal(_state(seed), shape=_sizes(shape), dtype=dtype)
    return _moved(noise, stddev, mean)


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None
) -> Tensor:
    """Numbers from a normal distribution, within two standard deviations."""
    dtype = dtype_of(dtype or floatx())
    noise = numbers.truncated_normal(_state(seed), shape=_sizes(shape), dtype=dtype)
    return _moved(noise, stddev, mean)


def uniform(
    shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: Any = None
) -> Tensor:
    """Numbers that are equally likely everywhere between two bounds, of which only the lower is reached."""
    dtype = dtype_of(dtype or floatx())
    unit = numbers.uniform(_state(seed), shape=_sizes(shape), dtype=dtype)
    if _is_number(minval) and _is_number(maxval) and (minval, maxval) == (0, 1):
        return unit
    return between(unit, convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype))


def randint(shape: Any, minval: Any, maxval: Any, dtype: Any = "int32", seed: Any = None) -> Tensor:
    """Integers from `minval` up to, but not including, `maxval`."""
    state, shape = _state(seed), _sizes(shape)
    wide = dtype_of(dtype)
    if wide not in (tf.int32, tf.int64):
        wide = tf.int64
    low, high = convert_to_tensor(minval, wide), convert_to_tensor(maxval, wide)
    if low.ndim or high.ndim:
        words = numbers.any_integers(state, shape=shape, dtype=wide)
        return cast(low + tf.math.floormod(words, high - low), dtype)
    return cast(numbers.uniform_integers(state, low, high, shape=shape, dtype=wide), dtype)


def categorical(logits: Any, num_samples: int, dtype: Any = "int64", seed: Any = None) -> Tensor:
    """Numbers of classes, as likely as the softmax of their logits says."""
    logits = as_float(logits)
    drawn = numbers.categorical(_state(seed), logits, num_samples=num_samples, dtype=tf.int64)
    return cast(drawn, dtype)


def dropout(
    inputs: Any, rate: float, noise_shape: Sequence[int | None] | None = None, seed: Any = None
) -> Tensor:
    """Zero for a random part of the elements; the others are scaled up to keep the expected sum."""
    inputs = convert_to_tensor(inputs)
    if rate == 0.0:
        return inputs
    if rate == 1.0:
        return tf.zeros_like(inputs)
    shape = inputs._array.shape
    if noise_shape is not None:
        shape = _sizes([shape[i] if size is None else size for i, size in enumerate(noise_shape)])
    kept = numbers.keep(
        _state(seed), convert_to_tensor(rate, inputs.dtype), shape=shape, dtype=inputs.dtype
    )
    return activations.dropout(inputs, kept, scale=1.0 / (1.0 - rate))


def shuffle(x: Any, axis: int = 0, seed: Any = None) -> Tensor:
    """The slices along an axis in a random order. Unlike `tf.random.shuffle` it has a gradient."""
    x = convert_to_tensor(x)
    keys = numbers.uniform(_state(seed), shape=(x._array.shape[axis],), dtype=tf.float32)
    return tf.gather(x, tf.argsort(keys), axis=axis)


def gamma(shape: Any, alpha: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Numbers from gamma distributions with scale 1. Gradients flow to `alpha`."""
    return _gamma(_state(seed), _sizes(shape), alpha, dtype_of(dtype or floatx()))


def beta(shape: Any, alpha: Any, beta: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Numbers from beta distributions. Gradients flow to `alpha` and `beta`."""
    words, shape, dtype = _words(seed), _sizes(shape), dtype_of(dtype or floatx())
    # The share of one of two gamma variables in their sum. In single precision at least: both may be tiny.
    wide = dtype if dtype.size > 2 else tf.float32
    first = _gamma(stateless(words), shape, alpha, wide)
    second = _gamma(stateless(words + _OTHER), shape, beta, wide)
    return cast(first / (first + second), dtype)


def binomial(
    shape: Any, counts: Any, probabilities: Any, dtype: Any = None, seed: Any = None
) -> Tensor:
    """How often something happens in `counts` trials."""
    shape = _sizes(shape)
    probabilities = as_float(probabilities)
    wide = probabilities.dtype if probabilities.dtype.size > 2 else tf.float32
    return distributions.binomial(
        _state(seed),
        _spread(convert_to_tensor(counts, wide), shape),
        _spread(cast(probabilities, wide), shape),
        shape=shape,
        dtype=dtype_of(dtype or floatx()),
    )


# Seeds.


def _state(seed: Any) -> Tensor:
    """The state to draw from. A generator goes on to its next."""
    return stateless(_words(seed))


def _words(seed: Any) -> Tensor:
    """Two seeds for a stateless draw, small enough for 32 bits, as Keras gives them to TensorFlow."""
    words = _drawn(seed)
    return words if words.dtype is tf.int32 else tf.math.floormod(words, _SEEDS)


def _drawn(seed: Any) -> Any:
    if type(seed) is SeedGenerator and not in_stateless_scope():
        # What `SeedGenerator.next` does, in one op: this is on the way of every dropout.
        variable = seed.state._value
        if isinstance(variable, TapeflowVariable):
            return variable._exchange(lambda now: now + _NEXT)
    return seed if isinstance(seed, Tensor) else draw_seed(seed)


# Parameters.


def _sizes(shape: Any) -> tuple[int, ...]:
    return ints("random", "shape", shape, scalar=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _moved(noise: Tensor, scale: Any, shift: Any) -> Tensor:
    """The noise scaled and moved, where there is something to do."""
    if not (_is_number(scale) and scale == 1):
        noise = noise * convert_to_tensor(scale, noise.dtype)
    if not (_is_number(shift) and shift == 0):
        noise = noise + convert_to_tensor(shift, noise.dtype)
    return noise


def _spread(parameter: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A parameter with an element for each draw; a single one does for all."""
    return tf.broadcast_to(parameter, shape) if parameter.ndim else parameter


def _gamma(state: Tensor, shape: tuple[int, ...], alpha: Any, dtype: DType) -> Tensor:
    alpha = convert_to_tensor(alpha, dtype)
    if alpha._array.shape != shape[len(shape) - alpha.ndim :]:
        alpha = _spread(alpha, shape)
    return distributions.gamma(state, alpha, shape=shape)
