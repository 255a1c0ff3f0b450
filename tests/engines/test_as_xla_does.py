"""With `jit_compile=True` values are what XLA makes of them, and `docs/function.md` lists how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("jax")

DOCUMENT = Path(__file__).parents[2] / "docs" / "function.md"
NAN, INF = float("nan"), float("inf")

# A call, its function and arguments. What it gives in both ways is found by running it.
CALLS: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("tf.gather([1, 2, 3], [0, 9])", tf.gather, ([1, 2, 3], [0, 9])),
    ("tf.gather_nd([1, 2, 3], [[-1]])", tf.gather_nd, ([1, 2, 3], [[-1]])),
    ("tf.scatter_nd([[9]], [1], [3])", lambda i, x: tf.scatter_nd(i, x, [3]), ([[9]], [1])),
    (
        "tf.tensor_scatter_nd_update([1, 2], [[9]], [5])",
        tf.tensor_scatter_nd_update,
        ([1, 2], [[9]], [5]),
    ),
    (
        "tf.math.unsorted_segment_sum([1, 2], [0, 9], 2)",
        lambda x, i: tf.math.unsorted_segment_sum(x, i, 2),
        ([1, 2], [0, 9]),
    ),
    (
        "tf.math.bincount([0, -1], minlength=2, maxlength=2)",
        lambda x: tf.math.bincount(x, minlength=2, maxlength=2),
        ([0, -1],),
    ),
    (
        "tf.nn.sparse_softmax_cross_entropy_with_logits([9], [[1., 1.]])",
        tf.nn.sparse_softmax_cross_entropy_with_logits,
        ([9], [[1.0, 1.0]]),
    ),
    ("tf.constant(7) // 0", lambda x, y: x // y, (7, 0)),
    ("tf.constant(7) % 0", lambda x, y: x % y, (7, 0)),
    ("tf.pow(2, -1)", tf.pow, (2, -1)),
    ("tf.linalg.inv([[1., 2.], [2., 4.]])", tf.linalg.inv, ([[1.0, 2.0], [2.0, 4.0]],)),
    ("tf.linalg.eigvalsh([[nan]])", tf.linalg.eigvalsh, ([[NAN]],)),
    ("tf.math.invert_permutation([0, 0])", tf.math.invert_permutation, ([0, 0],)),
    (
        "tf.constant([nan, inf]) * tf.cast([False, False], tf.float32)",
        lambda x, keep: x * tf.cast(keep, tf.float32),
        ([NAN, INF], [False, False]),
    ),
]

# What some versions of XLA simplify, and others compute as it stands.
SIMPLIFIED: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("(tf.constant(0.) * 1e30) * 1e30", lambda x: (x * 1e30) * 1e30, (0.0,)),
    ("tf.math.log(tf.exp(1000.))", lambda x: tf.math.log(tf.exp(x)), (1000.0,)),
    ("tf.exp(1000.) / tf.exp(1000.)", lambda x, y: tf.exp(x) / tf.exp(y), (1000.0, 1000.0)),
]


def outcome(function: Any, arguments: tuple[Any, ...]) -> str:
    """What a call gives, in the words of the table."""
    try:
        found = function(*[tf.constant(x) for x in arguments]).numpy()
    except tf.errors.InvalidArgumentError:
        return "`InvalidArgumentError`"
    return f"`{np.asarray(found).tolist()}`"


@pytest.mark.parametrize(("call", "function", "arguments"), CALLS, ids=[c for c, _, _ in CALLS])
@pytest.mark.sample(3)
def test_the_table_is_true(call: str, function: Any, arguments: tuple[Any, ...]):
    eager = outcome(function, arguments)
    compiled = outcome(tf.function(function, jit_compile=True), arguments)
    assert eager != compiled, "there is nothing to tell"
    assert outcome(tf.function(function), arguments) == eager
    assert f"| `{call}` | {eager} | {compiled} |" in DOCUMENT.read_text()


@pytest.mark.parametrize(
    ("call", "function", "arguments"), SIMPLIFIED, ids=[c for c, _, _ in SIMPLIFIED]
)
def test_a_simplification_is_in_the_table(call: str, function: Any, arguments: tuple[Any, ...]):
    eager = outcome(function, arguments)
    compiled = outcome(tf.function(function, jit_compile=True), arguments)
    assert outcome(tf.function(function), arguments) == eager
    row = f"| `{call}` | {eager} | "
    assert row in DOCUMENT.read_text()
    if compiled != eager:
        assert f"{row}{compiled} |" in DOCUMENT.read_text()


def test_a_float_that_is_no_integer_is_cast_to_the_nearest():
    cast = tf.function(lambda x: tf.cast(x, tf.int32), jit_compile=True)
    limits = np.iinfo(np.int32)
    assert cast(tf.constant([NAN, INF, -INF])).numpy().tolist() == [0, limits.max, limits.min]
