"""What several files of cases need."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

COMPILES = True
"""Whether `everywhere` compiles with XLA, which takes most of its time."""


EAGERLY = False
"""Whether `everywhere` is in eager mode only."""


def value_and_gradients(
    tf: Any, f: Callable[..., Any], *inputs: Any, dtype: Any = None
) -> list[Any]:
    """`f` at `inputs`, followed by the gradient of its sum with respect to each of them."""
    xs = [tf.constant(value, dtype=dtype) for value in inputs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [y, *tape.gradient(y, xs)]


def second_gradients(tf: Any, f: Callable[..., Any], *inputs: Any) -> list[Any]:
    """The gradients of the sum of all first gradients of `f`, with respect to each input."""
    xs = [tf.constant(value) for value in inputs]
    with tf.GradientTape() as outer:
        outer.watch(xs)
        with tf.GradientTape() as inner:
            inner.watch(xs)
            y = f(*xs)
        first = inner.gradient(y, xs)
    return outer.gradient([g for g in first if g is not None], xs)


def everywhere(tf: Any, f: Callable[..., Any], *inputs: Any) -> list[Any]:
    """`f` at `inputs` in eager mode, in a function, and in a function that XLA compiles.

    TensorFlow's XLA lacks kernels on some machines, so there the function stands for both.
    """
    xs = [tf.constant(value) for value in inputs]
    if EAGERLY:
        return [f(*xs)] * 3
    compiled = (
        COMPILES and tf.__name__ == "tapeflow" and importlib.util.find_spec("jax") is not None
    )
    traced = [tf.function(f, autograph=False, jit_compile=jit) for jit in (False, compiled)]
    return [f(*xs), *(each(*xs) for each in traced)]


def derivatives(tf: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """The function that gives `f`, the gradients of a sum in which each element counts differently, and theirs."""

    def weighted(y: Any) -> Any:
        weights = tf.cast(tf.reshape(tf.range(1, tf.size(y) + 1), tf.shape(y)), y.dtype)
        return tf.reduce_sum(y * weights)

    def both(*xs: Any) -> list[Any]:
        with tf.GradientTape() as outer:
            outer.watch(xs)
            with tf.GradientTape() as inner:
                inner.watch(xs)
                y = f(*xs)
                total = weighted(y)
            first = inner.gradient(total, xs)
            again = [weighted(g) for g in first if g is not None]
        return [y, *first, *outer.gradient(again, xs)]

    return both


def expressions(names: dict[str, str], text: str) -> dict[str, Callable[[Any], Any]]:
    """A case for each line of a text: an expression, whose value is compared. `names` are expressions, too."""

    def case(line: str) -> Callable[[Any], Any]:
        def run(tf: Any) -> Any:
            known = {"tf": tf, "np": np}
            for name, expression in names.items():
                known[name] = eval(expression, known)
            return eval(line, known)

        return run

    return {line: case(line) for line in text.strip().splitlines()}
