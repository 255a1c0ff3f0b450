"""`model.export` and `keras.export.ExportArchive`: what is loaded computes the same, without Keras."""

from __future__ import annotations

import os
import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import layers, ops

import tapeflow as tf

RNG = np.random.default_rng(0)
SPEC = [keras.InputSpec(shape=(None, 10), dtype="float32")]


class Chain(keras.Model):
    """Layers one after another, in a subclassed model."""

    def __init__(self, parts):
        super().__init__()
        self.parts = parts

    def call(self, x):
        for part in self.parts:
            x = part(x)
        return x


def model_of(kind, parts=None, shape=(10,)):
    parts = parts or [
        layers.Dense(4, activation="relu"),
        layers.BatchNormalization(),
        layers.Dense(1, activation="sigmoid"),
    ]
    if kind == "sequential":
        return keras.Sequential(parts)
    if kind == "subclass":
        return Chain(parts)
    x = y = layers.Input(shape)
    for part in parts:
        y = part(y)
    return keras.Model(x, y)


def rows(*shape):
    return RNG.normal(size=shape).astype("float32")


@pytest.mark.parametrize("kind", ["sequential", "functional", "subclass"])
def test_a_model_is_served_for_batches_of_any_size(kind, tmp_path, capsys):
    model = model_of(kind)
    model(rows(3, 10))
    model.export(tmp_path)
    assert "Endpoint 'serve'" in capsys.readouterr().out
    served = tf.saved_model.load(tmp_path)
    for n in (1, 3, 6):
        x = rows(n, 10)
        np.testing.assert_allclose(served.serve(x), model(x), rtol=1e-5)
    assert len(served.variables) == 8
    assert len(served.trainable_variables) == 6


def test_serving_needs_no_keras(tmp_path):
    model = model_of("functional", [layers.LSTM(4), layers.Dense(2)], (None, 3))
    x = rows(2, 5, 3)
    model.export(tmp_path / "model", verbose=False)
    np.save(tmp_path / "x.npy", x)
    script = """
import sys, numpy as np, tapeflow as tf
from tapeflow import saved_model
served = saved_model.load(sys.argv[1] + "/model")
print(served.serve(np.load(sys.argv[1] + "/x.npy")).numpy().tolist())
assert "keras" not in sys.modules
"""
    found = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        env={k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    np.testing.assert_allclose(eval(found.stdout), model(x), rtol=1e-5)


def test_several_endpoints_and_a_collection_of_variables(tmp_path):
    model = model_of("functional", [layers.Dropout(0.5), layers.Dense(3)])
    model.compile("adam", "mse")
    archive = keras.export.ExportArchive()
    archive.track(model)
    assert len(archive.variables) == len(model.variables)
    assert len(archive.trainable_variables) == 2
    assert len(archive.non_trainable_variables) == len(model.variables) - 2
    archive.add_endpoint("infer", lambda x: model(x, training=False), SPEC)
    archive.add_endpoint("train", lambda x: model(x, training=True), SPEC)
    archive.add_variable_collection("optimizer_variables", model.optimizer.variables)
    archive.write_out(tmp_path, verbose=False)
    served = tf.saved_model.load(tmp_path)
    x = rows(4, 10)
    np.testing.assert_allclose(served.infer(x), model(x), rtol=1e-5)
    assert not np.allclose(served.train(x), served.train(x))  # the state of dropout is saved
    assert len(served.optimizer_variables) == len(model.optimizer.variables)
    assert set(served.signatures) == {"infer", "train", "serving_default"}


def test_state_goes_on_in_the_artifact(tmp_path):
    class Counter(layers.Layer):
        def build(self, shape):
            self.count = self.add_weight(shape=(), dtype="int32", trainable=False)

        def call(self, x):
            self.count.assign_add(1)
            return x, ops.copy(self.count)

    model = model_of("subclass", [Counter()])
    model(rows(2, 10))
    model.export(tmp_path, verbose=False)
    served = tf.saved_model.load(tmp_path)
    assert [int(served.serve(rows(2, 10))[1]) for _ in range(3)] == [2, 3, 4]


@pytest.mark.parametrize("kind", ["list", "dict"])
def test_structures_of_inputs_and_outputs(kind, tmp_path):
    a, b = layers.Input((2,), name="a"), layers.Input((3,), name="b")
    outputs = [layers.Dense(2)(a), layers.Dense(1)(layers.Concatenate()([a, b]))]
    model = keras.Model([a, b] if kind == "list" else {"a": a, "b": b}, outputs)
    x = [rows(4, 2), rows(4, 3)]
    x = x if kind == "list" else dict(zip("ab", x, strict=True))
    model.export(tmp_path, verbose=False)
    served = tf.saved_model.load(tmp_path)
    for found, want in zip(served.serve(x), model(x), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-5)
    named = x if kind == "dict" else dict(zip("ab", x, strict=True))
    named = {name: tf.constant(value) for name, value in named.items()}
    by_name = served.signatures["serving_default"](**named)
    np.testing.assert_allclose(by_name["output_1"], model(x)[1], rtol=1e-5)


@pytest.mark.parametrize(
    "spec",
    [
        keras.InputSpec(dtype="float32", shape=(None, 10), name="inputs"),
        tf.TensorSpec((None, 10), tf.float32, "inputs"),
        keras.KerasTensor((None, 10), "float32", name="inputs"),
        tf.zeros((3, 10)),
    ],
    ids=["InputSpec", "TensorSpec", "KerasTensor", "tensor"],
)
def test_input_signatures(spec, tmp_path):
    model = model_of("sequential")
    x = rows(5, 10)
    want = model(x)
    model.export(tmp_path, input_signature=(spec,), verbose=False)
    np.testing.assert_allclose(tf.saved_model.load(tmp_path).serve(x), want, rtol=1e-5)


def test_a_called_function_is_an_endpoint(tmp_path):
    model = model_of("functional")

    @tf.function
    def twice(x):
        return model(x) * 2.0

    archive = keras.export.ExportArchive()
    with pytest.raises(ValueError, match="has never been called"):
        archive.add_endpoint("twice", twice)
    x = tf.constant(rows(3, 10))
    want = twice(x)
    archive.add_endpoint("twice", twice)
    archive.write_out(tmp_path, verbose=False)
    np.testing.assert_allclose(tf.saved_model.load(tmp_path).twice(x), want)


def test_an_artifact_can_be_trained_on(tmp_path):
    model = model_of("functional", [layers.Dense(1)])
    model.export(tmp_path, verbose=False)
    served = tf.saved_model.load(tmp_path)
    x = rows(6, 10)
    kernel = next(v for v in served.trainable_variables if v.shape.rank == 2)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(served.serve(x))
    np.testing.assert_allclose(tape.gradient(y, kernel), x.sum(0)[:, None], rtol=1e-5)


def test_mistakes_are_named(tmp_path):
    archive = keras.export.ExportArchive()
    with pytest.raises(ValueError, match="No endpoints have been set"):
        archive.write_out(tmp_path)
    with pytest.raises(ValueError, match="has not yet been built"):
        archive.track(layers.Dense(2))
    with pytest.raises(ValueError, match="Invalid resource type"):
        archive.track("a model")
    with pytest.raises(ValueError, match="you must provide an `input_signature`"):
        archive.add_endpoint("serve", lambda x: x)
    archive.add_endpoint("serve", lambda x: x, SPEC)
    with pytest.raises(ValueError, match="already taken"):
        archive.add_endpoint("serve", lambda x: x, SPEC)
    with pytest.raises(ValueError, match="jax2tf_kwargs"):
        archive.add_endpoint("other", lambda x: x, SPEC, jax2tf_kwargs={})
    with pytest.raises(ValueError, match="list/tuple/set"):
        archive.add_variable_collection("all", {"a": 1})
    with pytest.raises(ValueError, match="to be variables"):
        archive.add_variable_collection("all", [1, 2])
    with pytest.raises(TypeError, match="Unsupported x="):
        archive.add_endpoint("other", lambda x: x, [123])


@pytest.mark.parametrize("format", ["litert", "torch"])
def test_other_formats_are_refused(format, tmp_path):
    model = model_of("sequential")
    model(rows(1, 10))
    with pytest.raises((ValueError, NotImplementedError), match=r"(?i)backend"):
        model.export(str(tmp_path / "model"), format=format)


@pytest.mark.parametrize("endpoint", ["serve", "serving_default"])
def test_a_served_model_is_a_layer(endpoint, tmp_path):
    model = model_of("functional")
    model.export(tmp_path, verbose=False)
    layer = layers.TFSMLayer(tmp_path, call_endpoint=endpoint)
    x = rows(4, 10)
    y = layer(x) if endpoint == "serve" else layer(x)["output_0"]
    np.testing.assert_allclose(y, model(x), rtol=1e-5)
    assert len(layer.trainable_weights) == 6 and len(layer.non_trainable_weights) == 2
    with pytest.raises(ValueError, match="'nothing'"):
        layers.TFSMLayer(tmp_path, call_endpoint="nothing")


def test_a_served_model_is_trained_as_a_layer(tmp_path):
    model_of("functional").export(tmp_path, verbose=False)
    layer = layers.TFSMLayer(tmp_path)
    model = keras.Sequential([layers.Input((10,)), layer, layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    before = layer.weights[0].numpy()
    x = rows(8, 10)
    losses = model.fit(x, rows(8, 1), epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    assert (layer.weights[0].numpy() != before).any()


def test_a_variable_made_of_a_variable_has_its_value_in_it():
    inner = tf.Variable([1.0, 2.0])
    keras.Variable(inner).assign([3.0, 4.0])
    assert inner.numpy().tolist() == [3.0, 4.0]
    keras.Variable(inner, dtype="float16").assign([5.0, 6.0])
    assert inner.numpy().tolist() == [3.0, 4.0]
