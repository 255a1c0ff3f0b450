"""TensorFlow's registry of gradients under its name, as libraries change it while they explain a model."""

import contextlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.autodiff import registered
from tapeflow._src.tools import redirect


@pytest.fixture
def entries():
    redirect.install()
    from tensorflow.python.framework import ops

    yield ops._gradient_registry._registry
    redirect.uninstall()
    assert not registered.replaced and not registered.gradients.keys() & {"Mine", "shap_Relu"}


@contextlib.contextmanager
def put(entries, **functions):
    """Other functions in the place of those of some types; gives those that were there."""
    before = {name: entries[name]["type"] for name in functions}
    for name, function in functions.items():
        entries[name]["type"] = function
    try:
        yield before
    finally:
        for name, function in before.items():
            entries[name]["type"] = function


def slope(x):
    """The gradient by a tape inside of a function that is traced anew."""

    @tf.function
    def traced(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.relu(x) * 3.0
        return tape.gradient(y, x)

    return traced(x).numpy().tolist()


def test_what_is_there(entries):
    assert {"Relu", "MatMul", "ConcatV2", "Softmax", "MaxPool"} <= set(entries)
    assert "Nothing" not in entries and "Shape" not in entries
    with pytest.raises(KeyError, match="Nothing"):
        entries["Nothing"]
    assert callable(entries["Relu"]["type"]) and len(entries["Relu"]["location"]) == 5


def test_a_gradient_in_the_place_of_an_ops_own(entries):
    x = tf.constant([-1.0, 2.0])
    assert slope(x) == [0.0, 3.0]

    def doubled(op, grad):
        return before["Relu"](op, grad) * 2.0 + 1.0

    with put(entries, Relu=doubled) as before:
        assert slope(x) == [1.0, 7.0]
    assert slope(x) == [0.0, 3.0]


def test_functions_of_ops_with_several_inputs_get_them_all(entries):
    seen = []

    def noted(op, *grads):
        seen.append((op.type, len(op.inputs), [x.name for x in op.inputs]))
        return before[op.type](op, *grads)

    @tf.function
    def f(x, y):
        z = tf.reduce_sum(tf.concat([x, y], 1) @ tf.ones([3, 1]))
        return [*tf.gradients(z, [x, y]), z]

    x, y = np.ones((2, 1), np.float32), np.ones((2, 2), np.float32)
    with put(entries, ConcatV2=noted, Sum=noted, MatMul=noted) as before:
        dx, dy, _ = f(x, y)
    np.testing.assert_array_equal(dx, np.ones((2, 1)))
    np.testing.assert_array_equal(dy, np.ones((2, 2)))
    assert [(kind, count) for kind, count, _ in seen] == [
        ("Sum", 2),
        ("MatMul", 2),
        ("ConcatV2", 3),
    ]
    assert len({name for _, _, names in seen for name in names}) == 7  # one is used twice


def test_entries_that_are_new_come_and_go(entries):
    entries["Mine"] = {"type": lambda op, grad: grad * 5.0, "location": ()}
    try:

        @tf.function
        def f(x):
            with tf.compat.v1.get_default_graph().gradient_override_map({"Sin": "Mine"}):
                return tf.gradients(tf.sin(x), x)[0]

        assert f(tf.constant(1.0)).numpy() == 5.0
    finally:
        del entries["Mine"]
    assert "Mine" not in entries
    with pytest.raises(KeyError, match="Relu"):
        del entries["Relu"]


def test_rescaled_gradients_by_differences_of_activations(entries):
    """A contribution of each input by its difference from a reference: they add up to the difference of the outputs."""
    w = tf.constant([[1.0, -2.0], [0.5, 1.0]])

    def rescaled(op, grad):
        x, reference = tf.split(op.inputs[0], 2)
        y, base = tf.split(op.outputs[0], 2)
        slope = tf.tile(tf.math.divide_no_nan(y - base, x - reference), [2, 1])
        return grad * slope

    def model(x):
        return tf.reduce_sum(tf.nn.relu(x @ w), 1, keepdims=True)

    @tf.function
    def multipliers(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            out = model(x)
        return tape.gradient(out, x)

    x = np.array([[3.0, 1.0]], np.float32)
    base = np.array([[-1.0, 0.5]], np.float32)
    with put(entries, Relu=rescaled):
        found = multipliers(np.concatenate([x, base]))[:1]
    np.testing.assert_allclose(
        np.sum(found * (x - base)), (model(x) - model(base))[0, 0], rtol=1e-6
    )
