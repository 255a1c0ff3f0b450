"""What `tf.recompute_grad` would save: predicted from one run, and measured in another."""

import functools

import numpy as np
import pytest
from tests.inspector.test_inspecting import peak_of, process_peak

import tapeflow
import tapeflow as tf
from tapeflow._src.inspector import collecting
from tapeflow._src.inspector.recomputing import savings

RNG = np.random.default_rng(0)


def variable(*shape):
    return tf.Variable(RNG.normal(size=shape) * 0.05, dtype=tf.float32)


def attention(weights, x):
    project, join, widen, narrow = weights
    width = x.shape[-1]
    query, key, value = tf.split(normalized(x) @ project, 3, axis=-1)
    looks = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) * width**-0.5)
    x = x + (looks @ value) @ join
    return x + tf.nn.gelu(normalized(x) @ widen) @ narrow


def normalized(x):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5)


def convolution(weights, x):
    y = x
    for kernel in weights:
        y = tf.nn.relu(tf.nn.conv2d(y, kernel, 1, "SAME"))
    return x + y


def network(kind):
    """Four blocks and an input for them."""
    if kind == "convolution":
        weights = [[variable(3, 3, 16, 16) for _ in range(2)] for _ in range(4)]
        return convolution, weights, variable(8, 24, 24, 16)
    shapes = [(48, 144), (48, 48), (48, 192), (192, 48)]
    return attention, [[variable(*s) for s in shapes] for _ in range(4)], variable(8, 48, 48)


@pytest.mark.parametrize("kind", ["attention", "convolution"])
@pytest.mark.exhaustive
def test_what_it_saves_is_what_was_said(kind):
    block, weights, x = network(kind)

    def part(i, x):
        with tf.name_scope(f"block_{i}"):
            return block(weights[i], x)

    def step(x, recomputed=None):
        with tf.GradientTape() as tape:
            for i in range(len(weights)):
                once = functools.partial(part, i)
                x = tf.recompute_grad(once)(x) if i == recomputed else once(x)
            loss = tf.reduce_mean(x * x)
        return tape.gradient(loss, weights)

    x = tf.constant(x.numpy())
    found = collecting.collected("step", lambda: step(x), [x])
    said = {s.block: s.peak for s in savings(found.steps, found.arrays)}
    peak = process_peak(step, x)
    for i in (0, 1, 2):
        measured = peak - process_peak(step, x, i)
        # Where little is saved, what counts is the share of it in the peak.
        assert said[f"block_{i}"] == pytest.approx(measured, rel=0.15, abs=0.03 * peak), i
    # The last one is computed again at once, and would save nothing.
    assert said["block_3"] < 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [0, 1])
def test_dense_blocks(number):
    rng = np.random.default_rng(0)
    weights = [
        [tf.Variable(rng.normal(size=[256, 256]) * 0.05, dtype=tf.float32) for _ in range(3)]
        for _ in range(3)
    ]

    def block(i, x):
        with tf.name_scope(f"block_{i}"):
            for w in weights[i]:
                x = tf.tanh(tf.nn.gelu(x @ w))
            return x

    def step(x, recomputed=None):
        with tf.GradientTape() as tape:
            for i in range(3):
                part = functools.partial(block, i)
                x = tf.recompute_grad(part)(x) if i == recomputed else part(x)
            loss = tf.reduce_mean(x)
        return tape.gradient(loss, weights)

    x = tf.ones([512, 256])
    found = collecting.collected("step", lambda: step(x), [x])
    said = {s.block: s.peak for s in savings(found.steps, found.arrays)}
    measured = process_peak(step, x) - process_peak(step, x, number)
    assert said[f"block_{number}"] == pytest.approx(measured, rel=0.15)
    after = tapeflow.inspect(step, x, number).data
    assert peak_of(after) == pytest.approx(process_peak(step, x, number), rel=0.1)
