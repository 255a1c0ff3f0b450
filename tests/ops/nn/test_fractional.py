"""Fractional pooling: windows cover an image without gaps, and have two sizes."""

import itertools

import numpy as np
import pytest

import tapeflow as tf

IMAGE = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 7, 10, 3)).astype(np.float32)


def expected(edges, axis, x, reduce, overlapping):
    parts = [
        reduce(x.take(range(a, min(b + overlapping, x.shape[axis])), axis), axis=axis)
        for a, b in itertools.pairwise(edges)
    ]
    return np.stack(parts, axis)


@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("name", ["max", "avg"])
def test_windows_are_those_that_are_told(name, pseudo_random, overlapping):
    pool = getattr(tf.nn, f"fractional_{name}_pool")
    y, rows, columns = pool(IMAGE, [1.0, 1.4, 1.7, 1.0], pseudo_random, overlapping, seed=5)
    assert y.shape == [2, 5, 5, 3]
    for edges, size in ((rows.numpy(), 7), (columns.numpy(), 10)):
        assert edges[0] == 0 and edges[-1] == size
        assert set(np.diff(edges)) <= {size // 5, size // 5 + 1, size // 5 + 2}
    reduce = np.max if name == "max" else np.mean
    found = expected(rows.numpy(), 1, IMAGE, reduce, overlapping)
    found = expected(columns.numpy(), 2, found, reduce, overlapping)
    np.testing.assert_allclose(y.numpy(), found, rtol=1e-5)


def test_a_seed_repeats_itself_and_gradients_reach_the_largest():
    x = tf.Variable(IMAGE)
    tf.random.set_seed(3)
    with tf.GradientTape() as tape:
        y, rows, _ = tf.nn.fractional_max_pool(x, 1.4, seed=1)
    assert float(tf.reduce_sum(tape.gradient(y, x))) == float(tf.size(y))
    tf.random.set_seed(3)
    assert (tf.nn.fractional_max_pool(IMAGE, 1.4, seed=1)[1].numpy() == rows.numpy()).all()


def test_a_ratio_below_one_is_refused():
    with pytest.raises(ValueError, match="pooling_ratio"):
        tf.nn.fractional_max_pool(IMAGE, 0.5)
