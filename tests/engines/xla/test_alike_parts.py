"""Layers with weights of their own on XLA: parts of a long program that are alike are one program, called for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.engines.only import run_all_on

import tapeflow as tf
from tapeflow._src.engines.xla import program
from tapeflow._src.engines.xla.call import Call
from tapeflow._src.graph.repeats import rolling


@pytest.fixture(params=["xla", "hybrid"])
def calls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """All functions run on one engine, and short programs are divided, too: how many programs, for how many parts."""
    found = {"programs": 0, "parts": 0}
    make, on = Call.__init__, Call.on

    def making(self: Call, *args: Any, **options: Any) -> None:
        found["programs"] += 1
        found["parts"] += 1
        make(self, *args, **options)

    def sharing(self: Call, *args: Any) -> Call:
        found["parts"] += 1
        return on(self, *args)

    run_all_on(monkeypatch, request.param)
    monkeypatch.setattr(program, "TOO_LONG", 10)
    monkeypatch.setattr(rolling, "_MOST_COPIED", 0)
    monkeypatch.setattr(rolling, "_LEAST", 6)
    monkeypatch.setattr(rolling, "_PART", 3)
    monkeypatch.setattr(rolling, "_ENOUGH", 10)
    monkeypatch.setattr(Call, "__init__", making)
    monkeypatch.setattr(Call, "on", sharing)
    return found


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return (np.random.RandomState(seed).randn(*shape) / 3).astype(np.float32)


def trained(compiled: bool, steps: int = 3) -> list[np.ndarray]:
    """What training a few layers leaves: losses and variables."""
    weights = [tf.Variable(normal(8, 8, seed=i)) for i in range(8)]
    biases = [tf.Variable(normal(8, seed=i + 50)) for i in range(8)]
    moments = [tf.Variable(tf.zeros_like(v)) for v in (*weights, *biases)]

    def step(x: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            h = x
            for w, b in zip(weights, biases, strict=True):
                h = tf.tanh(h @ w + b) + h
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=h)
            )
        variables = [*weights, *biases]
        for v, m, g in zip(variables, moments, tape.gradient(loss, variables), strict=True):
            m.assign(m * 0.9 + g)
            v.assign_sub(0.1 * m)
        return loss

    run = tf.function(step) if compiled else step
    x, labels = tf.constant(normal(4, 8, seed=99)), tf.constant([1, 3, 0, 7])
    losses = [run(x, labels).numpy() for _ in range(steps)]
    if compiled:
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(x, tf.constant([1, 3, 0, 9]))
    return [*losses, *(v.numpy() for v in (*weights, *biases, *moments))]


@pytest.mark.sample(2)
def test_training_is_the_same_with_few_programs(calls: dict[str, int]) -> None:
    for found, expected in zip(trained(True), trained(False), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert 3 * calls["programs"] < calls["parts"]


def test_a_report_names_stages_that_are_alike_once(calls: dict[str, int]) -> None:
    @tf.function
    def layers(x: tf.Tensor, *weights: tf.Tensor) -> tf.Tensor:
        for w in weights:
            x = tf.sin(x @ w) + tf.cos(x)
        return x

    args = [tf.constant(normal(3, 3, seed=i)) for i in range(10)]
    layers(*args)
    assert layers.report().count("(matmul, sin, cos, add)") == 1
    assert "stages 0 to 8: xla" in layers.report()


def test_parts_that_differ_in_a_constant_or_in_what_is_needed_of_them(
    calls: dict[str, int],
) -> None:
    def layers(x: tf.Tensor, *weights: tf.Tensor) -> Any:
        found = []
        for i, w in enumerate(weights):
            x = tf.sin(x @ w) * (0.5 + i % 2) + tf.cos(x)
            if i in (2, 5):
                found.append(x)
        return x, found

    args = [tf.constant(normal(3, 3, seed=i)) for i in range(10)]
    tf.nest.map_structure(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5),
        tf.function(layers)(*args),
        layers(*args),
    )
    assert calls["programs"] < calls["parts"]


def test_rows_that_are_not_there_are_refused_in_the_part_that_asks_for_them(
    calls: dict[str, int],
) -> None:
    count = tf.Variable(0)

    @tf.function
    def steps(start: tf.Tensor, *tables: tf.Tensor) -> tf.Tensor:
        count.assign_add(1)
        rows = start
        for table in tables:
            rows = tf.gather(table, rows) * 1 + tf.cast(rows > 7, tf.int32)
            rows = tf.abs(rows)
        return rows

    tables = [
        tf.constant(np.random.RandomState(i).permutation(8).astype(np.int32)) for i in range(9)
    ]
    expected = np.array([0, 3])
    for table in tables:
        expected = table.numpy()[expected]
    np.testing.assert_array_equal(steps(tf.constant([0, 3]), *tables), expected)
    assert calls["programs"] < calls["parts"]
    tables[4] = tables[4] + 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="test_alike_parts"):
        steps(tf.range(8), *tables)
    assert count.numpy() == 1
