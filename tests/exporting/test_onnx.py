"""Functions and models as ONNX models give in onnxruntime what they gave, for every size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.tensorflow_files import models

import tapeflow as tf

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install 'tapeflow[onnx]'")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def runs(model: Any, *arrays: Any) -> list[np.ndarray]:
    """What onnxruntime gives."""
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    given = [np.asarray(x) for x in arrays]
    return session.run(None, dict(zip([i.name for i in session.get_inputs()], given, strict=True)))


def same(function: Any, specs: list[tf.TensorSpec], *calls: tuple[Any, ...]) -> Any:
    """Exports a function, and compares what the model gives for each of the arguments."""
    function = tf.function(function)
    model = tf.export.to_onnx(function, *specs)
    for arrays in calls:
        expected = tf.nest.flatten(function(*[tf.constant(x) for x in arrays]))
        for found, known in zip(runs(model, *arrays), expected, strict=True):
            assert (found.dtype, found.shape) == (known.numpy().dtype, tuple(known.shape))
            np.testing.assert_allclose(found, known, atol=1e-5)
    return model


@pytest.mark.parametrize("name", models.MODELS)
def test_a_keras_model_is_a_model(tmp_path, name):
    model = models.compiled(name, tf.keras)
    x, _ = models.batch(name)
    model.export(tmp_path / "model.onnx", format="onnx", verbose=False)
    session = ort.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    (taken,) = session.get_inputs()
    for count in (1, 2, 5):
        (found,) = session.run(None, {taken.name: x[:count]})
        np.testing.assert_allclose(found, model.predict(x[:count], verbose=0), atol=1e-5)


def test_inputs_of_a_model_are_called_as_its_inputs():
    parts = [tf.keras.Input((2,), name=name) for name in ("left", "right")]
    model = tf.keras.Model(parts, tf.keras.layers.Add()(parts))
    assert [each.name for each in tf.export.to_onnx(model).graph.input] == ["left", "right"]


def test_layers_of_images(tmp_path):
    layers = tf.keras.layers
    image = tf.keras.Input((8, 8, 4))
    x = layers.Conv2D(8, 3, strides=2, padding="same", groups=2)(image)
    x = layers.Conv2D(8, 3, dilation_rate=2, padding="same")(x)
    x = layers.Conv2DTranspose(4, 3, strides=2, padding="same")(x)
    x = layers.SeparableConv2D(4, 3, activation="silu")(x)
    x = layers.GroupNormalization(2)(layers.AveragePooling2D(3, 2, padding="same")(x))
    x = layers.UpSampling2D(2, interpolation="bilinear")(layers.ZeroPadding2D(1)(x))
    x = layers.Concatenate()([x, layers.Activation("hard_sigmoid")(x)])
    model = tf.keras.Model(image, layers.GlobalMaxPooling2D()(layers.PReLU()(x)))
    found = tf.export.to_onnx(model)
    for count in (1, 3):
        x = np.random.default_rng(0).normal(size=(count, 8, 8, 4)).astype(np.float32)
        np.testing.assert_allclose(runs(found, x)[0], model(x), atol=1e-5)


def test_layers_of_images_of_any_size():
    layers = tf.keras.layers
    image = tf.keras.Input((None, None, 3))
    x = layers.Conv2D(4, 3, strides=2, padding="same", activation="relu")(image)
    x = layers.BatchNormalization()(layers.MaxPooling2D(3, 2, padding="same")(x))
    x = layers.AveragePooling2D(2, 1, padding="same")(x)
    x = layers.Conv2DTranspose(3, 3, strides=2, padding="same")(layers.UpSampling2D(2)(x))
    x = layers.UpSampling2D((2, 1), interpolation="bilinear")(layers.ZeroPadding2D(1)(x))
    model = tf.keras.Model(image, layers.Resizing(5, 6)(x))
    found = tf.export.to_onnx(model)
    assert "Sqrt" not in {node.op_type for node in found.graph.node}  # it depends on weights alone
    for shape in ((1, 8, 8, 3), (2, 13, 6, 3)):
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        np.testing.assert_allclose(runs(found, x)[0], model(x), atol=1e-5)


def test_layers_of_sequences():
    layers = tf.keras.layers
    steps = tf.keras.Input((None, 3))
    x = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(steps)
    x = layers.Conv1D(4, 3, padding="causal")(x)
    x = layers.GRU(3, return_sequences=True, go_backwards=True)(x)
    x = layers.MultiHeadAttention(2, 3)(x, x)
    model = tf.keras.Model(steps, layers.Dense(2)(x))
    found = tf.export.to_onnx(model)
    for shape in ((1, 4, 3), (2, 7, 3)):
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        np.testing.assert_allclose(runs(found, x)[0], model(x), atol=1e-5)


def test_branches_and_loops_are_ifs_and_loops():
    def steps(x, n):
        i, total = 0, tf.zeros_like(x)
        while i < n:
            if tf.reduce_sum(total) < 5.0:
                total += x
            else:
                total -= 2.0 * x
            i += 1
        return total, i

    specs = [tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)]
    x = np.float32([1, 2])
    model = same(steps, specs, (x, np.int32(0)), (x, np.int32(1)), (x[:1], np.int32(9)))
    assert "Loop" in {node.op_type for node in model.graph.node}


def test_a_list_of_tensors_is_an_array():
    def squares(x):
        rows = tf.TensorArray(tf.float32, tf.shape(x)[0], element_shape=[2])
        for i in tf.range(tf.shape(x)[0]):
            rows = rows.write(i, x[i] ** 2 + tf.cast(i, tf.float32))
        return rows.stack()

    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    same(squares, [tf.TensorSpec([None, 2])], (x,), (x[:1],))


def test_late_sizes_are_computed():
    def shuffled(x, y):
        n = tf.shape(x)[0]
        flat = tf.reshape(x, [n * 2, -1])
        wide = tf.concat([flat, tf.zeros([2, tf.shape(flat)[1]])], 0)
        return wide[1:-1], tf.tile(y[None], [n, 1])[:, ::-1], tf.pad(y, [[n // 2, n % 2]])

    specs = [tf.TensorSpec([None, 4]), tf.TensorSpec([None], tf.int32)]
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    same(shuffled, specs, (x, np.int32([1, 2])), (x[:1], np.int32([3, 4, 5])))


def test_gradients_are_exported():
    w = tf.Variable([[1.0, -1.0], [0.5, 2.0]])

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.nn.softmax(tf.tanh(x @ w)) ** 2)
        return tape.gradient(y, x)

    x = np.float32([[1, 2], [0, 1], [3, -1]])
    same(slope, [tf.TensorSpec([None, 2])], (x,), (x[:1],))


def test_inputs_and_outputs_have_names():
    spec = tf.TensorSpec([None, 2], name="points")
    model = tf.export.to_onnx(lambda x: {"sum": tf.reduce_sum(x, 1), "first": x[:, 0]}, spec)
    assert [info.name for info in model.graph.input] == ["points"]
    assert [info.name for info in model.graph.output] == ["first", "sum"]
    size = model.graph.output[0].type.tensor_type.shape.dim[0]
    assert size.dim_param == model.graph.input[0].type.tensor_type.shape.dim[0].dim_param != ""
    assert model.opset_import[0].version == 20 and model.producer_name == "tapeflow"


def test_variables_have_the_values_of_now():
    v = tf.Variable(2.0, name="factor")
    f = tf.function(lambda x: x * v)
    f(tf.constant(1.0))
    v.assign(3.0)
    model = tf.export.to_onnx(f, tf.TensorSpec([]))
    assert [each.name for each in model.graph.initializer] == ["factor"]
    assert runs(model, np.float32(5.0))[0] == 15.0


@pytest.mark.parametrize(
    ("function", "spec", "says"),
    [
        (lambda x: tf.random.normal([2]) + x, [2], "random_.* draws random numbers"),
        (
            lambda x: tf.linalg.inv(x),
            [2, 2],
            r"inverse \(at .*test_onnx.py:\d+\) has no counterpart",
        ),
        (lambda x: tf.cast(x, tf.complex64), [2], "cast .* is about complex numbers"),
        (lambda x: tf.unstack(x)[0], [None], "Give the tf.TensorSpecs numbers"),
        (lambda x: tf.py_function(lambda v: v, [x], tf.float32), [2], "runs Python"),
    ],
)
def test_what_onnx_has_not_is_refused(function, spec, says):
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        tf.export.to_onnx(tf.function(function), tf.TensorSpec(spec))


def test_assignments_are_refused():
    v = tf.Variable(1.0, name="count")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assigns to variables \(count\)"):
        tf.export.to_onnx(tf.function(lambda x: v.assign_add(x)), tf.TensorSpec([]))
    with pytest.raises(TypeError, match="to_onnx: function must be callable, got 3"):
        tf.export.to_onnx(3)


def test_other_opsets_are_refused(tmp_path):
    model = models.compiled("mlp", tf.keras)
    with pytest.raises(ValueError, match="writes opset 20 of ONNX, and opset_version=12"):
        model.export(tmp_path / "model.onnx", format="onnx", opset_version=12)
    assert not list(tmp_path.iterdir())
