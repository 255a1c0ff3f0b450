"""A checkpoint that is restored before its objects are made."""

import gc
import os

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.train
from tapeflow._src.core.tracked import Tracked


@pytest.fixture
def saved(tmp_path):
    net = tf.Module()
    net.w = tf.Variable([1.0, 2.0])
    net.parts = [tf.Variable(3), {"a": tf.Variable(4.0)}]
    net.pair = (tf.Variable(5.0),)
    return tf.train.Checkpoint(net=net, step=tf.Variable(7)).save(tmp_path / "ck")


def test_an_attribute_gets_its_value_when_it_is_set(saved):
    net = tf.Module()
    status = tf.train.Checkpoint(net=net).restore(saved).expect_partial()
    net.w = tf.Variable([0.0, 0.0])
    assert net.w.numpy().tolist() == [1.0, 2.0]
    net.w = tf.Variable([9.0, 9.0])  # only the first one
    assert net.w.numpy().tolist() == [9.0, 9.0]
    assert repr(status).endswith("2 of 6 values restored>")


def test_elements_get_their_values_when_they_are_added(saved):
    net = tf.Module()
    checkpoint = tf.train.Checkpoint(net=net)
    status = checkpoint.restore(saved)
    net.parts = []
    net.parts.append(tf.Variable(0))
    assert net.parts[0].numpy() == 3
    net.parts += [{}]
    net.parts[1]["a"] = tf.Variable(0.0)
    assert net.parts[1]["a"].numpy() == 4.0
    net.pair = (tf.Variable(0.0),)
    assert net.pair[0].numpy() == 5.0
    net.w = tf.Variable([0.0, 0.0])
    status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match=r"\(root\)\.step"):
        status.assert_consumed()
    checkpoint.step = tf.Variable(0)
    assert checkpoint.step.numpy() == 7
    status.assert_consumed()
    # Nothing is expected any more, so nothing is left behind on the objects.
    assert "_expecting" not in vars(net)
    assert "_expecting" not in vars(checkpoint)


def test_a_list_that_was_there_already_notices_too(saved):
    net = tf.Module()
    net.parts = []
    tf.train.Checkpoint(net=net).restore(saved).expect_partial()
    net.parts.extend([tf.Variable(0), {"a": tf.Variable(0.0)}])
    assert net.parts[0].numpy() == 3
    assert net.parts[1]["a"].numpy() == 4.0
    assert net.parts == list(net.parts)
    assert repr(net.parts).startswith("[<tf.Variable")
    assert len(net.variables) == 2


def test_a_whole_module_that_comes_later(saved):
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.restore(saved)
    net = tf.Module()
    net.w = tf.Variable([0.0, 0.0])
    checkpoint.net = net
    assert net.w.numpy().tolist() == [1.0, 2.0]
    net.pair = (tf.Variable(0.0),)
    assert net.pair[0].numpy() == 5.0
    status.expect_partial()


def test_layers_that_make_their_variables_at_the_first_call(tmp_path):
    class Dense(tf.Module):
        def __init__(self, units):
            super().__init__()
            self.units = units
            self.w = None

        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(tf.random.normal([x.shape[-1], self.units]))
            return x @ self.w

    first, x = Dense(3), tf.ones([2, 4])
    expected = first(x).numpy()
    path = tf.train.Checkpoint(layer=first).save(tmp_path / "ck")
    second = Dense(3)
    status = tf.train.Checkpoint(layer=second).restore(path)
    np.testing.assert_array_equal(second(x).numpy(), expected)
    status.assert_consumed()


def test_variables_made_inside_a_traced_function(tmp_path):
    class Lazy(tf.Module):
        @tf.function
        def __call__(self, x):
            if not hasattr(self, "w"):
                self.w = tf.Variable(lambda: tf.ones([2]))
            return x * self.w

    first = Lazy()
    first(tf.ones([2]))
    first.w.assign([3.0, 4.0])
    path = tf.train.Checkpoint(m=first).save(tmp_path / "ck")
    second = Lazy()
    tf.train.Checkpoint(m=second).restore(path)
    assert second(tf.ones([2])).numpy().tolist() == [3.0, 4.0]


def test_the_later_of_two_checkpoints_counts(tmp_path):
    net = tf.Module()
    net.w = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(net=net)
    first = checkpoint.save(tmp_path / "ck")
    net.w.assign(2.0)
    second = checkpoint.save(tmp_path / "ck")
    late = tf.Module()
    checkpoint = tf.train.Checkpoint(net=late)
    checkpoint.restore(first).expect_partial()
    checkpoint.restore(second)
    late.w = tf.Variable(0.0)
    assert late.w.numpy() == 2.0


def test_the_file_may_be_gone_when_the_variable_comes(saved, tmp_path):
    net = tf.Module()
    tf.train.Checkpoint(net=net).restore(saved).expect_partial()
    for path in tmp_path.iterdir():
        path.unlink()
    net.w = tf.Variable([0.0, 0.0])
    assert net.w.numpy().tolist() == [1.0, 2.0]


def test_a_wrong_shape_is_told_where_the_variable_is_made(saved):
    net = tf.Module()
    tf.train.Checkpoint(net=net).restore(saved).expect_partial()
    with pytest.raises(ValueError, match="incompatible tensor"):
        net.w = tf.Variable([0.0, 0.0, 0.0])


def test_values_that_nobody_took_are_told_in_the_end(saved, caplog):
    checkpoint = tf.train.Checkpoint(step=tf.Variable(0))
    status = checkpoint.restore(saved)
    del status, checkpoint
    gc.collect()
    assert "left 4 of its values unused" in caplog.text
    assert "(root).net.w" in caplog.text
    assert "expect_partial" in caplog.text


def test_unless_that_was_expected(saved, caplog):
    checkpoint = tf.train.Checkpoint(step=tf.Variable(0))
    checkpoint.restore(saved).expect_partial()
    del checkpoint
    gc.collect()
    assert not caplog.text


# Objects as Keras makes them.


class KerasVariable:
    def __init__(self, value):
        self._value = tf.Variable(value)


class Layer(Tracked):
    def __init__(self):
        self._layers = []
        self._trainable_variables = []

    @property
    def variables(self):
        return self._trainable_variables

    def build(self, value):
        kernel = KerasVariable(value)
        self._trainable_variables.append(kernel)
        self._kernel = kernel


class Sequential(Layer):
    """Its list of layers begins with another one when it is built, as in Keras."""

    __module__ = "keras.like"

    def __init__(self, layers):
        super().__init__()
        self._layers = layers

    @property
    def layers(self):
        return [layer for layer in self._layers if layer != "input"]

    def build_all(self, values):
        self._layers = ["input", *self._layers]
        for layer, value in zip(self.layers, values, strict=True):
            layer.build(value)


def test_objects_like_those_of_keras(tmp_path):
    model = Sequential([Layer(), Layer()])
    model.build_all([1.0, 2.0])
    path = tf.train.Checkpoint(model=model).save(tmp_path / "ck")
    assert [name for name, _ in tf.train.list_variables(path)][1:3] == [
        "model/layers/0/_kernel/.ATTRIBUTES/VARIABLE_VALUE",
        "model/layers/1/_kernel/.ATTRIBUTES/VARIABLE_VALUE",
    ]
    other = Sequential([Layer(), Layer()])
    status = tf.train.Checkpoint(model=other).restore(path)
    other.build_all([0.0, 0.0])
    assert [layer._kernel._value.numpy() for layer in other.layers] == [1.0, 2.0]
    status.assert_consumed()


def test_layers_of_a_model_that_is_built_when_it_is_called(tmp_path):
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = tf.keras.layers.Dense(3)

        def call(self, inputs):
            return self.inner(inputs)

    x = tf.ones([2, 4])
    net = Net()
    y = net(x)
    saved = tf.train.Checkpoint(net=net).save(tmp_path / "ck")
    other = Net()
    status = tf.train.Checkpoint(net=other).restore(saved)
    # Keras calls the model once for its shapes alone: the layer is built then, and its weights get values afterwards.
    np.testing.assert_array_equal(other(x), y)
    status.assert_consumed()
    assert "_expecting" not in vars(other.inner)

    traced = Net()
    status = tf.train.Checkpoint(net=traced).restore(saved)
    np.testing.assert_allclose(tf.function(traced)(x), y, rtol=1e-6)
    status.assert_consumed()


def test_a_checkpoint_that_shrinks_before_its_objects_are_made_is_refused(tmp_path):
    """The file was whole when it was restored, and is not when the variable is made: no crash, and no wrong value."""
    saved = tf.train.Checkpoint(w=tf.Variable(np.ones(300_000))).write(tmp_path / "ck")
    net = tf.train.Checkpoint()
    status = net.read(saved).expect_partial()
    os.truncate(f"{saved}.safetensors", 4096)
    variable = tf.Variable(np.zeros(300_000))
    with pytest.raises(tf.errors.DataLossError, match=r"ck\.safetensors.*truncated"):
        net.w = variable
    assert not variable.numpy().any()
    with pytest.raises(AssertionError, match="was not used"):
        status.assert_consumed()


def test_a_checkpoint_that_is_altered_before_its_objects_are_made_is_refused(saved):
    net = tf.Module()
    tf.train.Checkpoint(net=net).restore(saved).expect_partial()
    path = f"{saved}.safetensors"
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "r+b") as file:  # in place
        file.write(data.replace(np.float32([1.0, 2.0]).tobytes(), np.float32([1.0, 3.0]).tobytes()))
    with pytest.raises(tf.errors.DataLossError, match=r"the tensor 'net/w/\.ATTRIBUTES"):
        net.w = tf.Variable([0.0, 0.0])
    net.pair = (tf.Variable(0.0),)  # what was not altered is restored
    assert net.pair[0].numpy() == 5.0


def test_a_checkpoint_that_is_removed_before_its_objects_are_made_is_restored(saved):
    net = tf.Module()
    tf.train.Checkpoint(net=net).restore(saved).expect_partial()
    os.unlink(f"{saved}.safetensors")
    net.w = tf.Variable([0.0, 0.0])
    assert net.w.numpy().tolist() == [1.0, 2.0]
