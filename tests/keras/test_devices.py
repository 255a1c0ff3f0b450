"""`fit`, `evaluate` and `predict` on a device: batches are there before the step that needs them."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import tapeflow as tf

pytestmark = pytest.mark.usefixtures("three_devices")

rng = np.random.default_rng(0)
X = rng.normal(size=(64, 8)).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int32)


def classifier(device="CPU:1", **options):
    keras.utils.set_random_seed(1)
    with tf.device(device):
        model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32), keras.layers.Dense(2)])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, metrics=["accuracy"], **options)
    return model


def place(x):
    return x.device.rpartition("device:")[2]


def weights(model):
    return {place(v.handle) for v in model.variables}


@pytest.fixture(scope="module")
def expected():
    """What training on the host gives."""
    model = classifier("CPU:0")
    history = model.fit(X, Y, batch_size=16, epochs=3, shuffle=False, verbose=0).history
    return history, model.evaluate(X, Y, batch_size=16, verbose=0), model.predict(X, verbose=0)


@pytest.mark.sample(12)
@pytest.mark.parametrize("scope", ["CPU:1", None])
@pytest.mark.parametrize(
    "options", [{}, {"run_eagerly": True}, {"jit_compile": True}, {"steps_per_execution": 2}]
)
def test_training_is_the_same_and_stays_on_the_device(expected, scope, options):
    model = classifier(**options)
    history, evaluated, predicted = expected
    with tf.device(scope):
        found = model.fit(X, Y, batch_size=16, epochs=3, shuffle=False, verbose=0).history
        np.testing.assert_allclose(found["loss"], history["loss"], rtol=1e-4)
        np.testing.assert_allclose(
            model.evaluate(X, Y, batch_size=16, verbose=0), evaluated, rtol=1e-4
        )
        np.testing.assert_allclose(model.predict(X, verbose=0), predicted, rtol=1e-3, atol=1e-4)
    assert weights(model) <= {"CPU:1", "CPU:0"} and place(model.layers[0].kernel.handle) == "CPU:1"


class Watching:
    """Batches that know when they are read."""

    def __init__(self, batches, events):
        self.batches, self.events = batches, events

    def __iter__(self):
        for i, batch in enumerate(self.batches):
            self.events.append(f"read {i}")
            yield batch


class Telling(keras.callbacks.Callback):
    """Notes the end of each batch."""

    def __init__(self, events):
        super().__init__()
        self.events = events

    def on_train_batch_end(self, batch, logs=None):
        self.events.append(f"end {batch}")


def parts(count=3):
    return [(X[16 * i : 16 * i + 16], Y[16 * i : 16 * i + 16]) for i in range(count)]


def test_the_next_batch_is_read_before_anybody_waits_for_the_last():
    events = []
    model = classifier()
    model.fit(
        iter(Watching(parts(), events)),
        shuffle=False,
        steps_per_epoch=3,
        callbacks=[Telling(events)],
        verbose=0,
    )
    assert events == ["read 0", "read 1", "end 0", "read 2", "end 1", "end 2"]


@pytest.mark.exhaustive
def test_no_more_is_read_than_the_steps_of_the_epoch():
    events = []
    model = classifier()
    model.fit(iter(Watching(parts(4), events)), shuffle=False, steps_per_epoch=3, verbose=0)
    assert events == ["read 0", "read 1", "read 2"]


def test_each_batch_is_copied_once_and_nothing_comes_back_but_logs():
    model = classifier()
    model.fit(X, Y, batch_size=32, verbose=0)
    with tf.transfers() as copies:
        model.fit(X, Y, batch_size=32, epochs=2, verbose=0)
    there = [c for c in copies if c.to.endswith("CPU:1")]
    assert sum(c.bytes for c in there) >= 2 * (X.nbytes + Y.nbytes)
    assert sum(c.bytes > 16 for c in there) == 2 * 2 * 2, copies
    assert all(c.bytes <= 16 for c in copies if c.to.endswith("CPU:0")), copies
    assert all("keras/src" not in str(c.line) for c in copies), copies


@pytest.mark.exhaustive
def test_datasets():
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    losses = []
    for same in (data, data.prefetch_to_device("CPU:1"), data.prefetch(2)):
        for scope in ("CPU:1", None):
            model = classifier()
            with tf.device(scope):
                losses += model.fit(same, epochs=1, verbose=0).history["loss"]
                model.evaluate(same, verbose=0)
                assert model.predict(same, verbose=0).shape == (64, 2)
    np.testing.assert_allclose(losses, losses[0], rtol=1e-5)
    weighted = []
    for scope in ("CPU:1", None):
        model = classifier()
        with tf.device(scope):
            history = model.fit(data, class_weight={0: 1.0, 1: 3.0}, verbose=0).history
            weighted += history["loss"]
    np.testing.assert_allclose(weighted[0], weighted[1], rtol=1e-5)


@pytest.mark.exhaustive
def test_errors_of_the_data_come_when_their_batch_is_due():
    events = []

    def broken():
        yield from parts(2)
        raise RuntimeError("no more")

    model = classifier()
    with pytest.raises(RuntimeError, match="no more"):
        model.fit(
            broken(), shuffle=False, steps_per_epoch=3, callbacks=[Telling(events)], verbose=0
        )
    assert events == ["end 0", "end 1"]


@pytest.mark.exhaustive
def test_data_that_ends_early_warns_as_before():
    model = classifier()
    with pytest.warns(UserWarning, match="ran out of data"):
        model.fit((part for part in parts(3)), shuffle=False, steps_per_epoch=5, verbose=0)


def test_arrays_may_change_while_they_are_on_their_way():
    def rows():
        x = np.empty([16, 8], np.float32)
        for a, b in parts(4):
            x[...] = a
            yield x, b
            x[...] = np.nan

    model = classifier()
    assert np.isfinite(
        model.fit(rows(), shuffle=False, steps_per_epoch=4, verbose=0).history["loss"]
    ).all()


@pytest.mark.exhaustive
def test_what_keras_has_picked_for_a_batch_is_not_copied_again(monkeypatch):
    from tapeflow._src.keras.backend import data

    copied = []
    convert = data.convert_to_tensor
    monkeypatch.setattr(data, "convert_to_tensor", lambda x: copied.append(type(x)) or convert(x))
    losses = []
    for shuffle in (True, False):
        model = classifier()
        model.fit(X, Y, batch_size=64, shuffle=shuffle, verbose=0)
        losses.append(model.evaluate(X, Y, batch_size=64, verbose=0)[0])
        if shuffle:
            assert np.ndarray not in copied[:2]  # of `evaluate`, they are views of our arrays
    assert np.ndarray in copied
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3)


@pytest.mark.exhaustive
def test_inputs_of_every_structure():
    with tf.device("CPU:1"):
        a, b = keras.Input((8,), name="a"), keras.Input((), dtype="bool", name="b")
        flag = keras.ops.cast(keras.ops.expand_dims(b, 1), "float32")
        model = keras.Model({"a": a, "b": b}, [keras.layers.Dense(1)(a * flag), a])
        model.compile("sgd", "mse")
    x = {"a": X, "b": Y == 1}
    model.fit(x, [Y[:, None], X], batch_size=16, sample_weight=np.ones(64), verbose=0)
    assert [y.shape for y in model.predict(x, verbose=0)] == [(64, 1), (64, 8)]


@pytest.mark.exhaustive
def test_validation_and_batches_of_one_at_a_time():
    model = classifier()
    history = model.fit(
        X, Y, batch_size=16, epochs=2, validation_split=0.25, validation_batch_size=8, verbose=0
    )
    assert np.isfinite(history.history["val_loss"]).all()
    with tf.device("CPU:1"):
        for x, y in tf.data.Dataset.from_tensor_slices((X, Y)).batch(16):
            assert place(x) == "CPU:1"
            model.train_on_batch(x, y)
            model.test_on_batch(x, y)
            assert model.predict_on_batch(x).shape == (16, 2)
