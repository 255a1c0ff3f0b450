"""What replicas do, in one function each: with sums, gradients, random numbers and variables of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapeflow as tf

AGGREGATION, SYNCHRONIZATION = tf.VariableAggregation, tf.VariableSynchronization
DEVICES = tuple(f"CPU:{i}" for i in range(4))
NOWHERE = tuple(f"CPU:{i}" for i in range(10, 14))
"""Devices that are not there: replicas with these names run one after another."""


def me() -> Any:
    """The replica that is running."""
    return tf.distribute.get_replica_context()


def number() -> tf.Tensor:
    """Its number."""
    return tf.cast(me().replica_id_in_sync_group, tf.float32)


class Variables:
    """One variable of each kind."""

    def __init__(self, strategy):
        with strategy.scope():
            self.weight = tf.Variable([1.0, 2.0])
            self.table = tf.Variable(np.arange(8.0, dtype=np.float32).reshape(4, 2))
            self.mean = tf.Variable([0.0, 1.0], aggregation=AGGREGATION.MEAN)
            self.count = tf.Variable(0, aggregation=AGGREGATION.ONLY_FIRST_REPLICA, dtype=tf.int64)
            self.own = tf.Variable(0.0)
            self.seen = tf.Variable(
                0.0, synchronization=SYNCHRONIZATION.ON_READ, aggregation=AGGREGATION.SUM
            )

    def copies(self):
        """What all of them hold, in each replica."""
        return [c.numpy() for v in vars(self).values() for c in v.values]


def together(v, x):
    """What replicas meet for."""
    second = me().merge_call(
        lambda s, value: s.experimental_local_results(value)[1] * 2.0, args=(x * x,)
    )
    total = me().merge_call(lambda s, value: s.extended.reduce_to("SUM", value, value), args=(x,))
    return {
        "sum": me().all_reduce("SUM", x * v.weight),
        "means": me().all_reduce("MEAN", [x, x * x]),
        "gathered": me().all_gather((x * x)[None], 0),
        "number": number() + x,
        "second": second,
        "total": total + number(),
    }


def gradients(v, x):
    """Gradients through sums, and those that are rows of a table."""
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(me().all_reduce("SUM", v.weight**2 * x)) * (number() + 1.0)
        rows = tf.gather(v.table, [me().replica_id_in_sync_group, 1])
        z = tf.reduce_sum(rows * x)
    slices = me().all_reduce("SUM", tape.gradient(z, v.table))
    return tape.gradient(y, v.weight), tf.convert_to_tensor(slices)


def control_flow(v, x):
    """Loops and branches that go another way in each replica."""
    while tf.reduce_sum(x) < 20.0:
        x = x * 2.0
    for _ in tf.range(3):
        x = x + v.weight
    return x * 2.0 if tf.reduce_sum(x) > 50.0 else x - 1.0


def random(v, x):
    """Numbers that differ between replicas, and numbers that do not."""
    return (
        tf.random.normal([2]) * x,
        tf.random.uniform([3]),
        tf.random.stateless_normal([2], [1, 2]),
    )


def assignments(v, x):
    """What replicas assign, each by itself or together."""
    v.seen.assign_add(x[0])
    v.mean.assign_add(x)
    v.count.assign_add(1)
    v.own.assign(x[0] * number())

    def update(strategy, g):
        total = strategy.extended.reduce_to("SUM", g, g)
        strategy.extended.update(v.weight, lambda copy, g: copy.assign_sub(0.1 * g), args=(total,))

    me().merge_call(update, args=(x,))
    return v.own + v.seen, v.weight + 0.0, v.count + 0


ALL = (together, gradients, control_flow, random, assignments)


def traced(names, replica, calls=3):
    """What a replica function gives in some calls of a `tf.function`, and leaves in variables; and the function."""
    tf.random.set_seed(1)
    strategy = tf.distribute.MirroredStrategy(names)
    v = Variables(strategy)
    step = tf.function(lambda x: strategy.run(lambda x: replica(v, x), args=(x,)))
    found = []
    for k in range(calls):
        x = strategy.experimental_distribute_values_from_function(
            lambda c, k=k: tf.constant([1.0, 2.0]) * (c.replica_id_in_sync_group + 1.0) + k
        )
        for part in strategy.experimental_local_results(step(x)):
            found += [np.asarray(y) for y in tf.nest.flatten(part)]
    return [*found, *v.copies()], step
