"""Batching rules of random numbers: every example draws numbers of its own.

A stateful op takes one state for all examples, and one draw of it is shared out among them. A stateless op is a
function of its seed, so where examples bring seeds of their own, each must get just the numbers it would get alone:
that is one draw for each example.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.dtypes import DType
from tapeflow.core.tensor import Tensor
from tapeflow.primitives import array, indexing, random
from tapeflow.primitives.batching.batch import Batch, BatchedTensor, Rule, Shared, rule
from tapeflow.primitives.table import TABLE

Shape = tuple[int, ...]


class _OneState(BatchedTensor):
    """A state for each example, of which nobody has asked yet: all of them draw together from one."""

    __slots__ = ("state",)

    def __init__(self, state: Tensor, batch: Batch) -> None:
        # Each example would have its own number in the upper half of the word that names the stream.
        words = np.tile(np.asarray(state._array), (batch.size, 1))
        words[:, 3] += np.arange(1, batch.size + 1, dtype=np.uint64) << np.uint64(32)
        super().__init__(Tensor(words), batch)
        self.state = state




@rule("random_next_state")
def _next_state(batch: Batch, *, op: str, seed: int | None) -> Shared:
    state = random.next_state(op=op, seed=seed)
    if state.interpreter is not None:  # a batch in a batch: each outer example has its own
        size = batch.size
        states = [random.next_state(op=op, seed=seed) for _ in range(size)]
        return Shared(batch.wrap(array.stack(*states, axis=0)))
    return Shared(_OneState(state, batch))


@rule("random_stateless")
def _stateless(batch: Batch, seed: Tensor) -> Tensor:
    return _one_by_one("random_stateless", batch, (seed,), {})


def _one_by_one(name: str, batch: Batch, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
    call = TABLE[name].call
    rows = []
    for i in range(batch.size):
        mine = [
            indexing.getitem(batch.data(x), index=(i,)) if batch.holds(x) else x for x in inputs
        ]
        rows.append(call(*mine, **attrs))
    if rows:
        return array.stack(*rows, axis=0)
    blank = [
        Tensor(np.zeros(x._array.shape, x._array.dtype)) if batch.holds(x) else x for x in inputs
    ]
    example = call(*blank, **attrs)
    return Tensor(np.zeros((0, *example._array.shape), example._array.dtype))


def _draw(name: str) -> Rule:
    call = TABLE[name].call

    def rule(batch: Batch, state: Tensor, *rest: Tensor, shape: Shape, **attrs: Any) -> Any:
        if isinstance(state, _OneState) and not any(map(batch.holds, rest)):
            return call(state.state, *rest, shape=(batch.size, *shape), **attrs)
        return _one_by_one(name, batch, (state, *rest), {"shape": shape, **attrs})

    return rule


for _name in ("uniform", "normal", "truncated_normal", "integers", "any_integers", "keep"):
    rule(f"random_{_name}")(_draw(f"random_{_name}"))


@rule("random_shuffle")
def _shuffle(batch: Batch, state: Tensor, x: Tensor) -> Tensor:
    return _one_by_one("random_shuffle", batch, (state, x), {})


@rule("random_categorical")
def _categorical(
    batch: Batch, state: Tensor, logits: Tensor, *, num_samples: int, dtype: DType
) -> Tensor:
    attrs = {"num_samples": num_samples, "dtype": dtype}
    if not isinstance(state, _OneState):
        return _one_by_one("random_categorical", batch, (state, logits), attrs)
    rows, classes = logits._array.shape
    flat = array.reshape(batch.full(logits), shape=(batch.size * rows, classes))
    found = random.categorical(state.state, flat, **attrs)
    return array.reshape(found, shape=(batch.size, rows, num_samples))
