"""Calls of small programs on XLA: quick, and with all that is promised of slower ones."""

import gc
import re
import threading

import numpy as np
import pytest
from tests.engines.only import run_all_on

import tapeflow as tf

jax = pytest.importorskip("jax")

from tapeflow._src.engines.xla.short_way import ShortWay  # noqa: E402
from tapeflow._src.insides.jax_state import RESULTS, call_within_one_instruction  # noqa: E402


@pytest.fixture
def short(monkeypatch):
    """For each call of a program, whether it went the short way."""
    taken = []
    run = ShortWay.run

    def noted(self, tensors, step):
        results = run(self, tensors, step)
        taken.append(results is not None)
        return results

    monkeypatch.setattr(ShortWay, "run", noted)
    return taken


def step_of(variables, jit_compile=True):
    @tf.function(jit_compile=jit_compile)
    def step(x):
        for i, variable in enumerate(variables):
            variable.assign_add(x * (i + 1.0))
        return x + 1.0

    return step


def test_calls_after_the_first_go_the_short_way(short):
    f = tf.function(lambda x: x * 2.0 + 1.0, jit_compile=True)
    for dtype in (np.float32, np.float64):
        x = tf.constant(np.array([1.0, 1 / 3], dtype))
        short.clear()
        for _ in range(3):
            y = f(x)
            assert y.dtype == dtype
            np.testing.assert_array_equal(y, x._array * 2 + 1)
        assert short == [False, True, True]
    np.testing.assert_array_equal(f(f(x)), (x._array * 2 + 1) * 2 + 1)
    assert not jax.config.jax_enable_x64


def test_sizes_that_are_not_known_beforehand(short):
    f = tf.function(
        lambda x: x + tf.reduce_sum(x),
        input_signature=[tf.TensorSpec([None], tf.int64)],
        jit_compile=True,
    )
    for n in (2, 3, 2, 3):
        np.testing.assert_array_equal(
            f(tf.range(n, dtype=tf.int64)), np.arange(n) + n * (n - 1) // 2
        )
    assert short == [False, False, True, True]


def test_variables_change_and_what_was_read_before_does_not(short):
    variables = [tf.Variable(np.zeros([3, 3], np.float32)) for _ in range(3)]
    step = step_of(variables)
    one = tf.ones([3, 3])
    for _ in range(3):
        step(one)
    assert short == [False, False, True]
    before = variables[1].value()  # the same memory, which must not be given away now
    step(one)
    assert not short[-1]
    looked = variables[2].numpy()
    step(one)
    for i, variable in enumerate(variables):
        np.testing.assert_array_equal(variable, np.full([3, 3], 5.0 * (i + 1)))
    assert np.all(before == 6.0) and np.all(looked == 12.0)
    step(one)
    step(one)
    assert short[-1]


def test_each_variable_has_its_own_memory_again():
    """Outputs of the same shape come after variables: jax gives memory to the first result that it fits."""
    variables = [tf.Variable(np.zeros([3, 3], np.float32)) for _ in range(3)]
    step = step_of(variables)
    one = tf.ones([3, 3])
    step(one)
    program = step.get_concrete_function(one)._graph_function._plain.executor._current.program
    (call,) = program._calls
    lowered = call._program.lower(*[np.ones([3, 3], np.float32)] * 4).as_text()
    assert re.findall(r"%arg(\d).{1,40}aliasing_output = (\d)", lowered) == [
        ("1", "0"),
        ("2", "1"),
        ("3", "2"),
    ]


def test_one_value_for_two_variables_and_an_output(short):
    a, b = (tf.Variable(np.zeros(3, np.float32)) for _ in range(2))

    @tf.function(jit_compile=True)
    def step(x):
        y = a + x
        b.assign(y)
        a.assign(y)
        return y, x

    one = tf.ones([3])
    for count in range(1, 6):
        y, x = step(one)
        for found, expected in ((a, count), (b, count), (y, count), (x, 1.0)):
            np.testing.assert_array_equal(found, np.full(3, expected))


def test_a_refused_step_leaves_variables_that_were_to_get_one_value(monkeypatch):
    run_all_on(monkeypatch, "xla")
    a, b = (tf.Variable(np.zeros(3, np.float32)) for _ in range(2))

    @tf.function
    def start():
        a.assign(a * 0.0 + 1.0)
        b.assign(b * 0.0 + 2.0)

    @tf.function
    def step(x):
        y = tf.gather(x, tf.cast(tf.reduce_sum(x), tf.int32)) + x  # a check inside of the program
        a.assign(y)
        b.assign(y)

    for _ in range(3):
        start()
        step(tf.constant([0.0, 1.0, 0.0]))
        np.testing.assert_array_equal(a, [1.0, 2.0, 1.0])
        np.testing.assert_array_equal(b, [1.0, 2.0, 1.0])
        start()
        with pytest.raises(tf.errors.InvalidArgumentError, match="gather"):
            step(tf.constant([9.0, 1.0, 0.0]))
        np.testing.assert_array_equal(a, [1.0, 1.0, 1.0])
        np.testing.assert_array_equal(b, [2.0, 2.0, 2.0])


def test_labels_that_went_through_floats_are_looked_at_before_it_starts(short, monkeypatch):
    run_all_on(monkeypatch, "xla")
    weights = tf.Variable(np.ones((2, 3), np.float32))

    @tf.function
    def step(x, labels):  # as losses of Keras do
        labels = tf.cast(tf.cast(labels, tf.float32), tf.int32)
        with tf.GradientTape() as tape:
            logits = tf.matmul(x, weights)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        weights.assign_sub(tape.gradient(loss, weights))
        return loss

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(3):
        step(x, tf.constant([0, 2]))
    assert short[-1:] == [True]  # there is no check inside of the program
    before = weights.numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="label value of 3"):
        step(x, tf.constant([0, 3]))
    np.testing.assert_array_equal(weights, before)
    step(x, tf.constant([0, 2]))
    assert np.all(weights.numpy() != before)


@pytest.mark.parametrize("on", [True, False])
def test_the_collection_of_garbage_is_as_it_was(on):
    f = tf.function(lambda x: x + 1.0, jit_compile=True)
    x = tf.ones([2])
    f(x)
    (gc.enable if on else gc.disable)()
    try:
        f(x)
        assert gc.isenabled() is on
    finally:
        gc.enable()


def test_threads_that_call_at_the_same_time():
    variable = tf.Variable(np.zeros(3, np.float32))
    step = step_of([variable])
    one = tf.ones([3])
    step(one)
    threads = [threading.Thread(target=lambda: [step(one) for _ in range(100)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(variable, np.full(3, 401.0))
    assert gc.isenabled() and not jax.config.jax_enable_x64


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_call_that_fails_leaves_the_state_as_it_was(error):
    seen = []

    def program(*arrays):
        seen.append((arrays, jax.config.jax_enable_x64, gc.isenabled()))
        if len(arrays) == 2:
            raise error
        return arrays

    made = []
    call_within_one_instruction(made, program, [1])
    assert made[RESULTS] == (1,)
    made = []
    with pytest.raises(error):
        call_within_one_instruction(made, program, [1, 2])
    assert len(made) <= RESULTS
    assert seen == [((1,), True, False), ((1, 2), True, False)]
    assert gc.isenabled() and not jax.config.jax_enable_x64
