"""Raw ops of random numbers: with a stream of their own, and from a key and a counter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import InvalidArgumentError
from tapeflow._src.core.export import export_value
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, ints
from tapeflow._src.ops.array import moving, shaping
from tapeflow._src.ops.random import numbers
from tapeflow._src.primitives.random.streams import PER_NUMBER, stateless, streams, taken
from tapeflow._src.raw_ops.raw_op import RawOp

_PHILOX, _AUTO = 1, 3


def _streamed(
    op: str, blocks: tuple[Any, ...], seeds: tuple[int, int], draw: Callable[[], Tensor]
) -> Tensor:
    """What an op draws from its own stream, which two seeds decide, unless both are 0."""
    state = taken(op=op, seeds=seeds if any(seeds) else None, place=0, blocks=blocks)
    with streams.replayed([state]):
        return draw()


def _drawing(draw: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def function(*, shape: Any, dtype: Any, seed: int = 0, seed2: int = 0) -> Tensor:
        blocks = (*ints("random", "shape", shape), PER_NUMBER)
        kernel = f"{draw.__name__} {as_dtype(dtype).name}"
        return _streamed(kernel, blocks, (seed, seed2), lambda: draw(shape, dtype=dtype))

    return function


def _integers(*, shape: Any, minval: Any, maxval: Any, seed: int = 0, seed2: int = 0) -> Tensor:
    dtype = convert_to_tensor(minval).dtype
    blocks = (*ints("random", "shape", shape), PER_NUMBER)

    def draw() -> Tensor:
        return numbers.uniform(shape, minval, maxval, dtype)

    return _streamed(f"uniform {dtype.name}", blocks, (seed, seed2), draw)


def _shuffled(*, value: Any, seed: int = 0, seed2: int = 0) -> Tensor:
    value = convert_to_tensor(value)
    rows = value._array.shape[0] if value._array.shape else 0
    name = f"shuffle {value.dtype.name}"
    return _streamed(name, ((rows + 2) // 4,), (seed, seed2), lambda: numbers.shuffle(value))


def _multinomial(
    *,
    logits: Any,
    num_samples: Any,
    seed: int = 0,
    seed2: int = 0,
    output_dtype: Any = dtypes.int64,
) -> Tensor:
    logits = convert_to_tensor(logits)
    count = integer("Multinomial", "num_samples", num_samples)
    blocks = (logits._array.shape[0], (count + 3) // 4 * 4, 2 * PER_NUMBER)
    name = f"categorical {logits.dtype.name} {as_dtype(output_dtype).name}"

    def draw() -> Tensor:
        return numbers.categorical(logits, count, output_dtype)

    return _streamed(name, blocks, (seed, seed2), draw)


def _key_and_counter(*, seed: Any) -> tuple[Tensor, Tensor]:
    state = stateless(convert_to_tensor(seed))
    return state[2:], state[:2]


def _state(op: str, key: Any, counter: Any, alg: Any) -> Tensor:
    """The state that a key and a counter make, which has to be Philox's."""
    chosen = integer(op, "alg", alg)
    if chosen not in (_PHILOX, _AUTO):
        raise InvalidArgumentError(None, None, f"{op}: alg must be 1 (Philox), got {chosen}")
    return moving.concat([counter, shaping.reshape(key, [1])], 0)


def _from_state(op: str, draw: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def function(
        *, shape: Any, key: Any, counter: Any, alg: Any, dtype: Any = dtypes.float32
    ) -> Tensor:
        with streams.replayed([_state(op, key, counter, alg)]):
            return draw(shape, dtype=dtype)

    return function


def _integers_from_state(
    *, shape: Any, key: Any, counter: Any, alg: Any, minval: Any, maxval: Any
) -> Tensor:
    with streams.replayed([_state("StatelessRandomUniformIntV2", key, counter, alg)]):
        return numbers.uniform(shape, minval, maxval, convert_to_tensor(minval).dtype)


RandomUniform = RawOp("RandomUniform", _drawing(numbers.uniform))
RandomStandardNormal = RawOp("RandomStandardNormal", _drawing(numbers.normal))
TruncatedNormal = RawOp("TruncatedNormal", _drawing(numbers.truncated_normal))
RandomUniformInt = RawOp("RandomUniformInt", _integers)
RandomShuffle = RawOp("RandomShuffle", _shuffled)
Multinomial = RawOp("Multinomial", _multinomial)
StatelessRandomGetKeyCounter = RawOp("StatelessRandomGetKeyCounter", _key_and_counter)
StatelessRandomUniformV2 = RawOp(
    "StatelessRandomUniformV2", _from_state("StatelessRandomUniformV2", numbers.uniform)
)
StatelessRandomNormalV2 = RawOp(
    "StatelessRandomNormalV2", _from_state("StatelessRandomNormalV2", numbers.normal)
)
StatelessTruncatedNormalV2 = RawOp(
    "StatelessTruncatedNormalV2",
    _from_state("StatelessTruncatedNormalV2", numbers.truncated_normal),
)
StatelessRandomUniformIntV2 = RawOp("StatelessRandomUniformIntV2", _integers_from_state)

export_value("RandomUniform", "raw_ops.RandomUniform")
export_value("RandomStandardNormal", "raw_ops.RandomStandardNormal")
export_value("TruncatedNormal", "raw_ops.TruncatedNormal")
export_value("RandomUniformInt", "raw_ops.RandomUniformInt")
export_value("RandomShuffle", "raw_ops.RandomShuffle")
export_value("Multinomial", "raw_ops.Multinomial")
export_value("StatelessRandomGetKeyCounter", "raw_ops.StatelessRandomGetKeyCounter")
export_value("StatelessRandomUniformV2", "raw_ops.StatelessRandomUniformV2")
export_value("StatelessRandomNormalV2", "raw_ops.StatelessRandomNormalV2")
export_value("StatelessTruncatedNormalV2", "raw_ops.StatelessTruncatedNormalV2")
export_value("StatelessRandomUniformIntV2", "raw_ops.StatelessRandomUniformIntV2")
