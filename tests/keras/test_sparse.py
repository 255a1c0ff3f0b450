"""Sparse tensors and slices in Keras: which results are sparse, and that they are what dense ones would be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
ops = keras.ops

DENSE = np.array([[0.0, 2.0, 0.0], [-3.0, 0.0, 4.0]], np.float32)
OTHER = np.array([[5.0, 1.0, 0.0], [0.0, 0.0, -2.0]], np.float32)
FULL = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)


def slices(x: np.ndarray) -> tf.IndexedSlices:
    """The second row of a matrix, twice the half of it."""
    return tf.IndexedSlices(
        tf.constant([x[1] / 2, x[1] / 2]), tf.constant([1, 1]), tf.constant(x.shape)
    )


def kind(x: Any) -> str:
    return {tf.SparseTensor: "sparse", tf.IndexedSlices: "slices"}.get(type(x), "dense")


def dense(x: Any) -> Any:
    return keras.ops.convert_to_numpy(x)


UNARY = {
    **dict.fromkeys(("abs", "sin", "square", "sign", "floor", "negative", "round"), "sparse"),
    **dict.fromkeys(("exp", "cos", "reciprocal", "isfinite"), "dense"),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", UNARY)
def test_functions_that_leave_zeros_give_sparse_tensors(name: str, traced: bool) -> None:
    function = getattr(ops, name)
    found = (tf.function(function) if traced else function)(tf.sparse.from_dense(DENSE))
    assert kind(found) == UNARY[name]
    np.testing.assert_allclose(dense(found), dense(function(DENSE)), rtol=1e-6)


PAIRS = {
    "add": ("sparse", "dense"),
    "subtract": ("sparse", "dense"),
    "maximum": ("sparse", "dense"),
    "multiply": ("sparse", "sparse"),
    "divide": ("dense", "sparse"),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_two_tensors(name: str, traced: bool) -> None:
    function = getattr(ops, name)
    run = tf.function(function) if traced else function
    a, b = tf.sparse.from_dense(DENSE), tf.sparse.from_dense(OTHER)
    for other, whole, wanted in ((b, OTHER, PAIRS[name][0]), (FULL, FULL, PAIRS[name][1])):
        found = run(a, other)
        assert kind(found) == wanted
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(DENSE, whole)
        np.testing.assert_allclose(dense(found), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["add", "maximum", "multiply"])
def test_rows_that_are_there_twice_count_together(name: str) -> None:
    a, b = slices(DENSE), slices(FULL)
    found = getattr(ops, name)(a, b)
    assert kind(found) == "slices"
    expected = getattr(np, name)(DENSE * [[0], [1]], FULL * [[0], [1]])
    np.testing.assert_allclose(dense(found), expected)


def test_what_is_divided_by_zero_is_kept() -> None:
    divisor = np.array([[0.0, 1.0, 2.0], [np.nan, 1.0, 2.0]], np.float32)
    found = ops.divide(tf.sparse.from_dense(DENSE), divisor)
    assert kind(found) == "sparse"
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(dense(found), DENSE / divisor)


@pytest.mark.parametrize("traced", [False, True])
def test_products_of_batches(traced: bool) -> None:
    a = np.stack([DENSE, OTHER, -DENSE])
    b = np.stack([OTHER.T, DENSE.T, FULL.T])
    run = tf.function(ops.matmul) if traced else ops.matmul
    for left in (a, tf.sparse.from_dense(a)):
        for right in (b, tf.sparse.from_dense(b)):
            np.testing.assert_allclose(dense(run(left, right)), a @ b)


def test_gradients_flow_through_sparse_products() -> None:
    x = tf.sparse.from_dense(DENSE)
    kernel = tf.Variable(FULL.T)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(ops.matmul(x, kernel))
    gradient = tape.gradient(loss, kernel)
    assert kind(gradient) == "slices"  # as in TensorFlow
    np.testing.assert_allclose(dense(gradient), DENSE.T @ np.ones((2, 2)))


@pytest.mark.parametrize("traced", [False, True])
def test_a_kernel_of_sparse_inputs_gets_the_rows_that_were_used(traced: bool) -> None:
    """As on TensorFlow: an optimizer leaves the others alone, however many there are."""
    layer = keras.layers.Dense(2)
    layer.build((None, 3))
    x = tf.sparse.from_dense([[0.0, 2.0, 0.0], [0.0, -3.0, 0.0]])

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x))
        return tape.gradient(loss, layer.kernel.value)

    found = (tf.function(gradient) if traced else gradient)()
    assert kind(found) == "slices"
    assert dense(tf.convert_to_tensor(found)).tolist() == [[0, 0], [-1, -1], [0, 0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"3 columns .* do not fit 2 rows"):
        ops.matmul(x, FULL)


def test_what_takes_no_sparse_tensors_says_so() -> None:
    with pytest.raises(TypeError, match=r"(?s)arctan2.*sparse=False"):
        ops.arctan2(tf.sparse.from_dense(DENSE), FULL)


def test_lists_are_operands() -> None:
    found = ops.multiply(tf.sparse.from_dense(DENSE), FULL.tolist())
    assert kind(found) == "sparse"
    np.testing.assert_allclose(dense(found), DENSE * FULL)


def test_updates_by_slices_touch_their_rows_alone() -> None:
    # Recorded from Keras on TensorFlow: what the same row gets twice is squared before it is added up.
    expected = {
        "SGD": [1.0, 0.8, 0.9, 1.0],
        "Adagrad": [1.0, 0.861987, 0.904654, 1.0],
        "RMSprop": [1.0, 0.552786, 0.683772, 1.0],
        "Adam": [1.0, 0.858580, 0.900001, 1.0],
    }
    for name, wanted in expected.items():
        weights = keras.Variable(np.ones([4, 2], np.float32))
        optimizer = getattr(keras.optimizers, name)(0.1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(weights.value, [1, 1, 2]))
        optimizer.apply(tape.gradient(loss, [weights.value]), [weights])
        np.testing.assert_allclose(weights.numpy()[:, 0], wanted, rtol=1e-5, err_msg=name)


@pytest.mark.parametrize(
    ("clipping", "wanted"),
    [
        ({"clipnorm": 0.5}, [1.0, 0.858734, 0.900155, 1.0]),
        ({"clipvalue": 0.5}, [1.0, 0.858643, 0.900064, 1.0]),
    ],
)
def test_slices_stay_such_when_they_are_clipped(clipping, wanted) -> None:
    # Recorded from Keras on TensorFlow.
    weights = keras.Variable(np.ones([4, 2], np.float32))
    optimizer = keras.optimizers.Adam(0.1, epsilon=1e-5, **clipping)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(weights.value, [1, 1, 2]))
    optimizer.apply(tape.gradient(loss, [weights.value]), [weights])
    np.testing.assert_allclose(weights.numpy()[:, 0], wanted, rtol=5e-6)


def test_slices_may_bring_their_shape() -> None:
    weights = keras.Variable(np.ones([2, 1], np.float32))
    optimizer = keras.optimizers.Adam(0.1)
    for _ in range(2):
        slices = tf.IndexedSlices(tf.constant([[0.5]]), tf.constant([1]), tf.constant([2, 1]))
        optimizer.apply([slices], [weights])
    np.testing.assert_allclose(weights.numpy(), [[1.0], [0.8]], rtol=1e-5)


def model() -> Any:
    inputs = keras.Input([3], sparse=True)
    return keras.Model(inputs, keras.layers.Dense(2, kernel_initializer="ones")(inputs))


@pytest.mark.parametrize("eager", [False, True])
def test_models_train_on_sparse_inputs_as_on_dense_ones(eager: bool) -> None:
    x = np.concatenate([DENSE, OTHER] * 4)
    y = x[:, :2] - x[:, 2:]
    losses = []
    for given in (x, tf.sparse.from_dense(x)):
        net = model()
        net.compile("sgd", "mse", run_eagerly=eager)
        history = net.fit(given, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
        losses.append(history.history["loss"])
    np.testing.assert_allclose(*losses, rtol=1e-5)


def test_sparse_matrices_of_scipy_train_and_predict() -> None:
    scipy = pytest.importorskip("scipy.sparse")
    matrix = scipy.coo_matrix(DENSE)
    net = model()
    net.compile("sgd", "mse")
    np.testing.assert_allclose(
        net.predict(matrix, verbose=0), DENSE.sum(1, keepdims=True) @ [[1, 1]]
    )
    net.fit(matrix, OTHER[:, :2], verbose=0)


def test_layers_give_sparse_tensors() -> None:
    encode = keras.layers.CategoryEncoding(4, output_mode="multi_hot", sparse=True)
    found = encode(np.array([[0, 2], [3, 3]]))
    assert kind(found) == "sparse"
    np.testing.assert_array_equal(dense(found), [[1, 0, 1, 0], [0, 0, 0, 1]])
    symbolic = encode(keras.Input([2], dtype="int64"))
    assert symbolic.sparse and symbolic.shape == (None, 4)


def test_predictions_that_are_sparse_stay_so() -> None:
    inputs = keras.Input([3], sparse=True)
    net: Any = keras.Model(inputs, ops.square(inputs))
    found = net.predict(
        tf.sparse.from_dense(np.concatenate([DENSE, OTHER])), batch_size=2, verbose=0
    )
    assert kind(found) == "sparse"
    np.testing.assert_allclose(dense(found), np.concatenate([DENSE, OTHER]) ** 2)


def test_the_last_rows_validate() -> None:
    x = np.concatenate([DENSE, OTHER, FULL])
    histories = []
    for given in (x, tf.sparse.from_dense(x)):
        net = model()
        net.compile("sgd", "mse")
        found = net.fit(given, x[:, :2], validation_split=0.5, shuffle=False, verbose=0)
        histories.append([found.history["loss"][0], found.history["val_loss"][0]])
    np.testing.assert_allclose(*histories, rtol=1e-5)


def test_models_with_sparse_inputs_are_saved_and_exported(tmp_path: Path) -> None:
    net = model()
    x = tf.sparse.from_dense(DENSE)
    net.save(tmp_path / "model.keras")
    again: Any = keras.models.load_model(tmp_path / "model.keras")
    assert again.inputs[0].sparse
    np.testing.assert_allclose(again(x), net(x))
    net.export(str(tmp_path / "exported"), verbose=False)  # for dense inputs, as on TensorFlow
    served = tf.saved_model.load(str(tmp_path / "exported")).serve(DENSE)
    np.testing.assert_allclose(served, net(x), rtol=1e-6)
