"""Datasets inside `tf.function`: loops of the program, gradients through them, iterators."""

import gc
import threading
import time
import traceback

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data

Dataset = tapeflow.data.Dataset


@pytest.fixture
def pairs():
    x = np.arange(10, dtype=np.float32)
    return Dataset.from_tensor_slices((x, 2 * x)).batch(3)


def test_a_loop_is_one_node_and_runs_anew_each_time(pairs):
    traces = []

    @tf.function
    def total(data):
        traces.append(1)
        s, n = tf.constant(0.0), 0
        for x, y in data:
            s += tf.reduce_sum(x * y)
            n += 1
        return s, n

    for _ in range(2):
        s, n = total(pairs)
        assert (float(s), int(n)) == (570.0, 4)
    assert len(traces) == 1 and total.graph().count("while") == 1


def test_shuffled_anew_at_each_call():
    data = Dataset.range(50).shuffle(50, seed=1)

    @tf.function
    def first():
        found = tf.constant(-1, tf.int64)
        for x in data:
            found = x
            break
        return found

    expected = [int(next(iter(Dataset.range(50).shuffle(50, seed=1))))]
    found = [int(first()) for _ in range(6)]
    assert found[:1] == expected and len(set(found)) > 1


def test_break_ends_a_loop_over_what_never_ends():
    read = []

    def generator():
        for i in range(10**9):
            read.append(i)
            yield i

    data = Dataset.from_generator(generator, output_signature=tf.TensorSpec((), tf.int64))

    @tf.function
    def until(limit):
        s = tf.constant(0, tf.int64)
        for x in data:
            if x == 2:
                continue
            s += x
            if s > limit:
                break
        return s

    assert int(until(tf.constant(20, tf.int64))) == 26
    assert read == list(range(8))


def test_training_in_a_loop(pairs):
    def train(w):
        for x, y in pairs:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((w * x - y) ** 2)
            w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    eager, traced = tf.Variable(0.5), tf.Variable(0.5)
    step = tf.function(lambda: train(traced))
    for _ in range(2):
        assert np.isclose(float(train(eager)), float(step()), rtol=1e-5)
        assert np.isclose(float(eager), float(traced), rtol=1e-6)


@pytest.mark.parametrize("jit_compile", [None, False, True])
@pytest.mark.parametrize("where", ["inside", "around"])
def test_gradients_through_a_loop(pairs, where, jit_compile):
    w = tf.Variable(0.5)

    @tf.function(jit_compile=jit_compile)
    def loss():
        total = 0.0
        for x, y in pairs:  # the last batch is smaller
            total += tf.reduce_sum(tf.sin(w * x) - y)
        return total

    @tf.function(jit_compile=jit_compile)
    def inside():
        with tf.GradientTape() as tape:
            total = 0.0
            for x, y in pairs:
                total += tf.reduce_sum(tf.sin(w * x) - y)
        return tape.gradient(total, w)

    if where == "inside":
        found = inside()
    else:
        with tf.GradientTape() as tape:
            total = loss()
        found = tape.gradient(total, w)
    x = np.arange(10)
    assert np.isclose(float(found), np.sum(x * np.cos(0.5 * x)), rtol=1e-4)


def test_enumerate_and_zip():
    @tf.function
    def total():
        s = tf.constant(0, tf.int64)
        for i, x in enumerate(Dataset.range(5, 8)):
            s += tf.cast(i, tf.int64) * x
        for a, b in zip(Dataset.range(3), Dataset.range(3), strict=True):
            s += a * b
        return s

    assert int(total()) == 25


def test_structures_and_nested_loops():
    data = Dataset.from_tensor_slices({"a": [1, 2], "b": ([3, 4], [5, 6])})

    @tf.function
    def total():
        s = 0
        for d in data:
            for e in data:
                s += d["a"] * e["b"][1]
        return s

    assert int(total()) == 33


def test_datasets_of_symbolic_tensors():
    @tf.function
    def scaled(x, k, n):
        s = tf.constant(0.0)
        for e in Dataset.from_tensor_slices(x).map(lambda y: y * k).batch(n):
            s += tf.reduce_max(e)
        return s

    x = tf.constant([1.0, 2.0, 3.0])
    assert float(scaled(x, tf.constant(10.0), tf.constant(2))) == 50.0
    assert float(scaled(x, tf.constant(1.0), tf.constant(3))) == 3.0
    assert scaled.experimental_get_tracing_count() == 1


def test_reduce():
    @tf.function
    def total(n):
        return Dataset.range(n).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    assert int(total(tf.constant(5, tf.int64))) == 10


def test_iterators():
    it = iter(Dataset.range(10))

    @tf.function
    def two():
        return it.get_next() * 10 + next(it)

    @tf.function
    def some():
        s = tf.constant(0, tf.int64)
        for x in it:
            s += x
            if x == 6:
                break
        return s

    assert [int(two()), int(two())] == [1, 23]
    assert int(some()) == 15
    assert int(next(it)) == 7
    assert it._checkpoint_state()["position"] == 8

    @tf.function
    def maybe():
        value = it.get_next_as_optional()
        if value.has_value():
            return value.get_value()
        return tf.constant(-1, tf.int64)

    assert [int(maybe()) for _ in range(3)] == [8, 9, -1]
    with pytest.raises(tf.errors.OutOfRangeError):
        two()


def test_an_exception_arrives_as_it_is():
    def generator():
        yield 1
        raise ValueError("of the generator")

    data = Dataset.from_generator(generator, output_signature=tf.TensorSpec((), tf.int32))

    @tf.function
    def total():
        s = 0
        for x in data:
            s += x
        return s

    for _ in range(2):
        with pytest.raises(ValueError, match="of the generator") as caught:
            total()
        assert 'raise ValueError("of the generator")' in "".join(
            traceback.format_exception(caught.value)
        )


def test_threads_end_with_the_loop():
    data = Dataset.range(1000).prefetch(2)

    @tf.function
    def few():
        s = tf.constant(0, tf.int64)
        for x in data:
            s += x
            if x > 3:
                break
        return s

    assert int(few()) == 10
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        gc.collect()
        left = [t for t in threading.enumerate() if t.name == "tapeflow-data"]
        if not left:
            break
        time.sleep(0.01)
    assert not left


def test_two_threads_in_one_function():
    data = Dataset.range(200)

    @tf.function
    def total():
        s = tf.constant(0, tf.int64)
        for x in data:
            s += x
        return s

    expected = int(total())
    found = []
    threads = [threading.Thread(target=lambda: found.append(int(total()))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [expected] * 4


def test_without_autograph_there_is_no_loop():
    @tf.function(autograph=False)
    def total():
        for _ in Dataset.range(3):
            pass

    with pytest.raises(RuntimeError, match="AutoGraph"):
        total()


class TestElementsOfUnknownRank:
    def numbers(self, *values):
        return tf.data.Dataset.from_generator(lambda: iter(values), tf.int32)

    def test_loops_take_the_rank_of_the_first_element(self):
        @tf.function
        def total(data):
            result = 0
            for x in data:
                result += tf.reduce_sum(x) + tf.rank(x)
            return result

        data = self.numbers([1, 2], [3])
        assert len(total.get_concrete_function(data).graph.as_graph_def().node)
        assert total(data).numpy() == 8
        assert total(self.numbers()).numpy() == 0

    def test_iterators_lose_no_element(self):
        @tf.function
        def two(iterator):
            result = 0
            for _ in tf.range(2):
                result = 10 * result + next(iterator)
            return result

        iterator = iter(self.numbers(1, 2, 3, 4))
        assert two(iterator).numpy() == 12
        assert two(iterator).numpy() == 34

    def test_an_element_of_another_rank_says_what_to_do(self):
        @tf.function
        def total(data):
            result = 0
            for x in data:
                result += tf.reduce_sum(x)
            return result

        with pytest.raises(tf.errors.InvalidArgumentError, match="output_signature"):
            total(self.numbers(1, [2, 3]))


def test_an_iterator_that_is_made_inside_is_made_whenever_the_function_runs():
    @tf.function
    def sums(n):
        it = iter(Dataset.range(n).shuffle(3, seed=1))
        first, rest = next(it) + it.get_next(), tf.constant(0, tf.int64)
        for x in it:
            rest += x
        return first + rest

    assert [int(sums(tf.constant(n, tf.int64))) for n in (5, 3, 5)] == [10, 3, 10]
    assert sums.experimental_get_tracing_count() == 1
    with pytest.raises(tf.errors.OutOfRangeError):
        sums(tf.constant(1, tf.int64))


def test_an_iterator_that_is_made_in_each_turn():
    @tf.function
    def total():
        s = tf.constant(0, tf.int64)
        for _ in tf.range(3):
            it = iter(Dataset.range(5))
            s += next(it) + next(it)
        return s

    assert int(total()) == 3

    @tf.function
    def counted(data):
        it, n = iter(data), 0
        optional = it.get_next_as_optional()
        while optional.has_value():
            optional, n = it.get_next_as_optional(), n + 1
        return n

    assert int(counted(Dataset.range(4))) == 4


def test_what_would_never_end_is_refused():
    for function in (list, sum, tuple):
        with pytest.raises(RuntimeError, match=r"dataset\.reduce"):
            tf.function(lambda function=function: function(Dataset.range(3)))()
    with pytest.raises(RuntimeError, match="AutoGraph"):
        tf.function(lambda: next(iter(Dataset.range(3))), autograph=False)()


def test_a_single_element_is_the_only_one():
    single = tf.function(lambda data: data.get_single_element())
    assert int(single(Dataset.range(1))) == 0
    for n, words in ((0, "empty"), (2, "more than one")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            single(Dataset.range(n))
