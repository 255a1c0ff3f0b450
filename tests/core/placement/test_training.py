"""Keras on a device: custom loops, `fit`, optimizers, and datasets."""

from __future__ import annotations

import numpy as np
import pytest
from tests.core.placement.places import place

import tapeflow as tf

keras = pytest.importorskip("keras")

RNG = np.random.default_rng(0)
INPUTS = RNG.normal(size=(64, 8)).astype(np.float32)
LABELS = (INPUTS.sum(1) > 0).astype(np.int32)


def layers():
    tf.keras.utils.set_random_seed(1)
    return [
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Dropout(0.2),
        tf.keras.layers.Dense(2),
    ]


def places_of(variables):
    return {place(v.value) for v in variables}


@pytest.mark.sample(4)
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("name", ["SGD", "AdamW"])
def test_a_loop_of_ones_own_copies_nothing(name, compiled):
    with tf.device("CPU:1"):
        x, y = tf.constant(INPUTS), tf.constant(LABELS)
        model = tf.keras.Sequential(layers())
        model.build(x.shape)
        loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
        optimizer = getattr(tf.keras.optimizers, name)(0.05, clipnorm=1.0)
        optimizer.build(model.trainable_variables)

        def step():
            with tf.GradientTape() as tape:
                logits = model(x, training=True)
                loss = loss_of(y, logits)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            accuracy.update_state(y, logits)
            return loss

        if compiled:
            step = tf.function(step)
        losses = [step(), step()]  # which makes what is made once
        with tf.transfers() as copies:
            losses += [step() for _ in range(8)]
            result = accuracy.result()
    assert copies.count == 0, str(copies)
    assert {place(loss) for loss in [*losses, result]} == {"CPU:1"}
    assert places_of([*model.variables, *optimizer.variables, *accuracy.variables]) == {"CPU:1"}
    assert float(losses[-1]) < float(losses[0])


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_embeddings_copy_nothing(name):
    with tf.device("CPU:1"):
        layer = tf.keras.layers.Embedding(50, 4)
        ids = tf.constant(np.arange(20).reshape(4, 5))
        layer(ids)
        optimizer = getattr(tf.keras.optimizers, name)(0.1)

        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((layer(ids) - 1.0) ** 2)
            rows = tape.gradient(loss, layer.trainable_variables)
            assert isinstance(rows[0], tf.IndexedSlices)
            optimizer.apply_gradients(zip(rows, layer.trainable_variables, strict=True))
            return loss

        first = step()
        with tf.transfers() as copies:
            for _ in range(3):
                loss = step()
    assert copies.count == 0, str(copies)
    assert places_of([*layer.variables, *optimizer.variables]) == {"CPU:1"}
    assert float(loss) < float(first)


@pytest.mark.exhaustive
def test_fit_evaluate_and_predict():
    def trained():
        model = tf.keras.Sequential([layers()[0], tf.keras.layers.Dense(2)])
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, metrics=["accuracy"])
        history = model.fit(INPUTS, LABELS, batch_size=16, epochs=2, shuffle=False, verbose=0)
        return model, history.history["loss"], model.evaluate(INPUTS, LABELS, verbose=0)

    _, host_losses, host_scores = trained()
    with tf.device("CPU:1"):
        model, losses, scores = trained()
        outputs = model.predict(INPUTS, batch_size=16, verbose=0)
        assert place(model(INPUTS[:4])) == "CPU:1"
        model.train_on_batch(INPUTS[:16], LABELS[:16])
    np.testing.assert_allclose(losses, host_losses, rtol=1e-4)
    np.testing.assert_allclose(scores, host_scores, rtol=1e-4)
    assert outputs.shape == (64, 2) and isinstance(outputs, np.ndarray)
    assert places_of([*model.variables, *model.optimizer.variables]) == {"CPU:1"}
    # It stays where it was made: what it is called with comes and goes.
    model.fit(INPUTS, LABELS, batch_size=64, epochs=1, verbose=0)
    model.evaluate(INPUTS, LABELS, batch_size=64, verbose=0)
    assert places_of([*model.variables, *model.optimizer.variables]) == {"CPU:1"}


def test_a_step_of_fit_copies_only_its_batch():
    with tf.device("CPU:1"):
        model = tf.keras.Sequential([layers()[0], tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        x, y = INPUTS[:16], LABELS[:16].astype(np.float32)
        model.train_on_batch(x, y)
        with tf.transfers() as copies:
            model.train_on_batch(x, y)
    up = [copy.bytes for copy in copies if copy.to.endswith("CPU:1")]
    down = [copy.bytes for copy in copies if copy.to.endswith("CPU:0")]
    assert sum(up) <= x.nbytes + y.nbytes and sum(down) <= 8, str(copies)


def test_models_are_loaded_where_the_scope_is(tmp_path):
    with tf.device("CPU:1"):
        model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
        model.build((None, 8))
    model.save(tmp_path / "model.keras")
    with tf.device("CPU:2"):
        loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert places_of(loaded.variables) == {"CPU:2"}
    np.testing.assert_array_equal(loaded.weights[0], model.weights[0])


def test_ops_of_keras_that_make_tensors():
    with tf.device("CPU:1"):
        made = [tf.keras.ops.arange(40), tf.keras.ops.zeros([3]), tf.keras.ops.eye(3)]
    assert {place(x) for x in made} == {"CPU:1"}


def test_datasets_in_a_scope():
    rows = np.arange(24, dtype=np.float32).reshape(12, 2)
    with tf.device("CPU:1"):
        factor = tf.constant([2.0, 3.0])
        batches = tf.data.Dataset.from_tensor_slices(rows).map(lambda row: row * factor)
        batches = batches.shuffle(4, seed=1).batch(4).prefetch(2)
        total = tf.zeros([2])
        for batch in batches:
            total += tf.reduce_sum(batch, 0)
        assert place(total) == "CPU:1"
    np.testing.assert_array_equal(total, rows.sum(0) * [2.0, 3.0])


def test_datasets_of_tensors_on_a_device():
    rows = np.arange(24, dtype=np.float32).reshape(12, 2)
    with tf.device("CPU:1"):
        remote = tf.constant(rows)
    pairs = tf.data.Dataset.from_tensor_slices((remote, remote * 2.0))
    sums = pairs.map(lambda a, b: a + b, num_parallel_calls=2).batch(12)
    np.testing.assert_array_equal(next(iter(sums)), 3 * rows)


class Block(tf.keras.layers.Layer):
    """A block of a transformer that looks back."""

    def __init__(self):
        super().__init__()
        self.attention = tf.keras.layers.MultiHeadAttention(2, 8)
        self.norms = [tf.keras.layers.LayerNormalization() for _ in range(2)]
        self.layers = [tf.keras.layers.Dense(64, activation="gelu"), tf.keras.layers.Dense(16)]

    def call(self, x):
        h = self.norms[0](x)
        x = x + self.attention(h, h, use_causal_mask=True)
        return x + self.layers[1](self.layers[0](self.norms[1](x)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("scope", ["CPU:1", None])
def test_a_language_model_trains_eagerly_and_copies_only_what_is_printed(scope):
    tf.keras.utils.set_random_seed(1)
    with tf.device("CPU:1"):
        words, places = (tf.keras.layers.Embedding(n, 16) for n in (30, 12))
        blocks, head = [Block(), Block()], tf.keras.layers.Dense(30)
        ids = tf.constant(np.random.default_rng(0).integers(0, 30, (4, 12)))

    def model(ids):
        x = words(ids) + places(tf.range(tf.shape(ids)[1]))
        for block in blocks:
            x = block(x)
        return head(x)

    with tf.device("CPU:1"):
        model(ids)
        parts = [words, places, *blocks, head]
        variables = [v for part in parts for v in part.trainable_variables]
        optimizer = tf.keras.optimizers.AdamW(0.01)
        optimizer.build(variables)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(ids[:, 1:], model(ids)[:, :-1])
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    with tf.device(scope):
        first = float(step())
        with tf.transfers() as copies:
            for _ in range(100):
                loss = step()
            last = float(loss)
    assert (copies.count, copies.bytes) == (1, 4), str(copies)
    assert last < first / 4
