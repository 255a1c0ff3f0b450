"""How near two images are."""

from __future__ import annotations

import math
from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.nn.operands import alike


def psnr(x1: Any, x2: Any, max_val: Any) -> Tensor:
    """The ratio of the peak signal to the noise, in decibels."""
    x1, x2 = alike(x1, x2)
    if x1.shape != x2.shape:
        raise ValueError(f"psnr: `x1` and `x2` must have one shape, got {x1.shape} and {x2.shape}")
    noise = tf.reduce_mean(tf.math.squared_difference(x1, x2))
    peak = convert_to_tensor(max_val, x2.dtype)
    return (tf.math.log(peak) * 20.0 - tf.math.log(noise) * 10.0) / math.log(10.0)
