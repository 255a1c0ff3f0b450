"""What TensorFlow's tutorials on several workers do, call by call: `tutorials.py WHICH FOLDER`, by `tapeflow launch`.

It is written for TensorFlow, and takes digits that are drawn by a rule in place of those that would be downloaded.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np
import tensorflow as tf  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

keras: Any = tf.keras
EACH = 16  # rows of a batch for a worker


def digits(batch_size):
    random = np.random.default_rng(0)
    labels = random.integers(0, 10, 160)
    images = random.uniform(0, 0.5, (160, 12, 12)).astype(np.float32)
    images[np.arange(160), labels] = 1.0
    data = tf.data.Dataset.from_tensor_slices((images, labels))
    return data.shuffle(160).repeat().batch(batch_size)


def network(regularizer=None):
    return keras.Sequential(
        [
            keras.layers.InputLayer(shape=(12, 12)),
            keras.layers.Reshape(target_shape=(12, 12, 1)),
            keras.layers.Conv2D(4, 3, activation="relu", kernel_regularizer=regularizer),
            keras.layers.Flatten(),
            keras.layers.Dense(16, activation="relu", kernel_regularizer=regularizer),
            keras.layers.Dense(10, kernel_regularizer=regularizer),
        ]
    )


def own_path(strategy, path):
    """Where a worker writes what only the first one keeps."""
    number = strategy.cluster_resolver.task_id
    if number == 0:
        return path
    folder = os.path.join(os.path.dirname(path), f"workertemp_{number}")
    tf.io.gfile.makedirs(folder)
    return os.path.join(folder, os.path.basename(path))


def with_keras(folder):
    """multi_worker_with_keras."""
    workers = len(json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"])
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    is_chief = strategy.cluster_resolver.task_id == 0
    data = digits(EACH * workers)

    def compiled():
        model = network()
        model.compile(
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            optimizer=keras.optimizers.SGD(learning_rate=0.05),
            metrics=["accuracy"],
        )
        return model

    with strategy.scope():
        model = compiled()
    losses = model.fit(data, epochs=2, steps_per_epoch=4, verbose=0).history["loss"]
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    every = data.with_options(options)
    losses += model.fit(every, epochs=1, steps_per_epoch=2, verbose=0).history["loss"]

    path = own_path(strategy, os.path.join(folder, "model.keras"))
    model.save(path)
    loaded = keras.models.load_model(path)
    same = all(map(np.array_equal, loaded.get_weights(), model.get_weights()))
    if not is_chief:
        tf.io.gfile.rmtree(os.path.dirname(path))

    checkpoint = tf.train.Checkpoint(model=model)
    directory = own_path(strategy, os.path.join(folder, "checkpoints"))
    manager = tf.train.CheckpointManager(checkpoint, directory=directory, max_to_keep=1)
    manager.save()
    weights = model.get_weights()
    losses += model.fit(data, epochs=1, steps_per_epoch=2, verbose=0).history["loss"]
    if not is_chief:
        tf.io.gfile.rmtree(directory)
    checkpoint.restore(tf.train.latest_checkpoint(os.path.join(folder, "checkpoints")))
    same = same and all(map(np.array_equal, weights, model.get_weights()))

    with strategy.scope():
        model = compiled()
    backup = keras.callbacks.BackupAndRestore(backup_dir=os.path.join(folder, "backup"))
    history = model.fit(data, epochs=2, steps_per_epoch=2, verbose=0, callbacks=[backup]).history
    return {"losses": [*losses, *history["loss"]], "same": same}


def with_a_loop(folder):
    """multi_worker_with_ctl. It goes on from its checkpoint."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    is_chief = strategy.cluster_resolver.task_id == 0
    whole = EACH * strategy.num_replicas_in_sync

    def dataset_fn(context):
        data = digits(context.get_per_replica_batch_size(whole))
        return data.shard(context.num_input_pipelines, context.input_pipeline_id)

    with strategy.scope():
        model = network(keras.regularizers.L2(1e-5))
        data = strategy.distribute_datasets_from_function(dataset_fn)
        optimizer = keras.optimizers.RMSprop(learning_rate=0.002)
        accuracy = keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
        crossentropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)

    @tf.function
    def train_step(iterator):
        def replica(inputs):
            x, y = inputs
            with tf.GradientTape() as tape:
                predictions = model(x, training=True)
                loss = tf.nn.compute_average_loss(crossentropy(y, predictions))
                if model.losses:
                    loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            accuracy.update_state(y, predictions)
            return loss

        each = strategy.run(replica, args=(next(iterator),))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, each, axis=None)

    epoch = tf.Variable(tf.constant(0, tf.int64), name="epoch")
    step = tf.Variable(tf.constant(0, tf.int64), name="step_in_epoch")
    checkpoint = tf.train.Checkpoint(model=model, epoch=epoch, step_in_epoch=step)
    directory = own_path(strategy, os.path.join(folder, "checkpoints"))
    manager = tf.train.CheckpointManager(checkpoint, directory=directory, max_to_keep=1)
    latest = tf.train.latest_checkpoint(os.path.join(folder, "checkpoints"))
    if latest:
        checkpoint.restore(latest)
    found = []
    while epoch.numpy() < 3:
        iterator = iter(data)
        total = 0.0
        while step.numpy() < 4:
            total += train_step(iterator)
            step.assign_add(1)
        found.append([int(epoch.numpy()), float(total / 4), float(accuracy.result())])
        accuracy.reset_state()
        epoch.assign_add(1)
        step.assign(0)
        manager.save()
        if not is_chief:
            tf.io.gfile.rmtree(directory)
        if epoch.numpy() == 2 and not latest:
            raise SystemExit(1)  # all of them: the job is started again
    return {"epochs": found}


if __name__ == "__main__":
    which, where = sys.argv[1:]
    print(json.dumps(globals()[which](where)))
