"""Signal handlers that save: whatever the main thread is doing, they find whole values, and disturb nothing."""

import itertools
import signal

import numpy as np
import pytest
from tests.core.interruptions import surroundings, with_signal

import tapeflow as tf

SIGNAL = signal.SIGTERM


class Training:
    """A small model and a handler that saves it."""

    def __init__(self, folder):
        self.w = tf.Variable(np.ones((3, 2), np.float32), name="w")
        self.x = tf.constant(np.linspace(0, 1, 12, dtype=np.float32).reshape(4, 3))
        self.checkpoint = tf.train.Checkpoint(w=self.w)
        self.folder = folder
        self.saved = []
        self.compiled = tf.function(self.step, jit_compile=False)

    def step(self):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.softmax(self.x @ self.w) ** 2)
        self.w.assign_sub(0.1 * tape.gradient(loss, self.w))

    def traced_anew(self):
        tf.function(self.step, jit_compile=False)()

    def save(self, number, frame):
        path = self.checkpoint.write(f"{self.folder}/at")
        self.saved.append(path)
        assert tf.reduce_sum(tf.nn.softmax(tf.constant([1.0, 2.0]))).numpy() == pytest.approx(1.0)


@pytest.fixture
def training(tmp_path):
    training = Training(tmp_path)
    before = signal.signal(SIGNAL, training.save)
    yield training
    signal.signal(SIGNAL, before)


@pytest.mark.parametrize(
    ("name", "stride"), [("step", 7), ("compiled", 3), ("traced_anew", 211)], ids=str
)
@pytest.mark.sample(3)
def test_a_handler_saves_at_any_line(training, name, stride):
    action = getattr(training, name)
    start = training.w.numpy()
    action()
    after = training.w.numpy()
    outside = surroundings()
    for at in itertools.count(0, stride):
        training.w.assign(start)
        going_on = with_signal(action, at, lambda: signal.raise_signal(SIGNAL))
        np.testing.assert_array_equal(training.w.numpy(), after)
        assert surroundings() == outside
        if not going_on:
            break
        tf.train.Checkpoint(w=training.w).read(training.saved.pop()).assert_consumed()
        found = training.w.numpy()
        assert np.array_equal(found, start) or np.array_equal(found, after)
    assert at > 20 * stride


def test_a_handler_that_saves_leaves_no_trace_in_the_function(training):
    def step():
        signal.raise_signal(SIGNAL)
        return training.w * 2.0

    f = tf.function(step, autograph=False, jit_compile=False)
    f()
    assert len(training.saved) == 1
    assert f.get_concrete_function().graph.assigned == {}
    f()
    assert len(training.saved) == 1


def test_a_manager_saves_from_a_handler_too(training, tmp_path):
    manager = tf.train.CheckpointManager(training.checkpoint, tmp_path / "kept", max_to_keep=2)

    def step():
        signal.raise_signal(SIGNAL)
        return training.w * 2.0

    signal.signal(SIGNAL, lambda *_: manager.save())
    tf.function(step, autograph=False)()
    tf.function(step, autograph=False)()
    assert manager.latest_checkpoint.endswith("ckpt-2")


def test_what_a_handler_does_in_init_scope_is_not_traced(training):
    stopping = tf.Variable(False)

    def stop(number, frame):
        with tf.init_scope():
            stopping.assign(True)

    def step():
        signal.raise_signal(SIGNAL)
        return training.w * 2.0

    signal.signal(SIGNAL, stop)
    f = tf.function(step, autograph=False)
    f()
    assert stopping.numpy()
    stopping.assign(False)
    f()
    assert not stopping.numpy()


def test_saving_inside_a_function_is_refused_as_before(training):
    with pytest.raises(NotImplementedError, match=r"inside tf\.function"):
        tf.function(lambda: training.checkpoint.write(f"{training.folder}/no"))()
