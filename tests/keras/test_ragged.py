"""Ragged tensors in Keras: functions, layers and models, with the numbers of Keras on TensorFlow 2.20."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
ops = keras.ops
layers = keras.layers

FLOATS = [[0.1, 0.2, 0.3], [], [0.4]]
IDS = [[1, 2], [3], [], [0, 4, 2], [1], [2, 2, 2]]
TABLE = np.arange(15, dtype=np.float32).reshape(5, 3) / 10
COLUMN = np.ones((3, 1), np.float32)
TARGETS = np.arange(6, dtype=np.float32)[:, None]


def floats() -> Any:
    return tf.ragged.constant(FLOATS)


def ids() -> Any:
    return tf.ragged.constant(IDS)


def rows() -> Any:
    """Three rows of vectors."""
    values = tf.reshape(tf.range(8.0), [4, 2])
    return tf.RaggedTensor.from_row_lengths(values, [1, 0, 3])


def listed(x: Any) -> Any:
    """The kind of a result, and what is in it, rounded."""
    ragged = isinstance(x, tf.RaggedTensor)
    values = x.to_list() if ragged else np.asarray(x).tolist()
    return "ragged" if ragged else "dense", _rounded(values)


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


# name: what is called, and what Keras on TensorFlow gives
UNARY: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "exp": (ops.exp, [[1.105, 1.221, 1.35], [], [1.492]]),
    "negative": (ops.negative, [[-0.1, -0.2, -0.3], [], [-0.4]]),
    "relu": (ops.relu, FLOATS),
    "gelu": (ops.gelu, [[0.05398, 0.1159, 0.1854], [], [0.2622]]),
    "softmax": (ops.softmax, [[0.3006, 0.3322, 0.3672], [], [1.0]]),
    "sigmoid": (ops.sigmoid, [[0.525, 0.5498, 0.5744], [], [0.5987]]),
    "sign": (ops.sign, [[1.0, 1.0, 1.0], [], [1.0]]),
    "isfinite": (ops.isfinite, [[True, True, True], [], [True]]),
    "logical_not": (ops.logical_not, [[False, False, False], [], [False]]),
    "cast": (lambda x: ops.cast(x, "int32"), [[0, 0, 0], [], [0]]),
    "clip": (lambda x: ops.clip(x, 0.2, 0.3), [[0.2, 0.2, 0.3], [], [0.3]]),
    "digitize": (lambda x: ops.digitize(x, [0.15, 0.35]), [[0, 1, 1], [], [2]]),
    "where": (lambda x: ops.where(x > 0.25, x, 0.0), [[0.0, 0.0, 0.3], [], [0.4]]),
    "full_like": (lambda x: ops.full_like(x, 2), [[2.0, 2.0, 2.0], [], [2.0]]),
    "layer_normalization": (ops.layer_normalization, [[-1.225, 0.0, 1.225], [], [0.0]]),
    "cumsum": (lambda x: ops.cumsum(x, axis=1), [[0.1, 0.3, 0.6], [], [0.4]]),
    "expand_dims": (lambda x: ops.expand_dims(x, (2,)), [[[0.1], [0.2], [0.3]], [], [[0.4]]]),
    "concatenate": (
        lambda x: ops.concatenate([x, COLUMN], axis=1),
        [[0.1, 0.2, 0.3, 1.0], [1.0], [0.4, 1.0]],
    ),
    "stack": (lambda x: ops.stack([x, x]), [FLOATS, FLOATS]),
    "tile": (lambda x: ops.tile(x, 2), [[0.1, 0.2, 0.3, 0.1, 0.2, 0.3], [], [0.4, 0.4]]),
}
REDUCED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "sum": (lambda x: ops.sum(x, axis=1), [0.6, 0.0, 0.4]),
    "mean": (lambda x: ops.mean(x, axis=0), [0.25, 0.2, 0.3]),
    "max": (lambda x: ops.max(x, axis=1), [0.3, -3.403e38, 0.4]),
    "min, of at most": (lambda x: ops.min(x, axis=1, initial=0.2), [0.1, 0.2, 0.2]),
    "any": (lambda x: ops.any(x, axis=1), [True, False, True]),
    "var": (ops.var, 0.0125),
    "logsumexp": (lambda x: ops.logsumexp(x[::2], axis=1), [1.302, 0.4]),
    "size": (ops.size, 4),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor_give_ragged_ones(name: str, traced: bool) -> None:
    function, expected = UNARY[name]
    given = (tf.function(function) if traced else function)(floats())
    assert listed(given) == ("ragged", expected)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", REDUCED)
def test_functions_of_rows_give_dense_tensors(name: str, traced: bool) -> None:
    function, expected = REDUCED[name]
    given = (tf.function(function) if traced else function)(floats())
    assert listed(given) == ("dense", expected)


PAIRS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "of one shape": (lambda x: ops.multiply(x, x + 1), [[0.11, 0.24, 0.39], [], [0.56]]),
    "with a number": (lambda x: ops.subtract(2, x), [[1.9, 1.8, 1.7], [], [1.6]]),
    "with a column": (lambda x: ops.divide(COLUMN, x), [[10.0, 5.0, 3.333], [], [2.5]]),
    "of two dtypes": (
        lambda x: ops.add(x, ops.cast(x * 10, "int32")),
        [[1.1, 2.2, 3.3], [], [4.4]],
    ),
    "questions": (lambda x: ops.greater_equal(x, 0.25), [[False, False, True], [], [True]]),
    "logic": (lambda x: ops.logical_and(x, x > 0.25), [[False, False, True], [], [True]]),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_two_tensors(name: str, traced: bool) -> None:
    function, expected = PAIRS[name]
    given = (tf.function(function) if traced else function)(floats())
    assert listed(given) == ("ragged", expected)


def test_rows_of_a_dense_tensor_are_repeated() -> None:
    found = ops.multiply(rows(), np.array([1.0, 10.0], np.float32))
    assert listed(found) == ("ragged", [[[0, 10]], [], [[2, 30], [4, 50], [6, 70]]])


def test_numbers_of_python_have_no_dtype() -> None:
    assert ops.add(ops.cast(floats(), "float16"), 1.5).dtype is tf.float16
    assert ops.add(ids(), 1).dtype is tf.int32
    assert ops.add(ids(), 1.0).dtype is tf.float32


@pytest.mark.parametrize("traced", [False, True])
def test_take(traced: bool) -> None:
    # Of the first axis, of another one, and with rows of rows; the last row of the table is -1.
    numbers = tf.ragged.constant([[2], [0, -1]])
    table = np.arange(6, dtype=np.float32).reshape(2, 3)
    run = tf.function(ops.take) if traced else ops.take
    assert listed(run(table.T, numbers, axis=0)) == ("ragged", [[[2, 5]], [[0, 3], [2, 5]]])
    assert listed(run(table, numbers, axis=1)) == ("ragged", [[[2], [0, 2]], [[5], [3, 5]]])
    assert listed(run(table, numbers, axis=-1)) == ("ragged", [[[2], [0, 2]], [[5], [3, 5]]])
    assert listed(run(table, numbers - 3)) == ("ragged", [[5], [3, 2]])
    deep = tf.ragged.constant([[[1], [0, 1]], []])
    expected = [[[[1], [0, 1]], []], [[[4], [3, 4]], []]]
    assert listed(run(table, deep, axis=1)) == ("ragged", expected)


def test_take_with_sizes_that_are_not_known() -> None:
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None], tf.float32),
            tf.RaggedTensorSpec([None, None], tf.int32),
        ]
    )
    def run(table: Any, numbers: Any) -> Any:
        assert ops.shape(numbers)[1] is None
        return ops.take(table, numbers, axis=1), ops.shape(numbers)[0]

    for columns in (3, 4):
        table = np.arange(2 * columns, dtype=np.float32).reshape(2, columns)
        found, count = run(table, tf.ragged.constant([[2], [0, 1]]))
        assert found.to_list() == [[[2], [0, 1]], [[2 + columns], [columns, columns + 1]]]
        assert count == 2


def test_conversions() -> None:
    x = floats()
    assert ops.is_tensor(x)
    assert ops.convert_to_tensor(x) is x
    assert ops.convert_to_tensor(x, ragged=True) is x
    dense = [[0.1, 0.2, 0.3], [0, 0, 0], [0.4, 0, 0]]
    assert listed(ops.convert_to_tensor(x, ragged=False)) == ("dense", dense)
    assert listed(ops.convert_to_numpy(x)) == ("dense", dense)
    assert ops.convert_to_tensor(x, "float16").dtype is tf.float16
    assert isinstance(ops.convert_to_tensor(TABLE, ragged=True), tf.Tensor)


def test_shapes() -> None:
    assert ops.shape(floats()) == (3, None)
    assert ops.shape(rows()) == (3, None, 2)
    assert ops.ndim(rows()) == 3


@pytest.mark.parametrize("name", ["matmul", "arctan2", "transpose", "sort", "argmax"])
def test_what_takes_no_ragged_tensors_says_so(name: str) -> None:
    given = {"matmul": (rows(), TABLE[:2]), "arctan2": (floats(), tf.sparse.from_dense(TABLE))}
    with pytest.raises((TypeError, ValueError, AttributeError), match=r"RaggedTensor|SparseTensor"):
        if name == "argmax":
            ops.argmax(floats(), axis=1)
        else:
            getattr(ops, name)(*given.get(name, (floats(),)))


# Layers and models.


def embedding() -> Any:
    return layers.Embedding(5, 3, embeddings_initializer=keras.initializers.Constant(TABLE))


def test_inputs_are_ragged() -> None:
    given: Any = keras.Input((None,), dtype="int32", ragged=True)
    assert given.ragged and given.shape == (None, None)
    embedded = embedding()(given)
    assert embedded.ragged and embedded.shape == (None, None, 3)
    dense = ops.convert_to_tensor(given, ragged=False)
    assert not dense.ragged
    assert listed(keras.Model(given, dense)(ids()))[1][0] == [1, 2, 0]
    taken = ops.take(TABLE, given, axis=0)
    assert taken.ragged
    assert keras.Model(given, taken)(ids()).to_list() == embedding()(ids()).to_list()


def test_layers_give_ragged_tensors() -> None:
    x = rows()
    for layer, expected in (
        (layers.ReLU(), [[0, 1], [2, 3], [4, 5], [6, 7]]),
        (layers.Rescaling(2.0, offset=1.0), [[1, 3], [5, 7], [9, 11], [13, 15]]),
        (layers.Softmax(), [[0.2689, 0.7311]] * 4),
        (layers.LayerNormalization(), [[-0.998, 0.998]] * 4),
        (
            layers.BatchNormalization(),
            [[0, 0.9995], [1.999, 2.9985], [3.998, 4.9975], [5.997, 6.9965]],
        ),
        (layers.Dropout(0.5), [[0, 1], [2, 3], [4, 5], [6, 7]]),
    ):
        found = layer(x)
        assert found.row_splits.numpy().tolist() == [0, 1, 1, 4]
        np.testing.assert_allclose(found.flat_values, expected, rtol=1e-3, atol=1e-6)
    trained = layers.BatchNormalization()(x, training=True)
    expected = [[-1.3415], [-0.4472], [0.4472], [1.3415]]
    np.testing.assert_allclose(trained.flat_values, np.tile(expected, 2), rtol=1e-3)
    added = layers.Add()([x, x * 2])
    assert added.flat_values.numpy().tolist() == (x.flat_values.numpy() * 3).tolist()


def test_layers_cast_to_their_dtype() -> None:
    assert layers.Activation("relu", dtype="float16")(floats()).dtype is tf.float16
    assert layers.Identity(dtype="mixed_bfloat16")(floats()).dtype is tf.bfloat16
    with pytest.raises((AttributeError, ValueError), match=r"ragged|RaggedTensor"):
        layers.Dense(2)(rows())


@keras.utils.register_keras_serializable("test_ragged")
class Summed(layers.Layer):
    """The sum of rows."""

    def call(self, x: Any) -> Any:
        return ops.sum(x, axis=1)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return (input_shape[0], *input_shape[2:])


def model(**options: Any) -> Any:
    given = keras.Input((None,), dtype="int32", ragged=True)
    found = layers.Dense(1, kernel_initializer="ones")(Summed()(embedding()(given)))
    net: Any = keras.Model(given, found)
    net.compile(keras.optimizers.SGD(0.01), "mse", metrics=["mae"], **options)
    return net


FIT = {"batch_size": 2, "epochs": 2, "shuffle": False, "verbose": 0}


@pytest.mark.parametrize("eager", [False, True])
def test_models_train_on_ragged_inputs(eager: bool) -> None:
    net = model(run_eagerly=eager)
    found = net.fit(ids(), TARGETS, **FIT)
    np.testing.assert_allclose(found.history["loss"], [6.074854, 4.784194], rtol=1e-5)
    np.testing.assert_allclose(found.history["mae"], [2.212106, 2.038118], rtol=1e-5)
    predicted = net.predict(ids(), batch_size=4, verbose=0)
    loss, error = net.evaluate(ids(), TARGETS, batch_size=4, verbose=0)
    assert isinstance(predicted, np.ndarray)
    np.testing.assert_allclose(loss, np.mean((predicted - TARGETS) ** 2), rtol=1e-5)
    np.testing.assert_allclose(error, np.mean(np.abs(predicted - TARGETS)), rtol=1e-5)


def test_the_last_rows_validate() -> None:
    options = FIT | {"epochs": 1}
    found = model().fit(ids(), TARGETS, validation_split=0.34, **options).history
    expected = {"loss": 6.368269, "mae": 2.451, "val_loss": 5.768111, "val_mae": 2.152453}
    assert found == {name: pytest.approx([value], rel=1e-5) for name, value in expected.items()}


def test_batches_of_ragged_tensors() -> None:
    whole = model().fit(ids(), TARGETS, **FIT).history
    data = tf.data.Dataset.from_tensor_slices((ids(), TARGETS)).batch(2)
    of_data = model().fit(data, epochs=2, verbose=0).history
    np.testing.assert_allclose(of_data["loss"], whole["loss"], rtol=1e-6)
    net = model()
    losses = [net.train_on_batch(ids()[i : i + 2], TARGETS[i : i + 2])[0] for i in (0, 2, 4)]
    np.testing.assert_allclose(np.mean(losses), whole["loss"][0], rtol=1e-5)


def test_predictions_that_are_ragged_stay_so() -> None:
    given = keras.Input((None,), dtype="int32", ragged=True)
    net: Any = keras.Model(given, embedding()(given))
    found = net.predict(ids(), batch_size=4, verbose=0)
    assert listed(found) == listed(embedding()(ids()))
    assert found.shape.as_list() == [6, None, 3]
    assert listed(net.predict_on_batch(ids())) == listed(found)


def test_predictions_of_several_sizes_become_ragged() -> None:
    given = keras.Input((None, 2))
    net: Any = keras.Model(given, given * 2)
    batches = [np.ones((1, 2, 2), np.float32), np.ones((2, 1, 2), np.float32)]
    spec = tf.TensorSpec([None, None, 2], tf.float32)
    data = tf.data.Dataset.from_generator(lambda: iter(batches), output_signature=spec)
    counted = data.apply(tf.data.experimental.assert_cardinality(len(batches)))
    found = net.predict(counted, verbose=0)
    assert listed(found) == ("ragged", [[[2, 2], [2, 2]], [[2, 2]], [[2, 2]]])
    assert found.shape.as_list() == [3, None, 2]


def test_gradients_are_those_of_the_rows_that_were_taken() -> None:
    layer = embedding()
    with tf.GradientTape() as tape:
        loss = ops.sum(ops.square(layer(ids())))
    gradient = tape.gradient(loss, layer.trainable_weights)[0]
    assert isinstance(gradient, tf.IndexedSlices)
    counts = np.bincount(np.concatenate(IDS).astype(int), minlength=5)[:, None]
    np.testing.assert_allclose(ops.convert_to_numpy(gradient), 2 * TABLE * counts, rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_a_table_are_combined(weighted: bool) -> None:
    """As keras-rs's `EmbedReduce` does, with a mean."""
    numbers = tf.ragged.constant([[1, 2], [3], [0, 4]])
    weights = tf.ragged.constant([[0.5, 1.0], [2.0], [1.0, 3.0]])

    class Combined(layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.rows = embedding()

        def call(self, x: Any, weights: Any = None) -> Any:
            found = self.rows(x)
            each = ops.ones_like(x, found.dtype) if weights is None else weights
            each = ops.expand_dims(each, axis=(2,))
            return ops.divide_no_nan(ops.sum(found * each, axis=-2), ops.sum(each, axis=-2))

    found = Combined()(numbers, weights) if weighted else Combined()(numbers)
    expected = [
        np.average(TABLE[n], axis=0, weights=w if weighted else None)
        for n, w in zip(numbers.to_list(), weights.to_list(), strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_models_with_ragged_inputs_are_saved(tmp_path: Path) -> None:
    net = model()
    net.save(tmp_path / "model.keras")
    again: Any = keras.models.load_model(tmp_path / "model.keras")
    assert again.inputs[0].ragged
    np.testing.assert_allclose(again(ids()), net(ids()))
