"""Checks gradients, and gradients of gradients, against central differences in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tapeflow as tf


def check_gradients(f: Callable[..., Any], *inputs: Any, second: bool = True) -> None:
    """Checks the first and second derivatives of `f`, by every input, along random directions."""
    rng = np.random.default_rng(0)
    arrays = [np.asarray(x) for x in inputs]
    arrays = [x if x.dtype.kind == "c" else x.astype(np.float64) for x in arrays]
    weights = [np.asarray(rng.normal(size=y.shape)) for y in _outputs(f(*_tensors(arrays)))]
    directions = [_direction(rng, x) for x in arrays]

    def objective(*xs: Any) -> Any:
        terms = [_real_sum(y, w) for y, w in zip(_outputs(f(*xs)), weights, strict=True)]
        return tf.math.add_n(terms)

    def slope(*xs: Any) -> Any:
        """The derivative of the objective along the directions, as a function to differentiate."""
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = objective(*xs)
        gradients = tape.gradient(y, xs)
        terms = [_inner(g, d) for g, d in zip(gradients, directions, strict=True) if g is not None]
        assert terms, "no gradient at all"
        return tf.math.add_n(terms)

    _compare(objective, slope(*_tensors(arrays)), arrays, directions)
    if second:
        with tf.GradientTape() as tape:
            xs = _tensors(arrays)
            tape.watch(xs)
            y = slope(*xs)
        gradients = tape.gradient(y, xs)
        terms = [_inner(g, d) for g, d in zip(gradients, directions, strict=True) if g is not None]
        along = tf.math.add_n(terms) if terms else tf.constant(0.0, tf.float64)
        _compare(slope, along, arrays, directions)


def _compare(function: Callable[..., Any], got: Any, arrays: list[Any], along: list[Any]) -> None:
    step = 1e-5
    up = function(*_tensors([x + step * d for x, d in zip(arrays, along, strict=True)]))
    down = function(*_tensors([x - step * d for x, d in zip(arrays, along, strict=True)]))
    expected = (up.numpy() - down.numpy()) / (2 * step)
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6, atol=1e-7)


def _direction(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    d = np.asarray(rng.normal(size=x.shape))
    return d + 1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else d


def _tensors(arrays: list[np.ndarray]) -> list[Any]:
    return [tf.constant(x) for x in arrays]


def _outputs(y: Any) -> list[Any]:
    return list(y) if isinstance(y, (list, tuple)) else [y]


def _real_sum(y: Any, weight: np.ndarray) -> Any:
    if y.dtype.is_complex:
        y = tf.math.real(y) + 2.0 * tf.math.imag(y)
    return tf.math.reduce_sum(y * weight)


def _inner(gradient: Any, direction: np.ndarray) -> Any:
    """How much a step along `direction` gains: for complex numbers, the real part of conj(g) d."""
    product = tf.math.conj(tf.convert_to_tensor(gradient)) * direction
    return tf.math.reduce_sum(tf.math.real(product))
