"""Branches and loops of `tf.vectorized_map` outside of functions, where the examples of a batch part.

A graph has rules for branches and loops of many examples at once. So these are traced for one call. `core/late.py`
names this file: ops, which are below functions, come here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.context import context
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.control_flow.examples import unsupported
from tapeflow._src.function.function import Function
from tapeflow._src.function.retracing import RetracingWatch
from tapeflow._src.ops.control.tensor_array import TensorArray


def switch(op: str, index: Tensor, functions: Any, names: Sequence[str]) -> Any:
    """A branch for each example. It takes what the tracer's `switch` takes."""
    return _called_once(lambda: context.tracer.switch(op, index, functions, names))


def while_loop(
    condition: Any, body: Any, loop_vars: Any, shapes: Any, limit: Any, next_values: Any
) -> Any:
    """A loop that some examples leave before others. It takes what the tracer's `while_loop` takes."""
    if any(isinstance(x, TensorArray) for x in nest.flatten(loop_vars)):
        raise unsupported("a TensorArray in a loop that some examples leave before others")
    return _called_once(
        lambda: context.tracer.while_loop(condition, body, loop_vars, shapes, limit, next_values)
    )


def _called_once(computation: Callable[[], Any]) -> Any:
    return Function(computation, autograph=False, watch=RetracingWatch())()
