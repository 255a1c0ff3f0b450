"""`tf.random.Generator`: random numbers whose state is a variable."""

from __future__ import annotations

import enum
import math
import os
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import shown, wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.interpreter import own_states
from tapeflow._src.core.placement.remote import beside, placed
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.tracked import Tracked
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.arguments import integer, ints
from tapeflow._src.ops.random.numbers import scale_and_shift, scaled, uniform_from
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.random import distributions, numbers
from tapeflow._src.primitives.random.streams import (
    PER_NUMBER,
    generator_skip,
    generator_state,
)

_WORD = 2**64


@export("random.Algorithm", "random.experimental.Algorithm")
class Algorithm(enum.Enum):
    """The algorithms TensorFlow has. Here they differ in the length of their state; the bits are Philox's."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_LENGTH = {Algorithm.PHILOX: 3, Algorithm.THREEFRY: 2, Algorithm.AUTO_SELECT: 3}


def _algorithm(alg: Any) -> Algorithm:
    if isinstance(alg, str):
        try:
            return Algorithm[alg.upper()]
        except KeyError:
            raise ValueError(
                f"Unsupported algorithm {shown(alg)}. There are 'philox', 'threefry' and 'auto_select'."
            ) from None
    return alg if isinstance(alg, Algorithm) else Algorithm(integer("Generator", "alg", alg))


@export("random.create_rng_state", "random.experimental.create_rng_state")
def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """The state that a generator made from `seed` begins with.

    >>> tf.random.create_rng_state(1, "philox").numpy()
    array([1, 0, 0])

    Args:
      seed: an integer, or a vector of them.
      alg: a `tf.random.Algorithm`, or its name or number.
    """
    length = _LENGTH[_algorithm(alg)]
    if isinstance(seed, int):
        whole = seed % 2 ** (64 * length)
        words = [(whole >> (64 * i)) % _WORD for i in range(length)]
        return placed(Tensor(np.array(words, np.uint64).view(np.int64)))
    tensor = convert_to_tensor(seed)
    if not tensor.dtype.is_integer:
        raise TypeError(
            f"create_rng_state: seed must be an integer or a vector of them, got {shown(seed)}"
        )
    values = np.asarray(tensor._array).reshape(-1).astype(np.int64)
    if not tensor.ndim or values.size == 1:
        return create_rng_state(int(values[0]), alg)
    values = values[:length]
    return placed(Tensor(np.concatenate([np.zeros(length - values.size, np.int64), values])))


@export("random.Generator", "random.experimental.Generator")
class Generator(Tracked):
    """A source of random numbers that carries its own state.

    >>> g = tf.random.Generator.from_seed(1)
    >>> g.normal([2, 3]).shape
    TensorShape([2, 3])

    The state is a `tf.Variable`, which `tf.train.Checkpoint` saves, and the same state gives the same numbers. Make one
    with `from_seed`, `from_state`, `from_key_counter` or `from_non_deterministic_state`.

    Args:
      copy_from: a generator to copy.
      state: the state to begin with.
      alg: a `tf.random.Algorithm`, or its name or number.
    """

    def __init__(
        self, copy_from: Generator | None = None, state: Any = None, alg: Any = None
    ) -> None:
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("Generator: give copy_from, or state and alg, and not both")
            if not isinstance(copy_from, Generator):
                raise wrong_object("Generator", "copy_from", "a tf.random.Generator", copy_from)
            state, alg = copy_from.state._read(), copy_from.algorithm
        if state is None or alg is None:
            raise ValueError(
                "Generator: state and alg must be given. To make one from a seed, use tf.random.Generator.from_seed."
            )
        self._alg = _algorithm(alg)
        self._made_for_replicas = context.strategy is not None
        if isinstance(state, Variable):
            self._check(state._read())
            self._state_var = state
        else:
            self._state_var = Variable(self._checked(state), trainable=False, name="StateVar")

    def _checked(self, state: Any) -> Tensor:
        tensor = convert_to_tensor(state)
        if not tensor.dtype.is_integer:
            raise TypeError(f"Generator: a state holds integers, got {tensor.dtype.name}")
        if tensor.dtype is not dtypes.int64:
            tensor = moving.cast_to_discrete(tensor, dtype=dtypes.int64)
        self._check(tensor)
        return tensor

    def _check(self, state: Tensor) -> None:
        length = _LENGTH[self._alg]
        if state._array.shape != (length,):
            raise ValueError(
                f"Generator: a state of {self._alg.name} has shape ({length},), got {state.shape}"
            )

    # Making one.

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator that a seed decides.

        >>> a, b = tf.random.Generator.from_seed(7), tf.random.Generator.from_seed(7)
        >>> bool(tf.reduce_all(a.normal([3]) == b.normal([3])))
        True
        """
        alg = Algorithm.PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator that is another one in each run of the program.

        >>> tf.random.Generator.from_non_deterministic_state().state.shape
        TensorShape([3])
        """
        alg = _algorithm(Algorithm.PHILOX if alg is None else alg)
        words = np.frombuffer(os.urandom(8 * _LENGTH[alg]), np.int64)
        return cls(state=words, alg=alg)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """A generator that goes on from a state. A variable is taken over, not copied.

        >>> tf.random.Generator.from_state([1, 2, 3], "philox").key.numpy()
        np.int64(3)
        """
        return cls(state=state, alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """A generator from a key and where to begin with it.

        >>> tf.random.Generator.from_key_counter(5, [1, 2], "philox").state.numpy()
        array([1, 2, 5])
        """
        return cls(state=_key_counter(key, counter), alg=alg)

    # The state.

    @property
    def state(self) -> Variable:
        """The state: one or two words that count, and the key."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return self._alg.value

    @property
    def key(self) -> Tensor:
        """The key, the last word of the state."""
        return self._state_var._read()[-1]

    def reset(self, state: Any) -> None:
        """Begins again from a state."""
        self._state_var.assign(self._checked(state))

    def reset_from_seed(self, seed: Any) -> None:
        """Begins again from a seed.

        >>> g = tf.random.Generator.from_seed(1)
        >>> g.reset_from_seed(2)
        >>> g.state.numpy()
        array([2, 0, 0])
        """
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Begins again from a key and where to begin with it."""
        self._state_var.assign(self._checked(_key_counter(key, counter)))

    def skip(self, delta: Any) -> Tensor:
        """Goes on as if `delta` numbers had been drawn, and returns the state before.

        >>> g = tf.random.Generator.from_seed(1)
        >>> g.skip(2).numpy(), g.state.numpy()
        (array([1, 0, 0]), array([513,   0,   0]))
        """
        step = convert_to_tensor(
            PER_NUMBER * integer("Generator.skip", "delta", delta), dtypes.int64
        )
        return self._state_var._exchange(lambda before: generator_skip(before, step))

    def _draw(self, shape: tuple[int, ...]) -> Tensor:
        """A state of the primitives to draw from, for as many numbers."""
        state = self.skip(math.prod(shape))
        if self._made_for_replicas and context.replica is not None:
            state = self._of_replica(state, context.replica.number)
        return own_states(generator_state(state))

    def _of_replica(self, state: Tensor, number: int) -> Tensor:
        """A state like that of the other replicas, with a key of its own."""
        place = moving.concat(convert_to_tensor([number, 0], dtypes.int64), state[-1:], axis=0)
        key = numbers.any_integers(generator_state(place), shape=(1,), dtype=dtypes.int64)
        return moving.concat(state[:-1], key, axis=0)

    # Numbers.

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Normal random numbers. Gradients flow to `mean` and `stddev`."""
        dtype, dims = as_dtype(dtype), ints("Generator.normal", "shape", shape)
        moved = scale_and_shift(stddev, mean, dtype)
        with beside(*moved, shape):
            return scaled(numbers.normal(self._draw(dims), shape=dims, dtype=dtype), *moved)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Normal random numbers within two standard deviations."""
        dtype, dims = as_dtype(dtype), ints("Generator.truncated_normal", "shape", shape)
        moved = scale_and_shift(stddev, mean, dtype)
        with beside(*moved, shape):
            noise = numbers.truncated_normal(self._draw(dims), shape=dims, dtype=dtype)
            return scaled(noise, *moved)

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Random numbers in `[minval, maxval)`. Integers without bounds take all values of their dtype.

        >>> g = tf.random.Generator.from_seed(1)
        >>> bool(tf.reduce_all(g.uniform([100], 0, 6, dtype=tf.int32) < 6))
        True
        """
        dtype, dims = as_dtype(dtype), ints("Generator.uniform", "shape", shape)
        if dtype.is_integer and (minval is None) != (maxval is None):
            raise ValueError(
                f"Generator.uniform: for dtype {dtype.name}, minval and maxval must both be None or both be given, "
                f"got minval={shown(minval)} and maxval={shown(maxval)}"
            )
        if dtype.is_integer and minval is None:
            return self.uniform_full_int(dims, dtype)
        return uniform_from(lambda: self._draw(dims), dims, minval, maxval, dtype)

    def uniform_full_int(
        self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """Integers that take all values of their dtype, equally often."""
        dtype, dims = as_dtype(dtype), ints("Generator.uniform_full_int", "shape", shape)
        if dtype not in (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64):
            raise numbers.invalid(
                f"Generator.uniform_full_int: dtype must be int32, int64, uint32 or uint64, got {dtype.name}"
            )
        with beside(shape):
            return numbers.any_integers(self._draw(dims), shape=dims, dtype=dtype)

    def binomial(
        self,
        shape: Any,
        counts: Any,
        probs: Any,
        dtype: Any = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:
        """How often something of probability `probs` happens in `counts` trials.

        >>> g = tf.random.Generator.from_seed(1)
        >>> g.binomial([2], counts=[10.0, 10.0], probs=[0.0, 1.0]).numpy()
        array([ 0, 10], dtype=int32)
        """
        dims = ints("Generator.binomial", "shape", shape)
        counts = convert_to_tensor(counts)
        probs = convert_to_tensor(probs, counts.dtype if counts.dtype.is_floating else None)
        if counts.dtype is not probs.dtype:
            counts = moving.cast(counts, dtype=probs.dtype)
        batches = math.prod(np.broadcast_shapes(counts._array.shape, probs._array.shape))
        samples = math.prod(dims) // batches if batches else 0
        # TensorFlow's count of what is set aside for them.
        state = self._draw((batches * 2 * 100 * (samples + 3) // 4,))
        return distributions.binomial(state, counts, probs, shape=dims, dtype=as_dtype(dtype))

    # Seeds and other generators.

    def make_seeds(self, count: Any = 1) -> Tensor:
        """Seeds for stateless ops, one in each column.

        >>> tf.random.Generator.from_seed(1).make_seeds(3).shape
        TensorShape([2, 3])
        """
        words = self.uniform_full_int((integer("make_seeds", "count", count),), dtypes.int64)
        return moving.stack(words, moving.zeros_like(words), axis=0)

    def split(self, count: int = 1) -> list[Generator]:
        """Makes generators whose numbers have nothing to do with each other.

        >>> a, b = tf.random.Generator.from_seed(1).split(2)
        >>> bool(tf.reduce_all(a.normal([3]) == b.normal([3])))
        False
        """
        keys = self.uniform_full_int((integer("split", "count", count),), dtypes.int64)
        zeros = [0] * (_LENGTH[self._alg] - 1)
        return [
            Generator(state=np.array([*zeros, key], np.int64), alg=self._alg)
            for key in keys._array.tolist()
        ]


def _key_counter(key: Any, counter: Any) -> Tensor:
    words = [convert_to_tensor(x) for x in (counter, key)]
    for word, ranks, name in zip(words, ((0, 1), (0,)), ("counter", "key"), strict=True):
        if word.ndim not in ranks:
            raise ValueError(f"Generator: {name} has shape {word.shape}")
    flat = [np.asarray(w._array).astype(np.int64).reshape(-1) for w in words]
    return placed(Tensor(np.concatenate(flat)))


_global_generator: Generator | None = None


@export("random.get_global_generator", "random.experimental.get_global_generator")
def get_global_generator() -> Generator:
    """The generator for code that does not want to pass one around. It is made when it is first asked for.

    >>> tf.random.get_global_generator().normal([2]).shape
    TensorShape([2])
    """
    global _global_generator
    if _global_generator is None:
        _global_generator = Generator.from_non_deterministic_state()
    return _global_generator


@export("random.set_global_generator", "random.experimental.set_global_generator")
def set_global_generator(generator: Generator) -> None:
    """Replaces the global generator.

    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(1))
    >>> tf.random.get_global_generator().state.numpy()
    array([1, 0, 0])
    """
    global _global_generator
    _global_generator = generator
