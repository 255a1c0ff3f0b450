"""Functions in several threads: traces keep their symbols to themselves, and no step is lost."""

import threading

import numpy as np
import pytest
from tests.common import in_threads
from tests.engines.only import PROGRAMS, run_all_on

import tapeflow as tf

THREADS = 16


@pytest.fixture(params=PROGRAMS)
def program(request, monkeypatch):
    run_all_on(monkeypatch, request.param)
    return request.param


@pytest.mark.parametrize("size", [1, 50_000])
def test_no_step_is_lost(program, size):
    v = tf.Variable(np.zeros(size, np.float32))
    count = tf.Variable(0)

    @tf.function
    def step(x):
        v.assign_add(x)
        count.assign_add(1)
        return v[0]

    one = tf.ones([size])

    def run():
        for _ in range(20):
            step(one)

    in_threads(THREADS, run)
    np.testing.assert_array_equal(v, np.full(size, 20.0 * THREADS))
    assert int(count) == 20 * THREADS


def test_steps_mix_with_eager_updates(program):
    v = tf.Variable(np.zeros(50_000, np.float32))
    one = tf.ones([50_000])
    step = tf.function(lambda x: v.assign_add(x))

    def traced():
        for _ in range(20):
            step(one)

    def eager():
        for _ in range(20):
            v.assign_add(one)

    def read():
        for _ in range(40):
            value = v.numpy()
            assert value.min() == value.max()

    in_threads(12, traced, eager, read)
    np.testing.assert_array_equal(v, np.full(50_000, 160.0))


def test_functions_that_assign_what_the_other_reads(program):
    a, b = tf.Variable(0.0), tf.Variable(0.0)
    first = tf.function(lambda: a.assign_add(b * 0.0 + 1.0))
    second = tf.function(lambda: b.assign_add(a * 0.0 + 1.0))

    def run(step):
        def many():
            for _ in range(50):
                step()

        return many

    in_threads(8, run(first), run(second))
    assert (float(a), float(b)) == (200.0, 200.0)


def test_a_checkpoint_is_written_beside_a_training_loop(program, tmp_path):
    v, m = (tf.Variable(np.zeros(50_000, np.float32)) for _ in range(2))
    step = tf.function(lambda x: (m.assign_add(x), v.assign_add(m)))
    one = tf.ones([50_000])
    step(one)
    stop = threading.Event()

    def train():
        while not stop.is_set():
            step(one)

    def save():
        try:
            for k in range(10):
                tf.train.Checkpoint(v=v, m=m).write(str(tmp_path / f"c{k}"))
        finally:
            stop.set()

    in_threads(2, train, save)
    for k in range(10):
        restored = [tf.Variable(np.zeros(50_000, np.float32)) for _ in range(2)]
        checkpoint = tf.train.Checkpoint(v=restored[0], m=restored[1])
        checkpoint.read(str(tmp_path / f"c{k}")).assert_consumed()
        for variable in restored:
            value = variable.numpy()
            assert value.min() == value.max() > 0


class Tracing:
    """A function that is being traced in another thread until it is let go."""

    def __init__(self, v):
        self.v = v
        self.inside, self.go_on = threading.Event(), threading.Event()
        self.wait = True

        @tf.function
        def step(x):
            before = v * 1.0
            v.assign_add(x)
            if self.wait:
                self.inside.set()
                assert self.go_on.wait(60)
            return before + v

        self.step = step
        self.results = []
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        self.results.append(self.step(tf.constant([1.0, 1.0])))

    def __enter__(self):
        self.thread.start()
        assert self.inside.wait(60)
        return self

    def __exit__(self, *exception):
        self.wait = False
        self.go_on.set()
        self.thread.join()


class TestWhileAnotherThreadTraces:
    @pytest.fixture
    def v(self):
        return tf.Variable([1.0, 2.0])

    def test_reading(self, v):
        with Tracing(v):
            np.testing.assert_array_equal(v, [1.0, 2.0])
            np.testing.assert_array_equal(v + 1.0, [2.0, 3.0])
            assert "1., 2." in repr(v)

    def test_assigning(self, v):
        with Tracing(v) as tracing:
            v.assign([5.0, 6.0])
            v.assign_add([1.0, 1.0])
            np.testing.assert_array_equal(v, [6.0, 7.0])
        np.testing.assert_array_equal(tracing.results[0], [13.0, 15.0])
        np.testing.assert_array_equal(v, [7.0, 8.0])
        np.testing.assert_array_equal(tracing.step(tf.constant([1.0, 1.0])), [15.0, 17.0])

    def test_rows_and_slices(self, v):
        with Tracing(v):
            v.scatter_nd_update([[0]], [9.0])
            v[1:].assign([8.0])
            np.testing.assert_array_equal(v, [9.0, 8.0])

    def test_taping(self, v):
        with Tracing(v):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * v)
            np.testing.assert_array_equal(tape.gradient(loss, v), [2.0, 4.0])

    def test_running_a_function_that_was_traced(self, v):
        other = tf.function(lambda x: v.assign_add(x) * 2.0)
        other(tf.constant([0.0, 0.0]))
        with Tracing(v):
            np.testing.assert_array_equal(other(tf.constant([1.0, 1.0])), [4.0, 6.0])

    def test_saving(self, v, tmp_path):
        with Tracing(v):
            tf.train.Checkpoint(v=v).write(str(tmp_path / "c"))
        fresh = tf.Variable([0.0, 0.0])
        tf.train.Checkpoint(v=fresh).read(str(tmp_path / "c"))
        np.testing.assert_array_equal(fresh, [1.0, 2.0])

    def test_restoring(self, v, tmp_path):
        tf.train.Checkpoint(v=v).write(str(tmp_path / "c"))
        v.assign([0.0, 0.0])
        with Tracing(v):
            tf.train.Checkpoint(v=v).read(str(tmp_path / "c"))
            np.testing.assert_array_equal(v, [1.0, 2.0])

    def test_tracing(self, v):
        """Another function, which waits for its turn to be traced and then finds everything as it should be."""
        other = tf.function(lambda x: v * x)
        found = []
        with Tracing(v) as tracing:
            thread = threading.Thread(target=lambda: found.append(other(tf.constant([2.0, 2.0]))))
            thread.start()
            tracing.go_on.set()
            thread.join()
        assert found[0].numpy().tolist() in ([2.0, 4.0], [4.0, 6.0])

    def test_a_failed_trace_changes_nothing(self, v):
        @tf.function
        def broken(x):
            v.assign_add(x)
            raise RuntimeError("no")

        with pytest.raises(RuntimeError, match="no"):
            broken(tf.constant([1.0, 1.0]))
        np.testing.assert_array_equal(v, [1.0, 2.0])


@pytest.mark.sample(3)
def test_many_threads_trace_and_train_at_once(program):
    v = tf.Variable(np.zeros(8, np.float32))

    def make():
        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(x * v)
            v.assign_add(tape.gradient(loss, v))
            return loss

        for size in (1, 8, 1, 8):
            step(tf.ones([size]))
        return step

    in_threads(8, make)
    np.testing.assert_array_equal(v, np.full(8, 32.0))


def test_recomputation_does_not_show_old_values_to_others():
    w = tf.Variable(2.0)
    inside, go_on = threading.Event(), threading.Event()
    turns = []

    @tf.recompute_grad
    def block(x):
        turns.append(None)
        if len(turns) == 2:  # the second time is in the backward pass
            inside.set()
            assert go_on.wait(60)
        return x * w

    x = tf.Variable(3.0)
    found = []

    def train():
        with tf.GradientTape() as tape:
            y = block(x)
        w.assign(10.0)
        found.extend(tape.gradient(y, [x, w]))

    thread = threading.Thread(target=train)
    thread.start()
    assert inside.wait(60)
    assert float(w) == 10.0
    w.assign_add(1.0)
    go_on.set()
    thread.join()
    assert [float(g) for g in found] == [2.0, 3.0]
    assert float(w) == 11.0
