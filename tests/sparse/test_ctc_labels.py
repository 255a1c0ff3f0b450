"""`tf.nn.ctc_loss` takes sparse labels, and computes what it computes for dense ones."""

import numpy as np
import pytest

import tapeflow as tf

LABELS = [[1, 2, 0], [3, 0, 0], [2, 2, 4]]
LOGITS = tf.constant(np.random.default_rng(0).normal(size=[6, 3, 5]))
STEPS = [6, 5, 6]
SPARSE = tf.sparse.from_dense(LABELS)


@pytest.mark.parametrize("blank", [0, -1])
@pytest.mark.parametrize("time_major", [True, False])
@pytest.mark.parametrize("traced", [False, True])
def test_losses_and_gradients_are_those_of_dense_labels(blank, time_major, traced):
    logits = LOGITS if time_major else tf.transpose(LOGITS, [1, 0, 2])

    def loss(labels, lengths):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            losses = tf.nn.ctc_loss(labels, logits, lengths, STEPS, time_major, None, blank)
        return losses, tape.gradient(losses, logits)

    expected = loss(tf.constant(LABELS), [2, 1, 3])
    found = (tf.function(loss) if traced else loss)(SPARSE, None)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b)


def test_elements_count_in_the_order_of_their_places():
    """With gaps between them, or given in another order; a row may have none."""
    gaps = tf.SparseTensor([[2, 0], [0, 3], [0, 1]], [3, 2, 1], [3, 4])
    found = tf.nn.ctc_loss(gaps, LOGITS, None, STEPS, blank_index=0)
    dense = tf.nn.ctc_loss([[1, 2], [0, 0], [3, 0]], LOGITS, [2, 0, 1], STEPS, blank_index=0)
    np.testing.assert_allclose(found, dense)


def test_the_blank_must_be_named():
    with pytest.raises(ValueError, match="blank_index must be given"):
        tf.nn.ctc_loss(SPARSE, LOGITS, None, STEPS)
