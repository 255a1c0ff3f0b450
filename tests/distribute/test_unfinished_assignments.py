"""Whatever fails or interrupts an assignment, all copies of a variable hold the old value, or all the new one."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from tests.core.interruptions import from_another_thread, interrupted

import tapeflow as tf
from tapeflow._src.distribute.variables import MirroredVariable

PerReplica = tf.types.experimental.distributed.PerReplica
PLACES = [  # what is assigned has so many numbers, and each n-th line is tried
    (3, 7),
    pytest.param(3, 1, marks=pytest.mark.exhaustive),
    # Those are updated in place, where a variable has no copies.
    pytest.param(40_000, 1, marks=pytest.mark.exhaustive),
]


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])


CHANGES = {
    "assign": lambda v, x: v.assign(x),
    "assign_add": lambda v, x: v.assign_add(x),
    "assign_sub": lambda v, x: v.assign_sub(-x),
    "rows": lambda v, x: v.assign_add(tf.IndexedSlices(x, tf.range(x.shape[0]))),
    "scatter_update": lambda v, x: v.scatter_update(tf.IndexedSlices(x, tf.range(x.shape[0]))),
    "scatter_nd_add": lambda v, x: v.scatter_nd_add(tf.range(x.shape[0])[:, None], x),
    "of each": lambda v, x: v.assign(PerReplica([x] * 3)),
}


def check(v, *allowed):
    """All copies hold one of the values."""
    found = [copy.numpy() for copy in v.values]
    for copy in found[1:]:
        np.testing.assert_array_equal(copy, found[0])
    assert found[0].min() == found[0].max() and found[0][0] in allowed
    return found[0][0]


@pytest.mark.parametrize(("size", "every"), PLACES)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.sample(4)
def test_interrupted_at_every_line(strategy, change, size, every):
    with strategy.scope():
        v = tf.Variable(tf.zeros([size]))
    x = tf.fill([size], 2.0)
    seen = set()
    for at in itertools.count(0, every):
        v.assign(tf.zeros([size]))
        ended = not interrupted(lambda: CHANGES[change](v, x), at)
        seen.add(check(v, 0.0, 2.0))
        if ended:
            break
    assert seen == {0.0, 2.0} and check(v, 2.0)
    assert float(from_another_thread(lambda: v.assign(x + 1.0).numpy()[0])) == 3.0


@pytest.mark.parametrize("aggregation", ["MEAN", "SUM", "ONLY_FIRST_REPLICA"])
@pytest.mark.sample(3)
def test_what_replicas_assign_together(strategy, aggregation, monkeypatch):
    with strategy.scope():
        v = tf.Variable(tf.zeros([3]), aggregation=tf.VariableAggregation[aggregation])
    x = tf.fill([3], 2.0)
    new = 6.0 if aggregation == "SUM" else 2.0
    aggregate = MirroredVariable._aggregate
    at, ended = 0, False

    def strike(self, op, brought):
        nonlocal ended
        ended = not interrupted(lambda: aggregate(self, op, brought), at)
        return [None] * len(brought)

    monkeypatch.setattr(MirroredVariable, "_aggregate", strike)
    while not ended:
        v.assign(tf.zeros([3]))
        strategy.run(lambda: v.assign(x * 1.0))
        check(v, 0.0, new)
        at += 7
    assert check(v, new)


def test_what_is_done_once_for_all_replicas(strategy):
    """As the updates of Keras's optimizers are."""
    with strategy.scope():
        v = tf.Variable(tf.zeros([3]))
    x = tf.fill([3], 2.0)
    at, ended = 0, False

    def update():
        nonlocal ended
        ended = not interrupted(lambda: v.assign_add(x), at)

    while not ended:
        v.assign(tf.zeros([3]))
        strategy.run(lambda: tf.distribute.get_replica_context().for_all(update))
        check(v, 0.0, 2.0)
        at += 7
    assert check(v, 2.0)


def test_copies_that_are_read_together(strategy):
    sums = tf.VariableAggregation.SUM
    on_read = tf.VariableSynchronization.ON_READ
    with strategy.scope():
        v = tf.Variable(tf.zeros([3]), synchronization=on_read, aggregation=sums)
    for at in itertools.count(0, 7):
        v.assign(tf.zeros([3]))
        ended = not interrupted(lambda: v.assign(tf.fill([3], 6.0)), at)
        check(v, 0.0, 2.0)
        if ended:
            break
    np.testing.assert_array_equal(v.numpy(), [6.0] * 3)


def test_values_of_which_one_does_not_fit(strategy):
    with strategy.scope():
        v = tf.Variable(tf.zeros([3]))
    x = tf.fill([3], 2.0)
    for last in (tf.zeros([4]), tf.zeros([3], tf.int32)):
        values = PerReplica([x, x, last])
        for change in (v.assign, v.assign_add):
            with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
                change(values)
            check(v, 0.0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        v.scatter_add(tf.IndexedSlices(x, [0, 1, 7]))
    check(v, 0.0)


def test_threads_that_assign_variables_to_each_other(strategy):
    with strategy.scope():
        v, w = (tf.Variable(tf.zeros([3])) for _ in range(2))

    def assign(to, of):
        for _ in range(100):
            to.assign(of)
            to.assign_add(of)
            to.scatter_nd_update([[0], [1], [2]], of)

    threads = [threading.Thread(target=assign, args=pair) for pair in ((v, w), (w, v))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "they wait for each other"


def test_updates_of_threads_are_not_lost(strategy):
    with strategy.scope():
        v = tf.Variable(tf.zeros([3]))

    def count():
        for _ in range(200):
            v.assign_add(tf.ones([3]))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert check(v, 800.0)


def test_recorders_are_told_of_the_variable(strategy):
    """And not of what its new value was tried on."""
    with strategy.scope():
        v = tf.Variable(1.0, name="weights")
    x = tf.constant(3.0)
    with tf.GradientTape(debug=True) as tape:
        tape.watch(x)
        v.assign(x * 2.0)
        y = v * 2.0
    assert tape.gradient(y, x) is None
    assert "its value was put into a variable" in str(tape.explain(y, x))
