"""cuDNN's op of recurrent networks, against its formulas in NumPy."""

import numpy as np
import pytest

import tapeflow as tf

TIME, BATCH, FEATURES, UNITS = 4, 2, 3, 5
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def layer(mode, xs, h, c, w, r, bias, back_bias):
    """A layer by its formulas, one gate after another."""
    outputs = []
    for x in xs:
        ahead = np.split(x @ w.T + bias, GATES[mode], -1)
        back = np.split(h @ r.T + back_bias, GATES[mode], -1)
        if mode == "lstm":
            i, f, g, o = (a + b for a, b in zip(ahead, back, strict=True))
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        elif mode == "gru":
            z = sigmoid(ahead[1] + back[1])
            new = np.tanh(ahead[2] + sigmoid(ahead[0] + back[0]) * back[2])
            h = (1 - z) * new + z * h
        else:
            h = ahead[0] + back[0]
            h = np.tanh(h) if mode == "rnn_tanh" else np.maximum(h, 0)
        outputs.append(h)
    return np.stack(outputs), h, c


def network(mode, layers, directions, rng):
    """Weights, the vector cuDNN has of them, and states."""
    rows = GATES[mode] * UNITS
    parts = []
    for number in range(layers):
        width = UNITS * directions if number else FEATURES
        for _ in range(directions):
            shapes = (rows, width), (rows, UNITS), (rows,), (rows,)
            parts.append([rng.normal(size=s) * 0.3 for s in shapes])
    flat = [x.ravel() for part in parts for x in part[:2]]
    flat += [x for part in parts for x in part[2:]]
    h, c = rng.normal(size=(2, layers * directions, BATCH, UNITS))
    return parts, np.concatenate(flat), h, c


@pytest.mark.parametrize("mode", GATES)
@pytest.mark.parametrize(("layers", "directions"), [(1, 1), (2, 2)])
def test_formulas(mode, layers, directions):
    rng = np.random.default_rng(3)
    parts, params, h, c = network(mode, layers, directions, rng)
    xs = rng.normal(size=(TIME, BATCH, FEATURES))
    expected, ends = xs, []
    for number in range(layers):
        found = []
        for side in range(directions):
            at = number * directions + side
            order = slice(None, None, -1 if side else 1)
            outputs, *end = layer(mode, expected[order], h[at], c[at], *parts[at])
            found.append(outputs[order])
            ends.append(end)
        expected = np.concatenate(found, -1)
    call = tf.function(tf.raw_ops.CudnnRNN)
    for run in (tf.raw_ops.CudnnRNN, call):
        outputs, last, cells, _ = run(
            input=tf.constant(xs),
            input_h=tf.constant(h),
            input_c=tf.constant(c),
            params=tf.constant(params),
            rnn_mode=mode,
            direction="bidirectional" if directions == 2 else "unidirectional",
        )
        np.testing.assert_allclose(outputs, expected, rtol=1e-10)
        np.testing.assert_allclose(last, [end[0] for end in ends], rtol=1e-10)
        if mode == "lstm":
            np.testing.assert_allclose(cells, [end[1] for end in ends], rtol=1e-10)


def test_gradients_are_those_of_differences():
    rng = np.random.default_rng(4)
    _, params, h, c = network("lstm", 1, 1, rng)
    xs = tf.constant(rng.normal(size=(TIME, BATCH, FEATURES)))

    def loss(weights):
        outputs = tf.raw_ops.CudnnRNN(input=xs, input_h=h, input_c=c, params=weights)[0]
        return tf.reduce_sum(outputs**2)

    weights = tf.constant(params)
    with tf.GradientTape() as tape:
        tape.watch(weights)
        found = loss(weights)
    direction = tf.constant(rng.normal(size=params.shape))
    slope = tf.reduce_sum(tape.gradient(found, weights) * direction)
    step = 1e-6 * direction
    np.testing.assert_allclose(
        slope, (loss(weights + step) - loss(weights - step)) / 2e-6, rtol=1e-6
    )


def test_what_does_not_fit_is_named():
    given = {"input": tf.zeros([4, 2, 3]), "input_h": tf.zeros([1, 2, 5]), "input_c": 0.0}
    with pytest.raises(tf.errors.InvalidArgumentError, match="params has 7 numbers, and 200"):
        tf.raw_ops.CudnnRNN(**given | {"input_c": tf.zeros([1, 2, 5])}, params=tf.zeros([7]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="rnn_mode"):
        tf.raw_ops.CudnnRNN(**given, params=tf.zeros([7]), rnn_mode="elman")
