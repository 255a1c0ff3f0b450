"""Keras under a strategy of `tf.distribute`: batches are divided among the replicas, and gradients added up."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.common import global_state

import tapeflow as tf
from tapeflow._src.core.carried import carried
from tapeflow._src.core.context import context
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.distribute.values import PerReplica

# What Keras knows of a thread (its scopes, the policy for dtypes) holds in the replicas that the thread runs.
carried(global_state.GLOBAL_STATE_TRACKER)


def divided(strategy: Any, batch: Any) -> tuple[Any, ...]:
    """The parts of a batch for the replicas of this process. The last ones may be smaller, or empty."""
    if any(map(_has_parts, tree.flatten(batch))):  # of a dataset that was divided before
        return strategy.experimental_local_results(batch)
    extended = strategy.extended
    if extended.count == 1:
        return (batch,)

    def part(x: Any, i: int) -> Any:
        size = -(-x.shape[0] // extended.count)
        return x[i * size : (i + 1) * size]

    mine = range(extended.first, extended.first + extended.local)
    return tuple(
        tree.map_structure(lambda x, i=i: part(x, i), batch, none_is_leaf=False) for i in mine
    )


def _has_parts(x: Any) -> bool:
    return getattr(x, "has_parts", False)


# Several workers.


def _exchange() -> Any:
    """What the workers of the strategy in use exchange, if there are several."""
    strategy = context.strategy
    return None if strategy is None else getattr(strategy.extended, "exchange", None)


def of_worker(dataset: Any) -> Any:
    """A dataset as this worker reads it."""
    if _exchange() is None or isinstance(dataset, tf.distribute.DistributedDataset):
        return dataset
    return context.strategy.experimental_distribute_dataset(dataset)


def in_parts(batch: Any) -> Any:
    """A batch of a dataset that was divided. With one replica in a worker its parts are plain tensors."""
    return tree.map_structure(
        lambda x: x if _has_parts(x) else PerReplica([x]), batch, none_is_leaf=False
    )


def of_parts(function: Callable[[Any], Any], batch: Any) -> Any:
    """What a function makes of each part of a batch that was divided."""
    parts = context.strategy.experimental_local_results(in_parts(batch))
    return tree.map_structure(
        lambda *found: PerReplica(found), *map(function, parts), none_is_leaf=False
    )


def in_one_order(batches: Any) -> Any:
    """Batches of arrays that NumPy shuffles, in the same way for all workers: each takes its part of every batch."""
    exchange = _exchange()
    return batches if exchange is None else _shuffled_alike(batches, exchange)


def _shuffled_alike(batches: Any, exchange: Any) -> Iterator[Any]:
    seed = exchange.questions("the order of arrays")(int(np.random.randint(2**31)))[0]
    ours = np.random.RandomState(seed).get_state()
    iterator = iter(batches)
    while True:
        theirs = np.random.get_state()
        np.random.set_state(ours)
        try:
            batch = next(iterator)
        except StopIteration:
            return
        finally:
            ours = np.random.get_state()
            np.random.set_state(theirs)
        yield batch


def whole(strategy: Any, batch: Any) -> Any:
    """A batch that each replica gets as it is."""
    made = strategy.experimental_distribute_values_from_function
    return tree.map_structure(lambda x: made(lambda _: x), batch, none_is_leaf=False)


def on_replicas(
    strategy: Any, step: Callable[[Any], Any], bring_together: Callable[..., Any]
) -> Callable[..., Any]:
    """A step that takes the parts of a batch, and runs a step of each replica."""
    # A partial function, not one of this line: each model has its own, and they are no retracing of each other.
    return functools.partial(_steps, strategy, step, bring_together)


def _steps(strategy: Any, step: Any, bring_together: Any, *parts: Any) -> Any:
    def replica(number: Any) -> Any:
        return step(parts[number])

    outputs = strategy.run(replica, args=(strategy.extended.local_numbers(),))
    return bring_together(strategy, strategy.experimental_local_results(outputs))


def in_scope(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a model, in the scope of the strategy that the model was made for, if it was made for one."""

    @functools.wraps(method)
    def within(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._strategy is None:
            return method(self, *args, **kwargs)
        with self._strategy.scope():
            return method(self, *args, **kwargs)

    return within


def first(strategy: Any, results: Sequence[Any]) -> Any:
    """Those of the first replica: the logs of a step, which hold for it alone."""
    return results[0]


def joined(strategy: Any, results: Sequence[Any]) -> Any:
    """Those of all replicas, one after another, which each worker gets."""
    return tree.map_structure(lambda *parts: strategy.gather(PerReplica(parts), axis=0), *results)


# Gradients.


def added_up(grads: Sequence[Any]) -> list[Any]:
    """The sums of the gradients of all replicas."""
    there = [g for g in grads if g is not None]
    sums = iter(context.replica.all_reduce("SUM", there) if there else [])
    return [None if g is None else next(sums) for g in grads]


def for_all(function: Callable[..., None], *args: Any) -> None:
    """Calls a function once, with what the first replica brings. What it assigns is assigned in all replicas."""
    context.replica.for_all(function, *args)


def is_replica() -> bool:
    """Whether a replica is running, which others run beside."""
    replica = context.replica
    return replica is not None and not replica.leads


def as_gradient(gradient: Any) -> Any:
    """Gradients may have been gathered in variables; slices stay such."""
    if not isinstance(gradient, IndexedSlices):
        return tf.convert_to_tensor(gradient)
    parts = (gradient.values, gradient.indices, gradient.dense_shape)
    return IndexedSlices(*[None if part is None else tf.convert_to_tensor(part) for part in parts])
