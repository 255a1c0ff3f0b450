"""keras-rs: its losses, metrics and layers, and models that are trained with them, with TensorFlow's numbers."""

from __future__ import annotations

import itertools

import keras
import keras_rs
import numpy as np
import pytest
import tensorflow as tf

_rng = np.random.default_rng(5)
LABELS = _rng.integers(0, 4, (3, 5)).astype(np.float32)
LOGITS = _rng.normal(size=(3, 5)).astype(np.float32)
WEIGHTS = _rng.uniform(0.5, 1.5, (3, 5)).astype(np.float32)
MASK = _rng.uniform(size=(3, 5)) > 0.3
FEATURES = [_rng.normal(size=(4, 3)).astype(np.float32) for _ in range(3)]
ONE_POSITIVE = np.eye(5, dtype=np.float32)[[1, 4, 0]]
LOSSES = (
    "ListMLELoss",
    "PairwiseHingeLoss",
    "PairwiseLogisticLoss",
    "PairwiseMeanSquaredError",
    "PairwiseSoftZeroOneLoss",
)
METRICS = ("DCG", "MeanAveragePrecision", "MeanReciprocalRank", "NDCG", "PrecisionAtK", "RecallAtK")


def numbers(x) -> list:
    """What a check records."""
    return np.asarray(x, np.float64).tolist()


def constant(seed: int) -> keras.initializers.Initializer:
    """Weights that are the same on both sides."""
    return keras.initializers.RandomUniform(-0.5, 0.5, seed=seed)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_losses(name, temperature, masked, weights, record_property) -> None:
    """The loss and its gradient."""
    loss = getattr(keras_rs.losses, name)(temperature=temperature)
    labels = {"labels": LABELS, "mask": MASK} if masked else LABELS
    logits = tf.Variable(LOGITS)
    with tf.GradientTape() as tape:
        value = loss(labels, logits, sample_weight=weights)
    record_property("value", numbers(value))
    record_property("gradient", numbers(tape.gradient(value, logits)))


@pytest.mark.parametrize("name", LOSSES)
def test_losses_in_functions(name, record_property) -> None:
    """Of batches of any size."""
    loss = getattr(keras_rs.losses, name)()
    signature = [tf.TensorSpec([None, None]), tf.TensorSpec([None, None])]
    function = tf.function(lambda x, y: loss(x, y), input_signature=signature)
    record_property("values", [numbers(function(LABELS[:n], LOGITS[:n])) for n in (1, 3)])


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_metrics(name, k, masked, weights, record_property) -> None:
    """After two updates, and after a reset and one more."""
    metric = getattr(keras_rs.metrics, name)(k=k)
    relevant = LABELS if name in ("DCG", "NDCG") else (LABELS > 1).astype(np.float32)
    labels = {"labels": relevant, "mask": MASK} if masked else relevant
    found = []
    for logits, forget in itertools.product((LOGITS, -LOGITS), (False, True)):
        metric.update_state(labels, logits, sample_weight=weights)
        found.append(numbers(metric.result()))
        if forget:
            metric.reset_state()
    record_property("values", found)


@pytest.mark.parametrize("itself", [False, True])
@pytest.mark.parametrize("skip", [False, True])
def test_dot_interaction(itself, skip, record_property) -> None:
    """Products of each two features."""
    layer = keras_rs.layers.DotInteraction(self_interaction=itself, skip_gather=skip)
    record_property("value", numbers(layer(FEATURES)))
    inputs = [keras.Input((3,)) for _ in FEATURES]
    model = keras.Model(inputs, layer(inputs))
    record_property("predicted", numbers(model.predict(FEATURES, verbose=0)))


@pytest.mark.parametrize("projection", [None, 2])
@pytest.mark.parametrize("scale", [0.0, 0.5])
@pytest.mark.parametrize("activation", [None, "tanh"])
def test_feature_cross(projection, scale, activation, record_property) -> None:
    """Crosses of features, and their gradients."""
    layer = keras_rs.layers.FeatureCross(
        projection, scale, pre_activation=activation, kernel_initializer=constant(1)
    )
    x = tf.constant(FEATURES[0])
    with tf.GradientTape() as tape:
        value = layer(x, tf.constant(FEATURES[1])) + layer(x)
    record_property("value", numbers(value))
    slopes = tape.gradient(value, [v.value for v in layer.trainable_variables])
    record_property("gradients", [numbers(slope) for slope in slopes])


@pytest.mark.parametrize("function", [False, True])
def test_hard_negatives(function, record_property) -> None:
    """The largest among the wrong ones, in an order that nobody promises."""
    layer = keras_rs.layers.HardNegativeMining(num_hard_negatives=2)
    call = tf.function(layer) if function else layer
    logits, labels = call(tf.constant(LOGITS), tf.constant(ONE_POSITIVE))
    order = np.argsort(logits, axis=-1)
    record_property("logits", numbers(np.take_along_axis(np.asarray(logits), order, -1)))
    record_property("labels", numbers(np.take_along_axis(np.asarray(labels), order, -1)))


@pytest.mark.parametrize("function", [False, True])
def test_accidental_hits(function, record_property) -> None:
    """Those that are the right one under another number."""
    layer = keras_rs.layers.RemoveAccidentalHits()
    call = tf.function(layer) if function else layer
    ids = tf.constant([7, 8, 7, 9, 8])
    record_property("value", numbers(call(tf.constant(LOGITS), tf.constant(ONE_POSITIVE), ids)))


@pytest.mark.parametrize("function", [False, True])
def test_probability_correction(function, record_property) -> None:
    """Of candidates that are drawn more often than others."""
    layer = keras_rs.layers.SamplingProbabilityCorrection()
    call = tf.function(layer) if function else layer
    drawn = tf.constant([0.1, 0.2, 0.3, 0.4, 0.0])
    record_property("value", numbers(call(tf.constant(LOGITS), drawn)))


@pytest.mark.parametrize("ids", [None, np.array([50, 40, 30, 20])])
@pytest.mark.parametrize("scores", [False, True])
def test_retrieval(ids, scores, record_property) -> None:
    """The best candidates, before and after they change."""
    layer = keras_rs.layers.BruteForceRetrieval(FEATURES[0], ids, k=2, return_scores=scores)
    for which in (FEATURES[0], FEATURES[2]):
        layer.update_candidates(which, ids)
        found = layer(tf.constant(FEATURES[1]))
        record_property(f"{which[0, 0]:.3f}", [numbers(x) for x in (found if scores else [found])])


@pytest.mark.parametrize("combiner", ["mean", "sum", "sqrtn"])
@pytest.mark.parametrize("kind", ["dense", "ragged", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_embed_reduce(combiner, kind, weighted, record_property) -> None:
    """Of several rows of a table one, where there are as many for each example or not."""
    layer = keras_rs.layers.EmbedReduce(6, 3, constant(2), combiner=combiner)
    ids = tf.ragged.constant([[1, 2], [3], [0, 5]], dtype=tf.int32)
    weights = tf.ragged.constant([[0.5, 1.0], [2.0], [1.0, 3.0]], dtype=tf.float32)
    if kind == "sparse":
        ids, weights = ids.to_sparse(), weights.to_sparse()
    elif kind == "dense":
        ids, weights = ids.to_tensor(), weights.to_tensor()
    record_property("value", numbers(layer(ids, weights) if weighted else layer(ids)))


def test_distributed_embedding(record_property) -> None:
    """Tables that features share, on this device."""
    table = keras_rs.layers.TableConfig(
        "table", 8, 3, constant(3), optimizer="sgd", combiner="mean", placement="default_device"
    )
    features = {
        name: keras_rs.layers.FeatureConfig(name, table, (4, 2), (4, 3)) for name in ("a", "b")
    }
    layer = keras_rs.layers.DistributedEmbedding(features)
    given = {name: (np.arange(8).reshape(4, 2) + len(name)) % 8 for name in features}
    found = layer(layer.preprocess(given))
    record_property("values", {name: numbers(x) for name, x in found.items()})


def test_a_model_learns_to_rank(record_property) -> None:
    """The losses and a metric of each epoch."""
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.Input((5, 3)),
            keras_rs.layers.FeatureCross(kernel_initializer=constant(4)),
            keras.layers.Dense(1, kernel_initializer=constant(5)),
            keras.layers.Reshape((5,)),
        ]
    )
    model.compile(
        "adam", keras_rs.losses.PairwiseLogisticLoss(), metrics=[keras_rs.metrics.NDCG(k=3)]
    )
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(24, 5, 3)), rng.integers(0, 3, (24, 5)).astype(np.float32)
    history = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, verbose=0).history
    record_property("history", {name: numbers(values) for name, values in history.items()})
