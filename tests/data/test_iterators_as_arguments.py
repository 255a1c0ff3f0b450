"""Iterators as arguments of functions: one trace for all whose elements are alike."""

import gc
import threading
import weakref

import numpy as np
import pytest

import tapeflow as tf

DATA = tf.data.Dataset.range(10).batch(2)


@pytest.fixture(params=[None, False, True], ids=["default", "numpy", "xla"])
def compiled(request):
    def compile(function):
        return tf.function(function, jit_compile=request.param)

    return compile


def test_a_new_iterator_needs_no_new_trace(compiled):
    step = compiled(lambda it: next(it) * 2)
    for _ in range(3):
        it = iter(DATA)
        assert [step(it).numpy().tolist() for _ in range(2)] == [[0, 2], [4, 6]]
        assert next(it).numpy().tolist() == [4, 5]  # it went on
    assert step.experimental_get_tracing_count() == 1


def test_iterators_of_one_call_are_told_apart(compiled):
    step = compiled(lambda a, b: next(a) - next(b))
    first, second = iter(DATA), iter(DATA.skip(2))
    np.testing.assert_array_equal(step(first, second), [-4, -4])
    np.testing.assert_array_equal(step(second, first), [4, 4])
    both = iter(DATA)
    np.testing.assert_array_equal(step(both, both), [-2, -2])


def test_the_end_is_an_error_outside(compiled):
    step = compiled(lambda it: next(it))
    it = iter(tf.data.Dataset.range(1))
    step(it)
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        step(it)
    assert step(iter(tf.data.Dataset.range(1))).numpy() == 0


def test_optionals(compiled):
    there = compiled(lambda it: it.get_next_as_optional().has_value())
    it = iter(tf.data.Dataset.range(1))
    assert [bool(there(x)) for x in (it, it, iter(tf.data.Dataset.range(3)))] == [True, False, True]
    assert there.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("jit_compile", [None, False])
def test_loops(jit_compile):
    @tf.function(jit_compile=jit_compile)
    def total(it):
        found = tf.constant(0, tf.int64)
        for x in it:
            found += tf.reduce_sum(x)
        return found

    assert [int(total(iter(DATA))), int(total(iter(DATA.take(2))))] == [45, 6]
    assert total.experimental_get_tracing_count() == 1


def test_functions_hand_them_on(compiled):
    inner = compiled(lambda it: next(it))
    outer = compiled(lambda it: inner(it) + inner(it))
    for _ in range(2):
        np.testing.assert_array_equal(outer(iter(DATA)), [2, 4])
    assert inner.experimental_get_tracing_count() == 1


def test_one_that_a_graph_knows_stays():
    inner = tf.function(lambda it: next(it))
    held = [iter(DATA)]
    outer = tf.function(lambda: inner(held[0]))
    np.testing.assert_array_equal(outer(), [0, 1])
    held.clear()
    gc.collect()
    np.testing.assert_array_equal(outer(), [2, 3])


def test_a_trace_keeps_none_alive():
    step = tf.function(lambda it: next(it))
    it = iter(DATA)
    step(it)
    gone = weakref.ref(it)
    del it
    gc.collect()
    assert gone() is None


def test_other_elements_are_another_trace():
    step = tf.function(lambda it: next(it))
    for data in (DATA, DATA.map(lambda x: tf.cast(x, tf.float32)), DATA.batch(2), DATA):
        step(iter(data))
    assert step.experimental_get_tracing_count() == 3


def test_structures_and_signatures():
    data = tf.data.Dataset.from_tensor_slices({"x": np.ones((5, 3), np.float32), "n": range(5)})
    spec = tf.data.IteratorSpec(data.batch(2).element_spec)

    @tf.function(input_signature=[{"data": spec}])
    def step(given):
        element = next(given["data"])
        return element["x"], element["n"]

    for _ in range(2):
        x, n = step({"data": iter(data.batch(2))})
        assert x.shape == [2, 3]
        assert n.numpy().tolist() == [0, 1]
    with pytest.raises(TypeError, match="Can not cast"):
        step({"data": iter(DATA)})


def test_composite_elements():
    data = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3], []])).batch(2)
    step = tf.function(lambda it: tf.reduce_sum(next(it)))
    assert [int(step(iter(data))), int(step(iter(data)))] == [6, 6]
    assert step.experimental_get_tracing_count() == 1


def test_threads_with_an_iterator_each():
    step = tf.function(lambda it: next(it))
    step(iter(DATA))
    found = {}

    def run(k):
        it = iter(tf.data.Dataset.range(100 * k, 100 * k + 100).batch(2))
        found[k] = [int(step(it)[0]) for _ in range(20)]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: [100 * k + 2 * i for i in range(20)] for k in range(8)}
    assert step.experimental_get_tracing_count() == 1


def test_one_that_leaves_its_trace_says_so():
    kept = []
    tf.function(lambda it: kept.append(it) or next(it))(iter(DATA))
    with pytest.raises(RuntimeError, match="Do not keep it outside"):
        next(kept[0])


def test_distributed_ones():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(16).batch(4))

    @tf.function
    def step(it):
        sums = strategy.run(tf.reduce_sum, args=(next(it),))
        return strategy.reduce("SUM", sums, axis=None)

    for _ in range(2):
        it = iter(data)
        assert [int(step(it)), int(step(it))] == [6, 22]
    assert step.experimental_get_tracing_count() == 1
