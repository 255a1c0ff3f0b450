"""Hostile inputs: what eager mode refuses, and what engines are prone to answer in another way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow._src.primitives.elementwise.binary import left_shift, right_shift

NAN, INF = float("nan"), float("inf")
X = np.arange(12, dtype=np.float32).reshape(4, 3)
SMALL, MOST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


@dataclass
class Row:
    """A function, arguments that it takes, and hostile ones."""

    function: Callable[..., Any]
    good: tuple[Any, ...]
    bad: tuple[Any, ...]


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def floats(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient by the first argument, and nothing else: the function's own value is not asked for."""

    def of(x: Any, *rest: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, *rest)
        return tf.convert_to_tensor(tape.gradient(y, x))

    return of


def both(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *rest: (function(x, *rest), gradient(function)(x, *rest))


def total(ids: Any) -> Any:
    """A row number that no check can know before the program runs: it is computed in floats."""
    return tf.cast(tf.reduce_sum(tf.sqrt(tf.square(tf.cast(ids, tf.float32)))), tf.int32)


def divided_in_a_loop(n: Any) -> Any:
    left = tf.constant(1000)
    while n > -3:
        left = left // n
        n -= 1
    return left


def divided_in_a_condition(n: Any) -> Any:
    while 10 // n > 1:
        n -= 2
    return n


def divided_in_a_branch(n: Any, by: Any) -> Any:
    return tf.cond(n > 0, lambda: n // by, lambda: n)


def gathered_in_turn(x: Any, rows: Any) -> Any:
    return tf.map_fn(lambda row: tf.gather(x, row), rows, fn_output_signature=tf.float32)


def scattered(kind: str) -> Callable[..., Any]:
    function = getattr(tf, f"tensor_scatter_nd_{kind}")
    return lambda x, at: function(x, at, tf.ones([2, 3]))


def segments(kind: str) -> Row:
    function = getattr(tf.math, f"unsorted_segment_{kind}")
    return Row(
        both(lambda x, ids: function(x, ids, 3)), (X, ints(0, 2, -1, 1)), (X, ints(0, 2, 3, 1))
    )


def told_to_be_small(x: Any) -> Any:
    tf.debugging.assert_less(x, 5, "five or more")
    return tf.gather(X[:, 0], x)  # which would refuse it, too, but in other words


SINGULAR, REGULAR = floats([1, 2], [2, 4]), floats([1, 2], [2, 5])
WITH_NAN = floats([1, 2], [NAN, 5])
LOGITS, LABELS = X[:2], ints(0, 2)
SEED = ints(1, 2)
entropy = tf.nn.sparse_softmax_cross_entropy_with_logits

REFUSED: dict[str, Row] = {
    # Rows and places by number.
    "gather": Row(tf.gather, (X, ints(0, 3)), (X, ints(0, 4))),
    "gather, negative": Row(tf.gather, (X, ints(0, 3)), (X, ints(-1, 3))),
    "gather, far away": Row(tf.gather, (X, np.array([0])), (X, np.array([2**32]))),
    "gather, columns": Row(
        both(lambda x, i: tf.gather(x, i, axis=1)), (X, ints(0, 2)), (X, ints(0, 3))
    ),
    "gather, batches": Row(
        both(lambda x, i: tf.gather(x, i, axis=1, batch_dims=1)),
        (X, ints([0], [1], [2], [0])),
        (X, ints([0], [1], [3], [0])),
    ),
    "gather, computed": Row(
        lambda x, i: tf.gather(x, [total(i)]), (X, ints(1, -2)), (X, ints(2, -2))
    ),
    "gather, in turn": Row(gathered_in_turn, (X, ints(0, 3)), (X, ints(0, 4))),
    "embedding": Row(
        both(lambda x, i: tf.nn.embedding_lookup(x, i)), (X, ints([0, 3])), (X, ints([0, 4]))
    ),
    "gather_nd": Row(both(tf.gather_nd), (X, ints([0, 2], [3, 1])), (X, ints([0, 2], [3, 3]))),
    "scatter_nd": Row(
        lambda at, x: tf.scatter_nd(at, x, [5]),
        (ints([4], [0]), X[:2, 0]),
        (ints([5], [0]), X[:2, 0]),
    ),
    **{
        f"tensor_scatter_nd_{kind}": Row(scattered(kind), (X, ints([0], [3])), (X, ints([0], [-1])))
        for kind in ("update", "add", "sub", "max", "min")
    },
    # Classes, segments and counts.
    "labels": Row(lambda x, y: entropy(labels=y, logits=x), (LOGITS, LABELS), (LOGITS, ints(0, 3))),
    "labels, int64": Row(
        lambda x, y: entropy(labels=y, logits=x),
        (LOGITS, LABELS.astype(np.int64)),
        (LOGITS, np.array([0, -1])),
    ),
    "labels in floats": Row(
        both(lambda x, y: entropy(labels=tf.cast(y, tf.int32), logits=x)),
        (LOGITS, floats(*LABELS)),
        (LOGITS, floats(0, 3.9)),
    ),
    "labels, gradient alone": Row(
        gradient(lambda x, y: entropy(labels=y, logits=x)), (LOGITS, LABELS), (LOGITS, ints(0, -1))
    ),
    **{f"unsorted_segment_{kind}": segments(kind) for kind in ("sum", "max", "min", "prod")},
    "bincount": Row(
        lambda x: tf.math.bincount(x, minlength=4, maxlength=4), (ints(0, 3, 9),), (ints(0, -3, 9),)
    ),
    "histogram": Row(
        lambda x, limits: tf.histogram_fixed_width(x, limits, 4),
        (X[0], floats(0, 3)),
        (X[0], floats(3, 0)),
    ),
    # Arithmetic with integers.
    "floor_divide": Row(lambda x, y: x // y, (ints(7, 8), ints(2, 3)), (ints(7, 8), ints(2, 0))),
    "floor_divide, unsigned": Row(
        lambda x, y: x // y, (np.uint8([7]), np.uint8([2])), (np.uint8([7]), np.uint8([0]))
    ),
    "floormod": Row(tf.math.floormod, (ints(7), ints(2)), (ints(7), ints(0))),
    "truncatediv": Row(tf.truncatediv, (ints(-7), ints(2)), (ints(-7), ints(0))),
    "truncatemod": Row(tf.truncatemod, (ints(-7), ints(2)), (ints(-7), ints(0))),
    "power": Row(tf.pow, (ints(2, 3), ints(3, 0)), (ints(2, 3), ints(3, -1))),
    "division in a loop": Row(divided_in_a_loop, (np.int32(-5),), (np.int32(5),)),
    "division in a condition": Row(divided_in_a_condition, (np.int32(7),), (np.int32(4),)),
    "division in a branch": Row(
        divided_in_a_branch, (np.int32(-7), np.int32(0)), (np.int32(7), np.int32(0))
    ),
    # Matrices.
    "inv": Row(tf.linalg.inv, (REGULAR,), (SINGULAR,)),
    "solve": Row(tf.linalg.solve, (REGULAR, X[:2]), (SINGULAR, X[:2])),
    "lu": Row(tf.linalg.lu, (REGULAR,), (SINGULAR,)),
    "eigh": Row(lambda x: tf.linalg.eigh(x)[0], (REGULAR,), (WITH_NAN,)),
    "eigvalsh": Row(tf.linalg.eigvalsh, (REGULAR,), (WITH_NAN,)),
    "eig": Row(lambda x: tf.math.real(tf.linalg.eig(x)[0]), (floats([1, 2], [0, 3]),), (WITH_NAN,)),
    "eigvals": Row(
        lambda x: tf.math.real(tf.linalg.eigvals(x)), (floats([1, 2], [0, 3]),), (WITH_NAN,)
    ),
    # Sequences.
    "reverse_sequence": Row(
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=1),
        (X, ints(0, 1, 2, 3)),
        (X, ints(0, 1, 2, 4)),
    ),
    "invert_permutation": Row(tf.math.invert_permutation, (ints(2, 0, 1),), (ints(2, 0, 2),)),
    "unravel_index": Row(tf.unravel_index, (ints(5, 0), ints(2, 3)), (ints(6, 0), ints(2, 3))),
    # Random numbers.
    "integers": Row(
        lambda seed, low: tf.random.stateless_uniform([3], seed, low, 5, tf.int32),
        (SEED, np.int32(2)),
        (SEED, np.int32(5)),
    ),
    "dropout": Row(
        lambda x, rate: tf.nn.dropout(x, rate) * 0.0,
        (X, np.float32(0.5)),
        (X, np.float32(NAN)),
    ),
    "truncated normal": Row(
        lambda seed, low: tf.random.stateless_parameterized_truncated_normal(
            [3], seed, minvals=low, maxvals=1.0
        ),
        (SEED, np.float32(0)),
        (SEED, np.float32(2)),
    ),
    # What the user says.
    "check_numerics": Row(
        lambda x: tf.debugging.check_numerics(x * 2, "here"), (X,), (np.full_like(X, NAN),)
    ),
    "an assertion first": Row(told_to_be_small, (ints(3),), (ints(7),)),
}


def masked(x: Any, keep: Any) -> Any:
    return x * tf.cast(keep, x.dtype)


def as_type(dtype: Any) -> Callable[..., Any]:
    return lambda x: tf.cast(x, dtype)


def empty(function: Callable[..., Any]) -> Row:
    return Row(lambda x: function(x, axis=1), (X,), (X[:, :0],))


BOOLS = np.array([True, False, False])
ODD = floats(NAN, INF, -INF, -0.0, 3.5e9, -3.5e9)
BITS = ints(1, -1, MOST, SMALL)
UNSORTED = floats(3, 1, 2, 0)
SCALES = floats(0, 1e-30, 1)

ANSWERED: dict[str, Row] = {
    # A float that is no integer, and integers without end.
    "cast to int32": Row(as_type(tf.int32), (X,), (ODD,)),
    "cast to int64": Row(as_type(tf.int64), (X,), (ODD * 1e10,)),
    "cast to uint8": Row(as_type(tf.uint8), (X,), (ODD,)),
    "cast to int8": Row(as_type(tf.int8), (X,), (floats(127.9, 128, -128.9, -129, NAN, 1e9),)),
    "cast to bool": Row(as_type(tf.bool), (X,), (ODD,)),
    "cast of a complex number": Row(
        as_type(tf.int32), (X.astype(np.complex64),), (np.complex64([NAN + 1j, 2 + 3j]),)
    ),
    "overflow": Row(
        lambda x, y: (x + y, x * y, -x), (BITS, BITS[::-1]), (BITS, ints(1, SMALL, 2, -1))
    ),
    "the least by -1": Row(
        lambda x, y: (x // y, x % y, tf.truncatediv(x, y)), (BITS, BITS), (ints(SMALL), ints(-1))
    ),
    "shifts": Row(
        lambda x, n: (left_shift(x, n), right_shift(x, n)),
        (BITS, ints(1, 2, 3, 4)),
        (BITS, ints(31, 32, 40, 64)),
    ),
    "power of integers": Row(tf.pow, (BITS, ints(1, 2, 0, 1)), (BITS, ints(40, 41, 3, 5))),
    "one_hot": Row(lambda i: tf.one_hot(i, 3), (ints(0, 2),), (ints(-1, 3, SMALL),)),
    "segments, dropped": Row(
        lambda x, i: tf.math.unsorted_segment_sum(x, i, 3),
        (X, np.array([0, 1, 2, 0])),
        (X, np.array([0, -1, -(2**63), 1])),
    ),
    # NaN and infinity.
    "masked NaN": Row(masked, (floats(1, 2, 3), BOOLS), (floats(1, NAN, INF), BOOLS)),
    "gradient of relu": Row(
        gradient(lambda x, g: tf.nn.relu(x) * g),
        (floats(-1, 0, 2), floats(1, 2, 3)),
        (floats(-1, 0, 2), floats(NAN, INF, 3)),
    ),
    "comparisons": Row(
        lambda x, y: (x < y, x == y, x != y, tf.logical_not(x >= y)), (ODD, ODD[::-1]), (ODD, ODD)
    ),
    "argmax": Row(
        lambda x: (tf.argmax(x, 1), tf.argmin(x, 1)), (X,), (floats([NAN, 1, 2], [1, NAN, NAN]),)
    ),
    "sort": Row(
        lambda x: (tf.sort(x), tf.argsort(x)), (X,), (floats([NAN, 1, -0.0, 0.0, -NAN, INF]),)
    ),
    "top_k": Row(lambda x: tf.math.top_k(x, 2), (X,), (floats([NAN, 1, INF, -NAN]),)),
    "extremes": Row(
        lambda x: (tf.reduce_max(x, 1), tf.reduce_min(x, 1)), (X,), (floats([NAN, 1], [1, INF]),)
    ),
    "softmax": Row(tf.nn.softmax, (X,), (floats([INF, 1], [NAN, 1], [-INF, -INF]),)),
    "fft": Row(lambda x: tf.abs(tf.signal.rfft(x)), (X,), (floats([INF, 1, 2, 3]),)),
    "modulus": Row(
        lambda x, y: tf.abs(tf.complex(x, y)), (X, X), (floats(NAN, INF), floats(INF, NAN))
    ),
    "searchsorted": Row(tf.searchsorted, (np.sort(UNSORTED), X[0]), (UNSORTED, X[0])),
    "categorical": Row(
        lambda x, seed: tf.random.stateless_categorical(x, 4, seed),
        (X, SEED),
        (floats([NAN, NAN], [-INF, -INF], [INF, 1]), SEED),
    ),
    "poisson": Row(
        lambda lam, seed: tf.random.stateless_poisson([4], seed, lam, tf.int32),
        (np.float32(3), SEED),
        (np.float32(NAN), SEED),
    ),
    "binomial": Row(
        lambda n, seed: tf.random.stateless_binomial([4], seed, n, 0.5, tf.int32),
        (np.float32(9), SEED),
        (np.float32(INF), SEED),
    ),
    # What is nothing.
    **{
        f"{name} of nothing": empty(getattr(tf, name))
        for name in ("reduce_max", "reduce_min", "reduce_sum", "reduce_prod", "reduce_mean")
    },
    "logsumexp of nothing": empty(tf.reduce_logsumexp),
    # Rewritings that hold for real numbers alone.
    "factors without end": Row(lambda x: (x * 1e30) * 1e30, (X,), (SCALES,)),
    "a sum without end": Row(lambda x: (x + 1e38) + 3e38, (X,), (floats(-3e38, -INF, 1),)),
    "quotients": Row(
        lambda x, y: ((x / y) / x, x / (y / x)),
        (X + 1, X + 1),
        (floats(3e37, 1e-20), floats(1e-3, 0)),
    ),
    "logarithm of a power": Row(
        lambda x, y: tf.math.log(x**y), (X + 1, X), (floats(-2, 1e20, 2), floats(1, 3, 200))
    ),
    "logarithm of an exponential": Row(
        lambda x: tf.math.log(tf.exp(x)), (X,), (floats(1000, -1000, 1e-9),)
    ),
    "product of exponentials": Row(
        lambda x, y: (tf.exp(x) * tf.exp(y), tf.exp(x) / tf.exp(y)),
        (X, X),
        (floats(1000, 1e4), floats(-1000, 1e4)),
    ),
    "power of an exponential": Row(
        lambda x, y: tf.exp(x) ** y, (X, X), (floats(INF, 1000), floats(0, 0))
    ),
    "root of a square": Row(lambda x: tf.sqrt(x * x), (X,), (floats(1e30, -2, INF),)),
    # Matrices that have no decomposition, or not quite.
    "cholesky": Row(tf.linalg.cholesky, (floats([2, 1], [1, 2]),), (floats([1, 2], [2, 1]),)),
    "cholesky of NaN": Row(tf.linalg.cholesky, (floats([2, 1], [1, 2]),), (WITH_NAN,)),
    "det": Row(tf.linalg.det, (REGULAR,), (floats([INF, 1], [1, 1]),)),
    "slogdet": Row(tf.linalg.slogdet, (REGULAR,), (floats([NAN, 1], [1, 1]),)),
    "qr": Row(lambda x: tf.abs(tf.linalg.qr(x)[1]), (REGULAR,), (floats([1, 2], [INF, 4]),)),
    "svd": Row(lambda x: tf.linalg.svd(x, compute_uv=False), (REGULAR,), (WITH_NAN,)),
    "vectors of the svd": Row(lambda x: tf.abs(tf.linalg.svd(x)[1]), (REGULAR,), (WITH_NAN,)),
    "pinv": Row(tf.linalg.pinv, (REGULAR,), (floats([1, 2], [NAN, NAN]),)),
    "pinv of infinity": Row(tf.linalg.pinv, (REGULAR,), (floats([1, 2], [INF, 4]),)),
    "pinv of a lower rank": Row(
        lambda x, limit: tf.linalg.pinv(x, rcond=limit),
        (REGULAR, np.float32(1e-6)),
        (SINGULAR, np.float32(1e-30)),
    ),
    "expm": Row(tf.linalg.expm, (REGULAR,), (WITH_NAN,)),
    "sqrtm": Row(tf.linalg.sqrtm, (floats([2, 1], [1, 2]),), (WITH_NAN,)),
    "logm": Row(
        tf.linalg.logm, (np.complex64([[2, 1], [1, 2]]),), (WITH_NAN.astype(np.complex64),)
    ),
    "tridiagonal": Row(
        lambda x, b: tf.linalg.tridiagonal_solve(x, b, "compact", partial_pivoting=False),
        (floats([1, 1, 0], [4, 4, 4], [0, 1, 1]), X[:3]),
        (floats([1, 1, 0], [0, 4, 4], [0, 1, 1]), X[:3]),
    ),
}
