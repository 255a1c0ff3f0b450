"""Calls of several threads that are computed as one."""

import threading

import numpy as np
import pytest

import tapeflow as tf


def test_calls_that_come_together_are_computed_once():
    sizes = []

    @tf.nondifferentiable_batch_function(1, 4, 60_000_000)  # it waits until the batch is full
    def f(x):
        sizes.append(x.shape[0])
        return x * 2.0

    results = {}
    threads = [
        threading.Thread(target=lambda i=i: results.update({i: f(tf.fill([1, 2], float(i)))}))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sizes == [4]
    for i, result in results.items():
        np.testing.assert_array_equal(result, np.full([1, 2], 2.0 * i))


def test_large_calls_are_computed_in_parts():
    sizes = []

    @tf.nondifferentiable_batch_function(1, 2, 0)
    def f(x):
        sizes.append(x.shape[0])
        return [x + 1.0]

    (result,) = f(tf.range(5.0))
    np.testing.assert_array_equal(result, np.arange(5.0) + 1)
    assert sizes == [2, 2, 1]
    whole = tf.nondifferentiable_batch_function(1, 2, 0, enable_large_batch_splitting=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="5 rows"):
        whole(lambda x: x)(tf.range(5.0))


def test_an_error_reaches_everybody():
    @tf.nondifferentiable_batch_function(1, 2, 0)
    def f(x):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        f(tf.range(2.0))


def test_mistakes_are_named():
    batched = tf.nondifferentiable_batch_function(1, 4, 0)
    with pytest.raises(ValueError, match="Tensors"):
        batched(lambda x: x)(3.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="first axis"):
        batched(lambda x: x)(tf.constant(3.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="as many rows"):
        batched(lambda x, y: x)(tf.zeros([2]), tf.zeros([3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows, as the batch"):
        batched(lambda x: tf.constant(1.0))(tf.zeros([2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="allowed_batch_sizes"):
        tf.nondifferentiable_batch_function(1, 4, 0, [2, 3])


def test_no_gradient_flows():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nondifferentiable_batch_function(1, 4, 0)(lambda x: x * 2.0)(x)
    assert tape.gradient(y, x) is None
