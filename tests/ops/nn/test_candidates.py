"""Candidate samplers draw as often as they say, and the losses on their classes are what they estimate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

Invalid = tf.errors.InvalidArgumentError
LABELS = tf.constant([[0], [3]], tf.int64)
FREQUENCIES = (1.0, 2.0, 3.0, 4.0, 6.0)


def _unigram(labels: Any, true: int, sampled: int, unique: bool, count: int, **how: Any) -> Any:
    return tf.random.fixed_unigram_candidate_sampler(
        labels, true, sampled, unique, count, unigrams=FREQUENCIES, **how
    )


SAMPLERS = [
    (tf.random.uniform_candidate_sampler, [0.2] * 5),
    (tf.random.log_uniform_candidate_sampler, np.diff(np.log(np.arange(1, 7))) / np.log(6)),
    (_unigram, np.array(FREQUENCIES) / 16),
]


@pytest.mark.parametrize(("sampler", "shares"), SAMPLERS)
def test_classes_come_up_by_their_shares(sampler: Callable[..., Any], shares: Any) -> None:
    drawn = sampler(LABELS, 1, 20000, False, 5, seed=1)
    found = np.bincount(drawn.sampled_candidates, minlength=5) / 20000
    np.testing.assert_allclose(found, shares, atol=0.015)
    np.testing.assert_allclose(drawn.true_expected_count[:, 0], np.take(shares, [0, 3]) * 20000)


@pytest.mark.parametrize(("sampler", "shares"), SAMPLERS)
def test_different_classes_are_those_that_drawing_again_would_give(
    sampler: Callable[..., Any], shares: Any
) -> None:
    p, rounds = np.asarray(shares), 600
    draws = np.random.default_rng(0).choice(5, p=p, size=(4000, 60))
    distinct = np.stack([(draws == k).cumsum(1) > 0 for k in range(5)]).sum(0)
    tries = (distinct < 3).sum(1) + 1  # how many draws until there are three classes
    expected = 1 - (1 - p[[0, 3]]) ** tries[:, None]
    pairs, counts = np.zeros((5, 5)), []
    tf.random.set_seed(3)
    for _ in range(rounds):
        drawn = sampler(LABELS, 1, 3, True, 5)
        first, second, third = drawn.sampled_candidates.numpy()
        assert len({first, second, third}) == 3
        pairs[first, second] += 1
        counts.append(drawn.true_expected_count.numpy()[:, 0])
    wanted = np.outer(p / (1 - p), p) * (1 - np.eye(5))
    np.testing.assert_allclose(pairs / rounds, wanted, atol=0.05)
    np.testing.assert_allclose(np.mean(counts, 0), expected.mean(0), atol=0.02)
    np.testing.assert_allclose(np.std(counts, 0), expected.std(0), atol=0.03)


def test_all_classes_can_be_drawn() -> None:
    drawn = tf.random.log_uniform_candidate_sampler(LABELS, 1, 50, True, 50)
    assert sorted(drawn.sampled_candidates.numpy().tolist()) == list(range(50))
    assert np.isfinite(drawn.sampled_expected_count).all()
    one = tf.random.uniform_candidate_sampler([[0]], 1, 1, True, 1)
    assert one.sampled_expected_count.numpy().tolist() == [1.0]


def test_reserved_classes_are_never_drawn() -> None:
    drawn = tf.random.fixed_unigram_candidate_sampler(
        LABELS, 1, 500, False, 7, num_reserved_ids=2, unigrams=FREQUENCIES, seed=1
    )
    assert drawn.sampled_candidates.numpy().min() == 2
    assert drawn.true_expected_count.numpy()[0] == 0.0


def test_frequencies_may_be_in_a_file(tmp_path: Any) -> None:
    path = tmp_path / "words.csv"
    path.write_text("".join(f"word{i},{f}\n" for i, f in enumerate(FREQUENCIES)))
    drawn = tf.random.fixed_unigram_candidate_sampler(
        LABELS, 1, 4, False, 5, vocab_file=str(path), distortion=2.0
    )
    squares = np.square(FREQUENCIES)
    np.testing.assert_allclose(
        drawn.true_expected_count[:, 0], 4 * squares[[0, 3]] / squares.sum(), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((LABELS, 1, 11, True, 10), "11 different classes"),
        ((LABELS, 2, 4, True, 10), "num_true = 2"),
        ((tf.constant([[0], [3]]), 1, 4, True, 10), "int64"),
        (([[0], [30]], 1, 4, True, 10), "below 10, got 30"),
        ((LABELS, 1, 0, True, 10), "num_sampled"),
        ((LABELS[0], 1, 4, True, 10), "matrix"),
    ],
)
def test_mistakes(arguments: Any, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        tf.random.uniform_candidate_sampler(*arguments)


# The losses, with sampled classes that are given. The numbers are TensorFlow's.

_RNG = np.random.RandomState(0)
WEIGHTS, BIASES, INPUTS = _RNG.randn(10, 3), _RNG.randn(10), _RNG.randn(2, 3)
SAMPLED = (
    tf.constant([1, 3, 5, 7], tf.int64),
    tf.constant([[0.5], [0.25]]),
    tf.constant([0.1, 0.2, 0.3, 0.4]),
)


def _loss(op: Callable[..., Any], **how: Any) -> Any:
    tensors = [tf.constant(x, tf.float32) for x in (WEIGHTS, BIASES)]
    inputs = tf.constant(INPUTS, tf.float32)
    return op(*tensors, LABELS, inputs, 4, 10, 1, SAMPLED, **how).numpy().tolist()


def test_losses_of_given_samples() -> None:
    nce, softmax = tf.nn.nce_loss, tf.nn.sampled_softmax_loss
    assert _loss(nce) == pytest.approx([5.789256, 12.956719], rel=1e-5)
    removed = _loss(nce, remove_accidental_hits=True)
    assert removed == pytest.approx([5.789256, 12.394176], rel=1e-5)
    assert _loss(softmax) == pytest.approx([4.9291286, 7.0767837], rel=1e-5)
    kept = _loss(softmax, remove_accidental_hits=False)
    assert kept == pytest.approx([4.9291286, 7.0778384], rel=1e-5)


@pytest.mark.parametrize("op", [tf.nn.nce_loss, tf.nn.sampled_softmax_loss])
def test_gradients(op: Callable[..., Any]) -> None:
    labels = tf.constant([[0, 1], [3, 2]])
    sampled = (SAMPLED[0], tf.constant([[0.5, 0.1], [0.25, 0.3]]), SAMPLED[2])
    check_gradients(lambda w, b, x: op(w, b, labels, x, 4, 10, 2, sampled), WEIGHTS, BIASES, INPUTS)


def test_only_the_rows_of_the_classes_have_a_gradient() -> None:
    weights = tf.Variable(WEIGHTS)
    with tf.GradientTape() as tape:
        loss = tf.nn.sampled_softmax_loss(weights, BIASES, LABELS, INPUTS, 4, 10, 1, SAMPLED)
    gradient = tape.gradient(loss, weights)
    assert isinstance(gradient, tf.IndexedSlices)
    assert gradient.indices.numpy().tolist() == [0, 3, 1, 3, 5, 7]


def test_a_softmax_over_all_classes_is_no_estimate() -> None:
    everything = tf.random.all_candidate_sampler(LABELS, 1, 10, True)
    loss = tf.nn.sampled_softmax_loss(WEIGHTS, BIASES, LABELS, INPUTS, 10, 10, 1, everything)
    logits = INPUTS @ WEIGHTS.T + BIASES
    exact = tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS[:, 0], logits)
    np.testing.assert_allclose(loss, exact, rtol=1e-6)


def test_hits_by_accident() -> None:
    hits = tf.nn.compute_accidental_hits([[0, 5], [3, 1]], [3, 5, 0], 2)
    assert hits.indices.numpy().tolist() == [0, 0, 1]
    assert hits.ids.numpy().tolist() == [2, 1, 0]
    assert (hits.weights.numpy() == np.finfo(np.float32).min).all()
