"""Generators: their numbers, and that their state alone decides them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import tapeflow as tf
import tapeflow.train


def _generator(seed=1):
    return tf.random.Generator.from_seed(seed)


def test_numbers_have_their_distributions():
    g = _generator()
    normal = g.normal([20000], 2.0, 3.0, tf.float64).numpy()
    assert scipy.stats.kstest((normal - 2.0) / 3.0, "norm").pvalue > 1e-3
    uniform = g.uniform([20000], -1.0, 1.0, tf.float64).numpy()
    assert scipy.stats.kstest((uniform + 1.0) / 2.0, "uniform").pvalue > 1e-3
    words = g.uniform_full_int([20000]).numpy()
    assert scipy.stats.kstest(words / 2.0**64, "uniform").pvalue > 1e-3
    assert (np.abs(g.truncated_normal([1000]).numpy()) <= 2.0).all()
    assert abs(g.binomial([20000], 40.0, 0.25).numpy().mean() - 10.0) < 0.1


def test_the_state_is_a_variable_that_decides():
    g = _generator()
    g.normal([5])
    saved = g.state.numpy()
    first = [g.normal([2]).numpy(), g.uniform([2]).numpy(), g.make_seeds(2).numpy()]
    g.state.assign(saved)
    second = [g.normal([2]).numpy(), g.uniform([2]).numpy(), g.make_seeds(2).numpy()]
    for a, b in zip(first, second, strict=True):
        assert (a == b).all()


def test_a_module_finds_the_state():
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.state = _generator().state

    assert [v.name for v in Model().variables] == ["StateVar:0"]


def test_counters_carry():
    g = tf.random.Generator.from_state([-256, 5, 7], "philox")
    g.skip(1)
    assert g.state.numpy().tolist() == [0, 6, 7]


def test_generators_and_stateless_ops_do_not_share_numbers():
    g = tf.random.Generator.from_key_counter(1, [0, 0], "philox")
    stateless = tf.random.stateless_uniform([4], [1, 0]).numpy()
    assert (g.uniform([4]).numpy() != stateless).any()


def test_split_generators_are_independent():
    parts = _generator().split(50)
    means = [float(tf.reduce_mean(g.normal([1000]))) for g in parts]
    assert scipy.stats.kstest(np.array(means) * 1000**0.5, "norm").pvalue > 1e-3


def test_drawing_inside_a_tape():
    g, mean = _generator(), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(g.normal([3], mean))
    assert tape.gradient(y, mean).numpy() == 3.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: tf.random.Generator(), ValueError, "from_seed"),
        (lambda: tf.random.Generator.from_seed(1, "md5"), ValueError, "'md5'"),
        (
            lambda: tf.random.Generator.from_state([1, 2], "philox"),
            ValueError,
            r"\(3,\), got \(2,\)",
        ),
        (lambda: tf.random.Generator.from_state([1.5, 2, 3], 1), TypeError, "float32"),
        (lambda: _generator().uniform([2], dtype=tf.int32), ValueError, "maxval"),
        (
            lambda: _generator().binomial([3], [1.0, 2.0], 0.5),
            tf.errors.InvalidArgumentError,
            r"\[3\] must end with .* \[2\]",
        ),
    ],
)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


# Saving.


def test_a_checkpoint_brings_the_numbers_back(tmp_path):
    generator = tf.random.Generator.from_seed(5)
    generator.normal([3])
    checkpoint = tf.train.Checkpoint(generator=generator)
    path = checkpoint.save(str(tmp_path / "state"))
    first = generator.normal([4]).numpy()
    assert (generator.normal([4]).numpy() != first).any()
    checkpoint.restore(path)
    np.testing.assert_array_equal(generator.normal([4]), first)


def test_a_generator_made_anew_goes_on_from_a_checkpoint(tmp_path):
    generator = tf.random.Generator.from_seed(5)
    generator.skip(7)
    path = tf.train.Checkpoint(generator=generator).save(str(tmp_path / "state"))
    other = tf.random.Generator.from_seed(1)
    tf.train.Checkpoint(generator=other).restore(path).assert_consumed()
    np.testing.assert_array_equal(other.state, generator.state)
    np.testing.assert_array_equal(other.normal([4]), generator.normal([4]))


def test_the_state_is_saved_under_the_name_of_tensorflow():
    generator = tf.random.Generator.from_seed(5)
    assert generator._state_var is generator.state


def test_a_generator_inside_a_module_is_no_variable_of_it():
    class Noise(tf.Module):
        def __init__(self):
            self.generator = tf.random.Generator.from_seed(1)

    assert Noise().variables == ()


def test_reset_takes_only_states_of_its_length():
    generator = tf.random.Generator.from_seed(5)
    with pytest.raises(ValueError, match=r"\(3,\)"):
        generator.reset([1, 2])
    generator.reset([1, 2, 3])
    assert generator.key.numpy() == 3
