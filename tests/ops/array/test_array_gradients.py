"""Ops that move elements have the gradients that central differences give, of both orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

MATRIX = np.array([[0.3, -1.2, 2.1], [0.9, 1.7, -0.4]])
VECTOR = MATRIX[0]
CUBE = np.linspace(-1.5, 2.0, 24).reshape(2, 3, 4)
STEP = 1e-5

CASES: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "reshape": (lambda x: tf.reshape(x, [3, -1]), [MATRIX]),
    "transpose": (lambda x: tf.transpose(x, [2, 0, 1]), [CUBE]),
    "expand_dims": (lambda x: tf.expand_dims(x, 1), [MATRIX]),
    "squeeze": (lambda x: tf.squeeze(x), [MATRIX[:1]]),
    "identity": (lambda x: tf.identity(x), [MATRIX]),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [4, 2, 3]), [MATRIX[:1]]),
    "ensure_shape": (lambda x: tf.ensure_shape(x, [2, None]), [MATRIX]),
    "cast": (lambda x: tf.math.real(tf.cast(x, tf.complex128)), [MATRIX]),
    "concat": (lambda x, y: tf.concat([x, y, x], -1), [MATRIX, MATRIX[:, :1]]),
    "stack": (lambda x, y: tf.stack([x, y], axis=1), [VECTOR, MATRIX[1]]),
    "unstack": (lambda x: tf.unstack(x, axis=1)[1:], [MATRIX]),
    "split": (lambda x: tf.split(x, [1, -1], axis=1)[1], [MATRIX]),
    "tile": (lambda x: tf.tile(x, [2, 3]), [MATRIX]),
    "repeat": (lambda x: tf.repeat(x, 3, axis=1), [MATRIX]),
    "repeat each": (lambda x: tf.repeat(x, [2, 0, 1], axis=1), [MATRIX]),
    "pad": (lambda x, c: tf.pad(x, [[1, 0], [2, 1]], constant_values=c), [MATRIX, np.array(0.7)]),
    "pad reflect": (lambda x: tf.pad(x, [[1, 1], [2, 0]], "REFLECT"), [MATRIX]),
    "pad symmetric": (lambda x: tf.pad(x, [[2, 1], [3, 1]], "SYMMETRIC"), [MATRIX]),
    "reverse": (lambda x: tf.reverse(x, [0, 1]), [MATRIX]),
    "roll": (lambda x: tf.roll(x, [1, -2], [0, 1]), [MATRIX]),
    "meshgrid": (lambda x, y: tf.meshgrid(x, y), [VECTOR, MATRIX[1, :2]]),
    "sort": (lambda x: tf.sort(x, axis=0), [MATRIX]),
    "sort descending": (lambda x: tf.sort(x, direction="DESCENDING"), [MATRIX]),
    "slice": (lambda x: tf.slice(x, [0, 1], [-1, 2]), [MATRIX]),
    "strided_slice": (lambda x: tf.strided_slice(x, [0, 2], [2, 0], [1, -1]), [MATRIX]),
    "brackets": (lambda x: x[1, None, ::-2], [MATRIX]),
    "mask": (lambda x: x[tf.constant([[True, False, True], [False, True, True]])], [MATRIX]),
    "gather": (lambda x: tf.gather(x, [[1, 0], [1, 1]]), [MATRIX]),
    "gather one": (lambda x: tf.gather(x, 1, axis=1), [MATRIX]),
    "gather axis": (lambda x: tf.gather(x, [[2, 0], [2, 1]], axis=1), [CUBE]),
    "gather batch": (lambda x: tf.gather(x, [[2, 2], [0, 1]], batch_dims=1), [CUBE]),
    "gather batch axis": (lambda x: tf.gather(x, [[3, 3], [0, 1]], axis=2, batch_dims=1), [CUBE]),
    "gather_nd": (lambda x: tf.gather_nd(x, [[0, 1], [1, 2], [0, 1]]), [MATRIX]),
    "gather_nd rows": (lambda x: tf.gather_nd(x, [[1], [1]]), [MATRIX]),
    "gather_nd batch": (lambda x: tf.gather_nd(x, [[[2, 0]], [[1, 3]]], batch_dims=1), [CUBE]),
    "scatter_nd": (lambda u: tf.scatter_nd([[0], [2], [0]], u, [4]), [VECTOR]),
    "scatter update": (
        lambda x, u: tf.tensor_scatter_nd_update(x, [[2], [0]], u),
        [VECTOR, MATRIX[1, :2]],
    ),
    "scatter add": (
        lambda x, u: tf.tensor_scatter_nd_add(x, [[0], [0]], u),
        [VECTOR, MATRIX[1, :2]],
    ),
    "scatter sub": (
        lambda x, u: tf.tensor_scatter_nd_sub(x, [[0], [1]], u),
        [VECTOR, MATRIX[1, :2]],
    ),
    "scatter max": (
        lambda x, u: tf.tensor_scatter_nd_max(x, [[0], [1], [0]], u),
        [VECTOR, MATRIX[1]],
    ),
    "scatter min": (
        lambda x, u: tf.tensor_scatter_nd_min(x, [[0], [1], [0]], u),
        [VECTOR, MATRIX[1]],
    ),
    "where": (lambda x, y: tf.where([True, False, True], x, y), [MATRIX, VECTOR]),
    "boolean_mask": (lambda x: tf.boolean_mask(x, [True, False, True], axis=1), [MATRIX]),
    "fill": (lambda v: tf.fill([2, 2], v), [np.array(0.3)]),
    "linspace": (lambda a, b: tf.linspace(a, b, 4, axis=-1), [VECTOR, MATRIX[1]]),
    "dynamic_partition": (lambda x: tf.dynamic_partition(x, [1, 0], 2), [MATRIX]),
    "dynamic_stitch": (
        lambda x, y: tf.dynamic_stitch([[0, 3], [1, 2]], [x, y]),
        [MATRIX[:, :2], MATRIX[:, 1:]],
    ),
}


def _scalar(f: Callable[..., Any], *xs: Any) -> Any:
    """A number that depends on every element of `f`, on each in its own way, and not linearly."""
    total = tf.constant(0.0, tf.float64)
    for y in tf.nest.flatten(f(*xs)):
        weights = np.cos(np.arange(y.shape.num_elements())).reshape(y.shape.as_list()) + 1.5
        total += tf.reduce_sum(weights * y * y * y)
    return total


def _first(f: Callable[..., Any], arrays: list[Any]) -> list[Any]:
    xs = [tf.constant(a) for a in arrays]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = _scalar(f, *xs)
    return [tf.convert_to_tensor(g).numpy() for g in tape.gradient(y, xs)]


def _second(f: Callable[..., Any], arrays: list[Any]) -> list[Any]:
    xs = [tf.constant(a) for a in arrays]
    with tf.GradientTape() as outer:
        outer.watch(xs)
        with tf.GradientTape() as inner:
            inner.watch(xs)
            y = _scalar(f, *xs)
        slopes = [tf.convert_to_tensor(g) for g in inner.gradient(y, xs)]
        z = sum(tf.reduce_sum(_weights(s) * s) for s in slopes)
    return [tf.convert_to_tensor(g).numpy() for g in outer.gradient(z, xs)]


def _weights(x: Any) -> Any:
    return np.sin(np.arange(np.size(x)) + 0.5).reshape(np.shape(x))


def _differences(value: Callable[[list[Any]], float], arrays: list[Any]) -> list[Any]:
    results = []
    for position, array in enumerate(arrays):
        slopes = np.zeros(array.shape)
        for place in np.ndindex(array.shape):
            ends = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[position][place] += sign * STEP
                ends.append(value(moved))
            slopes[place] = (ends[0] - ends[1]) / (2 * STEP)
        results.append(slopes)
    return results


@pytest.mark.parametrize("name", list(CASES))
def test_first_order(name: str) -> None:
    f, arrays = CASES[name]
    expected = _differences(lambda a: float(_scalar(f, *[tf.constant(x) for x in a])), arrays)
    for got, want in zip(_first(f, arrays), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", list(CASES))
def test_second_order(name: str) -> None:
    f, arrays = CASES[name]

    def value(moved: list[Any]) -> float:
        return sum(float(np.sum(_weights(s) * s)) for s in _first(f, moved))

    for got, want in zip(_second(f, arrays), _differences(value, arrays), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)
