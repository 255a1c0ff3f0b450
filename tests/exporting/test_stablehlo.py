"""Functions as StableHLO programs give what they gave, for every size."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tensorflow_files import models

import tapeflow as tf

jax = pytest.importorskip("jax")


@pytest.mark.parametrize("name", models.MODELS)
@pytest.mark.sample(4)
def test_a_model_is_a_program(name):
    model = models.compiled(name, tf.keras)
    x, _ = models.batch(name)
    counts = [3] if name == "lstm" else [1, 4]
    spec = tf.TensorSpec([3 if name == "lstm" else None, *x.shape[1:]], x.dtype)
    program = tf.export.to_stablehlo(tf.function(lambda x: model(x)), spec)
    for count in counts:
        (found,) = program.call(x[:count])
        np.testing.assert_allclose(found, model(x[:count]), atol=1e-5)


def test_sizes_that_must_be_known_are_asked_for():
    model = models.compiled("lstm", tf.keras)
    with pytest.raises(tf.errors.InvalidArgumentError, match="numbers in the place of None"):
        tf.export.to_stablehlo(lambda x: model(x), tf.TensorSpec([None, 6], tf.int32))


def test_dtypes_of_64_bits_stay():
    program = tf.export.to_stablehlo(lambda x: x * 2, tf.TensorSpec([2], tf.float64))
    assert "tensor<2xf64>" in program.mlir_module()


def test_gradients_are_exported():
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x**3)
        return tape.gradient(y, x)

    (found,) = tf.export.to_stablehlo(slope, tf.TensorSpec([None])).call(np.float32([1, 2]))
    np.testing.assert_allclose(found, [3, 12], rtol=1e-6)


def test_what_is_no_program_is_refused():
    v = tf.Variable(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="it assigns to variables"):
        tf.export.to_stablehlo(tf.function(lambda x: v.assign_add(x)), tf.TensorSpec([]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"XLA does not run strings\.lower"):
        tf.export.to_stablehlo(tf.strings.lower, tf.TensorSpec([], tf.string))
    with pytest.raises(TypeError, match="function must be callable, got 3"):
        tf.export.to_stablehlo(3)
