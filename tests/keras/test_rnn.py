"""Recurrent layers: the quick ways against the loop, gradients of first and second order, sizes that are not known."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers

import tapeflow as tf

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 5, 2)).astype("float32")
MASK = np.array([[1, 1, 0, 1, 1], [0, 0, 1, 1, 0], [1, 1, 1, 1, 1]], bool)
KINDS = ["LSTM", "GRU", "SimpleRNN"]


def pair(kind, **options):
    """A layer that takes the quick way, and one with the same weights that takes the loop."""
    layer = getattr(layers, kind)(4, **options)
    # What is not Keras's own function is not known to be a tanh.
    other = getattr(layers, kind)(4, activation=lambda x: tf.tanh(x), **options)
    for each in (layer, other):
        each.build((None, None, 2))
    weights = [RNG.normal(size=w.shape).astype("float32") for w in layer.weights if w.trainable]
    for each in (layer, other):
        for variable, value in zip(each.trainable_variables, weights, strict=True):
            variable.assign(value)
    return layer, other


def outputs(layer, x, **more):
    return [np.asarray(y) for y in tf.nest.flatten(layer(x, **more))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("go_backwards", [False, True])
@pytest.mark.parametrize("return_sequences", [False, True])
@pytest.mark.parametrize("unroll", [False, True])
def test_the_quick_way_is_the_loop(kind, go_backwards, return_sequences, unroll):
    layer, other = pair(
        kind,
        go_backwards=go_backwards,
        return_sequences=return_sequences,
        return_state=True,
        unroll=unroll,
    )
    for y, want in zip(outputs(layer, X), outputs(other, X), strict=True):
        np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("go_backwards", [False, True])
def test_masked_steps_change_nothing(kind, zero, go_backwards):
    options = {
        "return_sequences": True,
        "return_state": True,
        "zero_output_for_mask": zero,
        "go_backwards": go_backwards,
    }
    looped, _ = pair(kind, **options)
    unrolled, _ = pair(kind, unroll=True, **options)
    unrolled.set_weights(looped.get_weights())
    found = outputs(looped, X, mask=MASK)
    for y, want in zip(found, outputs(unrolled, X, mask=MASK), strict=True):
        np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)
    # Each row alone, without the masked steps, ends in the same state.
    for row in range(len(X)):
        alone = outputs(looped, X[row : row + 1, MASK[row]])
        np.testing.assert_allclose(found[1][row], alone[1][0], rtol=1e-5, atol=1e-6)
    at = MASK[:, ::-1] if go_backwards else MASK
    if zero:
        assert not found[0][~at].any()
    else:
        np.testing.assert_allclose(found[0][0, 2], found[0][0, 1])


def gradients(layer, x, mask=None):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(layer(x, mask=mask) ** 2)
    sources = [x, *[v.handle for v in layer.trainable_variables]]
    return tape.gradient(y, sources)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("return_sequences", [False, True])
def test_gradients_are_the_same_in_every_way(kind, masked, return_sequences):
    layer, other = pair(kind, return_sequences=return_sequences)
    mask = tf.constant(MASK) if masked else None
    x = tf.constant(X)
    want = [np.asarray(g) for g in gradients(other, x, mask)]
    signature = [tf.TensorSpec([None, None, 2], tf.float32)]
    signature += [tf.TensorSpec([None, None], tf.bool)] if masked else []
    unknown = tf.function(lambda *a: gradients(layer, *a), input_signature=signature)
    arguments = (x, mask) if masked else (x,)
    for found in (
        gradients(layer, x, mask),
        tf.function(gradients)(layer, x, mask),
        unknown(*arguments),
    ):
        for g, w in zip(found, want, strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_second_derivatives_of_the_quick_way(kind):
    found = []
    for layer in pair(kind, return_sequences=True):

        def second(x, layer=layer):
            with tf.GradientTape() as outer:
                outer.watch(x)
                first = gradients(layer, x)
                total = tf.add_n([tf.reduce_sum(g * g) for g in first])
            return outer.gradient(total, [x, *[v.handle for v in layer.trainable_variables]])

        found += [second(tf.constant(X)), tf.function(second)(tf.constant(X))]
    for other in found[1:]:
        for g, w in zip(other, found[0], strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-3, atol=1e-3)


def test_one_trace_serves_all_lengths():
    layer = layers.LSTM(4, return_sequences=True)
    layer.build((None, None, 2))
    traces = []

    @tf.function(input_signature=[tf.TensorSpec([None, None, 2], tf.float32)])
    def call(x):
        traces.append(x)
        return layer(x)

    for batch, steps in ((1, 1), (3, 5), (2, 9)):
        x = RNG.normal(size=(batch, steps, 2)).astype("float32")
        np.testing.assert_allclose(call(x), layer(x), rtol=1e-5, atol=1e-6)
    assert len(traces) == 1


def test_a_stateful_layer_goes_on_where_it_was():
    layer = layers.GRU(4, stateful=True)
    layer.build((3, 5, 2))
    whole = layers.GRU(4)
    whole.build((3, 5, 2))
    whole.set_weights(layer.get_weights())
    call = tf.function(layer)
    call(tf.constant(X))
    np.testing.assert_allclose(call(tf.constant(X)), whole(np.concatenate([X, X], 1)), atol=1e-5)


def test_rnn_by_input_length_and_with_time_first():
    def step(x, states):
        total = states[0] + x * states[1]
        return total, [total]

    def run(x, **more):
        start = [tf.zeros((3, 2))]
        return keras.src.backend.rnn(step, x, start, constants=[tf.constant(2.0)], **more)

    lengths = tf.constant([5, 2, 3])
    last, all_, states = run(tf.constant(X), input_length=lengths)
    want = 2 * np.stack([X[i, :n].sum(0) for i, n in enumerate((5, 2, 3))])
    np.testing.assert_allclose(last, want, rtol=1e-5)
    np.testing.assert_allclose(states[0], want, rtol=1e-5)
    assert all_.shape == (3, 5, 2)
    last, all_, _ = run(tf.constant(X.swapaxes(0, 1)), time_major=True, return_all_outputs=False)
    np.testing.assert_allclose(last, 2 * X.sum(1), rtol=1e-5)
    assert all_.shape == (1, 3, 2)


def test_what_has_no_length_cannot_be_unrolled():
    @tf.function(input_signature=[tf.TensorSpec([2, None, 3])])
    def call(x):
        return keras.src.backend.rnn(lambda x, s: (x, s), x, [tf.zeros((2, 3))], unroll=True)[0]

    with pytest.raises(ValueError, match="number of time steps must be known"):
        call(tf.zeros((2, 4, 3)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16", "float64"])
def test_other_precisions(kind, dtype):
    layer = getattr(layers, kind)(4, return_sequences=True, dtype=dtype)
    other = getattr(layers, kind)(4, return_sequences=True, activation=lambda x: tf.tanh(x))
    x = tf.constant(X, layer.compute_dtype)
    for each in (layer, other):
        each.build(X.shape)
    other.set_weights(layer.get_weights())
    y = tf.function(layer)(x)
    assert y.dtype.name == layer.compute_dtype
    np.testing.assert_allclose(tf.cast(y, tf.float32), other(X), atol=2e-2)
    for g, v in zip(gradients(layer, x)[1:], layer.trainable_variables, strict=True):
        assert g.dtype.name == v.dtype
