"""LSTM and GRU over all time steps, with gradients that need one product for all steps."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow.core.tensor import Tensor
from tapeflow.keras_backend import loops


def _tanh_form(n: int, dtype: Any) -> tuple[Tensor, Tensor]:
    """The logistic function is a scaled tanh: with these all gates are `tanh(z * scale) * scale + shift`."""
    scale = np.repeat([0.5, 0.5, 1.0, 0.5], n)
    shift = np.repeat([0.5, 0.5, 0.0, 0.5], n)
    return tf.constant(scale, dtype), tf.constant(shift, dtype)


@tf.custom_gradient
def lstm_sequence(xs: Tensor, u: Tensor, h: Tensor, c: Tensor) -> Any:
    n = u.shape[0]
    scale, shift = _tanh_form(n, xs.dtype)
    us = u * scale

    def step(carry, x):
        h, c = carry
        gates = tf.tanh(tf.matmul(h, us) + x) * scale + shift
        i, f, g, o = tf.split(gates, 4, axis=-1)
        new = f * c + i * g
        squashed = tf.tanh(new)
        h2 = o * squashed
        return (h2, new), (h2, c, gates, squashed)

    (_, last), (hs, cs, gates, squashed) = loops.scan(step, (h, c), xs * scale)

    def gradient(g_hs, g_c):
        ut = tf.transpose(u)
        factor = gates * (1.0 - gates)
        inner = gates[..., 2 * n : 3 * n]
        def back(carry, row):
            dh, dc = carry
            g_h, c, gates, squashed = row
            i, f, g, o = tf.split(gates, 4, axis=-1)
            dh = dh + g_h
            dc = dc + dh * o * (1.0 - squashed * squashed)
            dz = tf.concat([dc * g * i * (1-i), dc * c * f*(1-f), dc * i * (1.0 - g * g), dh * squashed * o *(1-o)], -1)
            return (tf.matmul(dz, ut), dc * f), dz
        (dh, dc), dz = loops.scan(back, (tf.zeros_like(h), g_c), (g_hs, cs, gates, squashed), reverse=True)
        before = tf.concat([h[None], hs[:-1]], 0)
        du = tf.matmul(tf.reshape(before, (-1, n)), tf.reshape(dz, (-1, 4 * n)), transpose_a=True)
        return dz, du, dh, dc

    return (hs, last), gradient

def gru_sequence(*a):
    raise NotImplementedError
