"""Batching rules of random numbers: every example draws numbers of its own.

A stateful op takes one state for all examples, and one draw of it is shared out among them. A stateless op is a
function of its seed, so where examples bring seeds of their own, each must get just the numbers it would get alone:
that is one draw for each example.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.batching.batch import Batch, Rule, Shared, rule
from tapeflow._src.primitives.batching.moving import to_front
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.random import numbers
from tapeflow._src.primitives.random.streams import Seeds

Shape = tuple[int, ...]


@rule("random_next_state")
def _next_state(batch: Batch, *, op: str, seeds: Seeds | None, place: int, blocks: Shape) -> Shared:
    call = TABLE["random_next_state"].call
    whole = (batch.size, *blocks)
    return Shared(batch.states(call(op=op, seeds=seeds, place=place, blocks=whole)))


def _one_by_one(name: str, batch: Batch, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
    call = TABLE[name].call
    rows = []
    for i in range(batch.size):
        mine = [picking.getitem(batch.data(x), index=(i,)) if batch.holds(x) else x for x in inputs]
        rows.append(call(*mine, **attrs))
    if rows:
        return moving.stack(*rows, axis=0)
    blank = [patterns.zeros(x._array.shape, x.dtype) if batch.holds(x) else x for x in inputs]
    example = call(*blank, **attrs)
    return patterns.zeros((0, *example._array.shape), example.dtype)


def _draw(name: str) -> Rule:
    call = TABLE[name].call

    def rule(batch: Batch, state: Any, *rest: Tensor, shape: Shape, **attrs: Any) -> Any:
        if batch.one_state(state) and not any(map(batch.holds, rest)):
            return call(state.one, *rest, shape=(batch.size, *shape), **attrs)
        return _one_by_one(name, batch, (state, *rest), {"shape": shape, **attrs})

    return rule


for _name in ("uniform", "normal", "truncated_normal", "integers", "any_integers", "keep"):
    rule(f"random_{_name}")(_draw(f"random_{_name}"))


def _distribution(name: str) -> Rule:
    """The shape of the draw ends with that of the parameters, so there the examples go before them."""
    call = TABLE[name].call

    def rule(batch: Batch, state: Any, *parameters: Tensor, shape: Shape, **attrs: Any) -> Any:
        if not batch.one_state(state):
            return _one_by_one(name, batch, (state, *parameters), {"shape": shape, **attrs})
        common = np.broadcast_shapes(*[p._array.shape for p in parameters])
        lead = len(shape) - len(common)
        lifted = [batch.lifted(p, len(common)) for p in parameters]
        between = (*shape[:lead], batch.size, *common)
        return to_front(call(state.one, *lifted, shape=between, **attrs), lead)

    return rule


for _name in ("gamma", "poisson", "binomial", "bounded_normal"):
    rule(f"random_{_name}")(_distribution(f"random_{_name}"))


def _each_alone(name: str) -> Rule:
    def rule(batch: Batch, *inputs: Tensor, **attrs: Any) -> Any:
        return _one_by_one(name, batch, inputs, attrs)

    return rule


for _name in ("stateless", "shuffle", "index_shuffle", "generator_state", "generator_skip"):
    rule(f"random_{_name}")(_each_alone(f"random_{_name}"))


@rule("random_categorical")
def _categorical(
    batch: Batch, state: Any, logits: Tensor, *, num_samples: int, dtype: DType
) -> Tensor:
    attrs = {"num_samples": num_samples, "dtype": dtype}
    if not batch.one_state(state):
        return _one_by_one("random_categorical", batch, (state, logits), attrs)
    rows, classes = logits._array.shape
    flat = moving.reshape(batch.full(logits), shape=(batch.size * rows, classes))
    found = numbers.categorical(state.one, flat, **attrs)
    return moving.reshape(found, shape=(batch.size, rows, num_samples))
