"""Keras's layers for strings, without TensorFlow: in models, in datasets, and from files."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

import tapeflow as tf


def test_words_and_their_numbers():
    layer = layers.StringLookup()
    layer.adapt(["a", "b", "a", "c", "a", "b"])
    assert list(map(str, layer.get_vocabulary())) == ["[UNK]", "a", "b", "c"]
    assert layer(tf.constant([["a", "z"], ["b", "c"]])).numpy().tolist() == [[1, 0], [2, 3]]
    back = layers.StringLookup(vocabulary=["a", "b"], invert=True)
    assert back(tf.constant([1, 2, 0])).numpy().tolist() == [b"a", b"b", b"[UNK]"]


def test_layers_that_know_no_words_yet_say_so():
    said = pytest.raises(tf.errors.FailedPreconditionError, match="adapt")
    words, layer = tf.constant([["a"]]), layers.StringLookup()
    given = keras.Input((1,), dtype="string")
    model = keras.Model(given, layer(given))
    dataset = tf.data.Dataset.from_tensors(words).map(layer)
    for use in (layer, model, layers.TextVectorization(), tf.function(layer)):
        with said:
            use(words)
    with said:
        list(dataset)
    with said:
        layers.IntegerLookup()([1])
    layer.adapt(["a"])
    assert layer(words).numpy().tolist() == model(words).numpy().tolist() == [[1]]


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("one_hot", [[0, 1, 0], [0, 0, 1]]),
        ("multi_hot", [0, 1, 1]),
        ("count", [0, 1, 1]),
    ],
)
def test_ways_of_showing_words(mode, wanted):
    layer = layers.StringLookup(vocabulary=["a", "b"], output_mode=mode)
    assert layer(tf.constant(["a", "b"])).numpy().tolist() == wanted


def test_numbers_as_words():
    layer = layers.IntegerLookup(vocabulary=[12, 36, 1138])
    assert layer(tf.constant([[12, 1138], [42, 36]])).numpy().tolist() == [[1, 3], [0, 2]]


def test_hashes_are_those_of_tensorflow():
    words = [["A"], ["B"], ["C"], ["D"], ["E"]]
    assert layers.Hashing(3)(words).numpy().ravel().tolist() == [1, 0, 1, 1, 2]
    salted = layers.Hashing(3, salt=[133, 137])
    assert salted(words).numpy().ravel().tolist() == [1, 2, 1, 0, 2]
    crossed = layers.HashedCrossing(5)
    pairs = (tf.constant(["A", "B", "A", "B", "A"]), tf.constant([101, 101, 101, 102, 102]))
    assert crossed(pairs).numpy().tolist() == [1, 4, 1, 1, 3]


def test_layers_in_datasets():
    words = tf.data.Dataset.from_tensor_slices(["a", "q", "b"])
    lookup = layers.StringLookup(vocabulary=["a", "b"])
    assert [int(x) for x in words.map(lookup)] == [1, 0, 2]
    hashed = tf.data.Dataset.from_tensor_slices([["A"], ["B"]]).map(layers.Hashing(3))
    assert [x.numpy().tolist() for x in hashed] == [[1], [0]]


@pytest.mark.filterwarnings("ignore:.*array.*copy:DeprecationWarning")
def test_a_model_of_words(tmp_path):
    lookup = layers.StringLookup(vocabulary=["a", "b"])
    inputs = keras.Input((2,), dtype="string")
    outputs = layers.Dense(1)(layers.Flatten()(layers.Embedding(3, 4)(lookup(inputs))))
    model: Any = keras.Model(inputs, outputs)
    model.compile("sgd", "mse")
    x, y = tf.constant([["a", "b"], ["b", "q"], ["a", "a"]]), np.zeros((3, 1))
    model.fit(x, y, epochs=2, verbose=0)
    model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(2), verbose=0)
    wanted = model.predict(x, verbose=0)
    path = str(tmp_path / "model.keras")
    model.save(path)
    again: Any = keras.models.load_model(path)
    np.testing.assert_allclose(again.predict(x, verbose=0), wanted, 1e-6)
    model.export(str(tmp_path / "served"), verbose=False)
    served = tf.saved_model.load(str(tmp_path / "served")).serve(x)
    np.testing.assert_allclose(served, wanted, 1e-5)


def test_a_space_of_features():
    space: Any = keras.utils.FeatureSpace(
        {"s": "string_categorical", "i": "integer_categorical", "f": "float_normalized"},
        crosses=[("s", "i")],
    )
    data = tf.data.Dataset.from_tensor_slices(
        {"s": ["a", "b", "a"], "i": [1, 2, 1], "f": [1.0, 2.0, 3.0]}
    )
    space.adapt(data)
    assert space({"s": ["a"], "i": [1], "f": [2.0]}).shape == (1, 39)
    assert [x.shape for x in data.batch(2).map(space)] == [(2, 39), (1, 39)]


TEXTS = ["foo bar", "bar baz", "baz bada boom"]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [[4, 1, 3], [1, 2, 0]]),
        ({"output_sequence_length": 4}, [[4, 1, 3, 0], [1, 2, 0, 0]]),
        ({"output_mode": "count"}, [[1, 0, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]]),
        ({"output_mode": "multi_hot"}, [[1, 0, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]]),
        ({"ragged": True}, [[4, 1, 3], [1, 2]]),
    ],
    ids=str,
)
def test_texts_and_their_words(options, wanted):
    layer = layers.TextVectorization(**options)
    layer.adapt(TEXTS)
    found = layer(tf.constant(["Foo qux, bar!", "qux baz"]))
    assert (found.to_list() if options.get("ragged") else found.numpy().tolist()) == wanted


def test_how_rare_words_are():
    layer = layers.TextVectorization(output_mode="tf_idf")
    layer.adapt(TEXTS)
    found = layer(tf.constant(["foo qux bar"])).numpy()
    np.testing.assert_allclose(found[0, :4], [0.82703334, 0.0, np.log(2), np.log(2.5)], 1e-6)


def test_texts_in_datasets_and_models(tmp_path):
    layer = layers.TextVectorization(output_sequence_length=4, max_tokens=10)
    layer.adapt(tf.data.Dataset.from_tensor_slices(TEXTS).batch(2))
    data = tf.data.Dataset.from_tensor_slices(["foo bar", "baz"]).batch(2).map(layer)
    assert [x.shape for x in data] == [(2, 4)]
    model: Any = keras.Sequential(
        [
            keras.Input((1,), dtype="string"),
            layer,
            layers.Embedding(10, 3),
            layers.GlobalAveragePooling1D(),
            layers.Dense(1),
        ]
    )
    model.compile("sgd", "mse")
    x = tf.constant([["foo bar"], ["bar baz"], ["x"]])
    model.fit(x, np.zeros((3, 1)), verbose=0)
    wanted = model.predict(x, verbose=0)
    model.save(str(tmp_path / "model.keras"))
    again: Any = keras.models.load_model(str(tmp_path / "model.keras"))
    np.testing.assert_allclose(again.predict(x, verbose=0), wanted, 1e-6)
    model.export(str(tmp_path / "served"), verbose=False)
    served = tf.saved_model.load(str(tmp_path / "served")).serve(x)
    np.testing.assert_allclose(served, wanted, 1e-5)
