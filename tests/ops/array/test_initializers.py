"""First values of variables."""

from __future__ import annotations

import numpy as np

import tapeflow as tf


def test_a_variable_takes_one():
    initializer = tf.random_normal_initializer(stddev=0.5, seed=3)
    v = tf.Variable(lambda: initializer([100, 100]))
    assert abs(float(np.std(v.numpy())) - 0.5) < 0.01


def test_without_a_seed_calls_differ():
    initializer = tf.random_uniform_initializer(-2.0, 3.0)
    a, b = initializer([1000]).numpy(), initializer([1000]).numpy()
    assert (a != b).any()
    assert a.min() >= -2.0 and a.max() < 3.0 and abs(a.mean() - 0.5) < 0.2


def test_configs_make_equal_ones():
    for made in (
        tf.constant_initializer([1.0, 2.0]),
        tf.random_normal_initializer(1.0, 2.0, seed=4),
        tf.random_uniform_initializer(1.0, 2.0, seed=4),
    ):
        again = type(made).from_config(made.get_config())
        assert again([2]).numpy().tolist() == made([2]).numpy().tolist()
