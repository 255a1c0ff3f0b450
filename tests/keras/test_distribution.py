"""Keras's distribution on several devices: the same training, computed by all of them."""

from __future__ import annotations

import re

import keras
import numpy as np
import pytest
from keras import layers

import tapeflow as tf

pytest.importorskip("jax")
pytestmark = pytest.mark.usefixtures("four_devices")

COUNTS = [1, pytest.param(2, marks=pytest.mark.distribute), 4]

rng = np.random.default_rng(0)
X = rng.normal(size=(64, 8)).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int32)


@pytest.fixture(autouse=True)
def _alone():
    yield
    keras.distribution.set_distribution(None)


def devices(count):
    return keras.distribution.list_devices("cpu")[:count]


def data_parallel(count):
    return keras.distribution.DataParallel(devices=devices(count))


def model_parallel(outputs=None):
    mesh = keras.distribution.DeviceMesh((2, 2), ["batch", "model"], devices(4))
    layouts = keras.distribution.LayoutMap(mesh)
    layouts[".*wide/kernel"] = (None, "model")
    layouts[".*wide/bias"] = ("model",)
    layouts[".*narrow/kernel"] = ("model", None)
    if outputs is not None:
        layouts[".*wide/output"] = outputs
    return keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch")


def classifier(**options):
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.Input((8,)),
            layers.Dense(16, "relu", name="wide"),
            layers.BatchNormalization(),
            layers.Dropout(0.2),
            layers.Dense(2, name="narrow"),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"], **options)
    return model


def trained(distribution, batch_size=16, epochs=2, **options):
    """A model, what `fit` and `evaluate` told of it, and its predictions."""
    with distribution.scope() if distribution is not None else tf.name_scope(""):
        model = classifier(**options)
        told = model.fit(
            X, Y, batch_size=batch_size, epochs=epochs, shuffle=False, verbose=0
        ).history
        told["evaluated"] = model.evaluate(X, Y, batch_size=batch_size, verbose=0)
        return model, told, model.predict(X, batch_size=batch_size, verbose=0)


@pytest.fixture(scope="module")
def expected():
    """What one device gives, for each size of a batch."""
    return {size: trained(None, size) for size in (16, 13)}


def same(found, expected):
    (model, told, predicted), (other, told_before, predicted_before) = found, expected
    for key, values in told_before.items():
        np.testing.assert_allclose(told[key], values, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(predicted, predicted_before, rtol=1e-4, atol=1e-5)
    for v, before in zip(model.variables, other.variables, strict=True):
        np.testing.assert_allclose(v, before, rtol=1e-4, atol=1e-5, err_msg=v.path)


def parts(v):
    """The shapes of what each device holds of a variable or a tensor."""
    value = v.handle._value if isinstance(v, keras.Variable) else v
    return [shard.data.shape for shard in value._buffer.addressable_shards]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.sample(4)
def test_data_parallel_is_the_same_training(expected, count):
    found = trained(data_parallel(count))
    same(found, expected[16])
    if count > 1:
        for v in found[0].variables + found[0].optimizer.variables:
            assert parts(v) == [tuple(v.shape)] * count, v.path


@pytest.mark.distribute
def test_batches_that_do_not_divide_are_computed_exactly(expected):
    same(trained(data_parallel(4), 13), expected[13])
    same(trained(model_parallel(), 13), expected[13])


@pytest.mark.exhaustive
def test_model_parallel_is_the_same_training_and_slots_lie_as_weights_do(expected):
    found = trained(model_parallel())
    same(found, expected[16])
    model = found[0]
    divided = {"wide/kernel": (8, 8), "wide/bias": (8,), "narrow/kernel": (8, 2)}
    slots = 0
    for v in model.variables + model.optimizer.variables:
        for path, part in divided.items():
            name = path.replace("/", "_")
            if v.path.endswith((path, f"{name}_momentum", f"{name}_velocity")):
                assert parts(v) == [part] * 4, v.path
                slots += 1
                break
        else:
            assert parts(v) == [tuple(v.shape)] * 4, v.path
    assert slots == 9


@pytest.mark.distribute
@pytest.mark.parametrize("options", [{"run_eagerly": True}, {"jit_compile": True}])
def test_ways_to_run_a_step(expected, options):
    same(trained(data_parallel(4), epochs=2, **options), expected[16])


def program_of(model):
    """The text of the compiled training step that a report is made of."""
    return model.train_function.report()


def is_spread(model, batch, count):
    """The three things that cannot be faked: memory on all devices, rows divided among them, an all-reduce."""
    x = batch[0]
    values = [v.handle._value for v in model.variables]
    spans = all(
        hasattr(value, "_buffer") and len(value._buffer.sharding.device_set) == count
        for value in values
    )
    rows = hasattr(x, "_buffer") and parts(x) == [(x.shape[0] // count, *x.shape[1:])] * count
    return spans, rows, re.search(r"\d+ all-reduce", program_of(model)) is not None


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.exhaustive
def test_it_is_computed_by_all_devices(count):
    with data_parallel(count).scope():
        model = classifier()
        model.make_train_function()
        batches = []
        step = model.train_function

        def watched(data):
            batches.extend(data)
            return step(data)

        watched.report = step.report
        model.train_function = watched
        model.fit(X, Y, batch_size=16, verbose=0)
    told = is_spread(model, batches[0], count)
    assert told == ((True, True, True) if count > 1 else (False, False, False))
    if count > 1:
        assert f"on {count} devices (batch {count})" in program_of(model)


def test_what_is_assigned_keeps_its_layout():
    with model_parallel().scope():
        model = classifier()
    weights = model.get_weights()
    model.set_weights([w + 1.0 for w in weights])
    wide = model.get_layer("wide")
    wide.kernel.assign(np.ones((8, 16), np.float32))
    wide.kernel.assign_add(np.ones((8, 16), np.float32))
    assert parts(wide.kernel) == [(8, 8)] * 4 and parts(wide.bias) == [(8,)] * 4
    np.testing.assert_array_equal(wide.kernel, np.full((8, 16), 2.0))
    np.testing.assert_array_equal(wide.bias, np.ones(16))


@pytest.mark.distribute
def test_files_know_nothing_of_layouts(tmp_path):
    with model_parallel().scope():
        model = classifier()
        model.fit(X, Y, verbose=0)
    model.save(tmp_path / "model.keras")
    alone = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(alone.predict(X, verbose=0), model.predict(X, verbose=0), atol=1e-6)
    with data_parallel(2).scope():
        again = keras.models.load_model(tmp_path / "model.keras")
        np.testing.assert_allclose(
            again.predict(X, verbose=0), model.predict(X, verbose=0), atol=1e-6
        )
        assert parts(again.get_layer("wide").kernel) == [(8, 16)] * 2


@pytest.mark.distribute
def test_a_loop_of_ones_own(expected):
    def run(distribution):
        with distribution.scope() if distribution is not None else tf.name_scope(""):
            model = classifier()
            optimizer = keras.optimizers.SGD(0.1)
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            layout = None if distribution is None else distribution.get_data_layout

            @tf.function
            def step(x, y):
                with tf.GradientTape() as tape:
                    value = loss(y, model(x, training=True))
                gradients = tape.gradient(value, model.trainable_variables)
                optimizer.apply(gradients, model.trainable_variables)
                return value

            found = []
            for i in range(4):
                x, y = X[16 * i : 16 * i + 16], Y[16 * i : 16 * i + 16]
                if layout is not None:
                    x = keras.distribution.distribute_tensor(x, layout(x.shape))
                found.append(float(step(tf.convert_to_tensor(x), tf.convert_to_tensor(y))))
            return found

    np.testing.assert_allclose(run(data_parallel(4)), run(None), rtol=1e-5)


@pytest.mark.exhaustive
def test_layouts_of_outputs_and_gradients_through_them():
    with model_parallel(outputs=("batch", "model")).scope():
        model = classifier()
        x = tf.constant(X)
        spied = tf.function(lambda x: model.get_layer("wide")(x))(x)
        assert parts(spied) == [(32, 8)] * 4
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(model.get_layer("wide")(x))
        gradient = tape.gradient(y, model.get_layer("wide").kernel)
        assert gradient is not None and parts(gradient)
        model.fit(X, Y, verbose=0)
    assert parts(model.get_layer("wide").kernel) == [(8, 8)] * 4


@pytest.mark.distribute
def test_one_batch_at_a_time(expected):
    with data_parallel(4).scope():
        model = classifier()
        for i in range(4):
            model.train_on_batch(X[16 * i : 16 * i + 16], Y[16 * i : 16 * i + 16])
        assert model.predict_on_batch(X[:8]).shape == (8, 2)
        assert len(model.test_on_batch(X[:7], Y[:7])) == 2
        weights = model.get_weights()
    other = classifier()
    other.fit(X, Y, batch_size=16, shuffle=False, verbose=0)
    for a, b in zip(weights, other.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.distribute
def test_datasets_and_weights_of_samples(expected):
    data = tf.data.Dataset.from_tensor_slices((X, Y, np.ones(64, np.float32))).batch(16)
    with data_parallel(4).scope():
        model = classifier()
        told = model.fit(data, epochs=2, verbose=0).history
        assert model.predict(data, verbose=0).shape == (64, 2)
    np.testing.assert_allclose(told["loss"], expected[16][1]["loss"], rtol=1e-5)


def test_a_variable_that_cannot_be_divided_so():
    mesh = keras.distribution.DeviceMesh((4,), ["model"], devices(4))
    layouts = keras.distribution.LayoutMap(mesh)
    layouts[".*narrow/kernel"] = (None, "model")
    with keras.distribution.ModelParallel(layout_map=layouts).scope():
        with pytest.raises(ValueError, match=r"narrow/kernel.*axis 1 .*4 equal parts.*'model'"):
            classifier()
    layout = keras.distribution.TensorLayout(("model",), mesh)
    with pytest.raises(ValueError, match="distribute_tensor: axis 0 of the shape"):
        keras.distribution.distribute_tensor(np.ones(6), layout)


def test_gradients_flow_through_a_new_layout():
    mesh = keras.distribution.DeviceMesh((4,), ["batch"], devices(4))
    layout = keras.distribution.TensorLayout(("batch",), mesh)
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(keras.distribution.distribute_tensor(x * 2.0, layout) ** 2)
    np.testing.assert_allclose(tape.gradient(y, x), 8.0 * np.array([1, 2, 3, 4]))
