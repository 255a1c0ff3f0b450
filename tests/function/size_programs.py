"""Random programs that compute sizes of sizes: what `test_size_programs` runs.

A program is a seed. It draws what to do from it, independently of all values, so that the same seed does the same on
numbers and while it is traced. It computes scalars from the sizes of a matrix, makes tensors of such sizes or cuts and
pads the matrix by them, computes sizes of that again, and so on.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import tapeflow as tf

SHAPES = [(7, 4), (4, 7), (5, 5), (1, 6), (6, 1), (2, 3), (9, 8)]


def program(seed: int, steps: int = 3) -> Callable[[Any], Any]:
    """A function of a matrix: the last tensor that was made, its shape, a few sizes, and its gradient."""

    def run(x: Any) -> Any:
        rng = random.Random(seed)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, sizes = x, []
            for _ in range(steps):
                numbers = Numbers(rng, y)
                sizes += [numbers.draw(), numbers.draw()]
                y = rng.choice(TENSORS)(numbers, y)
            total = tf.reduce_sum(y * y)
        slope = tape.gradient(total, x, unconnected_gradients="zero")
        return y, tf.shape(y), tf.stack(sizes), tf.convert_to_tensor(slope)

    run.__name__ = f"program_{seed}"
    return run


class Numbers:
    """Draws int32 scalars that are computed from the shape of a matrix."""

    def __init__(self, rng: random.Random, y: Any) -> None:
        self.rng = rng
        self.y = y
        self.shape = tf.shape(y)

    def draw(self, depth: int = 3) -> Any:
        """A number, of any sign."""
        rng = self.rng
        if not depth or rng.random() < 0.25:
            return rng.choice([self._axis, self._axis, self._axis, self._constant, self._whole])()
        a, b = self.draw(depth - 1), self.draw(depth - 1)
        return rng.choice(OPERATIONS)(a, b)

    def size(self, most: int = 9) -> Any:
        """A number from 1 on that is not large."""
        number = self.draw()
        return self.rng.choice(
            [
                lambda: tf.maximum(1, tf.minimum(number, most)),
                lambda: tf.abs(number) % most + 1,
                lambda: tf.clip_by_value(number, 1, most),
                lambda: tf.cast(tf.where(number > 3, 3, 2), tf.int32),
            ]
        )()

    def within(self, axis: int) -> Any:
        """A number from 0 to the size of an axis."""
        return tf.minimum(self.size(), self.shape[axis])

    def _axis(self) -> Any:
        return self.shape[self.rng.choice([0, 1, -1])]

    def _constant(self) -> Any:
        return tf.constant(self.rng.choice([1, 2, 3, 5]))

    def _whole(self) -> Any:
        return self.rng.choice(WHOLE)(self.shape, self.y)


WHOLE: list[Callable[[Any, Any], Any]] = [
    lambda s, y: tf.reduce_min(s),
    lambda s, y: tf.reduce_max(s),
    lambda s, y: tf.reduce_sum(s),
    lambda s, y: tf.reduce_prod(s),
    lambda s, y: tf.size(y),
    lambda s, y: tf.argmax(s, output_type=tf.int32),
    lambda s, y: tf.argmin(s, output_type=tf.int32),
    lambda s, y: tf.sort(s)[0],
    lambda s, y: tf.sort(s, direction="DESCENDING")[0],
    lambda s, y: tf.math.count_nonzero(s > 3, dtype=tf.int32),
    lambda s, y: tf.unstack(s)[1],
    lambda s, y: tf.reverse(s, [0])[0],
    lambda s, y: tf.cumsum(s)[1],
    lambda s, y: tf.reduce_max(tf.where(s < 5, s, 5)),
    lambda s, y: tf.shape(tf.transpose(y))[0],
    lambda s, y: tf.gather(s, tf.argmax(s)),
]

OPERATIONS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: tf.minimum(a, b),
    lambda a, b: tf.maximum(a, b),
    lambda a, b: tf.minimum(a, 4) * tf.minimum(b, 3),
    lambda a, b: a // tf.maximum(b, 1),
    lambda a, b: a % tf.maximum(b, 2),
    lambda a, b: (a + b) // 2,
    lambda a, b: -(-a // 2),
    lambda a, b: tf.abs(a - b),
    lambda a, b: tf.where(a < b, a, b + 1),
    lambda a, b: tf.clip_by_value(a, 1, 5),
    lambda a, b: tf.cond(a > b, lambda: a, lambda: b + 2),
    lambda a, b: tf.cast(a > b, tf.int32) + 1,
    lambda a, b: tf.cast(tf.math.ceil(tf.cast(a, tf.float32) / 2.0), tf.int32),
    lambda a, b: tf.reduce_min(tf.stack([a, b, 6])),
]


def _matrix(y: Any) -> Any:
    """What comes next is a matrix again, with a row and a column at least."""
    y = tf.cast(y, tf.float64)
    if y.shape.rank == 1:
        y = y[:, None]
    return tf.pad(y, [[0, 1], [0, 1]], constant_values=0.5)


def tensor(function: Callable[[Numbers, Any], Any]) -> Callable[[Numbers, Any], Any]:
    return lambda numbers, y: _matrix(function(numbers, y))


def _split(numbers: Numbers, y: Any) -> Any:
    first = numbers.within(0)
    a, b = tf.split(y, [first, numbers.shape[0] - first], 0)
    return tf.concat([tf.sin(b), a], 0)


def _loop(numbers: Numbers, y: Any) -> Any:
    turns = numbers.size()
    return tf.while_loop(
        lambda i, z: i < turns,
        lambda i, z: (i + 1, tf.tanh(z) + 1.0),
        [tf.constant(0), y],
    )[1]


def _filters(y: Any) -> Any:
    return tf.reshape(tf.cast(tf.range(3), y.dtype), [3, 1, 1])


TENSORS: list[Callable[[Numbers, Any], Any]] = [
    tensor(function)
    for function in (
        lambda n, y: tf.zeros([n.size(), n.size()], y.dtype),
        lambda n, y: tf.eye(n.size(), n.size(), dtype=y.dtype) * tf.reduce_mean(y),
        lambda n, y: tf.range(n.size()) * 2,
        lambda n, y: tf.range(1, n.size() + n.size(), 2),
        lambda n, y: tf.linspace(y[0, 0], 2.0 * y[0, 0], n.size()),
        lambda n, y: tf.one_hot(tf.range(n.size()), n.size(), dtype=y.dtype),
        lambda n, y: tf.sequence_mask(tf.range(n.size()), n.size()),
        lambda n, y: tf.sequence_mask(tf.range(n.size())),
        lambda n, y: y[: n.size()],
        lambda n, y: y[n.size() :],
        lambda n, y: y[-n.size() :],
        lambda n, y: y[: n.draw()],
        lambda n, y: y[n.draw() :, ::2],
        lambda n, y: y[:, 1:] - y[:, :-1],
        lambda n, y: y[::-2, : n.within(1)],
        lambda n, y: y[4:0:-1],
        lambda n, y: y[n.within(0) - 1],
        lambda n, y: tf.slice(y, [0, 0], [n.within(0), -1]),
        lambda n, y: tf.reshape(y, [-1])[: n.size()],
        lambda n, y: tf.reshape(y, [n.shape[1], -1]),
        lambda n, y: tf.reshape(tf.tile(y, [2, 1]), [n.shape[0], 2, -1])[:, 0],
        lambda n, y: tf.pad(y, [[n.size(3), 0], [0, n.size(3)]]),
        lambda n, y: tf.tile(y, [n.size(3), 1]),
        lambda n, y: tf.repeat(y, n.size(3), 1),
        lambda n, y: tf.broadcast_to(y[:1], [n.size(), n.shape[1]]),
        lambda n, y: y * y[:1] + y[:, :1],
        lambda n, y: y + tf.cast(tf.range(n.shape[1]), y.dtype),
        lambda n, y: y[: n.size()] * y[: n.size()],
        lambda n, y: tf.where(tf.range(n.shape[0])[:, None] < n.size(), y, -y),
        lambda n, y: tf.gather(y, tf.range(n.within(0))),
        lambda n, y: tf.roll(y, n.size(), 0),
        lambda n, y: tf.math.top_k(y, n.within(1)).values,
        lambda n, y: tf.linalg.diag_part(y),
        lambda n, y: tf.linalg.band_part(y, n.within(0), 0),
        lambda n, y: tf.linalg.diag(y[0]),
        lambda n, y: tf.concat([y, tf.ones([n.size(), n.shape[1]], y.dtype)], 0),
        lambda n, y: tf.stack([y[0], y[-1]]),
        lambda n, y: y @ tf.transpose(y),
        lambda n, y: tf.einsum("ij,kj->ik", y, y[: n.size()]),
        lambda n, y: tf.nn.conv1d(y[..., None], _filters(y), 2, "SAME")[..., 0],
        lambda n, y: tf.nn.max_pool1d(y[..., None], 2, 2, "SAME")[..., 0],
        lambda n, y: tf.nn.avg_pool1d(y[..., None], 2, 1, "VALID")[..., 0],
        lambda n, y: tf.image.resize(y[..., None], [n.size(), n.size()])[..., 0],
        lambda n, y: tf.cumsum(y, 1),
        lambda n, y: tf.boolean_mask(y, y[:, 0] > 0),
        lambda n, y: tf.map_fn(lambda row: row * 2.0, y),
        lambda n, y: tf.vectorized_map(lambda row: row * row[0], y),
        lambda n, y: tf.cond(n.draw() > n.draw(), lambda: y[1:], lambda: y[:, 1:]),
        _split,
        _loop,
    )
]
