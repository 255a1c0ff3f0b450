"""`tf.nn.ctc_loss` against all alignments, counted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

rng = np.random.default_rng(8)


def spelled(path, blank):
    """What a path says: repetitions are one, and blanks are nothing."""
    return [c for c, _ in itertools.groupby(path) if c != blank]


def by_counting(logits, label, blank):
    """The loss of one example: the probability of every path that says `label`."""
    chances = np.exp(logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True)))
    steps, classes = logits.shape
    total = sum(
        np.prod([chances[t, c] for t, c in enumerate(path)])
        for path in itertools.product(range(classes), repeat=steps)
        if spelled(path, blank) == list(label)
    )
    return -np.log(total) if total else np.inf


@pytest.mark.parametrize("blank", [0, 2, -1])
def test_every_alignment_counts(blank):
    logits = rng.normal(size=(4, 3, 3))
    others = [c for c in range(3) if c != blank % 3]
    labels = np.array([[others[0], others[1]], [others[0], others[0]], [others[1], others[0]]])
    label_length, logit_length = [2, 2, 1], [4, 4, 3]
    found = tf.nn.ctc_loss(labels, logits, label_length, logit_length, blank_index=blank)
    expected = [
        by_counting(logits[: logit_length[b], b], labels[b, : label_length[b]], blank % 3)
        for b in range(3)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_blank_among_the_labels_is_a_label_like_others():
    logits = rng.normal(size=(4, 1, 3))
    logits[..., 2] = logits[..., 0]  # then the label 2 has the same chances as a label 0
    losses = [
        tf.nn.ctc_loss([[1, label]], logits, [2], [4], blank_index=0).numpy() for label in (0, 2)
    ]
    np.testing.assert_allclose(losses[0], losses[1])


def test_batch_major():
    logits = rng.normal(size=(2, 5, 4))
    labels = np.array([[1, 2], [3, 1]])
    a = tf.nn.ctc_loss(labels, logits, [2, 1], [5, 4], logits_time_major=False)
    b = tf.nn.ctc_loss(labels, logits.transpose(1, 0, 2), [2, 1], [5, 4])
    np.testing.assert_array_equal(a, b)


def test_empty_label_and_a_label_that_does_not_fit():
    logits = rng.normal(size=(2, 2, 3))
    labels = np.array([[1, 1], [1, 1]])
    loss = tf.nn.ctc_loss(labels, logits, [0, 2], [2, 2]).numpy()
    np.testing.assert_allclose(loss[0], by_counting(logits[:, 0], [], 0), rtol=1e-12)
    assert np.isposinf(loss[1])  # "1 1" needs a blank between, so three steps


def test_gradients():
    labels = np.array([[1, 2], [2, 2]])

    def f(logits):
        return tf.nn.ctc_loss(labels, logits, [2, 2], [5, 4])

    check_gradients(f, rng.normal(size=(5, 2, 3)))


def test_in_a_function_with_unknown_sizes():
    labels, logits = np.array([[1, 2], [2, 2]]), rng.normal(size=(5, 2, 3))
    lengths = [tf.TensorSpec([None], tf.int64)] * 2
    f = tf.function(
        tf.nn.ctc_loss,
        input_signature=[
            tf.TensorSpec([None, None], tf.int64),
            tf.TensorSpec([None, None, 3], tf.float64),
            *lengths,
        ],
    )
    np.testing.assert_allclose(
        f(labels, logits, np.array([2, 1]), np.array([5, 4])),
        tf.nn.ctc_loss(labels, logits, [2, 1], [5, 4]),
    )


def test_gradient_is_finite_where_the_loss_is_not():
    logits = tf.Variable(rng.normal(size=(2, 1, 3)))
    with tf.GradientTape() as tape:
        loss = tf.nn.ctc_loss([[1, 1]], logits, [2], [2])
    assert np.all(np.isfinite(tape.gradient(loss, logits)))


def test_mistakes():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"ctc_loss.*\[4, 3\]"):
        tf.nn.ctc_loss([[1]], np.zeros((4, 3)), [1], [4])
    with pytest.raises(TypeError, match="labels must be integers"):
        tf.nn.ctc_loss([[1.0]], np.zeros((4, 1, 3)), [1], [4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="blank_index 5"):
        tf.nn.ctc_loss([[1]], np.zeros((4, 1, 3)), [1], [4], blank_index=5)
