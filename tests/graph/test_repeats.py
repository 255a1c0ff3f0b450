"""Repeated parts of a graph as loops: what is found, and that it computes the same, bit for bit."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.passes import optimized
from tapeflow._src.graph.repeats import rolling as rolling_module
from tapeflow._src.graph.repeats.loops import Loop, Moving
from tapeflow._src.graph.repeats.rolling import Rolling, count
from tapeflow._src.graph.repeats.runs import runs
from tapeflow._src.primitives.indexing.spans import backwards


def run_items(items: Sequence[Any], values: dict[Value, Any]) -> None:
    """What loops mean, on NumPy."""
    for item in items:
        if type(item) is Loop:
            run_loop(item, values)
        else:
            run_node(item, values)


def run_node(node: Node, values: dict[Value, Any]) -> None:
    found = node.primitive.kernel(*[values[v] for v in node.inputs], **node.attrs)
    several = node.primitive.outputs != 1
    values.update(zip(node.outputs, found if several else (found,), strict=True))


def run_loop(loop: Loop, values: dict[Value, Any]) -> None:
    state = [None if c.start is None else values[c.start] for c in loop.carried]
    for turn in range(loop.turns):
        inside = {v: values[v] for v in loop.fixed}
        inside.update((c.inside, x) for c, x in zip(loop.carried, state, strict=True))
        inside.update((s.inside, values[s.outside[turn]]) for s in loop.stacked)
        for item in loop.body:
            if type(item) is Moving:
                run_moving(item, turn, inside)
            else:
                run_items([item], inside)
        state = [inside[c.following] for c in loop.carried]
        values.update((k.outside[turn], inside[k.inside]) for k in loop.kept)
    values.update((c.result, x) for c, x in zip(loop.carried, state, strict=True) if c.result)


def run_moving(item: Moving, turn: int, values: dict[Value, Any]) -> None:
    node, x = item.node, values[item.node.inputs[0]]
    window = tuple(
        slice(start, start + span.extent, span.step)
        for span, start in zip(item.spans, item.starts[turn], strict=True)
    )
    if node.primitive.name == "put":
        out = np.zeros(node.attrs["shape"], x.dtype)
        out[window] = np.flip(x.reshape([span.taken for span in item.spans]), backwards(item.spans))
    else:
        out = np.flip(x[window], backwards(item.spans)).reshape(node.outputs[0].shape)
    values[node.outputs[0]] = out


def traced(function: Callable[..., Any], *args: Any) -> tuple[Graph, list[np.ndarray]]:
    concrete = tf.function(function).get_concrete_function(*args)
    graph = optimized(concrete.graph)
    return graph, [np.asarray(x) for x in args]


def rolled(graph: Graph) -> Rolling:
    return Rolling(graph.nodes, [*graph.outputs, *graph.assigned.values()], (), graph.constants)


def assert_same(graph: Graph, arrays: Sequence[np.ndarray]) -> Rolling:
    """That the loops compute what the nodes did."""
    rolling = rolled(graph)
    given = [v for v in graph.inputs if v not in graph.constants]
    start = graph.constants | dict(zip(given, arrays, strict=True))
    values, wanted = dict(start), dict(start)
    run_items(rolling.items, values)
    run_items(graph.nodes, wanted)
    for value in [*graph.outputs, *graph.assigned.values()]:
        np.testing.assert_array_equal(values[value], wanted[value])
    return rolling


def loops_of(rolling: Rolling) -> list[Loop]:
    return [item for item in rolling.items if type(item) is Loop]


def normal(*shape: int, seed: int = 0) -> tf.Tensor:
    return tf.constant(np.random.RandomState(seed).randn(*shape).astype(np.float32) / 2)


def test_a_python_loop_and_its_backward_pass_are_two_loops() -> None:
    w, b = normal(3, 3, seed=1), normal(3, seed=2)

    def step(x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([w, b])
            h = tf.zeros([2, 3])
            for t in range(30):
                h = tf.tanh(x[:, t] + h @ w + b)
            loss = tf.reduce_sum(h * h)
        return loss, tape.gradient(loss, [w, b])

    graph, arrays = traced(step, normal(2, 30, 3), w, b)
    rolling = assert_same(graph, arrays)
    forward, backward = loops_of(rolling)
    assert (forward.turns, backward.turns) == (30, 28)
    assert [len(c.outside) for c in backward.stacked] == [28, 28]  # this state, and the last one
    assert count(rolling.items) < 40 < len(graph.nodes)


def test_what_two_turns_ago_was_is_carried() -> None:
    def fibonacci(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        for _ in range(40):
            a, b = b, tf.sin(a) + b * 0.5
        return b

    rolling = assert_same(*traced(fibonacci, tf.constant(1.0), tf.constant(2.0)))
    (loop,) = loops_of(rolling)
    assert loop.turns >= 37
    assert count(rolling.items) <= 12


def test_loops_in_loops() -> None:
    def nested(x: tf.Tensor) -> tf.Tensor:
        for i in range(5):
            for _ in range(20):
                x = tf.sin(x) + tf.cos(x)
            x = tf.square(x) * (0.1 * i)
        return x

    rolling = assert_same(*traced(nested, normal(2, 2)))
    outer = next(item for item in loops_of(rolling))
    assert any(type(item) is Loop for item in outer.body)
    assert count(rolling.items) < 30


def test_all_turns_may_use_what_the_first_one_made() -> None:
    def far(x: tf.Tensor) -> tf.Tensor:
        first = None
        for _ in range(30):
            x = tf.sin(x) * 2.0
            first = x if first is None else first
            x = x + first
        return x

    rolling = assert_same(*traced(far, normal(2)))
    assert count(rolling.items) < 20


def test_a_period_that_does_not_divide_and_two_different_repeats() -> None:
    def several(x: tf.Tensor) -> tf.Tensor:
        y = tf.exp(x)
        for _ in range(20):
            x = tf.sin(x) * y
        x = tf.cos(tf.sin(x))
        for _ in range(17):
            x = tf.abs(tf.tanh(x)) + y
            y = y - 0.25
        return tf.sin(x) * y

    rolling = assert_same(*traced(several, normal(3)))
    assert len(loops_of(rolling)) == 2


def test_windows_move_and_gradients_are_put_back() -> None:
    def step(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.zeros([2, 2])
            for t in range(25):
                h = tf.tanh(h + x[:, 2 * t : 2 * t + 2] * x[:, t, None])
            loss = tf.reduce_sum(h)
        return tape.gradient(loss, x)

    graph, arrays = traced(step, normal(2, 50))
    rolling = assert_same(graph, arrays)
    moving = [
        m.node.primitive.name for loop in loops_of(rolling) for m in loop.body if type(m) is Moving
    ]
    assert "getitem" in moving
    assert "put" in moving


def test_weights_that_would_be_copied_stay_as_they_were_written() -> None:
    weights = [normal(128, 128, seed=i) for i in range(12)]

    def layers(x: tf.Tensor, *weights: tf.Tensor) -> tf.Tensor:
        for w in weights:
            x = tf.nn.relu(tf.tanh(tf.sin(x @ w)))
        return x

    graph, arrays = traced(layers, normal(2, 128), *weights)
    assert not loops_of(assert_same(graph, arrays))


def test_other_types_shapes_and_attributes_are_no_repeat() -> None:
    def unlike(x: tf.Tensor) -> tf.Tensor:
        for i in range(40):
            x = tf.reduce_sum(tf.sin(tf.stack([x] * (i % 3 + 2))), 0)
            x = tf.cast(tf.cast(x, [tf.float64, tf.float16, tf.float32][i * i % 5 % 3]), tf.float32)
        return x

    assert_same(*traced(unlike, normal(3)))


def test_sizes_that_are_not_known_yet() -> None:
    def step(x: tf.Tensor) -> tf.Tensor:
        for _ in range(20):
            x = tf.reshape(tf.sin(x), [-1, tf.shape(x)[0]])
            x = tf.reshape(x, [tf.shape(x)[1], -1]) + 1.0
        return x

    concrete = tf.function(step).get_concrete_function(tf.TensorSpec([None, 3]))
    graph = optimized(concrete.graph)
    assert count(rolled(graph).items) <= len(graph.nodes)


def test_runs_of_numbers() -> None:
    found = runs(np.array([9, 8, *[1, 2, 3] * 5, 1, 7, *[4] * 6]))
    assert (found[0].start, found[0].period, found[0].length) == (2, 3, 16)
    assert any((run.start, run.period, run.length) == (19, 1, 6) for run in found)
    assert runs(np.arange(50)) == []
    assert runs(np.array([1])) == []


class Drawn:
    """A random function of loops, each over a body of random lines."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.turns = self.dice.randint(5, 14)
        self.bodies = [self._body() for _ in range(self.dice.randint(1, 3))]
        self.oddity = self.dice.randrange(self.turns) if self.dice.random() < 0.4 else None

    def _body(self) -> list[tuple[str, int, int, str, str]]:
        pick, ops = self.dice.choice, ["add", "subtract", "multiply", "tanh", "matmul"]
        return [
            (pick(ops), self.dice.randrange(3), self.dice.randrange(8), pick(KINDS), pick(KINDS))
            for _ in range(self.dice.randint(2, 7))
        ]

    def __call__(self, x: tf.Tensor, w: tf.Tensor, *own: tf.Tensor) -> Any:
        """Values and gradients."""
        with tf.GradientTape() as tape:
            tape.watch([x, w, *own])
            state = [tf.sin(w), tf.cos(w), w * 0.5]
            old, first, kept = state, state, [w] * self.turns
            for number, body in enumerate(self.bodies):
                before, kept = kept, []
                for t in range(self.turns):
                    there = {"old": old, "state": state, "first": first, "shared": [w] * 3}
                    there["own"] = [own[t], own[-1 - t], own[0]]
                    there["window"] = [x[t], x[-1 - t, :2], x[t, ::-1]]
                    there["number"] = [tf.fill([2, 2], 0.1 * t)] * 3
                    there["kept"] = [before[t], before[-1 - t], before[-1]]
                    old, state = state, self._turn(body, there, t)
                    kept.append(state[number])
            loss = tf.add_n([tf.reduce_sum(s) for s in state])
        return loss, kept[-1], kept[2], tape.gradient(loss, [x, w, *own])

    def _turn(self, body: Any, there: dict[str, Any], t: int) -> list[tf.Tensor]:
        new = there["new"] = list(there["state"])
        for op, to, i, left, right in body:
            a, b = there[left][i % 3], there[right][i // 3]
            new[to] = tf.tanh(a) + b if op == "tanh" else getattr(tf, op)(a, b) * 0.5
        if t == self.oddity:
            new[0] = tf.sin(new[0])
        return new


KINDS = ["state", "old", "new", "new", "shared", "own", "window", "number", "kept", "first"]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.sample(2)
def test_random_loops(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rolling_module, "_COPY", 0)  # also those that do not pay
    monkeypatch.setattr(rolling_module, "_LEAST", 4)
    function = Drawn(seed)
    own = [normal(2, 2, seed=i) for i in range(function.turns)]
    x = normal(function.turns, 2, 2, seed=seed)
    assert_same(*traced(lambda *args: function(*args), x, normal(2, 2, seed=1), *own))
