"""Ops that only Python can run, on values that no engine computes with: files, images, strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.interpreter import concrete
from tapeflow._src.core.placement.remote import beside, placed
from tapeflow._src.core.system.memory import exhausted
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.specs import ArraySpec

Arrays = Callable[..., Sequence[Any]]


def on_host(
    name: str, function: Arrays, inputs: Sequence[Any], specs: Sequence[ArraySpec]
) -> list[Any]:
    """Calls a function of arrays that returns arrays: now, or each time the function that is traced runs.

    Args:
      name: of the op.
      function: takes an array for each input and returns one for each of `specs`.
      inputs: tensors, or what becomes one.
      specs: the outputs. A shape of None is not known before, nor is a size of None.
    """
    tensors = [convert_to_tensor(x) for x in inputs]
    if context.tracer is None:
        try:
            found = function(*[np.asarray(concrete(x)._array) for x in tensors])
        except MemoryError as error:
            raise exhausted(name, error) from None
        with beside(*tensors):
            return [placed(Tensor(a)) for a in found]

    return list(context.tracer.python(name, function, tensors, specs, of_users=False))


def bytes_array(values: Sequence[bytes], shape: tuple[int, ...]) -> np.ndarray:
    """An array of strings, which are kept as bytes."""
    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(shape)


def each(function: Callable[[bytes], bytes], array: np.ndarray) -> np.ndarray:
    """A function of every string in an array."""
    return bytes_array([function(x) for x in array.ravel().tolist()], array.shape)
