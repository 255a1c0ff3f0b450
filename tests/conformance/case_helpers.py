"""What several files of cases need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


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
