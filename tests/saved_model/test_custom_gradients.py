"""A saved function keeps the gradients that were written for it, and for what it calls."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from tests.saved_model.mutations import changed

import tapeflow as tf

PAIR = tf.TensorSpec([2], tf.float32)


@tf.custom_gradient
def steep(x: Any) -> Any:
    """A square whose gradient is another one, and depends on x."""
    return x * x, lambda g: g * x * 100.0


class Model(tf.Module):
    """Functions that call `steep` in several ways."""

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        self.rate = tf.Variable(0.5)
        self.count = tf.Variable(0)
        self.table = tf.Variable(np.arange(12.0, dtype="float32").reshape(6, 2))

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def product(self, x: Any) -> Any:
        return {"y": steep(x @ self.w) * x, "count": self.count.assign_add(1)}

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
    def any_sizes(self, x: Any) -> Any:
        return steep(x) * tf.reduce_sum(x, 0)

    @tf.function
    def _inside(self, x: Any) -> Any:
        return steep(x)

    @tf.function(input_signature=[PAIR])
    def nested(self, x: Any) -> Any:
        return tf.reduce_sum(self._inside(x) * x)

    @tf.function(input_signature=[PAIR])
    def branch(self, x: Any) -> Any:
        if tf.reduce_sum(x) > 0.0:
            return steep(x)
        return x * 2.0

    @tf.function(input_signature=[PAIR])
    def loop(self, x: Any) -> Any:
        for _ in tf.range(3):
            x = steep(x) + x
        return x

    @tf.function(input_signature=[PAIR])
    def of_variable(self, x: Any) -> Any:
        @tf.custom_gradient
        def scaled(x: Any) -> Any:
            def gradient(g: Any, variables: Any) -> Any:
                return g * self.rate * x, [tf.reduce_sum(g) * 7.0]

            return x * self.rate, gradient

        return scaled(x)

    @tf.function(input_signature=[PAIR])
    def rows(self, x: Any) -> Any:
        return steep(tf.reduce_sum(tf.gather(self.table, [1, 3, 1]))) * x

    @tf.function(input_signature=[PAIR])
    def passing(self, x: Any) -> Any:
        return tf.grad_pass_through(tf.round)(x) * x, x


def derivatives(model: Any, name: str, given: Any) -> list[Any]:
    """What a function gives, its first derivatives, and the second one by its argument."""
    x = tf.constant(given, tf.float32)
    variables = [model.w, model.rate, model.table]
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            found = tf.nest.flatten(getattr(model, name)(x))
            total = sum(tf.reduce_sum(y) for y in found if y.dtype.is_floating)
        first = inner.gradient(total, [x, *variables])
        squares = tf.reduce_sum(tf.square(first[0]))
    second = outer.gradient(squares, x)
    return [total, *[g if g is None else tf.convert_to_tensor(g) for g in first], second]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The model; loaded; saved again, and loaded."""
    found = [Model()]
    for _ in range(2):
        folder = tmp_path_factory.mktemp("model")
        tf.saved_model.save(found[-1], folder)
        found.append(tf.saved_model.load(folder))
    return found


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("product", [[1.0, 2.0], [0.5, -1.0], [0.0, 3.0]]),
        ("product", [[1.0, 2.0]]),
        ("any_sizes", np.arange(6.0).reshape(2, 3)),
        ("any_sizes", np.arange(8.0).reshape(4, 2)),
        ("nested", [1.0, 2.0]),
        ("branch", [1.0, 2.0]),
        ("branch", [-1.0, -2.0]),
        ("loop", [0.1, 0.2]),
        ("of_variable", [1.0, 2.0]),
        ("rows", [1.0, 2.0]),
        ("passing", [1.2, 2.7]),
    ],
)
def test_derivatives(models, name, given):
    expected = derivatives(models[0], name, given)
    for loaded in models[1:]:
        for a, b in zip(expected, derivatives(loaded, name, given), strict=True):
            if (
                a is None
            ):  # one call gives several tensors, and does not tell which of them do not depend on what
                assert b is None or not np.any(b)
            else:
                np.testing.assert_allclose(a, b, rtol=1e-5)


def test_the_numbers_are_those_of_what_was_written(models):
    _, gradient, *_ = derivatives(models[1], "branch", [1.0, 2.0])
    np.testing.assert_allclose(gradient, [100.0, 200.0])
    _, gradient, _, for_rate, *_ = derivatives(models[1], "of_variable", [1.0, 2.0])
    np.testing.assert_allclose(gradient, [0.5, 1.0])
    np.testing.assert_allclose(for_rate, 14.0)


def test_signatures_have_them_too(models, tmp_path):
    tf.saved_model.save(models[0], tmp_path, signatures=models[0].branch)
    serving = tf.saved_model.load(tmp_path).signatures["serving_default"]
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        (y,) = serving(x).values()
    np.testing.assert_allclose(tape.gradient(y, x), [100.0, 200.0])


@pytest.mark.parametrize("jit_compile", [None, False, True])
def test_a_function_around_it(models, jit_compile):
    x = tf.constant([1.0, 2.0])

    @tf.function(jit_compile=jit_compile)
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = models[1].branch(x) * 2.0
        return tape.gradient(y, x)

    np.testing.assert_allclose(gradient(x), [200.0, 400.0])


def test_they_can_be_left_out(models, tmp_path):
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    tf.saved_model.save(models[0], tmp_path, options=options)
    _, gradient, *_ = derivatives(tf.saved_model.load(tmp_path), "branch", [1.0, 2.0])
    np.testing.assert_allclose(gradient, [2.0, 4.0])


def times_nine(g):
    return tf.ensure_shape(tf.numpy_function(lambda v: v * 9.0, [g], tf.float32), [2])


COUNT = tf.Variable(0)


@pytest.mark.parametrize(
    ("gradient", "reason"),
    [
        (times_nine, "calls Python when the function runs"),
        (lambda g: g * g.numpy(), "run eagerly to look at values"),
        (lambda g: g * tf.cast(COUNT.assign_add(1), tf.float32), "it assigns variables"),
    ],
    ids=["Python", "values", "assignments"],
)
def test_one_that_cannot_be_saved_is_left_out_with_a_word(tmp_path, caplog, gradient, reason):
    @tf.custom_gradient
    def odd(x):
        return x * x, gradient

    module = tf.Module()
    module.f = tf.function(odd, input_signature=[PAIR])
    with caplog.at_level(logging.WARNING):
        tf.saved_model.save(module, tmp_path)
    assert "The gradient that odd brings is left out of the saved model" in caplog.text
    assert reason in caplog.text
    x = tf.constant([1.0, 2.0])
    loaded = tf.saved_model.load(tmp_path)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loaded.f(x)
    np.testing.assert_allclose(tape.gradient(y, x), [2.0, 4.0])


def test_functions_without_one_are_saved_as_before(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x * x, input_signature=[PAIR])
    tf.saved_model.save(module, tmp_path)
    changed(tmp_path, lambda model: all("gradient" not in g for g in model["graphs"]) or 1 / 0)


@pytest.mark.parametrize(
    "change",
    [
        {"graph": 99},
        {"graph": None},
        {"graph": "itself"},
        {"given": [0, 7]},
        {"given": []},
        {"given": "x"},
        {"kept": [0, 1, 12345]},
        {"kept": []},
        {"kept": [[]]},
        {"parts": [[0, 3]]},
        {"parts": [[44, 1]]},
        {"parts": 5},
    ],
    ids=str,
)
def test_damage(tmp_path, change):
    module = tf.Module()
    module.f = tf.function(steep, input_signature=[PAIR])
    tf.saved_model.save(module, tmp_path)

    def damaged(model):
        (at,) = [i for i, graph in enumerate(model["graphs"]) if "gradient" in graph]
        new = {key: at if value == "itself" else value for key, value in change.items()}
        model["graphs"][at]["gradient"].update(new)

    changed(tmp_path, damaged)
    x = tf.constant([1.0, 2.0])
    with pytest.raises(tf.errors.DataLossError):
        loaded = tf.saved_model.load(tmp_path)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loaded.f(x)
        tape.gradient(y, x)
