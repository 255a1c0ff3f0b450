"""A module with functions of many kinds, which is saved by TensorFlow, and what it is asked after it was loaded."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def module(tf: Any) -> Any:
    """The module."""

    class Part(tf.Module):
        def __init__(self, value):
            self.w = tf.Variable(value, name="w")

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, x):
            return x * self.w

    class Program(tf.Module):
        def __init__(self):
            self.parts = [Part(2.0), Part(3.0)]
            self.named = {
                "one": tf.Variable([1.0, 2.0]),
                "two": (tf.Variable(5), tf.Variable(True)),
            }
            self.counter = tf.Variable(0, trainable=False, name="counter")
            pairs = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([10, 20], tf.int64))
            self.table = tf.lookup.StaticHashTable(pairs, -1)
            path = Path(tempfile.mkdtemp()) / "words.txt"
            path.write_text("x\ny\nz\n")
            index = tf.lookup.TextFileIndex
            lines = tf.lookup.TextFileInitializer(
                str(path), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
            )
            self.lines = tf.lookup.StaticHashTable(lines, -7)
            self.constant = tf.constant([[1.0, 2.0], [3.0, 4.0]])

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def structured(self, x):
            self.counter.assign_add(1)
            return {"sum": tf.reduce_sum(x, -1), "pair": (x @ self.constant, [self.counter + 0])}

        @tf.function
        def options(self, x, scale=2.0, *, training=False):
            return x * scale if training else x - scale

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def branches(self, x):
            if tf.reduce_sum(x) > 0.0:
                y = self.parts[0](x)
            else:
                y = self.parts[1](-x) + tf.cast(tf.size(x), tf.float32)
            return y

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)])
        def loops(self, x, n):
            total = tf.zeros([2])
            for i in tf.range(n):
                total += x ** tf.cast(i, tf.float32) * self.named["one"]
            return total

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
        def lists(self, x):
            rows = tf.TensorArray(tf.float32, tf.shape(x)[0])
            for i in tf.range(tf.shape(x)[0]):
                rows = rows.write(i, tf.sin(x[i]) * tf.cast(i, tf.float32))
            return rows.stack()

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def words(self, x):
            return [self.table.lookup(x), self.lines.lookup(x)]

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
        def shapes(self, x):
            rows, columns = tf.shape(x)[0], tf.shape(x)[1]
            y = tf.reshape(tf.transpose(x), [columns, rows, 1])
            y = tf.concat([y, tf.ones_like(y)], -1)[1:, ::-1, :1]
            y = (
                tf.pad(y, [[0, 0], [1, 0], [0, 0]])
                + tf.cast(tf.range(rows + 1), tf.float32)[:, None]
            )
            return tf.nn.softmax(tf.squeeze(y, -1)), tf.argmax(x, -1), tf.one_hot([1], columns)

    made = Program()
    made.options(tf.constant([1.0]))
    made.options(tf.constant([1.0]), training=True)
    return made


OPS: dict[str, Callable[[Any, Any], Any]] = {
    "unary": lambda tf, x: tf.sin(x) + tf.exp(-x) * tf.math.softplus(x) - tf.math.erf(x) + abs(x),
    "binary": lambda tf, x: tf.maximum(x, x[:1]) ** 2.0 / (1.0 + x * x) - tf.math.floormod(x, 0.7),
    "logic": lambda tf, x: tf.where((x > 0.0) & (x < 1.0), x, -x),
    "activations": lambda tf, x: (
        tf.nn.silu(x) + tf.nn.elu(x) + tf.nn.gelu(x, True) + tf.nn.relu6(x)
    ),
    "reductions": lambda tf, x: [tf.reduce_max(x, 1), tf.reduce_logsumexp(x), tf.math.argmax(x, 1)],
    "statistics": lambda tf, x: list(tf.nn.moments(x, [0, 2], keepdims=True)),
    "running": lambda tf, x: tf.cumsum(x, 1, exclusive=True) + tf.math.cumprod(x, 2, reverse=True),
    "shapes": lambda tf, x: tf.reshape(tf.transpose(x, [2, 0, 1]), [-1, tf.shape(x)[0] * 2, 2]),
    "joined": lambda tf, x: tf.concat(tf.split(tf.stack([x, -x], 1), [1, 3], 2), 2),
    "padded": lambda tf, x: (
        tf.pad(x, [[0, 0], [1, 2], [1, 0]], "REFLECT") + tf.roll(x, 1, 1)[:, :1, :1]
    ),
    "repeated": lambda tf, x: tf.repeat(tf.tile(x, [1, 2, 1]), [1, 0, 2], axis=2),
    "slices": lambda tf, x: x[:, ::-2, tf.newaxis, -1] + x[:, 1:3, :1],
    "gathered": lambda tf, x: tf.gather(x, [2, 0], axis=1) + tf.gather_nd(x, [[0, 1]])[0],
    "sorted": lambda tf, x: [tf.sort(x, axis=1), tf.argsort(x, direction="DESCENDING")],
    "chosen": lambda tf, x: list(tf.math.top_k(x, 2)),
    "one_hot": lambda tf, x: tf.one_hot(tf.cast(x, tf.int32), 3, on_value=2.0, axis=1),
    "products": lambda tf, x: (
        tf.matmul(x, x, transpose_b=True) @ x + tf.einsum("bij,bkj->bik", x, x)[..., :3]
    ),
    "softmax": lambda tf, x: tf.nn.softmax(x, 1) + tf.nn.log_softmax(x, -1),
    "convolution": lambda tf, x: tf.nn.conv1d(x, tf.ones([2, 3, 2]), 1, "SAME"),
    "pooling": lambda tf, x: tf.nn.avg_pool2d(x[..., None], 2, 2, "SAME"),
    "images": lambda tf, x: tf.image.resize(x[..., None], [3, 5]),
    "counted": lambda tf, x: tf.cast(tf.range(tf.size(x)), tf.float32) + tf.reshape(x, [-1]),
    "gradient": lambda tf, x: _slope(tf, x),
    "gradient of gelu": lambda tf, x: _gelu_slope(tf, x),
}
"""What is written for TensorFlow op by op, of a tensor [None, 4, 3]."""


def _slope(tf: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.tanh(tf.matmul(x, x, transpose_b=True)) ** 2.0)
    return tape.gradient(y, x)


def _gelu_slope(tf: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.gelu(x, approximate=True)
    return tape.gradient(y, x)


def _function(tf: Any, op: Any) -> Any:
    spec = tf.TensorSpec([None, 4, 3], tf.float32)
    return tf.function(lambda x: op(tf, x), input_signature=[spec])


def ops(tf: Any) -> Any:
    """A module with a function for each."""
    made = tf.Module()
    for name, op in OPS.items():
        setattr(made, name, _function(tf, op))
    return made


def computed(tf: Any, loaded: Any) -> dict[str, Any]:
    """What the functions give."""
    x = tf.constant(np.random.default_rng(3).normal(size=[2, 4, 3]).astype(np.float32))
    return {
        name: tf.nest.map_structure(lambda y: y.numpy().tolist(), getattr(loaded, name)(x))
        for name in OPS
    }


X = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]], np.float32)

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "structured": lambda tf, m: m.structured(X[:, :2]),
    "structured again": lambda tf, m: m.structured(tf.constant(X[:1, :2])),
    "options": lambda tf, m: m.options(tf.constant([4.0])),
    "training": lambda tf, m: m.options(tf.constant([4.0]), training=True),
    "branch": lambda tf, m: m.branches(X[0] + 1.0),
    "other branch": lambda tf, m: m.branches(tf.constant(X[0])),
    "part": lambda tf, m: m.parts[1](tf.constant([1.0, 2.0])),
    "loops": lambda tf, m: m.loops(2.0, 4),
    "lists": lambda tf, m: m.lists(X),
    "words": lambda tf, m: m.words(["b", "c", "a", "z"]),
    "shapes": lambda tf, m: m.shapes(X),
    "variables": lambda tf, m: [m.named["one"] + 0.0, m.named["two"][0] + 0, m.counter + 0],
    "signature": lambda tf, m: m.signatures["serving_default"](x=tf.constant(X)),
    "gradient of a branch": lambda tf, m: _gradient(tf, m.branches, X[1], m.parts[0].w),
    "gradient of a loop": lambda tf, m: _gradient(tf, lambda x: m.loops(x, 3), 1.5, m.named["one"]),
    "gradient of a list": lambda tf, m: _gradient(tf, m.lists, X, m.counter),
    "inside a function": lambda tf, m: tf.function(lambda x: m.branches(x) * 2.0)(
        tf.constant(X[1])
    ),
    "too many": lambda tf, m: m.structured(X),
}


def _gradient(tf: Any, function: Any, x: Any, variable: Any) -> Any:
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, [x, variable])


def told(tf: Any, loaded: Any) -> dict[str, Any]:
    """What a loaded module answers."""
    answers = {}
    for name, call in CALLS.items():
        try:
            answers[name] = tf.nest.map_structure(lambda x: x.numpy().tolist(), call(tf, loaded))
        except (ValueError, TypeError):
            answers[name] = "refused"
        except AttributeError:  # a gradient that is None
            gradients = call(tf, loaded)
            answers[name] = [None if g is None else g.numpy().tolist() for g in gradients]
    return answers


def same(found: Any, expected: Any) -> None:
    """Checks that structures are equal but for rounding."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            same(found[key], value)
    elif isinstance(expected, list) and not all(isinstance(x, (int, float)) for x in expected):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    elif isinstance(expected, (list, float)):
        np.testing.assert_allclose(found, expected, atol=1e-5)
    else:
        assert found == expected
