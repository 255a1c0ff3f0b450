"""LSTM and GRU over all time steps.

The loop over time is left with the product of the state and the recurrent kernel; what the inputs add was computed for
all steps at once. Backwards it is the same: the loop finds the gradients of the gates, and the gradient of the kernel
is one product with all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend import loops

Pair = tuple[Tensor, Tensor]


def _as_tanh(kinds: str, n: int, dtype: Any) -> tuple[Tensor, Tensor, Tensor]:
    """How to compute gates, of which some are logistic (l) and others tanh (t), with a single tanh.

    The logistic function is a tanh that is scaled and shifted: a gate is `tanh(z * scale) * scale + shift`, and its
    slope `(1 - gate) * (gate + low)`.
    """
    logistic = np.repeat([kind == "l" for kind in kinds], n)
    forms = np.where(logistic, 0.5, 1.0), np.where(logistic, 0.5, 0.0), np.where(logistic, 0.0, 1.0)
    scale, shift, low = [tf.constant(form, dtype) for form in forms]
    return scale, shift, low


def _before(first: Tensor, rows: Tensor) -> Tensor:
    """The state before each step, as rows of a matrix."""
    states = tf.concat([first[None], rows[:-1]], 0)
    return tf.reshape(states, (-1, states.shape[-1]))


@tf.custom_gradient
def lstm_sequence(xs: Tensor, u: Tensor, h: Tensor, c: Tensor) -> tuple[Pair, Callable[..., Any]]:
    """The outputs of all steps, and the cell state in the end.

    Args:
      xs: what the inputs add to the gates, for all steps: (time, batch, 4 * units).
      u: the recurrent kernel: (units, 4 * units).
      h: the first output: (batch, units).
      c: the first cell state.
    """
    n = u.shape[0]
    scale, shift, low = _as_tanh("lltl", n, xs.dtype)
    scaled_u = u * scale

    def step(carry: Pair, x: Tensor) -> tuple[Pair, tuple[Tensor, ...]]:
        h, c = carry
        gates = tf.tanh(tf.matmul(h, scaled_u) + x) * scale + shift
        i, f, g, o = tf.split(gates, 4, axis=-1)
        new = f * c + i * g
        squashed = tf.tanh(new)
        h = o * squashed
        return (h, new), (h, c, gates, squashed)

    (_, last), (hs, cs, gates, squashed) = loops.scan(step, (h, c), xs * scale)

    def gradient(g_hs: Tensor, g_last: Tensor) -> tuple[Tensor, ...]:
        transposed_u = tf.transpose(u)

        def back(carry: Pair, row: tuple[Tensor, ...]) -> tuple[Pair, Tensor]:
            dh, dc = carry
            g_h, c, gates, squashed = row
            i, f, g, o = tf.split(gates, 4, axis=-1)
            dh = dh + g_h
            dc = dc + dh * o * (1.0 - squashed * squashed)
            dz = tf.concat([dc * g, dc * c, dc * i, dh * squashed], -1)
            dz = dz * ((1.0 - gates) * (gates + low))
            return (tf.matmul(dz, transposed_u), dc * f), dz

        rows = (g_hs, cs, gates, squashed)
        (dh, dc), dz = loops.scan(back, (tf.zeros_like(h), g_last), rows, reverse=True)
        du = tf.matmul(_before(h, hs), tf.reshape(dz, (-1, 4 * n)), transpose_a=True)
        return dz, du, dh, dc

    return (hs, last), gradient


@tf.custom_gradient
def gru_sequence(xs: Tensor, u: Tensor, b: Tensor, h: Tensor) -> tuple[Tensor, Callable[..., Any]]:
    """The outputs of all steps of a GRU that resets after the product.

    Args:
      xs: what the inputs add to the gates, for all steps: (time, batch, 3 * units).
      u: the recurrent kernel: (units, 3 * units).
      b: the recurrent bias: (3 * units).
      h: the first output: (batch, units).
    """
    n = u.shape[0]
    scale, shift, low = _as_tanh("ll", n, xs.dtype)
    all_scale = tf.concat([scale, tf.ones(n, xs.dtype)], 0)
    scaled_u, scaled_b = u * all_scale, b * all_scale

    def step(h: Tensor, x: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        recurrent = tf.matmul(h, scaled_u) + scaled_b
        inner = recurrent[:, 2 * n :]
        gates = tf.tanh(recurrent[:, : 2 * n] + x[:, : 2 * n]) * scale + shift
        z, r = tf.split(gates, 2, axis=-1)
        candidate = tf.tanh(x[:, 2 * n :] + r * inner)
        new = candidate + z * (h - candidate)
        return new, (new, h, gates, inner, candidate)

    _, (hs, before, gates, inner, candidates) = loops.scan(step, h, xs * all_scale)

    def gradient(g_hs: Tensor) -> tuple[Tensor, ...]:
        transposed_u = tf.transpose(u)

        def back(dh: Tensor, row: tuple[Tensor, ...]) -> tuple[Tensor, Pair]:
            g_h, h, gates, inner, candidate = row
            z, r = tf.split(gates, 2, axis=-1)
            dh = dh + g_h
            from_x = dh * (1.0 - z) * (1.0 - candidate * candidate)
            from_gates = tf.concat([dh * (h - candidate), from_x * inner], -1)
            from_gates = from_gates * ((1.0 - gates) * (gates + low))
            dz = tf.concat([from_gates, from_x * r], -1)
            return dh * z + tf.matmul(dz, transposed_u), (from_x, dz)

        rows = (g_hs, before, gates, inner, candidates)
        dh, (from_x, dz) = loops.scan(back, tf.zeros_like(h), rows, reverse=True)
        d_xs = tf.concat([dz[..., : 2 * n], from_x], -1)
        dz = tf.reshape(dz, (-1, 3 * n))
        du = tf.matmul(_before(h, hs), dz, transpose_a=True)
        return d_xs, du, tf.reduce_sum(dz, 0), dh

    return hs, gradient
