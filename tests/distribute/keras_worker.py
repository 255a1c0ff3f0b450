"""One of several processes that train a model together: `python keras_worker.py ADDRESS COUNT NUMBER WHAT ...`."""

from __future__ import annotations

import json
import sys

import numpy as np

import tapeflow as tf
import tapeflow._src.keras.hook  # lets Keras find tapeflow

import keras  # isort: skip
from tests.distribute import keras_models

DEVICES = 2  # of each process


def joined(address, count, number):
    """Divides the CPU, and joins the others, if there are any."""
    (cpu,) = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration()] * DEVICES
    tf.config.set_logical_device_configuration(cpu, parts)
    if count > 1:
        keras.distribution.initialize(address, count, number)


def parallel(kind):
    """The distribution of a kind, over all devices of all processes."""
    names = keras.distribution.list_devices()
    if kind == "data":
        return keras.distribution.DataParallel(devices=names, auto_shard_dataset=False)
    shape = (2, len(names) // 2) if kind == "both" else (1, len(names))
    mesh = keras.distribution.DeviceMesh(shape, ["batch", "model"], names)
    layouts = keras.distribution.LayoutMap(mesh)
    layouts[".*wide/kernel"] = (None, "model")
    layouts[".*deep/kernel"] = ("model", None)
    return keras.distribution.ModelParallel(
        layout_map=layouts, batch_dim_name="batch", auto_shard_dataset=False
    )


def spread(tensor):
    """How many devices hold a tensor, and what those of this process have of it."""
    buffer = tensor._buffer
    return len(buffer.sharding.device_set), [s.data.shape for s in buffer.addressable_shards]


def models(count, number, kinds):
    """The losses of models."""
    keras.distribution.set_distribution(parallel("data"))
    found = {}
    for kind in kinds.split(","):
        model = keras_models.build(kind)
        found[kind] = keras_models.losses(model, *keras_models.data(kind), number, count)
        found[f"{kind} report"] = model.train_function.report()
        found[f"{kind} weights"] = spread(model.weights[0].handle._value)
    return found


def exactly(count, number):
    """The losses of the CNN with Adam in float64."""
    keras.distribution.set_distribution(parallel("data"))
    with keras_models.in_float64():
        model = keras_models.build("cnn", optimizer="adam")
        return keras_models.losses(model, *keras_models.data("cnn"), number, count)


def datasets(count, number, how):
    """`fit`, `evaluate` and `predict` on 61 rows, of which the processes have equal or unequal parts."""
    distribution = parallel("data")
    distribution.auto_shard_dataset = how == "dataset"
    keras.distribution.set_distribution(distribution)
    model = keras_models.build("mlp")
    x, y = keras_models.data("mlp", 61)
    if how == "dataset":
        batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
        told = [lambda **_: batches, {}]
    else:
        rows = [np.arange(b, min(b + 16, 61)) for b in range(0, 61, 16)]
        cut = 8 if how == "arrays" else 5
        mine = [r[:cut] if number == 0 else r[cut:] for r in rows]
        if how == "generator":
            mine[-1] = rows[-1][: (1 - number) * 99]  # the second process has no last batch
        told = [lambda: ((x[r], y[r]) for r in mine if len(r)), {}]
        if how == "arrays":
            every = np.concatenate(mine)
            told = [lambda: x[every], {"y": y[every], "batch_size": 8}]
    source, options = told
    history = model.fit(source(), shuffle=False, verbose=0, **options)
    evaluated = model.evaluate(source(), verbose=0, **options)
    options.pop("y", None)
    predicted = model.predict(source(), verbose=0, **options)
    return {
        "loss": history.history["loss"],
        "evaluated": [float(n) for n in evaluated],
        "predicted": np.asarray(predicted).tolist(),
    }


def checkpoints(count, number, mode, folder, kind):
    """Trains, saves and trains on; or restores, and trains on as the other did."""
    keras.distribution.set_distribution(parallel(kind))
    model = keras_models.build("mlp")
    x, y = keras_models.data("mlp", 64)
    saved = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
    manager = tf.train.CheckpointManager(saved, folder, max_to_keep=2)
    part = keras_models.losses
    share = (number, count) if kind != "model" else (0, 1)  # of each batch
    if mode == "save":
        for _ in range(3):
            part(model, x, y, *share)
            manager.save()
    else:
        model.optimizer.build(model.trainable_variables)
        status = saved.restore(manager.latest_checkpoint)
        status.expect_partial().assert_existing_objects_matched()
    weights = [np.asarray(w).tolist() for w in model.get_weights()]
    kernel = next(v for v in model.optimizer.variables if "wide_kernel_momentum" in v.path)
    return {
        "weights": weights,
        "momentum": spread(kernel.handle._value)[1],
        "later": part(model, x, y, *share),
    }


if __name__ == "__main__":
    address, total, mine, what, *rest = sys.argv[1:]
    joined(address, int(total), int(mine))
    print(json.dumps(globals()[what](int(total), int(mine), *rest)))
