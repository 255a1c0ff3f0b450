"""Code as people write it for sizes that vary, traced once and called with several sizes.

Each idiom names the shapes of its arguments: a letter is a size that is unknown while tracing. Values and gradients
must be those of the same Python run eagerly, on the NumPy executor and on XLA, from one trace.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.proofs.test_in_function import EXECUTORS, assert_near

import tapeflow as tf

SIZES = [
    {"b": 2, "t": 5, "s": 7, "h": 8, "w": 9, "n": 4},
    {"b": 3, "t": 4, "s": 6, "h": 11, "w": 7, "n": 6},
    {"b": 5, "t": 7, "s": 3, "h": 9, "w": 12, "n": 8},
]


class Idiom(NamedTuple):
    function: Callable[..., Any]
    arguments: tuple[str, ...]

    def shapes(self, sizes: dict[str, Any]) -> list[list[Any]]:
        parts = [text.removeprefix("int").split() for text in self.arguments]
        return [[sizes[d] if d in sizes else int(d) for d in part] for part in parts]

    def signature(self) -> list[tf.TensorSpec]:
        unknown = self.shapes(dict.fromkeys(SIZES[0]))
        dtypes = [tf.int32 if t.startswith("int") else tf.float64 for t in self.arguments]
        return [tf.TensorSpec(s, d) for s, d in zip(unknown, dtypes, strict=True)]

    def values(self, sizes: dict[str, int]) -> list[tf.Tensor]:
        rng = np.random.default_rng(zlib.crc32(self.function.__name__.encode()))
        return [
            tf.constant(rng.integers(0, 3, s), tf.int32)
            if text.startswith("int")
            else tf.constant(rng.normal(size=s))
            for text, s in zip(self.arguments, self.shapes(sizes), strict=True)
        ]


IDIOMS: list[Idiom] = []


def idiom(*arguments: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        IDIOMS.append(Idiom(function, arguments))
        return function

    return register


def with_gradients(function: Callable[..., Any], *xs: Any) -> list[Any]:
    """What the function returns, and the gradients of a sum over it."""
    watched = [x for x in xs if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(watched)
        outputs = tf.nest.flatten(function(*xs))
        wide = [tf.cast(y, tf.float64) for y in outputs if y.dtype.is_floating]
        total = sum(tf.reduce_sum(tf.sin(y)) for y in wide)
    if not isinstance(total, tf.Tensor):
        return outputs
    slopes = tape.gradient(total, watched, unconnected_gradients="zero")
    return [*outputs, *[tf.convert_to_tensor(g) for g in slopes]]


# Shapes.


@idiom("b 3 4")
def flatten(x):
    return tf.reshape(x, [tf.shape(x)[0], -1])


@idiom("b h w 3")
def flatten_by_product(x):
    return tf.reshape(x, [-1, tf.reduce_prod(tf.shape(x)[1:])])


@idiom("b t 4")
def merge_and_part_again(x):
    shape = tf.shape(x)
    flat = tf.reshape(x, [shape[0] * shape[1], 4])
    return tf.reshape(flat @ tf.ones([4, 2], tf.float64), [shape[0], shape[1], 2])


@idiom("b t 6")
def heads_apart(x):
    batch, length = tf.shape(x)[0], tf.shape(x)[1]
    return tf.transpose(tf.reshape(x, [batch, length, 2, 3]), [0, 2, 1, 3])


@idiom("b t 4")
def shape_taken_apart(x):
    batch, length, width = tf.unstack(tf.shape(x))
    return tf.reshape(x, [batch * length, width])


@idiom("b t 4")
def shape_by_slices(x):
    return tf.reshape(x, tf.concat([tf.shape(x)[:-1], [2, 2]], 0))


@idiom("b n")
def new_axes(x):
    return x[:, None, :] * tf.expand_dims(x, -1)


@idiom("b 1 n")
def squeezed(x):
    return tf.squeeze(x, 1)


@idiom("b n")
def as_large_as(x):
    return tf.cast(tf.size(x), tf.float64) * x / tf.cast(tf.rank(x), tf.float64)


@idiom("b t 4")
def transposed(x):
    return tf.transpose(x), tf.transpose(x, [1, 0, 2])


@idiom("b 3")
def broadcast(x):
    return tf.broadcast_to(x[:, None, :], [tf.shape(x)[0], 2, 3])


@idiom("b 1", "n")
def broadcast_by_operators(x, y):
    return x + y, tf.maximum(x, y)


@idiom("b n", "n")
def broadcast_to_dynamic_shape(x, y):
    return tf.broadcast_to(y, tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(y)))


# Making tensors.


@idiom("b 3")
def zeros_for_each(x):
    return tf.zeros([tf.shape(x)[0], 3], tf.float64) + x


@idiom("b n")
def ones_and_fill(x):
    return tf.ones(tf.shape(x), tf.float64) * x, tf.fill([tf.shape(x)[1], 2], x[0, 0])


@idiom("b 3")
def initial_state(x):
    state = tf.zeros([tf.shape(x)[0], 4], tf.float64)
    for _ in range(3):
        state = tf.tanh(x @ tf.ones([3, 4], tf.float64) * 0.1 + state)
    return state


@idiom("b n")
def numbers(x):
    return x * tf.cast(tf.range(tf.shape(x)[1]), tf.float64), tf.range(1, tf.shape(x)[1], 2)


@idiom("n")
def evenly_spaced(x):
    return tf.linspace(0.0, 1.0, tf.shape(x)[0]), tf.linspace(x[0], x[1], tf.size(x))


@idiom("n n")
def identity_matrix(x):
    return x - tf.eye(tf.shape(x)[0], dtype=tf.float64)


@idiom("int b", "b n")
def one_hot(labels, x):
    return tf.one_hot(labels, tf.shape(x)[1], dtype=tf.float64) * x


@idiom("int b", "b n")
def padding_mask(lengths, x):
    mask = tf.sequence_mask(lengths + 1, tf.shape(x)[1], dtype=tf.float64)
    return x * mask, tf.sequence_mask(lengths)


@idiom("t 4")
def causal_mask(x):
    length = tf.shape(x)[0]
    scores = x @ tf.transpose(x)
    mask = tf.linalg.band_part(tf.ones([length, length], tf.float64), -1, 0)
    return tf.where(mask > 0, scores, -1e9), tf.linalg.band_part(scores, 1, 0)


@idiom("t 4")
def causal_mask_by_numbers(x):
    numbers = tf.range(tf.shape(x)[0])
    return tf.where(numbers[:, None] >= numbers, x @ tf.transpose(x), 0.0)


@idiom("t 4")
def positions(x):
    table = tf.constant(np.arange(40.0).reshape(10, 4))
    return x + table[: tf.shape(x)[0]]


@idiom("t 4")
def embedded_positions(x):
    table = tf.constant(np.linspace(0, 1, 40).reshape(10, 4))
    return x + tf.gather(table, tf.range(tf.shape(x)[0]))


# Picking.


@idiom("b n")
def slices(x):
    return x[:, :2], x[1:], x[:, ::2], x[:, ::-1], x[..., -1], x[0]


@idiom("h n", "b")
def slice_by_size(x, y):
    return x[: tf.shape(y)[0]], x[tf.shape(y)[0] - 1 : -1], x[: tf.minimum(tf.shape(x)[0], 20)]


@idiom("b t 4")
def last_step(x):
    return x[:, -1], x[:, tf.shape(x)[1] - 1, :]


@idiom("n 3", "int")
def row_by_number(x, i):
    return x[i], x[i, 1], x[:, i], x[..., i], x[i][None]


@idiom("n 3", "int")
def slice_by_number(x, i):
    return tf.reduce_sum(x[:i]), tf.reduce_sum(x[i:], 0), tf.slice(x, [i, 0], [1, -1])


@idiom("b n")
def differences(x):
    return x[:, 1:] - x[:, :-1]


@idiom("int b", "n 3")
def embedding(ids, table):
    return tf.nn.embedding_lookup(table, ids), tf.gather(table, ids)


@idiom("int b", "b n")
def picked_from_each(ids, x):
    pairs = tf.stack([tf.range(tf.shape(x)[0]), ids], 1)
    return tf.gather_nd(x, pairs), tf.gather(x, ids[:, None], batch_dims=1)


@idiom("b n")
def masked_away(x):
    return tf.boolean_mask(x, x > 0), x[x > 0]


@idiom("b n")
def where_it_is(x):
    places = tf.where(x > 0)
    return places, tf.gather_nd(x, places)


@idiom("int n")
def distinct(x):
    return tf.unique(x)


@idiom("b n")
def largest(x):
    return tf.math.top_k(x, 2), tf.argmax(x, 1), tf.sort(x, 1)


# Joining and parting.


@idiom("b 3", "b n")
def joined(x, y):
    return tf.concat([x, y, y], 1), tf.concat([tf.shape(x), tf.shape(y)], 0)


@idiom("b n")
def stacked(x):
    return tf.stack([x, 2.0 * x], 1), tf.unstack(tf.stack([x, x * x]))


@idiom("b 6")
def split(x):
    return tf.split(x, 3, 1), tf.split(x, [1, 2, -1], 1)


@idiom("h")
def split_in_two(x):
    half = tf.shape(x)[0] // 2
    return x[:half], x[half:]


@idiom("b n")
def tiled(x):
    return tf.tile(x, [2, 3]), tf.tile(x[None], [tf.shape(x)[0], 1, 1]), tf.repeat(x, 2, 0)


@idiom("b n")
def padded(x):
    room = 12 - tf.shape(x)[1]
    return tf.pad(x, [[0, 0], [1, 2]]), tf.pad(x, [[0, 0], [0, room]])


@idiom("b n")
def turned(x):
    return tf.reverse(x, [1]), tf.roll(x, 1, 1)


@idiom("int b", "b 3")
def scattered(ids, x):
    count = tf.shape(x)[0] + 3
    sums = tf.math.unsorted_segment_sum(x, ids, count)
    return sums, tf.scatter_nd(ids[:, None], x, [count, 3])


# Computing.


@idiom("b n")
def means(x):
    return tf.reduce_mean(x), tf.reduce_mean(x, 1), tf.math.reduce_std(x, 0)


@idiom("b n")
def softmaxes(x):
    return tf.nn.softmax(x), tf.reduce_logsumexp(x, 1), tf.nn.l2_normalize(x, 1)


@idiom("b n")
def running(x):
    return tf.cumsum(x, 1), tf.math.cumprod(x, 0, exclusive=True), tf.reduce_prod(x, 1)


@idiom("b t 4", "b s 4")
def products(x, y):
    return tf.matmul(x, y, transpose_b=True), tf.einsum("btd,bsd->bst", x, y)


@idiom("b t 4")
def contracted(x):
    return tf.tensordot(x, tf.ones([4, 3], tf.float64), 1), tf.einsum("bti->i", x)


@idiom("b t 4", "b s 4", "int b")
def attention(x, y, lengths):
    scores = tf.matmul(x, y, transpose_b=True) / tf.sqrt(tf.cast(tf.shape(x)[-1], tf.float64))
    mask = tf.sequence_mask(lengths + 1, tf.shape(y)[1])
    scores = tf.where(
        mask[:, None, :], scores, tf.fill(tf.shape(scores), tf.constant(-1e9, x.dtype))
    )
    return tf.nn.softmax(scores) @ y


@idiom("b t 4")
def causal_attention_of_heads(x):
    batch, length = tf.shape(x)[0], tf.shape(x)[1]
    heads = tf.transpose(tf.reshape(x, [batch, length, 2, 2]), [0, 2, 1, 3])
    scores = tf.matmul(heads, heads, transpose_b=True)
    seen = tf.linalg.band_part(tf.ones([length, length], tf.bool), -1, 0)
    out = tf.nn.softmax(tf.where(seen, scores, tf.constant(-np.inf, x.dtype))) @ heads
    return tf.reshape(tf.transpose(out, [0, 2, 1, 3]), [batch, length, 4])


@idiom("b n 10")
def batch_norm(x):
    mean, variance = tf.nn.moments(x, [0, 1])
    return tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3)


@idiom("b n")
def layer_norm(x):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-6)


@idiom("b h w 2")
def convolved(x):
    filters = tf.constant(np.linspace(-1, 1, 3 * 3 * 2 * 3).reshape(3, 3, 2, 3))
    same = tf.nn.conv2d(x, filters, 1, "SAME")
    return same, tf.nn.conv2d(x, filters, 2, "VALID")


@idiom("b h w 2")
def pooled(x):
    return tf.nn.max_pool2d(x, 2, 2, "VALID"), tf.nn.avg_pool2d(x, 2, 2, "SAME")


@idiom("b h w 2")
def pooled_globally(x):
    return tf.reduce_mean(x, [1, 2]), tf.reduce_max(x, [1, 2])


@idiom("b h w 2")
def upsampled(x):
    filters = tf.constant(np.linspace(-1, 1, 2 * 2 * 3 * 2).reshape(2, 2, 3, 2))
    shape = tf.shape(x)
    out = tf.stack([shape[0], shape[1] * 2, shape[2] * 2, 3])
    return tf.nn.conv2d_transpose(x, filters, out, 2)


@idiom("b 6 4 2")
def resized(x):
    return tf.image.resize(x, [3, 8]), tf.image.resize(x, [5, 5], "nearest")


@idiom("b n", "b n")
def squared_error(x, y):
    return tf.reduce_mean(tf.math.squared_difference(x, y)), tf.nn.l2_loss(x - y)


@idiom("int b", "b n")
def cross_entropy(labels, x):
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
    dense = tf.one_hot(labels, tf.shape(x)[1], dtype=x.dtype)
    return tf.reduce_mean(sparse), tf.nn.softmax_cross_entropy_with_logits(dense, x)


@idiom("b n", "b n")
def binary_cross_entropy(x, y):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(tf.sigmoid(y), x))


@idiom("int b", "b n")
def masked_loss(labels, x):
    mask = tf.cast(labels > 0, x.dtype)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
    return tf.reduce_sum(losses * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)


@idiom("b n")
def accuracy(x):
    right = tf.equal(tf.argmax(x, 1), tf.argmax(x * x, 1))
    return tf.reduce_mean(tf.cast(right, tf.float64)), tf.math.count_nonzero(right)


@idiom("b n")
def clipped(x):
    return tf.clip_by_value(x, -0.5, 0.5), tf.clip_by_norm(x, 1.0), tf.linalg.norm(x, axis=1)


@idiom("b n")
def random_numbers(x):
    noise = tf.random.stateless_normal(tf.shape(x), [1, 2], dtype=x.dtype)
    return x + noise, tf.random.stateless_uniform([tf.shape(x)[1]], [3, 4])


@idiom("t b 3")
def recurrent(x):
    def step(state: Any, row: Any) -> Any:
        return tf.tanh(row + 0.5 * state)

    return tf.scan(step, x, tf.zeros([tf.shape(x)[1], 3], x.dtype))


@idiom("t b 3")
def recurrent_loop(x):
    def body(i: Any, state: Any) -> Any:
        return i + 1, tf.tanh(x[i] + 0.5 * state)

    state = tf.zeros([tf.shape(x)[1], 3], x.dtype)
    return tf.while_loop(lambda i, _: i < tf.shape(x)[0], body, [0, state])[1]


@idiom("b n")
def mapped(x):
    return tf.map_fn(lambda row: tf.reduce_sum(row * row), x)


@idiom("b n")
def each_by_itself(x):
    return tf.vectorized_map(lambda row: row / tf.reduce_sum(tf.exp(row)), x)


@idiom("b n n")
def solved(x):
    matrix = x @ tf.transpose(x, [0, 2, 1]) + tf.eye(tf.shape(x)[1], dtype=x.dtype)
    return tf.linalg.solve(matrix, x), tf.linalg.cholesky(matrix), tf.linalg.diag_part(matrix)


@pytest.mark.parametrize("jit_compile", EXECUTORS)
@pytest.mark.parametrize("idiom", [pytest.param(i, id=i.function.__name__) for i in IDIOMS])
@pytest.mark.sample(16)
def test_idiom(idiom: Idiom, jit_compile: bool):
    def python(*xs: Any) -> list[Any]:
        return with_gradients(idiom.function, *xs)

    compiled = tf.function(
        python, input_signature=idiom.signature(), jit_compile=jit_compile, autograph=False
    )
    for sizes in SIZES:
        values = idiom.values(sizes)
        results, expected = compiled(*values), python(*values)
        for i, (y, value) in enumerate(zip(results, expected, strict=True)):
            assert (y.dtype, y.shape) == (value.dtype, value.shape)
            case = f"result {i} for sizes {sizes}"
            assert_near(np.asarray(y), np.asarray(value), case, roundings=2**17)
    assert compiled.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("jit_compile", EXECUTORS)
def test_dropout(jit_compile: bool):
    signature = [tf.TensorSpec([None, None], tf.float64)]

    @tf.function(input_signature=signature, jit_compile=jit_compile, autograph=False)
    def dropped(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.dropout(x, 0.5)
        return y, tape.gradient(y, x)

    for shape in ([20, 30], [50, 3]):
        y, slope = dropped(tf.ones(shape, tf.float64))
        np.testing.assert_array_equal(y, slope)
        assert set(np.unique(y)) == {0.0, 2.0}
        assert y.shape == shape
    assert dropped.experimental_get_tracing_count() == 1


def test_sizes_that_must_be_equal_are_when_nothing_is_known_of_them():
    def f(x, y, z):
        return tf.matmul(x + y, z)

    row = tf.TensorSpec([None, None], tf.float32)
    traced = tf.function(f, input_signature=[row, row, row])
    assert traced.get_concrete_function().structured_outputs.shape.as_list() == [None, None]
    x, z = np.ones((2, 3), np.float32), np.ones((3, 5), np.float32)
    np.testing.assert_array_equal(traced(x, x, z), 6 * np.ones((2, 5)))
    np.testing.assert_array_equal(traced(x, x[:1], z), 6 * np.ones((2, 5)))  # broadcast after all


def test_a_size_to_be_worked_out_need_not_fit_what_is_only_made_up():
    flattened = tf.function(
        lambda x: tf.reshape(x, [-1, 15]) ** 2, input_signature=[tf.TensorSpec([None, None, 1])]
    )
    concrete = flattened.get_concrete_function()  # without a call nothing is known of the sizes
    assert concrete.structured_outputs.shape.as_list() == [None, 15]
    for rows in (3, 6):
        x = tf.ones([rows, 10, 1])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = concrete(x)
        assert y.shape == (rows * 10 // 15, 15)
        np.testing.assert_array_equal(tape.gradient(y, x), 2 * np.ones([rows, 10, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="reshape"):
        concrete(tf.ones([3, 11, 1]))


def test_slices_and_windows_fit_when_nothing_is_known_of_the_size():
    def f(x):
        return x[:, 20:], tf.nn.conv1d(x, tf.ones([11, 3, 2]), stride=1, padding="VALID")

    traced = tf.function(f, input_signature=[tf.TensorSpec([None, None, 3])])
    rest, windows = traced.get_concrete_function().structured_outputs
    assert rest.shape.as_list() == [None, None, 3]
    assert windows.shape.as_list() == [None, None, 2]
    for size in (30, 25):
        rest, windows = traced(tf.ones([2, size, 3]))
        assert rest.shape == (2, size - 20, 3)
        assert windows.shape == (2, size - 10, 2)
    assert traced.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("jit_compile", [False, True], ids=["numpy", "xla"])
def test_ensure_shape_tells_sizes_and_checks_them_when_the_function_runs(jit_compile: bool):
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([None, None])], jit_compile=jit_compile)
    def f(x):
        y = tf.ensure_shape(x, [None, 3])
        shapes.append(y.shape.as_list())
        return tf.reduce_sum(tf.square(y))

    x = tf.ones([2, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * np.ones([2, 3]))
    assert f(tf.ones([5, 3])).numpy() == 15.0
    assert shapes == [[None, 3]]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"ensure_shape.*\(2, 4\).*\(None, 3\)"
    ):
        f(tf.ones([2, 4]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="ensure_shape"):
        tf.function(lambda x: tf.ensure_shape(x, [None, 4]))(x)


def test_set_shape_tells_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def f(x):
        y = x * 2.0
        y.set_shape([None, 3])
        assert y.shape.as_list() == [None, 3]
        with pytest.raises(ValueError, match="not compatible"):
            y.set_shape([None, 4])
        return y

    assert f(tf.ones([2, 3])).shape == (2, 3)
