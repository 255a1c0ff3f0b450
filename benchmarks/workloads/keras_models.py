"""Training with Keras, the same lines for every backend: `fit`, and loops that are written by hand."""

from __future__ import annotations

import numpy as np

BATCH = {"mlp": 128, "cnn": 32, "lstm": 32, "transformer": 16, "mobilenet": 16, "resnet": 8}
BATCHES = {"mlp": 50, "cnn": 20, "lstm": 10, "transformer": 10, "mobilenet": 4, "resnet": 4}
SHAPES = {
    "mlp": (784,),
    "cnn": (32, 32, 3),
    "lstm": (100, 32),
    "mobilenet": (96, 96, 3),
    "resnet": (128, 128, 3),
}


def fit(name: str):
    """Return a function that trains for an epoch and returns its loss, and the number of batches."""
    x, y = data(name)
    model = built(name)

    def epoch():
        history = model.fit(x, y, batch_size=BATCH[name], epochs=1, shuffle=False, verbose=0)
        return history.history["loss"][0]

    epoch.model = model
    return epoch, BATCHES[name]


def loop(tf, compiled: bool):
    """Return a step of a hand-written loop over a Keras model, with TensorFlow's tape."""
    x, y = data("mlp")
    x, y = tf.constant(x[: BATCH["mlp"]]), tf.constant(y[: BATCH["mlp"]])
    model = built("mlp")
    optimizer = tf.keras.optimizers.Adam()
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    return tf.function(step) if compiled else step


def built(name: str):
    """Return a compiled model with weights that do not depend on the backend."""
    import keras

    model = MODELS[name](keras)
    deep = name in ("mobilenet", "resnet")  # where rounding would grow from step to step
    model.compile(
        keras.optimizers.SGD(1e-4, momentum=0.9) if deep else keras.optimizers.Adam(),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    random = np.random.default_rng(0)
    for weight in model.trainable_weights:
        inputs = np.prod(weight.shape[:-1]) if len(weight.shape) == 4 else weight.shape[0]
        size = 1 / np.sqrt(inputs)
        weight.assign(random.normal(0, size, weight.shape).astype("float32"))
    return model


def data(name: str):
    count = BATCH[name] * BATCHES[name]
    random = np.random.default_rng(1)
    y = random.integers(0, 10, count).astype("int32")
    if name == "transformer":
        return random.integers(0, 1000, (count, 64)).astype("int32"), y
    return random.normal(size=(count, *SHAPES[name])).astype("float32"), y


def mlp(keras):
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((784,)),
            layers.Dense(256, activation="relu"),
            layers.Dense(256, activation="relu"),
            layers.Dense(10),
        ]
    )


def cnn(keras):
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((32, 32, 3)),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )


def lstm(keras):
    layers = keras.layers
    return keras.Sequential([keras.Input((100, 32)), layers.LSTM(128), layers.Dense(10)])


def transformer(keras):
    layers = keras.layers
    tokens = keras.Input((64,), dtype="int32")
    x = layers.Embedding(1000, 128)(tokens)
    for _ in range(2):
        normal = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(4, 32)(normal, normal)
        hidden = layers.Dense(512, activation="gelu")(layers.LayerNormalization()(x))
        x = x + layers.Dense(128)(hidden)
    pooled = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return keras.Model(tokens, layers.Dense(10)(pooled))


def mobilenet(keras):
    network = keras.applications.MobileNetV2
    return network(SHAPES["mobilenet"], weights=None, classes=10, classifier_activation=None)


def resnet(keras):
    network = keras.applications.ResNet50
    return network(
        input_shape=SHAPES["resnet"], weights=None, classes=10, classifier_activation=None
    )


MODELS = {
    "mlp": mlp,
    "cnn": cnn,
    "lstm": lstm,
    "transformer": transformer,
    "mobilenet": mobilenet,
    "resnet": resnet,
}
