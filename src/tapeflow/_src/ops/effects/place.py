"""Ops about where and when they run: `tf.timestamp`, `tf.inside_function`, `tf.is_symbolic_tensor`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tapeflow._src.core.context import context
from tapeflow._src.core.dtypes import float64
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.specs import ArraySpec


@export("timestamp")
def timestamp(name: str | None = None) -> Tensor:
    """The seconds since 1970. Inside `tf.function`, each time the function runs.

    >>> before = tf.timestamp()
    >>> bool(tf.timestamp() >= before)
    True

    Args:
      name: accepted for compatibility.
    """

    def now() -> list[Tensor]:
        return [Tensor(np.float64(time.time()))]

    if context.tracer is None:
        return now()[0]
    return context.tracer.python("timestamp", now, [], [ArraySpec((), float64)])[0]


@export("inside_function")
def inside_function() -> bool:
    """Whether `tf.function` is tracing the code that asks.

    >>> tf.inside_function()
    False
    """
    return context.tracer is not None


@export("is_symbolic_tensor")
def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether it is a tensor inside of `tf.function`, that has no value yet.

    >>> tf.is_symbolic_tensor(tf.constant(1.0))
    False

    Args:
      tensor: anything.
    """
    # A tensor of `tf.vectorized_map` has an interpreter, too, but no graph that it belongs to.
    return isinstance(tensor, Tensor) and hasattr(tensor, "graph")
