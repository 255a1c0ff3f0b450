"""A new engine is one small file: here one that computes with twice the bits, and counts what it runs."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.context import quietly
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.engines import choice
from tapeflow._src.engines.protocol import Engine


class WideEngine(Engine):
    """Runs float32 in float64, and rounds each result."""

    name = "wide"

    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()

    # Graphs.

    def program(self, graph: Any, checked: bool = True) -> WideProgram:
        return WideProgram(self, graph)

    # Primitives in eager mode.

    def execute(self, primitive: Any, inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> Any:
        found = self.computed(primitive, [x._array for x in inputs], attrs)
        return WideTensor(found) if primitive.outputs == 1 else tuple(map(WideTensor, found))

    def computed(self, primitive: Any, arrays: list[Any], attrs: dict[str, Any]) -> Any:
        self.counts[primitive.name] += 1
        if (
            "result" in attrs
            or primitive.name == "cast"
            or any(a.dtype.kind == "O" for a in arrays)
        ):
            return quietly(primitive.kernel, *arrays, **attrs)
        found = quietly(primitive.kernel, *map(widened, arrays), **attrs)
        return rounded(found) if primitive.outputs == 1 else tuple(map(rounded, found))


ENGINE = WideEngine()


class WideTensor(Tensor):
    """A tensor that lives on the engine."""

    interpreter = ENGINE


class WideProgram:
    """A graph, node after node."""

    run_arrays = None

    def details(self):
        return []

    def __init__(self, engine: WideEngine, graph: Any) -> None:
        self.engine = engine
        self.graph = graph
        self.inputs = [v for v in graph.inputs if v not in graph.constants]
        self.outputs = [*graph.outputs, *graph.assigned.values()]

    def run(self, tensors: Any, step: Any = None) -> list[Tensor]:
        values = dict(self.graph.constants)
        values.update((v, x._array) for v, x in zip(self.inputs, tensors, strict=True))
        for node in self.graph.nodes:
            arrays = [values[v] for v in node.inputs]
            found = self.engine.computed(node.primitive, arrays, node.attrs)
            found = (found,) if node.primitive.outputs == 1 else found
            values.update(zip(node.outputs, found, strict=True))
        return [WideTensor(values[v]) for v in self.outputs]

    def finish(self, results: Any) -> None:
        pass


def widened(array: Any) -> Any:
    return array.astype(np.float64) if array.dtype == np.float32 else array


def rounded(array: Any) -> Any:
    return array.astype(np.float32) if array.dtype == np.float64 else array


@pytest.fixture
def engine(monkeypatch: Any) -> WideEngine:
    ENGINE.counts.clear()
    monkeypatch.setattr(choice, "ENGINES", [ENGINE])
    return ENGINE


def wide(value: Any) -> Tensor:
    return WideTensor(np.asarray(value, np.float32))


def test_eager_ops_run_on_it(engine):
    x = wide([1.0, 2.0, 4.0])
    y = tf.reduce_sum(tf.math.log(x) * 3.0)
    assert type(y) is WideTensor and y.dtype == tf.float32
    assert float(y) == pytest.approx(3 * np.log(8.0))
    assert engine.counts["log"] == engine.counts["multiply"] == engine.counts["sum"] == 1
    assert bool(y > 0) and int(tf.size(x)) == 3  # values are there, for Python too
    a, b = tf.split(wide([[1.0, 2.0]]), 2, axis=1)
    assert type(a) is type(b) is WideTensor
    assert float(b[0, 0]) == 2.0


def test_it_sums_with_more_bits(engine):
    x = np.full(10_000, 0.1, np.float32)
    exact = np.sum(x.astype(np.float64))
    total = tf.cumsum(wide(x))[-1]
    assert abs(float(total) - exact) <= abs(float(tf.cumsum(tf.constant(x))[-1]) - exact)
    assert abs(float(total) - exact) < 1e-4


def test_gradients_of_both_orders(engine):
    x = wide([0.5, 1.5])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.sin(x) * x)
        first = inner.gradient(y, x)
    second = outer.gradient(first, x)
    values = x.numpy()
    np.testing.assert_allclose(first, np.cos(values) * values + np.sin(values), rtol=1e-6)
    np.testing.assert_allclose(second, 2 * np.cos(values) - np.sin(values) * values, rtol=1e-6)
    assert type(first) is type(second) is WideTensor
    assert engine.counts["cos"] >= 2


def test_forward_mode_and_jacobians(engine):
    x = wide([0.5, 1.5])
    with tf.autodiff.ForwardAccumulator(x, wide([1.0, 0.0])) as accumulator:
        y = tf.exp(x)
    np.testing.assert_allclose(accumulator.jvp(y), [np.exp(0.5), 0.0], rtol=1e-6)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    np.testing.assert_allclose(tape.jacobian(y, x), [[1.0, 0.0], [0.0, 3.0]], rtol=1e-6)


def test_functions_train_on_it(engine):
    w = tf.Variable([1.0, -2.0])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    x = tf.constant(np.random.default_rng(0).normal(size=(16, 2)).astype(np.float32))
    y = tf.linalg.matvec(x, tf.constant([3.0, 0.5]))
    losses = [float(step(x, y)) for _ in range(60)]
    assert losses[-1] < 1e-3 * losses[0]
    np.testing.assert_allclose(w, [3.0, 0.5], atol=0.1)
    report = step.get_concrete_function(x, y).report()
    assert "wide" in report and "chosen" in report and "numpy" not in report
    assert engine.counts["matmul"] >= 60


def test_functions_of_its_tensors(engine):
    @tf.function
    def f(x):
        return tf.where(x > 1.0, x * 2.0, tf.exp(x))

    x = wide([0.5, 1.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(y, [np.exp(0.5), 3.0], rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(y, x), [np.exp(0.5), 2.0], rtol=1e-6)


def test_captured_tensors_and_maps(engine):
    factor = wide(3.0)
    f = tf.function(lambda x: x * factor)
    assert float(f(2.0)) == 6.0
    np.testing.assert_allclose(
        tf.vectorized_map(lambda x: x * factor, wide([1.0, 2.0])), [3.0, 6.0]
    )


def test_a_variable_takes_its_tensors(engine):
    v = tf.Variable(wide([1.0, 2.0]))
    v.assign_add(wide([1.0, 1.0]))
    v.assign(v * wide(2.0))
    np.testing.assert_array_equal(v, [4.0, 6.0])
