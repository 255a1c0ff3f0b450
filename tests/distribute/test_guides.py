"""Programs like those of TensorFlow's guides about distribution, on small data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeflow as tf

keras: Any = pytest.importorskip("keras")

STRATEGY = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
BATCH = 8 * STRATEGY.num_replicas_in_sync
IMAGES = np.random.default_rng(0).random((3 * BATCH + 4, 6, 6, 1), np.float32)
LABELS = (IMAGES.mean((1, 2, 3)) > 0.5).astype(np.int64)


def classifier():
    return keras.Sequential(
        [
            keras.Input((6, 6, 1)),
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(2),
        ]
    )


def dataset():
    return tf.data.Dataset.from_tensor_slices((IMAGES, LABELS))


def test_custom_training(tmp_path):
    keras.utils.set_random_seed(1)
    train = STRATEGY.experimental_distribute_dataset(dataset().shuffle(100, seed=1).batch(BATCH))
    test = STRATEGY.experimental_distribute_dataset(dataset().batch(BATCH))
    with STRATEGY.scope():
        loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
        test_loss = keras.metrics.Mean(name="test_loss")
        accuracy = keras.metrics.SparseCategoricalAccuracy(name="accuracy")
        test_accuracy = keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")
        model = classifier()
        optimizer = keras.optimizers.Adam(0.05)
        checkpoint = tf.train.Checkpoint(optimizer=optimizer, model=model)

    def train_step(inputs):
        images, labels = inputs
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            each = loss_object(labels, predictions)
            loss = tf.nn.compute_average_loss(each, global_batch_size=BATCH)
            if model.losses:
                loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        accuracy.update_state(labels, predictions)
        return loss

    def test_step(inputs):
        images, labels = inputs
        predictions = model(images, training=False)
        test_loss.update_state(loss_object(labels, predictions))
        test_accuracy.update_state(labels, predictions)

    @tf.function
    def distributed_train_step(inputs):
        losses = STRATEGY.run(train_step, args=(inputs,))
        return STRATEGY.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    @tf.function
    def distributed_test_step(inputs):
        return STRATEGY.run(test_step, args=(inputs,))

    found, batches, path = [], 0, ""
    for _ in range(3):
        total, batches = 0.0, 0
        for x in train:
            total += distributed_train_step(x)
            batches += 1
        for x in test:
            distributed_test_step(x)
        path = checkpoint.save(str(tmp_path / "ckpt"))
        found.append(
            (
                float(total) / batches,
                float(accuracy.result()),
                float(test_loss.result()),
                float(test_accuracy.result()),
            )
        )
        for metric in (test_loss, accuracy, test_accuracy):
            metric.reset_state()
    assert batches == 4 and found[-1][2] < found[0][2]
    assert all(0.0 <= share <= 1.0 for _, a, _, b in found for share in (a, b))

    alone, alone_accuracy = classifier(), keras.metrics.SparseCategoricalAccuracy()
    tf.train.Checkpoint(optimizer=keras.optimizers.Adam(), model=alone).restore(path)
    for images, labels in dataset().batch(BATCH):
        alone_accuracy.update_state(labels, alone(images, training=False))
    assert float(alone_accuracy.result()) == pytest.approx(found[-1][3])

    @tf.function
    def epoch(data):  # a loop inside of the function
        total = 0.0
        for x in data:
            losses = STRATEGY.run(train_step, args=(x,))
            total += STRATEGY.reduce("SUM", losses, axis=None)
        return total

    assert np.isfinite(float(epoch(train)))

    iterator = iter(train)  # an iterator inside of the function

    @tf.function
    def step():
        return STRATEGY.reduce("SUM", STRATEGY.run(train_step, args=(next(iterator),)), axis=None)

    assert np.isfinite(float(step()))


def test_keras_with_callbacks(tmp_path):
    with STRATEGY.scope():
        model = classifier()
        model.compile(
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            optimizer=keras.optimizers.Adam(),
            metrics=["accuracy"],
        )

    rates = []

    class Print(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            rates.append(float(self.model.optimizer.learning_rate.numpy()))

    def decay(epoch, rate):
        return 1e-3 if epoch < 1 else 1e-4

    callbacks = [
        keras.callbacks.ModelCheckpoint(
            str(tmp_path / "ckpt_{epoch}.weights.h5"), save_weights_only=True
        ),
        keras.callbacks.LearningRateScheduler(decay),
        keras.callbacks.BackupAndRestore(str(tmp_path / "backup")),
        Print(),
    ]
    data = dataset().cache().shuffle(100).batch(BATCH)
    model.fit(data, epochs=2, callbacks=callbacks, validation_data=data, verbose=0)
    assert rates == [pytest.approx(1e-3), pytest.approx(1e-4)]
    loss, accuracy = model.evaluate(data, verbose=0)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert again.evaluate(data, verbose=0) == [pytest.approx(loss, 1e-4), pytest.approx(accuracy)]
    with STRATEGY.scope():
        replicated = keras.models.load_model(tmp_path / "model.keras")
        found = replicated.evaluate(data, verbose=0)
    assert found == [pytest.approx(loss, 1e-4), pytest.approx(accuracy)]


def test_save_and_load(tmp_path):
    with STRATEGY.scope():
        model = classifier()
    folder = str(tmp_path / "saved")
    model.export(folder, verbose=False)
    loaded = tf.saved_model.load(folder)
    np.testing.assert_allclose(loaded.serve(IMAGES[:4]), model(IMAGES[:4]), 1e-5, 1e-6)

    tf.saved_model.save(model, folder)
    loaded = tf.saved_model.load(folder)
    served = loaded.signatures["serving_default"](IMAGES[:4])["output_0"]
    np.testing.assert_allclose(served, model(IMAGES[:4]), 1e-5, 1e-6)

    model.export(folder, verbose=False)
    other = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])
    with other.scope():
        loaded = tf.saved_model.load(folder)
        data = tf.data.Dataset.from_tensor_slices(IMAGES[:48]).batch(6)
        for batch in other.experimental_distribute_dataset(data):
            rows = other.gather(other.run(loaded.serve, args=(batch,)), axis=0)
            np.testing.assert_allclose(rows, model(other.gather(batch, axis=0)), 1e-4, 1e-5)


def test_a_module_is_saved_with_what_its_functions_use(tmp_path):
    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.by = tf.Variable(3.0, trainable=False)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, x):
            return x * self.by

    with STRATEGY.scope():
        module = Scale()
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded(tf.constant([2.0])).numpy().tolist() == [6.0]
    loaded.by.assign(4.0)
    assert loaded(tf.constant([2.0])).numpy().tolist() == [8.0]


def test_input():
    mirrored = STRATEGY
    data = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(100).batch(BATCH)
    distributed = mirrored.experimental_distribute_dataset(data)

    @tf.function
    def step(inputs):
        features, labels = inputs
        return labels - 0.3 * features

    x = next(iter(distributed))
    assert mirrored.experimental_local_results(mirrored.run(step, args=(x,)))[0].shape == (8, 1)

    def dataset_fn(context):
        size = context.get_per_replica_batch_size(BATCH)
        found = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(64).batch(size)
        return found.shard(context.num_input_pipelines, context.input_pipeline_id).prefetch(2)

    made = mirrored.distribute_datasets_from_function(dataset_fn)
    assert len(list(made)) == 4

    @tf.function(input_signature=[distributed.element_spec])
    def signed(inputs):
        return mirrored.run(step, args=(inputs,))

    assert len(signed(x).values) == 2

    iterator = iter(distributed)

    @tf.function
    def steps(count):
        total = 0.0
        for _ in tf.range(count):
            inputs = iterator.get_next_as_optional().get_value()
            total += mirrored.reduce("SUM", mirrored.run(step, args=(inputs,)), axis=[0, 1])
        return total

    assert float(steps(2)) == pytest.approx(2 * BATCH * 0.7, 1e-5)

    def value_fn(context):
        return tf.constant(float(context.replica_id_in_sync_group))

    values = mirrored.experimental_distribute_values_from_function(value_fn)
    total = mirrored.reduce("SUM", mirrored.run(lambda x: x * 2.0, args=(values,)), axis=None)
    assert float(total) == 2.0


def test_values_of_replicas_are_printed(capfd):
    values = STRATEGY.run(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group * 2)
    tf.print("values", values)
    told = capfd.readouterr().err
    assert told.startswith(
        "values PerReplica:{\n  0: <tf.Tensor: shape=(), dtype=int32, numpy=0>,\n"
    )


def test_random_numbers():
    with STRATEGY.scope():
        g = tf.random.Generator.from_seed(1)
        seen = [g.normal([]) for _ in range(2)]
    assert float(seen[0]) != float(seen[1])
    a, b = STRATEGY.experimental_local_results(STRATEGY.run(lambda: g.normal([])))
    assert float(a) != float(b)

    def step():
        local = tf.random.Generator.from_seed(1)
        return local.normal([])

    a, b = STRATEGY.experimental_local_results(STRATEGY.run(step))
    assert float(a) != float(b)


def test_custom_train_step_of_a_model():
    class Custom(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)
            self.tracker = keras.metrics.Mean(name="loss")

        def call(self, x):
            return self.dense(x)

        @property
        def metrics(self):
            return [self.tracker]

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x) - y) ** 2) / 2.0
            weights = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            self.tracker.update_state(loss * 2.0)
            return {"loss": self.tracker.result()}

    with STRATEGY.scope():
        model = Custom()
        model.compile("sgd")
    x = np.ones((16, 3), np.float32)
    losses = model.fit(x, x[:, :1], batch_size=8, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
