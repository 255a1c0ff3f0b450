"""Keras's seeds: eager and traced draws are the same, and no draw is repeated."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.keras.backend import random

DRAWS = {
    "normal": lambda shape, seed: random.normal(shape, 1.0, 2.0, seed=seed),
    "truncated_normal": lambda shape, seed: random.truncated_normal(shape, seed=seed),
    "uniform": lambda shape, seed: random.uniform(shape, -1.0, tf.constant(1.0), seed=seed),
    "randint": lambda shape, seed: random.randint(shape, 0, 100, seed=seed),
    "randint_each": lambda shape, seed: random.randint(shape, [0, 5, 9], [50, 55, 59], seed=seed),
    "gamma": lambda shape, seed: random.gamma(shape, [0.5, 1.0, 2.0], seed=seed),
    "beta": lambda shape, seed: random.beta(shape, [[0.5, 1.0, 2.0]], 3.0, seed=seed),
    "binomial": lambda shape, seed: random.binomial(shape, 1000, 0.3, seed=seed),
    "dropout": lambda shape, seed: random.dropout(tf.ones(shape), 0.5, seed=seed),
    "shuffle": lambda shape, seed: random.shuffle(tf.random.normal(shape), 1, seed=seed),
}


@pytest.mark.parametrize("name", [name for name in DRAWS if name != "shuffle"])
def test_a_generator_goes_the_same_way_eagerly_and_in_a_function(name):
    generators = keras.random.SeedGenerator(7), keras.random.SeedGenerator(7)

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def traced(x):
        return DRAWS[name](keras.ops.shape(x), generators[1])

    drawn = []
    for rows in (4, 6, 6):
        eager = DRAWS[name]((rows, 3), generators[0])
        np.testing.assert_array_equal(traced(tf.zeros([rows, 3])), eager)
        drawn.append(eager.numpy())
    assert traced.experimental_get_tracing_count() == 1
    assert (drawn[1] != drawn[2]).any()
    np.testing.assert_array_equal(generators[0].state.value, generators[1].state.value)


@pytest.mark.parametrize("name", DRAWS)
def test_output_spec_with_an_unknown_size(name):
    generator = keras.random.SeedGenerator(7)
    before = generator.state.numpy()
    spec = keras.src.backend.compute_output_spec(
        lambda x: DRAWS[name](keras.ops.shape(x), generator), keras.KerasTensor((None, 3))
    )
    assert spec.shape == (None, 3)
    np.testing.assert_array_equal(generator.state, before)


def test_an_integer_seed_repeats():
    np.testing.assert_array_equal(random.normal((5,), seed=3), random.normal((5,), seed=3))


def test_a_noise_shape_drops_whole_slices():
    kept = random.dropout(tf.ones((50, 4, 3)), 0.5, noise_shape=[None, 1, 3], seed=1).numpy()
    assert set(np.unique(kept)) == {0.0, 2.0}
    assert (kept == kept[:, :1]).all()
    assert (kept != kept[:, :, :1]).any()


def test_gradients_of_draws():
    alpha, beta = tf.constant([[1.5, 2.0]]), tf.constant(3.0)
    x = tf.constant(np.arange(6.0).reshape(2, 3))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([alpha, beta, x])
        drawn = random.beta((100, 2), alpha, beta, seed=5)
        shuffled = random.shuffle(x, axis=1, seed=5)
        dropped = random.dropout(x + 1.0, 0.5, seed=5)
    assert (tape.gradient(drawn, alpha).numpy() > 0).all()  # more of the one, less of the other
    assert tape.gradient(drawn, beta).numpy() < 0
    weights = tf.constant([[1.0, 2.0, 4.0]], tf.float64)
    with tape:
        tape.watch(x)
        weighted = random.shuffle(x, axis=1, seed=5) * weights
    order = np.argsort(shuffled.numpy()[0])
    np.testing.assert_array_equal(tape.gradient(weighted, x)[0], weights.numpy()[0][order])
    np.testing.assert_array_equal(tape.gradient(dropped, x), (dropped.numpy() > 0) * 2.0)


def test_both_parts_of_a_beta_draw_are_independent():
    drawn = random.beta((20000,), 1.0, 1.0, seed=2).numpy()
    assert abs(drawn.mean() - 0.5) < 0.01
    assert abs(drawn.var() - 1 / 12) < 0.005
