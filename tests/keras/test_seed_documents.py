"""The snippets on Keras of the documents the project began with, and each row of their table, with only the import
changed. The per-layer learning rates use a persistent tape, without which they raise."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf


def batches(count: int = 4, size: int = 32) -> list[tuple[tf.Tensor, tf.Tensor]]:
    random = np.random.default_rng(0)
    found = []
    for _ in range(count):
        x = random.normal(size=(size, 4)).astype("float32")
        found.append((tf.constant(x), tf.constant((x.sum(1) > 0).astype("int32"))))
    return found


def classifier() -> tf.keras.Model:
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [layers.Dense(16, activation="relu"), layers.Dense(2, activation="softmax")]
    )


def test_gradients_with_respect_to_a_model(capsys):
    layer = tf.keras.layers.Dense(2, activation="relu")
    x = tf.constant([[1.0, 2.0, 3.0]])

    with tf.GradientTape() as tape:
        # Forward pass
        y = layer(x)
        loss = tf.reduce_mean(y**2)

    # Calculate gradients with respect to every trainable variable
    grad = tape.gradient(loss, layer.trainable_variables)

    for var, g in zip(layer.trainable_variables, grad, strict=True):
        print(f"{var.name}, shape: {g.shape}")
    assert capsys.readouterr().out == "kernel, shape: (3, 2)\nbias, shape: (2,)\n"


def test_the_standard_pattern():
    model = classifier()
    dataset = batches()
    num_epochs = 30
    optimizer = tf.keras.optimizers.Adam(learning_rate=1e-2)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy()

    @tf.function  # Compile to a graph for speed
    def train_step(x_batch, y_batch):
        with tf.GradientTape() as tape:
            predictions = model(x_batch, training=True)
            loss = loss_fn(y_batch, predictions)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    losses = []
    for _ in range(num_epochs):
        for x_batch, y_batch in dataset:
            loss = train_step(x_batch, y_batch)
        losses.append(float(loss))
    assert losses[-1] < 0.4 * losses[0]
    assert train_step.experimental_get_tracing_count() == 2  # the first makes the variables


def test_clipping():
    model, optimizer = classifier(), tf.keras.optimizers.SGD(1.0)
    x, y = batches(1)[0]
    with tf.GradientTape() as tape:
        loss = 1e3 * tf.keras.losses.SparseCategoricalCrossentropy()(y, model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    before = [np.array(v) for v in model.trainable_variables]
    gradients, _ = tf.clip_by_global_norm(gradients, clip_norm=1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    moved = [np.array(v) - b for v, b in zip(model.trainable_variables, before, strict=True)]
    assert np.sqrt(sum((m**2).sum() for m in moved)) == pytest.approx(1.0, rel=1e-4)


def test_accumulation_equals_the_large_batch():
    large, small = classifier(), classifier()
    data = batches()
    x, y = (tf.concat(parts, axis=0) for parts in zip(*data, strict=True))
    large(x), small(x)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy()

    with tf.GradientTape() as tape:
        loss = loss_fn(y, large(x))
    gradients = tape.gradient(loss, large.trainable_variables)
    tf.keras.optimizers.SGD(0.5).apply_gradients(
        zip(gradients, large.trainable_variables, strict=True)
    )

    num_micro_batches = len(data)
    accumulated_gradients = [tf.Variable(tf.zeros_like(v)) for v in small.trainable_variables]
    for micro_batch, labels in data:
        with tf.GradientTape() as tape:
            loss = loss_fn(labels, small(micro_batch)) / num_micro_batches
        grads = tape.gradient(loss, small.trainable_variables)
        for acc_grad, grad in zip(accumulated_gradients, grads, strict=True):
            acc_grad.assign_add(grad)
    tf.keras.optimizers.SGD(0.5).apply_gradients(
        zip(accumulated_gradients, small.trainable_variables, strict=True)
    )
    for a, b in zip(large.trainable_variables, small.trainable_variables, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


class TwoParts(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.backbone = tf.keras.layers.Dense(8, activation="relu")
        self.head = tf.keras.layers.Dense(2)

    def call(self, x):
        return self.head(self.backbone(x))


def compute_loss(scores, y):
    return tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y, scores)


def test_per_layer_learning_rates():
    model = TwoParts()
    x, y = batches(1)[0]
    model(x)
    optimizer_backbone = tf.keras.optimizers.Adam(1e-5)
    optimizer_head = tf.keras.optimizers.Adam(1e-3)
    backbone_vars = model.backbone.trainable_variables
    head_vars = model.head.trainable_variables
    before = [np.array(v) for v in (*backbone_vars, *head_vars)]

    with tf.GradientTape(persistent=True) as tape:
        loss = compute_loss(model(x), y)
    backbone_grads = tape.gradient(loss, backbone_vars)
    head_grads = tape.gradient(loss, head_vars)
    del tape  # Manually release resources
    optimizer_backbone.apply_gradients(zip(backbone_grads, backbone_vars, strict=True))
    optimizer_head.apply_gradients(zip(head_grads, head_vars, strict=True))

    steps = [
        np.abs(np.array(v) - b).max()
        for v, b in zip((*backbone_vars, *head_vars), before, strict=True)
    ]
    # Adam's first step is its learning rate.
    np.testing.assert_allclose(steps, [1e-5, 1e-5, 1e-3, 1e-3], rtol=0.02)


def test_two_gradients_of_one_tape_need_a_persistent_one():
    model = TwoParts()
    x, y = batches(1)[0]
    with tf.GradientTape() as tape:
        loss = compute_loss(model(x), y)
    tape.gradient(loss, model.backbone.trainable_variables)
    with pytest.raises(RuntimeError, match="persistent"):
        tape.gradient(loss, model.head.trainable_variables)


class TestTable:
    """The rows of the table on when to use what."""

    def test_standard_supervised_training(self):
        model = classifier()
        x, y = (np.concatenate(parts) for parts in zip(*batches(), strict=True))
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        stopping = tf.keras.callbacks.EarlyStopping("loss", min_delta=10.0, patience=2)
        history = model.fit(x, y, epochs=10, callbacks=[stopping], verbose=0)
        assert len(history.history["loss"]) == 3
        assert history.history["loss"][-1] < history.history["loss"][0]

    def test_several_losses_with_weights(self):
        model = TwoParts()
        x, y = batches(1)[0]
        model(x)

        def gradients(weights):
            with tf.GradientTape() as tape:
                scores = model(x)
                parts = compute_loss(scores, y), tf.reduce_mean(scores**2)
                loss = weights[0] * parts[0] + weights[1] * parts[1]
            return tape.gradient(loss, model.trainable_variables)

        both, first, second = gradients((2.0, 3.0)), gradients((1.0, 0.0)), gradients((0.0, 1.0))
        for b, f, s in zip(both, first, second, strict=True):
            np.testing.assert_allclose(b, 2.0 * f + 3.0 * s, rtol=1e-4, atol=1e-6)

    def test_auxiliary_outputs(self):
        inputs = tf.keras.Input((4,))
        hidden = tf.keras.layers.Dense(8, activation="relu")(inputs)
        model = tf.keras.Model(
            inputs, [tf.keras.layers.Dense(2)(hidden), tf.keras.layers.Dense(1)(hidden)]
        )
        optimizer = tf.keras.optimizers.Adam(1e-2)
        x, y = batches(1)[0]

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                scores, total = model(x, training=True)
                auxiliary = tf.reduce_mean((total[:, 0] - tf.reduce_sum(x, axis=1)) ** 2)
                loss = compute_loss(scores, y) + 0.1 * auxiliary
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss, auxiliary

        losses = [[float(part) for part in step()] for _ in range(100)]
        assert losses[-1][0] < 0.5 * losses[0][0]
        assert losses[-1][1] < 0.5 * losses[0][1]

    def test_gradient_penalty(self):
        critic = tf.keras.Sequential(
            [tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)]
        )
        optimizer = tf.keras.optimizers.Adam(1e-2)
        x = batches(1)[0][0]
        critic(x)

        @tf.function
        def step():
            with tf.GradientTape() as outer:
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    score = critic(x, training=True)
                slope = inner.gradient(score, x)
                penalty = tf.reduce_mean((tf.norm(slope, axis=1) - 1.0) ** 2)
            gradients = outer.gradient(penalty, critic.trainable_variables)
            optimizer.apply_gradients(
                (g, v)
                for g, v in zip(gradients, critic.trainable_variables, strict=True)
                if g is not None
            )
            return penalty

        penalties = [float(step()) for _ in range(200)]
        assert penalties[-1] < 0.2 * penalties[0]

    def test_meta_learning(self):
        model = tf.keras.layers.Dense(1)
        x, _ = batches(1)[0]
        y = tf.reduce_sum(x, axis=1, keepdims=True)
        model(x)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_mean((model(x) - y) ** 2)
            kernel, bias = inner.gradient(loss, model.trainable_variables)
            adapted = x @ (model.kernel - 0.1 * kernel) + (model.bias - 0.1 * bias)
            after = tf.reduce_mean((adapted - y) ** 2)
        gradients = outer.gradient(after, model.trainable_variables)
        assert all(g is not None for g in gradients)
        assert float(after) < float(loss)

    def test_optimizer_written_by_hand(self):
        class Lion(tf.keras.optimizers.Optimizer):
            def build(self, variables):
                super().build(variables)
                self.momentums = self.add_optimizer_variables(variables, "momentum")

            def update_step(self, gradient, variable, learning_rate):
                m = self.momentums[self._get_variable_index(variable)]
                self.assign_sub(variable, learning_rate * tf.sign(0.9 * m + 0.1 * gradient))
                self.assign(m, 0.99 * m + 0.01 * gradient)

        model = classifier()
        x, y = (np.concatenate(parts) for parts in zip(*batches(), strict=True))
        model.compile(Lion(3e-3, name="lion"), "sparse_categorical_crossentropy")
        history = model.fit(x, y, epochs=10, verbose=0).history["loss"]
        assert history[-1] < 0.6 * history[0]

    def test_saliency(self):
        model = classifier()
        x = batches(1)[0][0]
        model(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            score = tf.reduce_max(model(x), axis=1)
        saliency = tf.abs(tape.gradient(score, x))
        assert saliency.shape == x.shape
        assert float(tf.reduce_max(saliency)) > 0


def test_gradients_of_what_is_not_connected():
    model, other = tf.keras.layers.Dense(1), tf.keras.layers.Dense(1)
    x = tf.ones((2, 3))
    other(x)
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(model(x))
    assert tape.gradient(loss, other.trainable_variables) == [None, None]
    zeros = tape.gradient(
        loss, other.trainable_variables, unconnected_gradients=tf.UnconnectedGradients.ZERO
    )
    assert [float(tf.reduce_sum(z)) for z in zeros] == [0.0, 0.0]
