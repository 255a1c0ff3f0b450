"""Keras variables in functions and collections."""

import keras
import numpy as np

import tapeflow as tf


def test_lists_of_variables_are_arguments_of_a_function():
    targets = [keras.Variable(np.zeros(2, "float32")), keras.Variable(1.0)]
    sources = [keras.Variable(np.ones(2, "float32")), keras.Variable(3.0)]
    traces = []

    @tf.function
    def follow(targets, sources, rate):
        traces.append(rate)
        for target, source in zip(targets, sources, strict=True):
            target.assign(source * rate + target * (1 - rate))

    for _ in range(2):
        follow(targets, sources, 0.5)
    np.testing.assert_allclose(targets[0], [0.75, 0.75])
    np.testing.assert_allclose(targets[1], 2.5)
    assert len(traces) == 1

    follow(sources, targets, 0.5)  # other variables: another trace
    np.testing.assert_allclose(sources[1], 2.75)
    assert len(traces) == 2


def test_variables_are_told_apart_by_identity():
    one, other = keras.Variable(1.0), keras.Variable(1.0)
    assert len({one, other, one}) == 2
