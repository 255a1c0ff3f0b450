"""A traced `strategy.run` on several devices is one program, gives what replicas in step give, and says why not."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

from tests.distribute import replica_functions
from tests.distribute.replica_functions import DEVICES, NOWHERE, Variables, me, number, traced

import tapeflow as tf
from tapeflow._src.engines.xla.replicas import patience


def program(step) -> Any:
    """The program of all replicas."""
    (trace,) = step._traces
    (forward,) = trace._graph_function._forwards.values()
    return forward._replicas._program


def of_each(strategy, values):
    """A value for each replica."""
    return strategy.experimental_distribute_values_from_function(
        lambda c: tf.constant(values[c.replica_id_in_sync_group])
    )


@pytest.mark.parametrize("replica", replica_functions.ALL)
@pytest.mark.sample(5)
def test_it_gives_what_replicas_in_step_give(four_devices, replica):
    found, step = traced(DEVICES[:3], replica)
    wanted, slow = traced(NOWHERE[:3], replica)
    assert "3 replicas in one program, 3 calls on 3 devices" in step.report()
    assert "in step: there is no device CPU:10 to run a replica on" in slow.report()
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def evidence(devices):
    """What shows that devices work together: how many hold a weight, the rows of each, the all-reduces of a step."""
    strategy = tf.distribute.MirroredStrategy(devices)
    with strategy.scope():
        w = tf.Variable(tf.ones([3, 1]))

    def replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ w) ** 2)
        w.assign_sub(0.01 * me().all_reduce("SUM", tape.gradient(loss, w)))
        return x * 2.0

    step = tf.function(lambda x: strategy.run(replica, args=(x,)), jit_compile=True)
    data = tf.data.Dataset.from_tensors(np.ones([16, 3], np.float32))
    parts: Any = ()
    for x in strategy.experimental_distribute_dataset(data):
        parts = strategy.experimental_local_results(step(x))
    held = [copy._value._buffer.devices() for copy in strategy.experimental_local_results(w)]
    rows = {part._buffer.shape[0] for part in parts}
    places = {device for part in parts for device in part._buffer.devices()}
    assert len(places) == len(parts)
    return len(set.union(*held)), rows, program(step).texts() if len(devices) > 1 else []


def test_it_cannot_be_faked(four_devices):
    devices, rows, (text,) = evidence(DEVICES)
    assert devices == 4
    assert rows == {4}
    assert text.count(" all-reduce(") == 1 and "num_partitions=4" in text


def test_one_device_fails_all_of_these_checks(four_devices):
    devices, rows, texts = evidence(DEVICES[:1])
    assert devices != 4
    assert rows != {4}
    assert not any("all-reduce" in text for text in texts)


def test_a_report_tells_collectives_and_bytes(four_devices):
    _, step = traced(DEVICES, replica_functions.gradients, calls=1)
    # Two floats of a gradient, and of its gradient; from each replica two rows of two floats, and their numbers.
    assert "1 all-reduce" in step.report() and "all-gather" in step.report()
    assert "bytes a call for each device" in step.report()


# What has no program.


def in_step(strategy, replica, x=None):
    """The results of a traced run, and why it was no program."""
    step = tf.function(lambda x: strategy.run(replica, args=(x,)))
    x = of_each(strategy, [1.0, 2.0]) if x is None else x
    return [np.asarray(y) for y in strategy.experimental_local_results(step(x))], step.report()


@pytest.fixture
def strategy(four_devices):
    return tf.distribute.MirroredStrategy(DEVICES[:2])


def test_python_that_looks_at_the_number_of_the_replica(strategy):
    found, why = in_step(strategy, lambda x: tf.exp(x) if me().number else tf.sqrt(x))
    np.testing.assert_allclose(found, [1.0, np.exp(2.0)], rtol=1e-6)
    assert "where one replica calls sqrt" in why and "another calls exp" in why


def test_python_that_counts_its_calls(strategy):
    calls = []

    def replica(x):
        calls.append(1)
        return tf.reshape(tf.fill([len(calls)], x), [-1])

    found, why = in_step(strategy, replica)
    assert [x.tolist() for x in found] == [[1.0], [2.0, 2.0]]
    assert "shape of broadcast_to" in why and "differs between replicas" in why


def test_a_variable_that_was_not_made_for_replicas(strategy):
    calls = tf.Variable(0.0)
    found, why = in_step(strategy, lambda x: calls.assign_add(x) + 0.0)
    assert [float(x) for x in found] == [1.0, 3.0] and float(calls) == 3.0
    assert "one replica uses what another has computed" in why


def test_ops_that_xla_does_not_run(strategy):
    found, why = in_step(strategy, lambda x: tf.unique(tf.stack([x, x]) * 2.0)[0])
    assert [x.tolist() for x in found] == [[2.0], [4.0]]
    assert "XLA does not run unique" in why


def test_what_needs_no_results_of_the_program_comes_before_it(strategy, capfd):
    elements = iter(tf.data.Dataset.range(100).map(lambda i: tf.cast(i, tf.float32)))

    def replica(x):
        tf.print("a replica")
        return next(elements) + x * 100.0

    found, why = in_step(strategy, replica)
    assert [float(x) for x in found] == [100.0, 201.0]
    assert "in one program, 1 calls" in why
    assert capfd.readouterr().err.count("a replica") == 2


def test_an_unequal_last_batch_runs_in_step(strategy):
    with strategy.scope():
        total = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

    @tf.function(reduce_retracing=True)
    def step(x):
        strategy.run(lambda x: total.assign_add(tf.reduce_sum(x)), args=(x,))

    data = tf.data.Dataset.range(1, 12).map(lambda i: tf.cast(i, tf.float32)).batch(4)
    seen = []
    for x in strategy.experimental_distribute_dataset(data.repeat(2)):
        step(x)
        seen.append(float(total))
    assert seen == [10.0, 36.0, 66.0, 76.0, 102.0, 132.0]
    report = step.report()
    assert "in one program, 4 calls" in report
    assert "different" in report


def test_copies_that_differ_and_are_read_outside(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    step = tf.function(lambda: strategy.run(lambda: v.assign_add(number())) and None)
    read = tf.function(lambda: strategy.run(lambda: me().merge_call(lambda _: v * 10.0) + v))

    def local(x):
        return [float(y) for y in strategy.experimental_local_results(x)]

    assert local(read()) == [11.0, 11.0]
    step()
    assert local(v) == [1.0, 2.0]
    assert local(read()) == [11.0, 12.0]  # outside, it is what the first replica has
    assert "1 calls in step: the copies of a variable differ" in read.report()


def test_a_run_inside_of_a_loop(strategy):
    @tf.function
    def steps(x):
        total = 0.0
        for _ in tf.range(3):
            total += strategy.reduce("SUM", strategy.run(lambda x: x * 2.0, args=(x,)), axis=None)
        return total

    assert float(steps(of_each(strategy, [1.0, 2.0]))) == 18.0
    assert "2 replicas in step: they run inside of a loop or a branch" in steps.report()


# Variables.


def test_variables_that_are_read_outside_of_replicas(strategy):
    kinds = tf.VariableAggregation
    with strategy.scope():
        made = {
            kind: tf.Variable(
                0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=kind
            )
            for kind in (kinds.SUM, kinds.MEAN, kinds.ONLY_FIRST_REPLICA)
        }

    @tf.function
    def step(x):
        strategy.run(lambda x: [v.assign_add(x) for v in made.values()] and None, args=(x,))
        return [v + 0.0 for v in made.values()]

    for k in (1.0, 2.0, 3.0):
        found = step(of_each(strategy, [1.0, 5.0]))
        assert [float(x) for x in found] == [6.0 * k, 3.0 * k, k]
    assert "3 calls on 2 devices" in step.report()


def rows_of_each(strategy, *counts):
    """As many rows for each replica."""
    return strategy.experimental_distribute_values_from_function(
        lambda c: tf.ones([counts[c.replica_id_in_sync_group], 2])
    )


def added_up(strategy, **options):
    """A step that adds the sum of all rows to a variable, and the variable."""
    with strategy.scope():
        v = tf.Variable(tf.zeros([2]))

    def replica(x):
        v.assign_add(me().all_reduce("SUM", tf.reduce_sum(x, 0)))

    return tf.function(lambda x: strategy.run(replica, args=(x,)), **options), v


@pytest.mark.parametrize("widened", [False, True])
def test_other_shapes_are_compiled_when_they_have_come_often(strategy, monkeypatch, widened):
    step, v = added_up(strategy, reduce_retracing=widened)
    step(rows_of_each(strategy, 4, 4))  # the first ones are compiled at once
    assert "2 replicas in one program, 1 calls" in step.report()
    monkeypatch.setattr(patience.last, "seconds", math.inf)
    for rows in (3, 2, 3):
        step(rows_of_each(strategy, rows, rows))
    assert step.report().count("one program, 1 calls") == 1
    assert (
        sum(map(int, re.findall(rf"(\d) calls in step: {patience.TOO_RARE}", step.report()))) == 3
    )
    monkeypatch.setattr(patience.last, "seconds", 0.0)
    step(rows_of_each(strategy, 3, 3))
    assert step.report().count("one program, 1 calls") == 2
    held = [copy.numpy().tolist() for copy in strategy.experimental_local_results(v)]
    assert held == [[30.0, 30.0]] * 2


def test_what_is_to_be_compiled_is_compiled_for_all_shapes(strategy, monkeypatch):
    step, _ = added_up(strategy, jit_compile=True, reduce_retracing=True)
    for rows in (4, 3, 2):
        step(rows_of_each(strategy, rows, rows))
        monkeypatch.setattr(patience.last, "seconds", math.inf)
    assert "2 calls on 2 devices" in step.report() and "in step" not in step.report()


def test_unequal_parts_are_not_compiled_for_before_they_have_come_often(strategy):
    step, v = added_up(strategy, reduce_retracing=True)
    for counts in ((4, 4), (2, 1)):
        step(rows_of_each(strategy, *counts))
    report = step.report()
    assert "1 calls in step: the replicas have parts of different shapes" in report
    assert re.search(r"numpy .*first call", report) and not re.search(r"xla .*first call", report)
    held = [copy.numpy().tolist() for copy in strategy.experimental_local_results(v)]
    assert held == [[11.0, 11.0]] * 2


def test_what_was_read_before_a_step_stays(strategy):
    with strategy.scope():
        v = tf.Variable(tf.ones([1000]))
    step = tf.function(
        lambda: strategy.run(lambda: v.assign_add(me().all_reduce("SUM", tf.ones([1000])))) and None
    )
    copies = strategy.experimental_local_results(v)
    before = []
    for _ in range(4):
        before.append([copy.read_value() for copy in copies])
        step()
    step()
    for i, tensors in enumerate(before):
        assert [float(x[0]) for x in tensors] == [1.0 + 2 * i] * 2
    assert [float(copy[-1]) for copy in copies] == [11.0] * 2


def test_copies_are_found_where_jax_was_interrupted_while_it_listed_them(strategy):
    from tapeflow._src.engines.xla import sharding

    with strategy.scope():
        v = tf.Variable(tf.ones([3]))
    step = tf.function(
        lambda x: strategy.run(lambda x: v.assign_add(x * tf.ones([3])), args=(x,)) and None
    )
    step(of_each(strategy, [1.0, 2.0]))
    whole = strategy.experimental_local_results(v)[0]._value._array.whole.array
    whole.__dict__["addressable_shards"] = whole.addressable_shards[:1]  # which is what it leaves
    held = [copy.numpy().tolist() for copy in strategy.experimental_local_results(v)]
    assert held == [[2.0] * 3, [3.0] * 3]
    assert len(sharding.boxes(whole)) == 1  # replicated: one of the devices answers for it
    step(of_each(strategy, [1.0, 2.0]))
    held = [copy.numpy().tolist() for copy in strategy.experimental_local_results(v)]
    assert held == [[3.0] * 3, [5.0] * 3]


def test_results_that_are_what_was_given(strategy):
    with strategy.scope():
        v = tf.Variable(tf.ones([3]))

    @tf.function
    def step(x):
        old = v.read_value()
        strategy.run(lambda x: v.assign_add(me().all_reduce("SUM", x) * tf.ones([3])), args=(x,))
        first, second = strategy.experimental_local_results(x)
        return old, tf.identity(first), second, tf.constant(7.0)

    for k in range(3):
        old, *others = step(of_each(strategy, [1.0, 2.0]))
        assert old.numpy().tolist() == [1.0 + 3.0 * k] * 3
        assert [float(x) for x in others] == [1.0, 2.0, 7.0]
    assert "3 calls on 2 devices" in step.report()


def test_what_xla_cannot_compile_runs_in_step(strategy, monkeypatch, caplog):
    from tapeflow._src.engines.xla.replicas.program import ReplicasProgram

    with strategy.scope():
        v = tf.Variable(1.0)

    def fails(*_):
        raise ValueError("no such thing")

    monkeypatch.setattr(ReplicasProgram, "run_all", fails)
    step = tf.function(lambda: strategy.run(lambda: v.assign_add(me().all_reduce("SUM", 2.0))))
    step()
    step()
    assert [float(x) for x in strategy.experimental_local_results(v)] == [9.0, 9.0]
    assert "2 replicas in step: ValueError: no such thing" in step.report()
    assert "no such thing" in caplog.text


def test_an_index_out_of_range_is_refused_and_nothing_changes(strategy):
    with strategy.scope():
        table = tf.Variable(tf.ones([4, 2]))

    def replica(i):
        table.assign_add(me().all_reduce("SUM", tf.ones([4, 2])))
        return tf.gather(table, i)

    step = tf.function(lambda i: strategy.run(replica, args=(i,)))
    step(of_each(strategy, [0, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(of_each(strategy, [0, 4]))
    copies = strategy.experimental_local_results(table)
    assert [float(copy[0, 0]) for copy in copies] == [3.0, 3.0]
    step(of_each(strategy, [0, 3]))
    assert [float(copy[0, 0]) for copy in copies] == [5.0, 5.0]


def test_a_function_in_a_function(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    inner = tf.function(
        lambda x: strategy.run(lambda x: v.assign_add(me().all_reduce("SUM", x)), args=(x,))
    )

    @tf.function
    def twice(x):
        inner(x)
        inner(x)
        return v * 2.0

    assert float(twice(of_each(strategy, [1.0, 2.0]))) == 14.0
    assert "2 replicas in one program, 1 calls" in twice.report()


def test_checkpoints_are_restored_on_other_numbers_of_devices(four_devices, tmp_path):
    def made(count):
        strategy = tf.distribute.MirroredStrategy(DEVICES[:count])
        v = Variables(strategy)
        step = tf.function(
            lambda x: strategy.run(lambda x: replica_functions.assignments(v, x), args=(x,))
        )
        return v, lambda: step(of_each(strategy, [[1.0, 2.0]] * count))

    four, step = made(4)
    step()
    path = tf.train.Checkpoint(**vars(four)).write(tmp_path / "ckpt")
    for count in (1, 2):
        other, again = made(count)
        again()
        tf.train.Checkpoint(**vars(other)).read(path).assert_consumed()
        for a, b in zip(vars(four).values(), vars(other).values(), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), atol=1e-6, rtol=0)
