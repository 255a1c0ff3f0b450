"""Tensors that are not plain arrays of NumPy's, and who runs primitives on them.

A tensor of a subclass may name an *interpreter*. A primitive with such an input does not run its kernel: it hands
itself, its inputs and its attributes to the interpreter, which answers with the output. `tf.vectorized_map` and
vectorised Jacobians work this way: their tensors stand for one example of a batch, and their interpreter runs the
primitive on the whole batch. So do engines (`engines.protocol`), for tensors that live elsewhere.

Where the inputs have several interpreters, the one with the greatest `depth` takes over, and sees the others' tensors
as plain ones.

Whether a tensor has a value is another question, and `Tensor.symbolic` answers it. If it has none, its `_array` is an
`AbstractArray`: a shape and a dtype, which is all that ops look at.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from tapeflow._src.core.context import context, recorders
from tapeflow._src.core.tensor import Tensor

new_depth: Callable[[], int] = itertools.count(1).__next__
"""Gives the depth of an interpreter: whoever comes later is inside of those that are there."""


class Interpreter:
    """Runs primitives on tensors of its own kind."""

    depth: int = 0

    def interpret(self, primitive: Any, inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> Any:
        """The output of a primitive, or the tuple of its outputs. Tells the recorders of it too."""
        raise NotImplementedError

    def record_call(self, call: Any) -> None:
        """Tells the recorders of a computation on its tensors that brings its own pullback."""
        for recorder in recorders():
            recorder.record_call(call)

    def states(self, state: Tensor) -> Tensor:
        """What a random op is to draw from that has taken `state` from a generator."""
        return state


def innermost(tensors: Iterable[Tensor]) -> Interpreter | None:
    """The interpreter that takes over a primitive with these inputs, if any does."""
    found: Interpreter | None = None
    for x in tensors:
        interpreter = None if type(x) is Tensor else x.interpreter
        if interpreter is not None and (found is None or interpreter.depth > found.depth):
            found = interpreter
    return found


def own_states(state: Tensor) -> Tensor:
    """A random state, or inside `tf.vectorized_map` one for each example."""
    for interpreter in context.interpreters:
        state = interpreter.states(state)
    return state


def concrete(tensor: Tensor) -> Tensor:
    """The tensor, if it has a value; else an error that says why not."""
    if tensor.symbolic:
        raise TypeError(tensor._array.why)
    return tensor


class AbstractArray:
    """A shape and a dtype, in the place of an array. Asking for values raises the message `why`."""

    __slots__ = ("dtype", "ndim", "shape", "why")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, why: str) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ndim = len(shape)
        self.why = why

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(self.why)

    __array__ = __getitem__ = __bool__ = __int__ = __float__ = __complex__ = __index__ = _refuse
    __iter__ = __len__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what a protocol probes for is plainly not there
            raise AttributeError(name)
        raise TypeError(self.why)

    def __repr__(self) -> str:
        return f"<{self.dtype} array of shape {list(self.shape)} without values>"
