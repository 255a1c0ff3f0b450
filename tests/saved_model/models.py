"""Models to be saved, damaged and loaded: each a function that makes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tapeflow as tf

VECTOR = tf.TensorSpec([None], tf.float32)


class _Net(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.parts = {"b": [tf.Variable([0.5, -0.5], name="b")], "pair": (tf.Variable(1.0),)}
        self.count = tf.Variable(0, trainable=False)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x: Any) -> Any:
        return tf.nn.relu(x @ self.w + self.parts["b"][0])

    @tf.function
    def choose(self, x: Any, training: bool = False) -> Any:
        self.count.assign_add(1)
        return {"y": x * 2.0 if training else x, "pair": (x, None)}


def _net() -> tf.Module:
    net = _Net()
    net.choose(tf.constant([1.0, 2.0]))
    net.choose(tf.constant(1.0), training=True)
    return net


def _of(function: Callable[..., Any], *specs: Any) -> Callable[[], tf.Module]:
    def make() -> tf.Module:
        module = tf.Module()
        module.f = tf.function(function)
        module.f.get_concrete_function(*specs)
        return module

    return make


def _linalg(x: Any) -> Any:
    a = tf.linalg.inv(tf.tensordot(x, x, 0) + tf.eye(3))
    return tf.linalg.cholesky(tf.eye(3)) + tf.linalg.expm(a) + tf.linalg.sqrtm(tf.eye(3) * 4.0)


def _arrays(x: Any) -> Any:
    y = tf.pad(tf.tile(x[None, :], [2, 1]), [[0, 1], [1, 0]])
    y = tf.concat([y, tf.reverse(y, [1])], 0)[1:-1:2, ..., None]
    y = tf.transpose(tf.stack([y, tf.roll(y, 1, 0)]), [1, 0, 2, 3])
    first, second = tf.unstack(tf.reshape(y, [2, -1]))
    z = tf.gather(first, [0, 1]) + tf.reduce_sum(second, axis=0)
    return tf.one_hot(tf.argsort(z), 4) + tf.cast(tf.argmax(z), tf.float32)


def _images(x: Any) -> Any:
    y = tf.nn.conv2d(x, tf.ones([2, 2, 1, 3]), 1, "SAME")
    y = tf.nn.max_pool2d(y, 2, 2, "VALID") + tf.nn.avg_pool2d(y, 2, 2, "VALID")
    return tf.image.resize(y, [3, 3])


def _numbers(x: Any) -> Any:
    y = tf.cast(tf.signal.fft(tf.cast(x, tf.complex64)), tf.float32)
    y += tf.einsum("i,j->i", y, x) + tf.cumsum(x) + tf.nn.softmax(x)
    y += tf.math.polygamma(1.0, x + 1.0) + tf.random.uniform(tf.shape(x), seed=3)
    return tf.sort(y), tf.debugging.check_numerics(y, "numbers"), tf.range(tf.size(x))


def _branches(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.sin(x) * x, lambda: -x)


def _sizes(x: Any) -> Any:
    n = tf.shape(x)[0]
    return tf.reshape(tf.tile(x, [4]), [2 * n, -1]) / tf.cast(n // 2 + n % 2, tf.float32)


def _loop(x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), (0, x))[1]


def _collect(x: Any) -> Any:
    parts = tf.TensorArray(tf.float32, size=4, element_shape=[])
    for i in range(3):
        parts = parts.write(i, x[i] * 2.0)
    return parts.stack() + parts.read(0), parts.gather([1, 2])


def _training() -> tf.Module:
    class Recurrent(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(0.5)

        @tf.function(input_signature=[VECTOR])
        def step(self, x: Any) -> Any:
            with tf.GradientTape() as tape:
                state = tf.constant(0.0)
                for i in tf.range(tf.shape(x)[0]):
                    if x[i] > 0.0:
                        state = tf.tanh(state * self.w + x[i])
                loss = state**2
            self.w.assign_sub(0.1 * tape.gradient(loss, self.w))
            return loss

    return Recurrent()


def _files() -> tf.Module:
    class Paths(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.file = tf.saved_model.Asset(__file__)
            self.scale = tf.constant([2.0, 3.0])

        @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
        def f(self, x: Any) -> Any:
            return tf.strings.join([self.file, " and more"]), x * self.scale

    return Paths()


def _gradient(x: Any) -> Any:
    @tf.custom_gradient
    def steep(x: Any) -> Any:
        return x * x, lambda g: g * x * 100.0

    return steep(x) + x


MODELS: dict[str, Callable[[], tf.Module]] = {
    "net": _net,
    "linalg": _of(_linalg, tf.TensorSpec([3])),
    "arrays": _of(_arrays, tf.TensorSpec([2])),
    "images": _of(_images, tf.TensorSpec([None, 4, 4, 1])),
    "numbers": _of(_numbers, VECTOR),
    "branches": _of(_branches, VECTOR),
    "sizes": _of(_sizes, VECTOR),
    "constants": _of(lambda x: x @ tf.constant(np.eye(5, 3), tf.float32), tf.TensorSpec([None, 5])),
    "collect": _of(_collect, tf.TensorSpec([3])),
    "loop": _of(_loop, VECTOR),
    "map": _of(lambda x: tf.map_fn(lambda e: tf.exp(e) * e, x), VECTOR),
    "training": _training,
    "files": _files,
    "gradient": _of(_gradient, VECTOR),
}
LOOPS = {"loop", "map", "training"}
"""Those which a change may make endless."""
