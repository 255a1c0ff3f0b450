"""`tf.nn`: dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import ints, number
from tapeflow._src.ops.random.numbers import op_seed, stream_of
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.nn import activations
from tapeflow._src.primitives.random import numbers
from tapeflow._src.primitives.random.streams import stateless, streams


@export("nn.dropout")
def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None
) -> Tensor:
    """Sets elements to 0 at random, and scales the others up so that sums keep their expectation.

    >>> y = tf.nn.dropout(tf.constant([1.0] * 1000), rate=0.5, seed=1)
    >>> sorted(set(y.numpy().tolist()))
    [0.0, 2.0]

    Args:
      x: a float tensor.
      rate: the probability to drop an element, in [0, 1).
      noise_shape: the shape of the random choice, which broadcasts to x: with `[batch, 1]` whole
        rows are dropped. `None` entries are taken from x.
      seed: see `tf.random.set_seed`.
      name: accepted for compatibility.
    """
    x, shape, rate, scale = _arguments(x, rate, noise_shape)
    if not isinstance(rate, Tensor) and rate == 0:
        streams.seeds(op_seed(seed))  # the ops after it draw what they would with another rate
        return x
    return _dropped(x, stream_of("uniform", shape, x.dtype, seed), shape, rate, scale)


@export("nn.experimental.stateless_dropout")
def stateless_dropout(
    x: Any,
    rate: Any,
    seed: Any,
    rng_alg: Any = None,
    noise_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """Like `tf.nn.dropout`, as a function of `seed`.

    >>> x = tf.ones([3, 5])
    >>> a = tf.nn.experimental.stateless_dropout(x, rate=0.5, seed=[1, 0])
    >>> b = tf.nn.experimental.stateless_dropout(x, rate=0.5, seed=[1, 0])
    >>> bool((a.numpy() == b.numpy()).all())
    True

    Args:
      x: a float tensor.
      rate: the probability to drop an element, in [0, 1).
      seed: two integers.
      rng_alg: accepted for compatibility.
      noise_shape: as in `tf.nn.dropout`.
      name: accepted for compatibility.
    """
    x, shape, rate, scale = _arguments(x, rate, noise_shape)
    if not isinstance(rate, Tensor) and rate == 0:
        return x
    return _dropped(x, lambda: stateless(seed), shape, rate, scale)


def _arguments(x: Any, rate: Any, noise_shape: Any) -> tuple[Tensor, tuple[int, ...], Any, float]:
    """The tensor, the shape of the noise, the rate, and by how much to scale."""
    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(
            f"dropout: `x.dtype` must be floating as `x` will be scaled, got {x.dtype.name}. "
            "Use tf.cast to change it."
        )
    shape = _noise_shape(x._array.shape, noise_shape)
    if isinstance(rate, Tensor) or hasattr(rate, "__tf_tensor__"):
        rate = convert_to_tensor(rate)
        if rate.dtype is not x.dtype or rate._array.shape:
            raise ValueError(
                f"dropout: `rate` must be a scalar of the dtype of `x`, {x.dtype.name}, got {rate}"
            )
        x = x / (1 - rate)
        scale = 1.0
    else:
        if isinstance(rate, str) or not hasattr(rate, "__float__"):
            raise ValueError(
                f"dropout: `rate` must be a scalar or scalar tensor, got {shown(rate)}"
            )
        rate = number("dropout", "rate", rate)
        if not 0 <= rate < 1:
            raise ValueError(
                "dropout: `rate` must be a scalar tensor or a float in the range [0, 1), "
                f"received {shown(rate)}"
            )
        scale = 1.0 / (1.0 - rate)
    return x, shape, rate, scale


def _dropped(
    x: Tensor, state: Callable[[], Tensor], shape: tuple[int, ...], rate: Any, scale: float
) -> Tensor:
    rate = convert_to_tensor(rate, x.dtype)
    with beside(x):
        keep = numbers.keep(state(), rate, shape=shape, dtype=x.dtype)
        return activations.dropout(x, keep, scale=scale)


def _noise_shape(shape: tuple[int, ...], noise: Any) -> tuple[int, ...]:
    if noise is None:
        return shape
    if isinstance(noise, (list, tuple)) and len(noise) == len(shape):
        noise = [n if d is None else d for d, n in zip(noise, shape, strict=True)]
    return ints("dropout", "noise_shape", noise)


@export("nn.experimental.general_dropout")
def general_dropout(
    x: Any,
    rate: Any,
    uniform_sampler: Callable[..., Any],
    noise_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """Like `tf.nn.dropout`, with random numbers from 0 to 1 that a function draws.

    >>> import functools
    >>> draw = functools.partial(tf.random.stateless_uniform, seed=[1, 0])
    >>> y = tf.nn.experimental.general_dropout(tf.ones([1000]), 0.5, draw)
    >>> sorted(set(y.numpy().tolist()))
    [0.0, 2.0]

    Args:
      x: a float tensor.
      rate: the probability to drop an element, in [0, 1).
      uniform_sampler: takes `shape` and `dtype`.
      noise_shape: the shape of the random choice, which broadcasts to x.
      name: accepted for compatibility.
    """
    x, shape, rate, scale = _arguments(x, rate, noise_shape)
    if not isinstance(rate, Tensor) and rate == 0:
        return x
    kept = uniform_sampler(shape=shape, dtype=x.dtype) >= rate
    return moving.select(kept, x * scale, moving.zeros_like(x))
