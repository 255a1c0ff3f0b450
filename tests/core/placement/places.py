"""What the tests of this folder share."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapeflow as tf

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def on(device: str, value: Any = X) -> tf.Tensor:
    """A tensor on a device."""
    with tf.device(device):
        return tf.constant(value)


def place(x: Any) -> str:
    """The device of a tensor or variable, in short."""
    return x.device.rpartition("device:")[2]
