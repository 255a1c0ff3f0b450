"""Which values stand for something that is not known until the program runs, and how they travel.

Everything that AutoGraph asks of the tracer is asked here.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.control.tensor_array import TensorArray

_VALUES = (Tensor, Variable, bool, int, float, complex, str, bytes, np.ndarray, np.generic)
_TOGETHER = (TensorArray, CompositeTensor)


def is_symbolic(x: Any) -> bool:
    """Whether `x` is a tensor without a value yet, so that Python cannot decide on it."""
    return isinstance(x, Tensor) and x.symbolic


def is_tracing() -> bool:
    """Whether ops are being written down rather than run: then a loop over a tensor is a loop of the program."""
    return context.tracer is not None


def scratch() -> AbstractContextManager[None]:
    """A scope whose ops are thrown away, to learn what a piece of code would give."""
    tracer = context.tracer
    if tracer is None:
        return nullcontext()
    # It imports the tracer, which is above.
    from tapeflow._src.function.control_flow.blocks import Block

    block = Block("scratch", tracer)
    block.created = tracer.created
    return block.tracing()


def read(x: Any) -> Any:
    """A variable's value, as Python's own operators would read it; anything else as it is."""
    return convert_to_tensor(x) if isinstance(x, Variable) else x


def is_value(x: Any) -> bool:
    """Whether `x` can be an input or output of a branch or loop of the program."""
    return isinstance(x, (*_VALUES, *_TOGETHER))


def as_value(x: Any, like: Any = None) -> Any:
    """`x` as it travels through branches and loops: a tensor, a composite one, or a `TensorArray`.

    A Python number takes the dtype of `like` if it is of the same kind: a float becomes any float.
    """
    if isinstance(x, _TOGETHER):
        return x
    if isinstance(like, Tensor) and type(x) in (bool, int, float, complex):
        natural = convert_to_tensor(x)
        if natural.dtype is not like.dtype and _kind(natural) == _kind(like):
            return convert_to_tensor(x, dtype=like.dtype)
        return natural
    return convert_to_tensor(x)


def _kind(tensor: Tensor) -> str:
    dtype = tensor.dtype
    if dtype.is_floating:
        return "float"
    return "integer" if dtype.is_integer else dtype.name
