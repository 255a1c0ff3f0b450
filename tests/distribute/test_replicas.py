"""Replicas in step: what they share, what they see of each other, and what happens when one fails."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

STRATEGY = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])


def number():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def all_reduce(x):
    return tf.distribute.get_replica_context().all_reduce("SUM", x)


def local(value):
    return [float(x) for x in STRATEGY.experimental_local_results(value)]


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    # One that has given its last turn back may not have ended yet.
    left = [t for t in threading.enumerate() if t.name.startswith("replica")]
    for thread in left:
        thread.join(10.0)
    assert not any(thread.is_alive() for thread in left)


def test_they_run_in_turn_and_the_first_first():
    seen = []

    def replica():
        me = int(number())
        seen.append(("begin", me))
        all_reduce(tf.constant(1.0))
        seen.append(("end", me))

    STRATEGY.run(replica)
    assert seen == [("begin", i) for i in range(3)] + [("end", i) for i in range(3)]


def test_a_tape_around_run_sees_the_sum():
    v = tf.Variable(2.0)

    def loss():
        with tf.GradientTape() as tape:
            total = STRATEGY.reduce(
                "SUM", STRATEGY.run(lambda: all_reduce(v * v * (number() + 1.0))), axis=None
            )
        return tape.gradient(total, v)

    # Each replica has the sum (1 + 2 + 3) v^2, and there are three.
    assert float(loss()) == float(tf.function(loss)()) == 3 * 6 * 4.0


def test_second_order_through_all_reduce():
    def replica():
        x = tf.constant(2.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = all_reduce(x**3) * (number() + 1.0)
            g = inner.gradient(y, x)
        return outer.gradient(g, x)

    wanted = [6 * 6 * 2.0] * 3
    assert local(STRATEGY.run(replica)) == wanted
    assert local(tf.function(lambda: STRATEGY.run(replica))()) == wanted


def test_gradients_that_are_slices_are_put_together():
    with STRATEGY.scope():
        table = tf.Variable(tf.zeros([4, 2]))

    def replica():
        with tf.GradientTape() as tape:
            rows = tf.gather(table, [tf.distribute.get_replica_context().replica_id_in_sync_group])
            loss = tf.reduce_sum(rows * (number() + 1.0))
        return tf.convert_to_tensor(all_reduce(tape.gradient(loss, table)))

    found = STRATEGY.run(replica).values
    for value in found:
        np.testing.assert_array_equal(value.numpy()[:, 0], [1.0, 2.0, 3.0, 0.0])


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_failure_ends_all_of_them(failing, traced):
    left = []

    def replica():
        me = tf.distribute.get_replica_context().number
        try:
            all_reduce(tf.constant(1.0))
            if me == failing:
                raise KeyError("boo")
            all_reduce(tf.constant(1.0))
        finally:
            left.append(me)

    def step():
        STRATEGY.run(replica)

    with pytest.raises(KeyError, match="boo"):
        (tf.function(step) if traced else step)()
    assert sorted(left) == [0, 1, 2]
    assert local(STRATEGY.run(number)) == [0.0, 1.0, 2.0]


def test_two_threads_have_strategies_of_their_own():
    found = {}

    def work(count):
        strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(count)])
        with strategy.scope():
            v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
        step = tf.function(lambda: strategy.run(lambda: v.assign_add(number() + 1.0)) and None)
        for _ in range(5):
            strategy.run(lambda: v.assign_add(number() + 1.0))
            step()
        found[count] = float(v)

    threads = [threading.Thread(target=work, args=(n,)) for n in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {2: 10 * 3.0, 3: 10 * 6.0}


def test_functions_inside_of_traced_replicas():
    double = tf.function(lambda x: x * 2.0)
    step = tf.function(lambda: STRATEGY.run(lambda: double(number())))
    assert local(step()) == [0.0, 2.0, 4.0]


def test_loops_and_branches_inside_of_traced_replicas():
    def replica():
        x = number()
        for _ in tf.range(3):
            if x < 4.0:
                x = x * 2.0
        return all_reduce(x)

    step = tf.function(lambda: STRATEGY.run(replica))
    assert local(step()) == [0.0 + 4.0 + 4.0] * 3
    assert local(STRATEGY.run(replica)) == [8.0] * 3


def test_unknown_sizes_in_traced_replicas():
    traces = []

    @tf.function(reduce_retracing=True)
    def step(x):
        traces.append(1)

        def replica():
            return all_reduce(tf.reduce_mean(x) + tf.cast(tf.shape(x)[0], tf.float32))

        return STRATEGY.run(replica)

    for n in (2, 3, 4, 5):
        assert local(step(tf.ones([n]))) == [3.0 * (1 + n)] * 3
    assert len(traces) <= 3


def test_what_holds_in_the_thread_holds_in_its_replicas():
    from tapeflow._src.core.context import context

    with tf.name_scope("outer"):
        names = STRATEGY.run(lambda: "/".join(context.name_scopes))
    assert set(STRATEGY.experimental_local_results(names)) == {"outer"}


def test_checkpoints_hold_one_value(tmp_path):
    with STRATEGY.scope():
        v = tf.Variable(3.0)
        total = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    STRATEGY.run(lambda: total.assign_add(number()))
    path = tf.train.Checkpoint(v=v, total=total).write(tmp_path / "ckpt")
    one: Any = tf.train.Checkpoint(v=tf.Variable(0.0), total=tf.Variable(0.0))
    one.read(path).assert_consumed()
    assert (float(one.v), float(one.total)) == (3.0, 3.0)
    v.assign(0.0)
    total.assign(0.0)
    tf.train.Checkpoint(v=v, total=total).read(path).assert_consumed()
    assert local(v) == [3.0] * 3 and local(total) == [1.0] * 3


def test_a_sum_of_integers_that_cannot_be_divided_is_kept(tmp_path):
    """TensorFlow gives each replica the quotient, and counts that are restored lose what is left over."""
    with STRATEGY.scope():
        rows: Any = tf.Variable(
            [0, 0, 0],
            dtype=tf.int64,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    expected = [61, -7, 2**60 + 1]
    rows.assign(expected)
    assert rows.numpy().tolist() == expected
    assert [x.numpy().tolist()[:2] for x in rows.values] == [[21, -1], [20, -3], [20, -3]]
    path = tf.train.Checkpoint(rows=rows).write(tmp_path / "ckpt")
    tf.function(lambda x: rows.assign(x))(tf.constant([1, 2, 3], tf.int64))
    assert rows.numpy().tolist() == [1, 2, 3]
    tf.train.Checkpoint(rows=rows).read(path).assert_consumed()
    assert rows.numpy().tolist() == expected


def test_one_replica_without_copies_may_return_anything():
    for strategy in (tf.distribute.get_strategy(), tf.distribute.OneDeviceStrategy("CPU:0")):
        assert strategy.reduce("SUM", strategy.run(lambda: None), axis=None) is None
        assert strategy.reduce("MEAN", {"loss": 0.5, "what": "a"}, axis=None) == {
            "loss": 0.5,
            "what": "a",
        }
        rows = strategy.run(lambda: tf.constant([1.0, 2.0]))
        assert float(strategy.reduce("SUM", rows, axis=0)) == 3.0


def test_a_position_in_distributed_data_is_saved(tmp_path):
    data = STRATEGY.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(3))
    it = iter(data)
    next(it)
    path = tf.train.Checkpoint(it=it).write(tmp_path / "ckpt")
    other = iter(data)
    tf.train.Checkpoint(it=other).read(path)
    assert STRATEGY.gather(next(other), axis=0).numpy().tolist() == [3, 4, 5]


@pytest.mark.parametrize("sizes_are_promised", [False, True])
def test_the_last_round_that_is_dealt_may_not_be_whole(sizes_are_promised):
    def batches(_):
        return tf.data.Dataset.range(8).batch(2, drop_remainder=sizes_are_promised)

    data = STRATEGY.distribute_datasets_from_function(batches)
    rounds = [[[0, 1], [2, 3], [4, 5]], [[6, 7], [], []]]
    expected = rounds[:1] if sizes_are_promised else rounds
    assert [[x.numpy().tolist() for x in element.values] for element in data] == expected
    assert int(data.cardinality) == len(expected)


def test_an_interrupted_run_leaves_nothing_behind():
    def replica():
        if tf.distribute.get_replica_context().number == 1:
            raise KeyboardInterrupt
        all_reduce(tf.constant(1.0))

    with pytest.raises(KeyboardInterrupt):
        STRATEGY.run(replica)
    assert not tf.distribute.has_strategy()


LEFT_OUT = ["ParameterServerStrategy", "TPUStrategy", "CentralStorageStrategy"]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_strategies_that_are_left_out_say_what_to_use(name):
    kind = getattr(tf.distribute.experimental, name)
    assert not isinstance(STRATEGY, kind)
    with pytest.raises(tf.errors.UnimplementedError, match="MirroredStrategy"):
        kind()


def test_a_function_that_replicas_call_has_the_variables_of_each():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        v = tf.Variable(0.0)
        generator = tf.random.Generator.from_seed(0)

    @tf.function
    def inner(x):
        v.assign_add(x)
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        return number, generator.uniform_full_int([], tf.uint64)

    def replica():
        return inner(tf.constant(1.0))

    inner(tf.constant(1.0))  # outside of replicas, where it is the first copy
    drawn = []
    for run in (lambda: strategy.run(replica), tf.function(lambda: strategy.run(replica))):
        numbers, values = run()
        assert [int(x) for x in strategy.experimental_local_results(numbers)] == [0, 1]
        drawn += [int(x) for x in strategy.experimental_local_results(values)]
    assert [float(x) for x in strategy.experimental_local_results(v)] == [3.0, 3.0]
    assert len(set(drawn)) == 4


def test_a_loaded_function_is_called_by_replicas(tmp_path):
    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.by = tf.Variable(3.0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, x):
            return x * self.by

    tf.saved_model.save(Scale(), str(tmp_path))
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        loaded = tf.saved_model.load(str(tmp_path))

    def replica(x):
        loaded.by.assign(tf.reduce_sum(x))  # its own copy
        return loaded(x)

    parts = strategy.experimental_distribute_values_from_function(
        lambda c: tf.constant([c.replica_id_in_sync_group + 1.0])
    )
    for run in (strategy.run, tf.function(strategy.run)):
        found = run(replica, args=(parts,))
        assert [float(x[0]) for x in strategy.experimental_local_results(found)] == [1.0, 4.0]


def test_run_enters_the_scope_of_a_class_of_users():
    def on_read(next_creator, **given):
        given["synchronization"] = tf.VariableSynchronization.ON_READ
        return next_creator(**given)

    class Local(tf.distribute.MirroredStrategy):
        @contextlib.contextmanager
        def scope(self):
            with super().scope(), tf.variable_creator_scope(on_read):
                yield

    kept = []

    def replica():
        kept.append(tf.Variable(1.0))
        return kept[-1] + 1.0

    assert len(Local(["CPU:0", "CPU:1"]).run(replica).values) == 2
    assert kept[0].values[0].synchronization is tf.VariableSynchronization.ON_READ
