"""`tf.transfers()` says what to do about a loop that copies back at every step."""

from __future__ import annotations

import numpy as np

import tapeflow as tf


def train(look):
    with tf.device("CPU:1"):
        w = tf.Variable(np.ones([8, 8], np.float32))
        with tf.transfers() as copies:
            for step in range(30):
                w.assign_sub(0.1 * w)
                look(step, tf.reduce_sum(w), w)
    return copies


def test_a_number_at_every_step():
    copies = train(lambda step, loss, w: float(loss))
    (advice,) = copies.advice()
    assert "test_advice.py" in advice and "a number back 30 times" in advice
    assert "every hundredth" in advice and advice in str(copies)


def test_a_tensor_at_every_step():
    (advice,) = train(lambda step, loss, w: w.numpy()).advice()
    assert "a tensor back 30 times" in advice and "ops of tf" in advice


def test_a_look_now_and_then_is_fine():
    kept = []

    def look(step, loss, w):
        kept.append(loss)
        if step % 10 == 0:
            float(loss)

    copies = train(look)
    assert copies.count == 3 and copies.advice() == [] and "waited" not in str(copies)
    with tf.transfers() as copies:
        np.array(tf.stack(kept))
    assert copies.count == 1


def test_each_line_has_its_own():
    def look(step, loss, w):
        float(loss)
        w.numpy()

    first, second = train(look).advice()
    assert first.split(" has copied")[0] != second.split(" has copied")[0]


def test_what_goes_to_the_device_is_no_reason_to_wait():
    data = tf.data.Dataset.from_tensor_slices(np.ones(50)).batch(2).prefetch_to_device("CPU:1")
    with tf.transfers() as copies:
        assert len(list(data)) == 25
    assert copies.count == 25 and copies.advice() == []
