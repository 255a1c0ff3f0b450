"""Tensors as what the outcomes of a check can hold and compare: dtype, shape and numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf


def plain(value: Any) -> list[Any]:
    """The tensors of a structure: dtype, shape and numbers, those that are not finite as words."""
    return [None if leaf is None else _leaf(np.asarray(leaf)) for leaf in tf.nest.flatten(value)]


def _leaf(array: np.ndarray) -> list[Any]:
    numbers = array.astype(float if array.dtype.kind in "fiub" else object).ravel().tolist()
    return [str(array.dtype), list(array.shape), [_number(number) for number in numbers]]


def _number(number: Any) -> Any:
    return number if isinstance(number, float) and math.isfinite(number) else str(number)
