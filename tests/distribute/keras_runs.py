"""Training with Keras under `MirroredStrategy`, in a way that TensorFlow can be asked to do, too.

`python tests/distribute/keras_runs.py`, where TensorFlow is installed, writes its losses to `keras_losses.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

LOSSES = Path(__file__).with_name("keras_losses.json")
NAMES = ("CPU:0", "CPU:1", "CPU:2", "CPU:3")
RUNS = [
    *(f"{kind}_{replicas}" for kind in ("mlp", "cnn") for replicas in (1, 2, 4)),
    *("lstm_2", "transformer_2", "regularised_2", "clipped_2", "dropout_2", "half_2"),
]


def _rows() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x = random.normal(size=(23, 6)).astype(np.float32)
    return x, (x[:, :1] - x[:, 1:2] * x[:, 2:3]).astype(np.float32)


def _layers(keras: Any, kind: str) -> list[Any]:
    layers = keras.layers
    if kind == "cnn":
        return [
            layers.Reshape((6, 1)),
            layers.Conv1D(4, 3, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Flatten(),
        ]
    if kind == "lstm":
        return [layers.Reshape((6, 1)), layers.LSTM(4)]
    if kind == "regularised":
        return [layers.Dense(8, "tanh", kernel_regularizer="l2", activity_regularizer="l1")]
    if kind == "dropout":
        # Each replica draws the same, from its copy of the seed. All of it is dropped, or nothing.
        return [layers.Dense(8, "tanh"), layers.Dropout(0.0, seed=1)]
    return [layers.Dense(8, "tanh")]


def _model(keras: Any, kind: str) -> Any:
    inputs = keras.Input((6,))
    x = inputs
    if kind == "transformer":
        x = keras.layers.Reshape((3, 2))(x)
        y = keras.layers.MultiHeadAttention(2, 4)(x, x)
        x = keras.layers.LayerNormalization()(x + y)
        x = keras.layers.Flatten()(x)
    else:
        for layer in _layers(keras, kind):
            x = layer(x)
    model = keras.Model(inputs, keras.layers.Dense(1, dtype="float32")(x))
    random = np.random.default_rng(1)
    model.set_weights(
        [
            w.numpy()
            if "moving" in w.path or "seed" in w.path
            else 0.3 * random.normal(size=w.shape)
            for w in model.weights
        ]
    )
    return model


def _optimizer(keras: Any, kind: str) -> Any:
    optimizers = keras.optimizers
    if kind == "clipped":
        return optimizers.SGD(0.1, momentum=0.9, clipnorm=0.2)
    return optimizers.SGD(0.05, momentum=0.9) if kind == "cnn" else optimizers.Adam(0.01)


def losses(tf: Any, run: str, where: str = "one process") -> dict[str, Any]:
    """What three epochs of `fit`, `evaluate` and `predict` give."""
    import keras

    kind, _, replicas = run.rpartition("_")
    x, y = _rows()
    keras.config.set_dtype_policy("mixed_float16" if kind == "half" else "float32")
    try:
        if where == "workers":
            strategy = tf.distribute.MultiWorkerMirroredStrategy()
        else:
            strategy = tf.distribute.MirroredStrategy(
                NAMES[: int(replicas)], tf.distribute.ReductionToOneDevice()
            )
        with strategy.scope():
            model = _model(keras, kind)
            model.compile(_optimizer(keras, kind), "mse", metrics=["mae"])
    finally:
        keras.config.set_dtype_policy("float32")
    history = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0).history
    return {
        **{name: [float(v) for v in values] for name, values in history.items()},
        "evaluated": [float(v) for v in model.evaluate(x, y, batch_size=8, verbose=0)],
        "predicted": model.predict(x, batch_size=8, verbose=0)[:, 0].tolist(),
        "iterations": [int(model.optimizer.iterations.numpy())],
    }


def main() -> None:
    """Writes what TensorFlow gives."""
    import tensorflow as tf  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
    lines = []
    for run in RUNS:
        lines.append(f"{json.dumps(run)}: {json.dumps(losses(tf, run))}")
        LOSSES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
