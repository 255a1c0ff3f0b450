"""Half precision: what is computed in it, what is not, and how the loss scale saves small gradients."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras


@pytest.fixture(params=["mixed_float16", "mixed_bfloat16"])
def policy(request):
    keras.mixed_precision.set_global_policy(request.param)
    yield request.param
    keras.mixed_precision.set_global_policy("float32")


@pytest.fixture
def float16():
    keras.mixed_precision.set_global_policy("mixed_float16")
    yield
    keras.mixed_precision.set_global_policy("float32")


def problem() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).normal(size=(128, 4)).astype("float32")
    return x, (x.sum(1) > 0).astype("int32")


def classifier() -> keras.Model:
    keras.utils.set_random_seed(1)
    return keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(16, activation="relu"),
            keras.layers.Dense(2, dtype="float32"),
        ]
    )


def test_compute_in_half_and_keep_in_single(policy):
    half = policy.removeprefix("mixed_")
    seen = []

    class Noting(keras.layers.Layer):
        def call(self, x):
            seen.append(x.dtype.name)

            @tf.custom_gradient
            def identity(x):
                def gradient(g):
                    seen.append(f"gradient {g.dtype.name}")
                    return g

                return tf.identity(x), gradient

            return identity(x)

    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(8), Noting(), keras.layers.Dense(2, dtype="float32")]
    )
    optimizer = keras.optimizers.Adam()
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    seen.clear()
    model.fit(*problem(), verbose=0)
    assert set(seen) == {half, f"gradient {half}"}
    assert {v.dtype for v in model.trainable_variables} == {"float32"}
    assert {v.dtype for v in optimizer.variables if len(v.shape)} == {"float32"}


def test_it_trains(policy):
    model = classifier()
    model.compile(
        keras.optimizers.Adam(1e-2),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(*problem(), epochs=15, verbose=0).history
    assert history["accuracy"][-1] > 0.9
    is_scaled = isinstance(model.optimizer, keras.mixed_precision.LossScaleOptimizer)
    assert is_scaled == (policy == "mixed_float16")


@pytest.mark.parametrize("compiled", [False, True])
def test_scaling_saves_gradients_that_underflow(float16, compiled):
    """A gradient of 1e-8 is zero in float16. Multiplied by 2 ** 15 on its way back, it is not."""

    def trained(scaled: bool) -> float:
        layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")
        x = tf.fill((4, 1), 1e-8 / 4)
        layer(x)
        optimizer = keras.optimizers.SGD(1.0)
        if scaled:
            optimizer = keras.mixed_precision.LossScaleOptimizer(optimizer, initial_scale=2.0**15)

        def step():
            with tf.GradientTape() as tape:
                # The sum is taken in float16, so its gradient is a float16 number on its way back.
                y = tf.cast(x, tf.float16) * 0 + tf.cast(layer.kernel.value, tf.float16)
                loss = tf.cast(tf.reduce_sum(y), tf.float32) * (1e-8 / 4)
                if scaled:
                    loss = optimizer.scale_loss(loss)
            weights = layer.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

        step = tf.function(step) if compiled else step
        for _ in range(200):
            step()
        return float(layer.kernel.numpy()[0, 0])

    assert trained(scaled=False) == 0.0
    assert trained(scaled=True) == pytest.approx(-200e-8, rel=0.2)


@pytest.mark.parametrize("compiled", [False, True])
def test_overflow_skips_the_step_and_halves_the_scale(float16, compiled):
    variable = keras.Variable([1.0, 2.0])
    optimizer = keras.mixed_precision.LossScaleOptimizer(
        keras.optimizers.SGD(0.5), initial_scale=8.0, dynamic_growth_steps=2
    )
    optimizer.build([variable])

    def apply(gradient):
        optimizer.apply_gradients([(gradient * optimizer.dynamic_scale, variable)])

    step = tf.function(apply) if compiled else apply
    step(tf.constant([1.0, np.inf]))
    np.testing.assert_array_equal(variable, [1.0, 2.0])
    assert float(optimizer.dynamic_scale) == 4.0
    step(tf.constant([1.0, np.nan]))
    assert float(optimizer.dynamic_scale) == 2.0
    step(tf.constant([1.0, 2.0]))
    np.testing.assert_allclose(variable, [0.5, 1.0])
    assert float(optimizer.dynamic_scale) == 2.0
    step(tf.constant([0.0, 0.0]))  # the second finite step in a row
    assert float(optimizer.dynamic_scale) == 4.0


def test_half_is_near_single(policy):
    x, y = problem()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    half = classifier()
    half.compile("sgd", loss)
    keras.mixed_precision.set_global_policy("float32")
    single = classifier()
    single.compile("sgd", loss)
    for model in (half, single):
        model.fit(x, y, shuffle=False, verbose=0)
    for a, b in zip(half.get_weights(), single.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, atol=5e-3)


def test_the_scale_grows_in_fit(float16):
    """The optimizer is built by the first step, and its scale counts from there on."""
    model = classifier()
    optimizer = keras.mixed_precision.LossScaleOptimizer(
        keras.optimizers.SGD(1e-3), initial_scale=2.0**30, dynamic_growth_steps=1000
    )
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    before = [np.array(w) for w in model.get_weights()]
    model.fit(*problem(), epochs=10, batch_size=16, verbose=0)
    # 2 ** 30 overflows. Were it kept for good, the scale would end at 1, and nothing would be learned.
    assert 2.0**8 < float(model.optimizer.dynamic_scale) < 2.0**30
    assert any(not np.allclose(a, b) for a, b in zip(before, model.get_weights(), strict=True))


def test_the_scale_in_a_loop_written_by_hand(float16):
    model = classifier()
    optimizer = keras.mixed_precision.LossScaleOptimizer(
        keras.optimizers.SGD(1e-3), initial_scale=2.0**30
    )
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    x, y = map(tf.constant, problem())

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = optimizer.scale_loss(loss_fn(y, model(x)))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

    for _ in range(40):
        step()
    assert 2.0**8 < float(optimizer.dynamic_scale) < 2.0**30
