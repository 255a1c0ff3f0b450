"""Products of loops that are computed before or after them: which these are, and that results are those of the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.engines.only import run_all_on

import tapeflow as tf
from tapeflow._src.engines.xla import lower
from tapeflow._src.engines.xla.hoisting import rolled, rules, while_loops
from tapeflow._src.graph.repeats import rolling as graph_rolling

TURNS, BATCH, WIDTH = 12, 4, 16


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is computed outside of loops. Programs of any length are searched for loops."""
    found: list[str] = []

    def noting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any) -> Any:
            found.append(name)
            return function(*args)

        return noted

    monkeypatch.setattr(lower, "_LONG", 10)
    monkeypatch.setattr(lower, "_LIGHT", 0)
    monkeypatch.setattr(graph_rolling, "_LEAST", 4)
    for module in (rolled, while_loops):
        monkeypatch.setattr(module, "product_of_all", noting("product", rules.product_of_all))
        monkeypatch.setattr(module, "sum_of_all", noting("sum", rules.sum_of_all))
    run_all_on(monkeypatch, "xla")
    return found


def normal(*shape: int, seed: int = 0, dtype: Any = np.float32) -> tf.Tensor:
    return tf.constant((np.random.RandomState(seed).randn(*shape) / 3).astype(dtype))


def weights(dtype: Any = np.float32) -> list[tf.Tensor]:
    return [
        normal(WIDTH, WIDTH, seed=1, dtype=dtype),
        normal(WIDTH, WIDTH, seed=2, dtype=dtype),
        normal(WIDTH, seed=3, dtype=dtype),
    ]


def unrolled(x: tf.Tensor, w: tf.Tensor, u: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    h = tf.zeros_like(x[0])
    for each in tf.unstack(x):
        h = tf.tanh(each @ w + h @ u + b)
    return h


def windows(x: tf.Tensor, w: tf.Tensor, u: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    x = tf.transpose(x, [1, 0, 2])
    h = tf.zeros_like(x[:, 0])
    for t in range(TURNS):
        h = tf.tanh(x[:, t] @ w + h @ u + b)
    return h


def backwards(x: tf.Tensor, w: tf.Tensor, u: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    h = tf.zeros_like(x[0])
    for each in reversed(tf.unstack(x)):
        h = tf.tanh(each @ w + h @ u + b)
    return h


def in_graph(x: tf.Tensor, w: tf.Tensor, u: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    h = tf.zeros_like(x[0])
    for t in tf.range(TURNS):
        h = tf.tanh(x[t] @ w + h @ u + b)
    return h


def in_graph_by_windows(x: tf.Tensor, w: tf.Tensor, u: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    x = tf.transpose(x, [1, 0, 2])
    h = tf.zeros_like(x[:, 0])
    for t in tf.range(TURNS):
        h = tf.tanh(x[:, t] @ w + h @ u + b)
    return h


def scanned(x: tf.Tensor, w: tf.Tensor, u: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    return tf.scan(lambda h, each: tf.tanh(each @ w + h @ u + b), x, tf.zeros_like(x[0]))[-1]


LOOPS = [unrolled, windows, backwards, in_graph, in_graph_by_windows, scanned]
KINDS = [windows, in_graph, scanned]


def gradients(loop: Callable[..., Any], sources: str) -> Callable[..., Any]:
    def function(*args: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            watched = [arg for arg, wanted in zip(args, sources, strict=True) if wanted != "-"]
            tape.watch(watched)
            loss = tf.reduce_sum(tf.square(loop(*args)))
        return [loss, *tape.gradient(loss, watched)]

    return function


def second(loop: Callable[..., Any]) -> Callable[..., Any]:
    first = gradients(loop, "xwub")

    def function(*args: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(args)
            total = tf.add_n([tf.reduce_sum(tf.sin(each)) for each in first(*args)])
        return tape.gradient(total, args)

    return function


def assert_as_eager(function: Callable[..., Any], *args: Any, tolerance: float = 2e-5) -> None:
    for found, wanted in zip(
        tf.nest.flatten(tf.function(function, jit_compile=True)(*args)),
        tf.nest.flatten(function(*args)),
        strict=True,
    ):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(
            tf.cast(found, tf.complex128), tf.cast(wanted, tf.complex128), tolerance, tolerance
        )


@pytest.mark.parametrize("loop", LOOPS)
def test_inputs_are_multiplied_before_the_loop(
    loop: Callable[..., Any], outside: list[str]
) -> None:
    assert_as_eager(loop, normal(TURNS, BATCH, WIDTH), *weights())
    assert outside == ["product"]


@pytest.mark.parametrize("loop", LOOPS)
def test_gradients_of_weights_are_added_up_after_the_loop(
    loop: Callable[..., Any], outside: list[str]
) -> None:
    assert_as_eager(gradients(loop, "-wub"), normal(TURNS, BATCH, WIDTH), *weights())
    assert outside.count("product") == 1
    assert outside.count("sum") == 3


@pytest.mark.parametrize("loop", KINDS)
def test_gradients_of_everything(loop: Callable[..., Any], outside: list[str]) -> None:
    assert_as_eager(gradients(loop, "xwub"), normal(TURNS, BATCH, WIDTH), *weights())
    assert "sum" in outside


@pytest.mark.parametrize("loop", KINDS)
def test_second_order(loop: Callable[..., Any], outside: list[str]) -> None:
    args = [normal(TURNS, BATCH, WIDTH), *weights()]
    assert_as_eager(second(loop), *args, tolerance=1e-3)
    assert outside


def test_gradients_of_inputs_leave_the_loop_of_a_scan_as_one_product(outside: list[str]) -> None:
    assert_as_eager(gradients(scanned, "x---"), normal(TURNS, BATCH, WIDTH), *weights())
    assert outside.count("product") == 2


@pytest.mark.parametrize("loop", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_dtypes(loop: Callable[..., Any], dtype: Any, outside: list[str]) -> None:
    args = [normal(TURNS, BATCH, WIDTH, dtype=dtype), *weights(dtype)]
    assert_as_eager(loop, *args)
    assert "product" in outside


def test_bfloat16_is_no_less_exact(outside: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    args = [tf.cast(each, tf.bfloat16) for each in [normal(TURNS, BATCH, WIDTH), *weights()]]
    exact = gradients(unrolled, "-wub")(*[tf.cast(each, tf.float64) for each in args])

    def error() -> float:
        found = tf.function(gradients(unrolled, "-wub"), jit_compile=True)(*args)
        pairs = zip(found, exact, strict=True)
        return max(float(tf.norm(tf.cast(a, tf.float64) - b) / tf.norm(b)) for a, b in pairs)

    hoisted = error()
    assert outside
    monkeypatch.setattr(rolled, "fits", lambda *args: False)
    outside.clear()
    in_the_loop = error()
    assert not outside
    assert hoisted <= 1.5 * in_the_loop


@pytest.mark.parametrize("loop", KINDS)
def test_what_would_not_fit_stays_in_the_loop(
    loop: Callable[..., Any], outside: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "_MOST_BYTES", 4 * BATCH * WIDTH * (TURNS - 3))
    assert_as_eager(gradients(loop, "xwub"), normal(TURNS, BATCH, WIDTH), *weights())
    assert not outside


@pytest.mark.parametrize("loop", KINDS)
def test_large_products_stay_in_the_loop(
    loop: Callable[..., Any], outside: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "_MOST_ROWS", BATCH)
    assert_as_eager(gradients(loop, "xwub"), normal(TURNS, BATCH, WIDTH), *weights())
    assert not outside


def test_a_table_of_many_rows_is_not_multiplied_whole(outside: list[str]) -> None:
    def function(table: tf.Tensor, w: tf.Tensor, u: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return in_graph(table, w, u, b)

    assert_as_eager(function, normal(5 * TURNS, BATCH, WIDTH), *weights())
    assert not outside


def test_rows_in_any_order(outside: list[str]) -> None:
    order = [3, 3, 0, 11, 7, 1, 2, 10, 4, 4]

    def by_hand(x: tf.Tensor, w: tf.Tensor, u: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        rows = tf.unstack(x)
        h = tf.zeros_like(x[0])
        for t in order:
            h = tf.tanh(rows[t] @ w + h @ u + b)
        return h

    def by_tensor(x: tf.Tensor, w: tf.Tensor, u: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        h, numbers = tf.zeros_like(x[0]), tf.constant(order)
        for t in tf.range(len(order)):
            h = tf.tanh(x[numbers[t]] @ w + h @ u + b)
        return h

    for loop in (by_hand, by_tensor):
        outside.clear()
        args = normal(TURNS, BATCH, WIDTH), *weights()
        assert_as_eager(gradients(loop, "-wub"), *args)
        assert outside.count("product") == 1, loop.__name__


def test_a_sum_that_the_loop_looks_at_stays_in_it(outside: list[str]) -> None:
    def function(x: tf.Tensor, y: tf.Tensor) -> Any:
        total = tf.zeros([WIDTH, WIDTH])
        largest = tf.zeros([])
        for a, b in zip(tf.unstack(x), tf.unstack(y), strict=True):
            total = total + tf.matmul(a, b, transpose_a=True)
            largest = tf.maximum(largest, tf.reduce_max(total))
        return total, largest

    assert_as_eager(function, *[normal(TURNS, BATCH, WIDTH, seed=i) for i in (0, 1)])
    assert not outside


def test_a_sum_that_begins_with_something(outside: list[str]) -> None:
    def function(x: tf.Tensor, y: tf.Tensor, start: tf.Tensor) -> tf.Tensor:
        total = start
        for a, b in zip(tf.unstack(x), tf.unstack(y), strict=True):
            total = total + tf.matmul(a, b, transpose_a=True)
        return total

    args = [normal(TURNS, BATCH, WIDTH, seed=i) for i in (0, 1)]
    assert_as_eager(function, *args, normal(WIDTH, WIDTH))
    assert outside == ["sum"]


def test_a_bad_number_of_a_row_is_still_an_error(outside: list[str]) -> None:
    @tf.function
    def function(x: tf.Tensor, numbers: tf.Tensor, w: tf.Tensor, u: tf.Tensor) -> tf.Tensor:
        h = tf.zeros_like(x[0])
        for t in tf.range(TURNS):
            h = tf.tanh(tf.gather(x, numbers[t]) @ w + h @ u)
        return h

    args = normal(TURNS, BATCH, WIDTH), tf.range(TURNS), *weights()[:2]
    function(*args)
    assert outside == ["product"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="gather"):
        function(args[0], tf.range(1, TURNS + 1), *args[2:])


@pytest.mark.parametrize("loop", KINDS)
def test_on_a_mesh_dimensions_stay_apart(
    loop: Callable[..., Any], outside: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "is_on_mesh", lambda: True)
    assert_as_eager(gradients(loop, "xwub"), normal(TURNS, BATCH, WIDTH), *weights())
    assert "sum" in outside
    assert "product" in outside
