"""A seed gives the same numbers on the host and on a device: the same bits, up to the rounding of a logarithm."""

from __future__ import annotations

import numpy as np
import pytest
from tests.core.placement.places import on, place

import tapeflow as tf

LOGITS = [[0.1, 0.2, 0.7]]
SEED = [1, 2]

DRAWS = {
    "normal": lambda: tf.random.normal([50]),
    "uniform": lambda: tf.random.uniform([50], -1.0, 2.0),
    "integers": lambda: tf.random.uniform([50], 0, 100, tf.int32),
    "truncated_normal": lambda: tf.random.truncated_normal([50]),
    "gamma": lambda: tf.random.gamma([50], 2.0),
    "poisson": lambda: tf.random.poisson([50], 2.0),
    "categorical": lambda: tf.random.categorical(LOGITS, 20),
    "shuffle": lambda: tf.random.shuffle(tf.range(20)),
    "dropout": lambda: tf.nn.dropout(tf.ones([50]), 0.5),
    "stateless_normal": lambda: tf.random.stateless_normal([50], SEED),
    "stateless_uniform": lambda: tf.random.stateless_uniform([50], SEED),
    "stateless_integers": lambda: tf.random.stateless_uniform([50], SEED, 0, 10, tf.int32),
    "stateless_binomial": lambda: tf.random.stateless_binomial([50], SEED, 10.0, 0.3),
    "stateless_gamma": lambda: tf.random.stateless_gamma([50], SEED, 2.0),
    "stateless_poisson": lambda: tf.random.stateless_poisson([50], SEED, 2.0),
    "stateless_categorical": lambda: tf.random.stateless_categorical(LOGITS, 20, SEED),
    "split": lambda: tf.random.split(SEED, 3),
    "fold_in": lambda: tf.random.fold_in(SEED, 3),
}


def same(found, known):
    if known.dtype.is_floating:
        np.testing.assert_allclose(found, known, rtol=1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(found, known)


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_gives_the_same_everywhere(name):
    draw = DRAWS[name]
    tf.random.set_seed(3)
    known = [draw(), draw()]
    tf.random.set_seed(3)
    with tf.device("CPU:1"):
        found = [draw(), draw()]
    assert {place(y) for y in found} == {"CPU:1"}
    for y, value in zip(found, known, strict=True):
        same(y, value)


@pytest.mark.exhaustive
def test_generators():
    def drawn():
        generator = tf.random.Generator.from_seed(7)
        numbers = [
            generator.normal([10]),
            generator.uniform([10]),
            generator.uniform([5], 0, 9, tf.int32),
            generator.truncated_normal([4]),
            generator.binomial([4], 10.0, 0.5),
            generator.make_seeds(2),
        ]
        return [*numbers, *[part.normal([3]) for part in generator.split(2)]]

    known = drawn()
    with tf.device("CPU:1"):
        found = drawn()
    assert {place(y) for y in found} == {"CPU:1"}
    for y, value in zip(found, known, strict=True):
        same(y, value)


def test_drawing_copies_nothing():
    with tf.device("CPU:1"):
        generator = tf.random.Generator.from_seed(7)
        x = tf.ones([4, 4])
        with tf.transfers() as copies:
            for _ in range(3):
                generator.normal([10])
                tf.random.normal([10])
                tf.random.uniform([3], 0, 5, tf.int32)
                tf.nn.dropout(x, 0.5)
    assert copies.count == 0, str(copies)


@pytest.mark.exhaustive
def test_what_is_drawn_for_a_tensor_is_drawn_beside_it():
    x = on("CPU:1", np.ones((4, 3), np.float32))
    with tf.transfers() as copies:
        drawn = [
            tf.random.normal(tf.shape(x)),
            tf.random.normal([tf.shape(x)[0], 2]),
            tf.random.normal([5, 4, 3], mean=x),
            tf.random.uniform(tf.shape(x)),
            tf.random.poisson([2], x),
            tf.nn.dropout(x, 0.5),
            tf.random.shuffle(x),
        ]
    assert copies.count == 0, str(copies)
    assert {place(y) for y in drawn} == {"CPU:1"}
