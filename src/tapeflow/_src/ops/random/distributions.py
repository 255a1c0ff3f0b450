"""`tf.random`: gamma, Poisson, binomial and bounded normal numbers, and seeds made from seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, ints
from tapeflow._src.ops.array import creation
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.random.numbers import check_algorithm, op_seed
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.random import (
    bounded,
    distributions,
    index_shuffle as permutations,
    numbers,
    shuffling,
)
from tapeflow._src.primitives.random.streams import PER_NUMBER, next_state, stateless


@export("random.gamma")
def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Random numbers from gamma distributions, `shape` of them for each parameter.

    >>> tf.random.gamma([5], [0.5, 1.5]).shape
    TensorShape([5, 2])

    Gradients flow to `alpha` and `beta`.

    Args:
      shape: the shape of the draws for each parameter.
      alpha: the shape parameter.
      beta: the inverse scale, which broadcasts with `alpha`; 1 by default.
      dtype: float16, float32 or float64.
      seed: see `tf.random.set_seed`.
      name: accepted for compatibility.
    """
    dtype = as_dtype(dtype)
    alpha = convert_to_tensor(alpha, dtype)
    beta = convert_to_tensor(1 if beta is None else beta, dtype)
    common = np.broadcast_shapes(alpha._array.shape, beta._array.shape)
    whole = (*ints("random.gamma", "shape", shape, scalar=True), *common)
    state = next_state(f"gamma {dtype.name}", op_seed(seed), (*whole, PER_NUMBER))
    return _scaled_gamma(state, whole, alpha, beta)


@export("random.stateless_gamma")
def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers from gamma distributions, as a function of `seed`.

    >>> alpha = tf.constant([0.5, 2.0])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(alpha)
    ...     x = tf.random.stateless_gamma([10, 2], seed=[1, 2], alpha=alpha)
    >>> tape.gradient(x, alpha).shape
    TensorShape([2])

    Args:
      shape: the shape of the result, which ends with that of the parameters.
      seed: two integers.
      alpha: the shape parameter.
      beta: the inverse scale, which broadcasts with `alpha`; 1 by default.
      dtype: float16, float32 or float64.
      name: accepted for compatibility.
    """
    dtype = as_dtype(dtype)
    alpha = convert_to_tensor(alpha, dtype)
    beta = convert_to_tensor(1 if beta is None else beta, dtype)
    return _scaled_gamma(stateless(seed), _shape("stateless_gamma", shape), alpha, beta)


def _scaled_gamma(state: Tensor, shape: tuple[int, ...], alpha: Tensor, beta: Tensor) -> Tensor:
    common = np.broadcast_shapes(alpha._array.shape, beta._array.shape)
    if alpha._array.shape != common:
        alpha = moving.broadcast_to(alpha, shape=common)
    return distributions.gamma(state, alpha, shape=shape) / beta


@export("random.poisson")
def poisson(
    shape: Any,
    lam: Any,
    dtype: Any = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
) -> Tensor:
    """Random counts from Poisson distributions, `shape` of them for each parameter.

    >>> tf.random.poisson([5], [0.5, 100.0]).shape
    TensorShape([5, 2])

    Args:
      shape: the shape of the draws for each parameter.
      lam: the mean.
      dtype: the dtype of the result.
      seed: see `tf.random.set_seed`.
      name: accepted for compatibility.
    """
    lam = convert_to_tensor(lam)
    dtype = as_dtype(dtype)
    whole = (*ints("random.poisson", "shape", shape, scalar=True), *lam._array.shape)
    kernel = f"poisson {lam.dtype.name} {dtype.name}"
    state = next_state(kernel, op_seed(seed), (*whole, PER_NUMBER))
    return distributions.poisson(state, lam, shape=whole, dtype=dtype)


@export("random.stateless_poisson")
def stateless_poisson(
    shape: Any, seed: Any, lam: Any, dtype: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """Random counts from Poisson distributions, as a function of `seed`.

    >>> tf.random.stateless_poisson([3], seed=[1, 2], lam=0.0).numpy()
    array([0, 0, 0], dtype=int32)

    Args:
      shape: the shape of the result, which ends with that of `lam`.
      seed: two integers.
      lam: the mean.
      dtype: the dtype of the result.
      name: accepted for compatibility.
    """
    return distributions.poisson(
        stateless(seed),
        lam,
        shape=_shape("stateless_poisson", shape),
        dtype=as_dtype(dtype),
    )


@export("random.stateless_binomial")
def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How often something of probability `probs` happens in `counts` trials, as a function of `seed`.

    >>> tf.random.stateless_binomial([2], seed=[1, 2], counts=[10.0, 10.0], probs=[0.0, 1.0]).numpy()
    array([ 0, 10], dtype=int32)

    Args:
      shape: the shape of the result, which ends with that of the parameters.
      seed: two integers.
      counts: the number of trials.
      probs: the probability of success, which broadcasts with `counts`.
      output_dtype: the dtype of the result.
      name: accepted for compatibility.
    """
    probs = convert_to_tensor(probs)
    counts = cast(convert_to_tensor(counts), probs.dtype)
    return distributions.binomial(
        stateless(seed),
        counts,
        probs,
        shape=_shape("stateless_binomial", shape),
        dtype=as_dtype(output_dtype),
    )


@export("random.stateless_parameterized_truncated_normal")
def stateless_parameterized_truncated_normal(
    shape: Any,
    seed: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    name: str | None = None,
) -> Tensor:
    """Normal random numbers between bounds, as a function of `seed`. Gradients flow to all parameters.

    >>> x = tf.random.stateless_parameterized_truncated_normal([9], [1, 2], minvals=3.0, maxvals=4.0)
    >>> bool(tf.reduce_all((x >= 3.0) & (x <= 4.0)))
    True

    Args:
      shape: the shape of the result, which ends with that of the parameters.
      seed: two integers.
      means: the means before truncation.
      stddevs: the standard deviations before truncation.
      minvals: the lower bounds.
      maxvals: the upper bounds.
      name: accepted for compatibility.
    """
    means, stddevs = coerce(means, stddevs)
    _, minvals = coerce(means, minvals)
    _, maxvals = coerce(means, maxvals)
    noise = bounded.bounded_normal(
        stateless(seed),
        (minvals - means) / stddevs,
        (maxvals - means) / stddevs,
        shape=_shape("stateless_parameterized_truncated_normal", shape),
    )
    return noise * stddevs + means


@export("random.experimental.stateless_shuffle")
def stateless_shuffle(
    value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None
) -> Tensor:
    """The rows of a tensor in random order, as a function of `seed`.

    >>> sorted(tf.random.experimental.stateless_shuffle([1, 2, 3], seed=[1, 2]).numpy().tolist())
    [1, 2, 3]

    Args:
      value: a tensor. It gets no gradient.
      seed: two integers.
      alg: accepted for compatibility.
      name: accepted for compatibility.
    """
    check_algorithm(alg)
    return shuffling.shuffle(stateless(seed), value)


@export("random.experimental.index_shuffle")
def index_shuffle(index: Any, seed: Any, max_index: Any) -> Tensor:
    """Where a number goes in a permutation of the numbers from 0 to `max_index`, which the seed decides.

    >>> tf.random.experimental.index_shuffle(tf.range(4), seed=[5, 9], max_index=3).numpy()
    array([2, 0, 1, 3], dtype=int32)

    Nothing is made of the size of the permutation: each number is computed alone.

    Args:
      index: integers from 0 to `max_index`, a scalar or a vector.
      seed: two integers, or two for each index.
      max_index: the greatest number, of the dtype of `index`; a scalar or a vector.
    """
    words = convert_to_tensor(seed)
    if words.shape[-1:] != [2]:
        raise invalid(f"index_shuffle: seed must be two integers, got shape {list(words.shape)}")
    first = creation.ones_like(words[..., :1]) * permutations.FIRST
    return random_index_shuffle(
        index, moving.concat(first, words, axis=len(words.shape) - 1), max_index
    )


@export("random_index_shuffle")
def random_index_shuffle(
    index: Any, seed: Any, max_index: Any, rounds: int = 4, name: str | None = None
) -> Tensor:
    """Where a number goes in a permutation of the numbers from 0 to `max_index`, which is as mixed as wanted.

    >>> sorted(tf.random_index_shuffle(tf.range(4), seed=[1, 5, 9], max_index=3, rounds=8).numpy().tolist())
    [0, 1, 2, 3]

    Args:
      index: integers from 0 to `max_index`, a scalar or a vector.
      seed: three integers, or three for each index.
      max_index: the greatest number, of the dtype of `index`; a scalar or a vector.
      rounds: how often numbers are mixed, an even number from 4 on.
      name: accepted for compatibility.
    """
    count = integer("random_index_shuffle", "rounds", rounds)
    if count < 4 or count % 2:
        raise invalid(f"random_index_shuffle: rounds must be even and at least 4, got {count}")
    index = convert_to_tensor(index)
    max_index = convert_to_tensor(max_index, index.dtype)
    return permutations.index_shuffle(index, convert_to_tensor(seed), max_index, rounds=count)


@export("random.split", "random.experimental.stateless_split")
def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Tensor:
    """Makes several seeds of one, as good as independent.

    >>> tf.random.split([1, 2], num=3).shape
    TensorShape([3, 2])

    Args:
      seed: two integers.
      num: how many to make.
      alg: accepted for compatibility.

    Returns:
      A tensor of shape `[num, 2]`.
    """
    check_algorithm(alg)
    seed = convert_to_tensor(seed)
    shape = (integer("random.split", "num", num), 2)
    return numbers.any_integers(stateless(seed), shape=shape, dtype=seed.dtype)


@export("random.fold_in", "random.experimental.stateless_fold_in")
def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Tensor:
    """Makes a seed of a seed and a number, such as that of a step or replica.

    >>> tf.random.fold_in([1, 2], 7).shape
    TensorShape([2])

    Args:
      seed: two integers.
      data: an integer.
      alg: accepted for compatibility.
    """
    check_algorithm(alg)
    data = convert_to_tensor(data)
    if data.ndim:
        raise invalid(f"random.fold_in: data must be a scalar, got shape {list(data.shape)}")
    word = numbers.any_integers(stateless(seed), shape=(), dtype=data.dtype)
    return moving.stack(word, data, axis=0)


def _shape(op: str, shape: Any) -> tuple[int, ...]:
    return ints(op, "shape", shape)
