"""Half precision on NumPy is computed in float32, and rounded after every operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeflow as tf

GENERATOR = np.random.default_rng(0)
A = GENERATOR.normal(size=(50, 40)) * 10.0 ** GENERATOR.integers(-6, 5, (50, 40))
B = GENERATOR.normal(size=(50, 40)) * 10.0 ** GENERATOR.integers(-6, 5, (50, 40))
A[0, :4] = [np.inf, -np.inf, np.nan, 0.0]

EXACT: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "chain": lambda a, b: (a + b) * a - b / (a * a + 1.0),
    "sqrt": lambda a, b: tf.sqrt(tf.abs(a)) + tf.square(b),
    "maximum": lambda a, b: tf.maximum(a, b) - tf.minimum(a, 0.5),
    "relu": lambda a, b: tf.nn.relu(a) + tf.nn.relu6(b),
    "scalar": lambda a, b: 0.1 * a + b * 3.0,
    "compare": lambda a, b: tf.where(a < b, a, b),
    "floor": lambda a, b: tf.floor(a) + tf.round(b),
    "exp": lambda a, b: tf.exp(a) * tf.tanh(b),
}


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("name", EXACT)
def test_bits_are_those_of_eager_mode(name: str, dtype: Any):
    a, b = tf.cast(tf.constant(A), dtype), tf.cast(tf.constant(B), dtype)
    found = tf.function(EXACT[name], jit_compile=False)(a, b)
    expected = EXACT[name](a, b)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(tf.cast(found, tf.float32), tf.cast(expected, tf.float32))


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16], ids=["float16", "bfloat16"])
def test_gradients_are_close(dtype: Any):
    x = tf.cast(tf.constant(GENERATOR.normal(size=(30, 20))), dtype)

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sigmoid(x) * tf.tanh(x) + tf.nn.gelu(x))
        return tape.gradient(y, x)

    found, expected = tf.function(gradient, jit_compile=False)(x), gradient(x)
    assert found.dtype is dtype
    step = 1e-3 if dtype is tf.float16 else 1e-2
    np.testing.assert_allclose(
        tf.cast(found, tf.float32), tf.cast(expected, tf.float32), rtol=4 * step, atol=4 * step
    )
