"""Calls that draw random numbers, for TensorFlow and for us: each is a function of the module `tf`.

`SAME` has those that are the same to the last bit, on every processor. What goes through a logarithm or a sine in
double precision is the same up to the last places; that is `CLOSE`. `IN_FUNCTIONS` has the ones that are compiled,
too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[Any], Any]

SIZES = (1, 3, 4, 5, 7, 8, 255, 256, 257, 1000, 4095, 4096, 4097, 40001)
SEEDS = ((1, 2), (0, 0), (-5, 2**31 - 1))
SAME: dict[str, Call] = {}
CLOSE: dict[str, Call] = {}
IN_FUNCTIONS: dict[str, Call] = {}


def _sizes(table: dict[str, Call], name: str, call: Callable[..., Any]) -> None:
    """A stateless call for sizes around those of blocks and chunks, and for several seeds."""
    for seed in SEEDS:
        for n in SIZES if seed == SEEDS[0] else (1, 5, 257):
            key = f"{name}, {n}, seed {list(seed)}"
            table[key] = functools.partial(_called, call, n, seed)
    IN_FUNCTIONS[name] = functools.partial(_called, call, 1001, SEEDS[2])


def _called(call: Callable[..., Any], n: int, seed: tuple[int, int], tf: Any) -> Any:
    return call(tf, n, seed)


for _dtype in ("float16", "bfloat16", "float32", "float64"):
    for _op in ("uniform", "normal", "truncated_normal"):
        _sizes(
            CLOSE if _dtype == "float64" and _op != "uniform" else SAME,
            f"{_op} {_dtype}",
            lambda tf, n, seed, op=_op, dtype=_dtype: getattr(tf.random, f"stateless_{op}")(
                [n], seed, dtype=getattr(tf, dtype)
            ),
        )
for _dtype in ("int32", "int64"):
    _sizes(
        SAME,
        f"integers {_dtype}",
        lambda tf, n, seed, dtype=_dtype: tf.random.stateless_uniform(
            [n], seed, -7, 1000003, dtype=getattr(tf, dtype)
        ),
    )
for _dtype in ("int32", "int64", "uint32", "uint64"):
    _sizes(
        SAME,
        f"all integers {_dtype}",
        lambda tf, n, seed, dtype=_dtype: tf.random.stateless_uniform(
            [n], seed, None, None, dtype=getattr(tf, dtype)
        ),
    )
_sizes(
    SAME,
    "shuffle",
    lambda tf, n, seed: tf.random.experimental.stateless_shuffle(tf.range(n), seed),
)
for _dtype in ("float16", "float32", "float64"):
    _sizes(
        CLOSE,
        f"gamma {_dtype}",
        lambda tf, n, seed, dtype=_dtype: tf.random.stateless_gamma(
            [min(n, 1000), 5],
            seed,
            tf.constant([0.2, 0.9, 1, 1.5, 30], dtype),
            dtype=getattr(tf, dtype),
        ),
    )
    _sizes(
        SAME,
        f"poisson {_dtype}",
        lambda tf, n, seed, dtype=_dtype: tf.random.stateless_poisson(
            [min(n, 1000), 4], seed, tf.constant([0.2, 9, 10, 300], dtype), dtype=tf.int64
        ),
    )
    _sizes(
        SAME,
        f"binomial {_dtype}",
        lambda tf, n, seed, dtype=_dtype: tf.random.stateless_binomial(
            [min(n, 1000), 6],
            seed,
            tf.constant([3, 40, 40, 1000, 100, 7], dtype),
            tf.constant([0.2, 0.5, 0.9, 0.3, 0.99, 1], dtype),
        ),
    )
    # Few numbers: how many threads TensorFlow has decides what it draws for more.
    for _seed in SEEDS:
        CLOSE[f"bounded normal {_dtype}, seed {list(_seed)}"] = lambda tf, s=_seed, d=_dtype: (
            tf.random.stateless_parameterized_truncated_normal(
                [7, 4],
                s,
                tf.constant([0, 1, 2, 3], d),
                tf.constant([1, 2, 1, 0.5], d),
                tf.constant([-2, 0.5, 5, -9], d),
                tf.constant([2, 1, 9, 1], d),
            )
        )
        SAME[f"categorical {_dtype}, seed {list(_seed)}"] = lambda tf, s=_seed, d=_dtype: (
            tf.random.stateless_categorical(
                tf.constant([[0, 1, 2, -1], [3, 3, 3, 3], [-np.inf, 0, np.nan, 0]], d), 7, s
            )
        )


# Stateful ops, and what the seeds mean.


def _stateful(tf: Any) -> list[Any]:
    tf.random.set_seed(5)
    out = []
    for _ in range(2):
        for dtype in (tf.float32, tf.float64, tf.int32, tf.int64):
            out.append(tf.random.uniform([5], 0, 9, dtype=dtype, seed=3))
        out += [
            tf.random.uniform([3]),
            tf.random.uniform(tf.constant([2], tf.int64), seed=3),
            tf.random.normal([5], seed=3),
            tf.random.normal([2, 3], 1.0, 3.0),
            tf.random.truncated_normal([5], 2.0, 3.0, seed=3),
            tf.random.shuffle(tf.range(10), seed=3),
            tf.random.shuffle(tf.reshape(tf.range(10), [5, 2])),
            tf.random.categorical([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]], 3, seed=3),
            tf.random.poisson([5], [0.5, 30.0], seed=3),
            tf.random.poisson([5], 3.0, dtype=tf.int32),
            tf.nn.dropout(tf.ones([10]), 0.3, seed=3),
            tf.nn.dropout(tf.ones([10]), 0.0),
            tf.nn.dropout(tf.ones([50], tf.float64), 0.3),
            tf.cast(tf.nn.dropout(tf.ones([50], tf.bfloat16), 0.3), tf.float32),
            tf.image.random_crop(tf.reshape(tf.range(36), [6, 6]), [2, 2], seed=3),
            tf.image.random_flip_left_right(tf.reshape(tf.range(24.0), [6, 2, 2, 1])),
            tf.image.random_flip_up_down(tf.reshape(tf.range(12.0), [6, 2, 1])),
        ]
    return out


def _global_seeds(tf: Any) -> list[Any]:
    out = []
    for seed in (0, -3, 2**31 - 1, 2**40 + 1, np.int64(7)):
        tf.random.set_seed(seed)
        out += [tf.random.uniform([3]), tf.random.uniform([3], seed=0), tf.random.uniform([3])]
        out.append(tf.random.uniform([3], seed=-1))
    tf.random.set_seed(5)
    first = tf.random.uniform([3], seed=7)
    tf.random.set_seed(5)
    return [*out, first, tf.random.uniform([3], seed=7), tf.random.uniform([3], seed=7)]


def function_seeds(tf: Any, jit_compile: bool | None = None) -> list[Any]:
    """Ops of a function count themselves, and each goes on with its own numbers."""
    tf.random.set_seed(5)

    @tf.function
    def inner(n: Any) -> Any:
        return tf.random.uniform([n])

    @tf.function(**({} if jit_compile is None else {"jit_compile": jit_compile}))
    def outer(x: Any) -> Any:
        n = tf.shape(x)[0]
        first = tf.random.uniform([n])
        same = [tf.random.uniform([n], seed=7), tf.random.uniform([n], seed=7)]
        called = [inner(n), inner(n)]
        last = tf.random.normal([n])
        branch = tf.cond(
            x[0] > 0, lambda: tf.random.uniform([n]), lambda: tf.random.uniform([n]) * 2
        )
        total = tf.zeros([n])
        for _ in tf.range(3):
            total = total * 2 + tf.random.uniform([n])
        return [first, *same, *called, last, branch, total]

    out = [*outer(tf.ones([3])), *outer(tf.ones([3])), *outer(tf.zeros([5]))]
    tf.random.set_seed(6)
    return [*out, *outer(tf.ones([3])), inner(4), inner(4)]


def _op_seed_alone(tf: Any) -> list[Any]:
    tf.random.set_seed(None)
    out = [tf.random.uniform([3], seed=123454), tf.random.uniform([3], seed=123454)]
    traced = tf.function(lambda: tf.random.normal([3], seed=123454))
    return [*out, traced(), traced()]


def _generator(seed: Any, tf: Any) -> list[Any]:
    g = tf.random.Generator.from_seed(seed)
    out = [g.state.numpy()]
    for dtype in (tf.float16, tf.float32):
        for op in (g.normal, g.uniform, g.truncated_normal):
            out += [op([2, 3], dtype=dtype), g.state.numpy()]
    out += [g.uniform([5], -3, 10, dtype=tf.int64), g.uniform([5], 0, 10, dtype=tf.int32)]
    out += [g.uniform_full_int([5]), g.uniform_full_int([3], dtype=tf.int32), g.state.numpy()]
    out += [g.binomial([3, 2], [10.0, 100.0], [0.5, 0.3]), g.state.numpy()]
    out += [g.binomial([5], 9.0, 0.3), g.state.numpy()]
    out += [g.make_seeds(3), g.state.numpy()]
    parts = g.split(2)
    out += [part.state.numpy() for part in parts] + [parts[1].normal([3]), g.state.numpy()]
    out += [g.skip(3), g.state.numpy()]
    g.reset_from_seed(7)
    out += [g.normal([3])]
    g.reset_from_key_counter(5, [2**63 - 1, 1])
    traced = tf.function(lambda: g.normal([300]))
    return [*out, traced(), traced(), g.state.numpy()]


SAME["stateful ops"] = _stateful
SAME["global seeds"] = _global_seeds
SAME["functions"] = function_seeds
SAME["an op seed alone"] = _op_seed_alone
for _number, _seed in enumerate((1, [1, 2, 3], 2**70 + 5, -1)):
    SAME[f"generator {_number}"] = functools.partial(_generator, _seed)
SAME["split and fold_in"] = lambda tf: [
    tf.random.split([1, 2], 3),
    tf.random.split(tf.constant([1, 2], tf.int64), 3),
    tf.random.fold_in([1, 2], 3),
    tf.random.fold_in([1, 2], tf.constant(3, tf.int64)),
]
CLOSE["stateful gamma"] = lambda tf: [
    tf.random.set_seed(5),
    tf.random.gamma([5], [0.5, 1.0, 3.0], [[1.0], [2.0]], seed=3),
    tf.random.gamma([5], 0.5),
    tf.random.gamma([5], [0.5, 1.0, 3.0], [[1.0], [2.0]], seed=3),
][1:]


def _index_shuffles(tf: Any) -> list[Any]:
    f, seed = tf.random.experimental.index_shuffle, [5, 9]
    out = [f(tf.range(10), [5, 8], 9), f(tf.range(5), [-1, -(2**31)], 4)]
    for most in (0, 1, 2, 3, 9, 255, 256, 65535, 65536, 65537, 2**20, 2**31 - 1):
        out += [f(i, seed, most) for i in (0, 1, 2, most // 2, most) if i <= most]
    for most in (2**40, 2**62, 2**63 - 1):
        long = tf.constant(most, tf.int64)
        out += [f(tf.constant(i, tf.int64), seed, long) for i in (0, 1, most)]
    return out


SAME["index shuffles"] = _index_shuffles


def _images(tf: Any) -> list[Any]:
    image, batch = tf.reshape(tf.range(36), [6, 6, 1]), tf.reshape(tf.range(24.0), [6, 2, 2, 1])
    seed = [3, 4]
    return [
        tf.image.stateless_random_crop(image, [2, 2, 1], seed),
        tf.image.stateless_random_flip_left_right(batch, seed),
        tf.image.stateless_random_flip_up_down(batch, seed),
        tf.image.stateless_random_flip_up_down(batch[0], seed),
        tf.image.stateless_random_brightness(batch[0], 0.2, seed),
    ]


SAME["images"] = _images
SAME["initializers"] = lambda tf: [
    tf.random.set_seed(5),
    tf.random_uniform_initializer(seed=3)([4]),
    tf.random_uniform_initializer()([4]),
    tf.random_normal_initializer(1.0, 2.0)([4]),
][1:]


# Keras.


def _keras(tf: Any) -> list[Any]:
    keras, random = tf.keras, tf.keras.random
    keras.utils.set_random_seed(0)
    ones, out = np.ones(12, np.float32), []
    for name in ("glorot_uniform", "he_normal", "random_normal", "truncated_normal"):
        layer = keras.layers.Dense(3, kernel_initializer=name)
        layer.build((None, 2))
        out.append(layer.kernel.numpy())
    for layer in (keras.layers.Dropout(0.5), keras.layers.GaussianNoise(0.5)):
        out += [layer(ones, training=True), layer(ones, training=True)]
    for seed in (5, None, keras.random.SeedGenerator(7)):
        out += [
            random.normal([3], seed=seed),
            random.uniform([3], 1, 2, seed=seed),
            random.randint([3], 0, 100, seed=seed),
            random.randint([3], 0, 100, dtype="uint8", seed=seed),
            random.truncated_normal([3], 1.0, 2.0, seed=seed),
            random.categorical(np.zeros((1, 5), np.float32), 4, seed=seed),
            random.shuffle(np.arange(7), seed=seed),
            random.binomial([3], 10.0, 0.5, seed=seed),
            random.dropout(ones, 0.3, seed=seed),
        ]
    return [*out, tf.random.uniform([3])]


SAME["Keras"] = _keras
CLOSE["Keras, gamma and beta"] = lambda tf: [
    tf.keras.random.gamma([3], 0.5, seed=5),
    tf.keras.random.gamma([3], [0.5, 1.0, 2.0], seed=5),
    tf.keras.random.beta([3], 0.5, 2.0, seed=5),
]


# Datasets.


def _shuffled(buffer_size: int, anew: bool, seed: int | None, tf: Any) -> list[Any]:
    tf.random.set_seed(5)
    out = []
    for rows in (False, True):
        data = tf.data.Dataset.range(20)
        if rows:  # without a table
            data = data.filter(lambda x: x >= 0)
        data = data.shuffle(buffer_size, seed=seed, reshuffle_each_iteration=anew)
        out += [[int(x) for x in data] for _ in range(3)]
    return out


def _mixed(tf: Any) -> list[Any]:
    tf.random.set_seed(5)
    data = tf.data.Dataset
    numbers = data.range(6)
    each = [
        numbers.shuffle(6, seed=7).repeat(3),
        numbers.shuffle(4, seed=7).shuffle(3, seed=8),
        numbers.repeat(2).shuffle(4, seed=7),
        data.random(seed=4).take(5),
        data.random(seed=4, rerandomize_each_iteration=True).take(5),
        data.sample_from_datasets([numbers, data.range(20, 40)], [0.3, 0.7], seed=4),
    ]
    # In TensorFlow, the end of `repeat` counts as another pass, unless it follows `shuffle`.
    once = numbers.shuffle(6, seed=7).batch(2).repeat(3).unbatch()
    return [
        [int(x) for x in once],
        *[[int(x) for x in dataset] for dataset in each for _ in range(2)],
    ]


for _size in (3, 10, 100):
    for _anew in (True, False):
        for _seed in (None, 7):
            SAME[f"Dataset.shuffle({_size}, {_seed}, {_anew})"] = functools.partial(
                _shuffled, _size, _anew, _seed
            )
SAME["other datasets"] = _mixed
