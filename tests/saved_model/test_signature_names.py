"""The names by which a signature takes its tensors: TensorFlow's, so that clients call a model of either alike."""

from __future__ import annotations

import pytest

import tapeflow as tf

ANY = tf.TensorSpec([None])
NAMED = tf.TensorSpec([None], name="x_1")


@pytest.mark.parametrize("format", ["safetensors", "tensorflow"])
@pytest.mark.parametrize(
    ("specs", "names"),
    [
        (([ANY, ANY], ANY), ["x", "x_1", "y"]),
        (({"a": ANY},), ["x"]),
        (({"a": ANY, "b": NAMED}, ANY), ["x", "x_1", "y"]),
        (([ANY, ANY], NAMED), ["x", "x_1", "x_1_1"]),
        ((NAMED, NAMED), ["x_1", "x_1_1"]),
    ],
)
def test_a_name_that_is_taken_gets_a_number(specs, names, format, tmp_path):
    def added(x, y=None):
        return {"sum": tf.add_n(tf.nest.flatten([x] if y is None else [x, y]))}

    module = tf.Module()
    concrete = tf.function(added).get_concrete_function(*specs)
    options = tf.saved_model.SaveOptions(format=format)
    tf.saved_model.save(module, tmp_path, signatures=concrete, options=options)
    serve = tf.saved_model.load(tmp_path).signatures["serving_default"]
    assert sorted(serve.structured_input_signature[1]) == names
    given = {name: tf.constant([10.0**i]) for i, name in enumerate(names)}
    assert serve(**given)["sum"].numpy() == [sum(10**i for i in range(len(names)))]


def test_a_keras_model_is_served_by_the_names_of_its_call(tmp_path):
    a, b = tf.keras.Input((2,), name="a"), tf.keras.Input((2,), name="b")
    tf.saved_model.save(tf.keras.Model([a, b], a - b), tmp_path)
    serve = tf.saved_model.load(tmp_path).signatures["serving_default"]
    found = serve(inputs=tf.ones([1, 2]), inputs_1=tf.zeros([1, 2]))
    assert found["output_0"].numpy().tolist() == [[1.0, 1.0]]
