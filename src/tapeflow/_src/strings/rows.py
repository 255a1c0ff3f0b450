"""How rows for strings are made, and how their arguments become tensors.

Strings are objects, which only the host computes with: no row here is in the table of primitives, or has a derivative.
In the graph of a function they are nodes as others are, and go into saved models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, string
from tapeflow._src.core.errors import DTypeError, InvalidArgumentError, invalid, shown
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.batching.batch import RULES
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import unlisted


def row(
    name: str, inputs: str, kernel: Callable[..., Any], result: Callable[..., Any], **rest: Any
) -> Callable[..., Any]:
    """Adds a row and returns the function that runs it on tensors."""
    return unlisted(f"strings.{name}", inputs, kernel, result=result, **rest)


def elementwise(
    name: str, inputs: str, kernel: Callable[..., Any], dtype: DType | None = string
) -> Callable[..., Any]:
    """A row that works on each element of its first input; others are scalars.

    Args:
      name: of the row.
      inputs: the names of its inputs.
      kernel: takes arrays.
      dtype: that of the result, or None if the attribute `dtype` says it.
    """

    def result(x: ArraySpec, *others: ArraySpec, **attrs: Any) -> ArraySpec:
        return ArraySpec(x.shape, attrs["dtype"] if dtype is None else dtype)

    call = row(name, inputs, kernel, result)

    def batched(batch: Any, x: Any, *others: Any, **attrs: Any) -> Any:
        if any(batch.holds(other) for other in others):
            raise InvalidArgumentError(
                None, None, f"{name}: only its first input may be another for each example"
            )
        return call(batch.data(x), *others, **attrs)

    RULES[f"strings.{name}"] = batched
    return call


def strings_of(op: str, argument: str, value: Any) -> Tensor:
    """An argument as a tensor of strings.

    >>> strings_of("lower", "input", "A").dtype
    tf.string
    """
    if isinstance(value, (list, tuple)) and not value:
        return convert_to_tensor(value, string)
    tensor = convert_to_tensor(value, None if isinstance(value, Tensor) else string)
    if tensor.dtype is not string:
        raise DTypeError(
            None,
            None,
            f"{op}: {argument} must be of strings, got dtype {tensor.dtype.name}. Use tf.strings.as_string to make "
            "strings of numbers.",
        )
    return tensor


def scalar_of(op: str, argument: str, value: Any) -> Tensor:
    """An argument as a tensor of one string."""
    tensor = strings_of(op, argument, value)
    if tensor.shape.rank not in (None, 0):
        raise invalid(f"{op}: {argument} must be a scalar, got shape {tensor.shape}")
    return tensor


def text_of(op: str, argument: str, value: Any) -> Tensor:
    """An argument that must be a string of Python's, as a tensor."""
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"{op}: {argument} must be a string of Python's, got {shown(value)}")
    return convert_to_tensor(value, string)


def one_of(op: str, argument: str, value: Any, choices: tuple[str, ...]) -> str:
    """An argument that is one of a few words."""
    word = value.decode() if isinstance(value, bytes) else value
    if word not in choices:
        raise invalid(
            f"{op}: {argument} must be {', '.join(map(repr, choices))}, got {shown(value)}"
        )
    return word


def listed(array: Any) -> list[bytes]:
    """The strings of an array."""
    return np.asarray(array, object).ravel().tolist()


def the(array: Any) -> bytes:
    """The string in an array that is one string."""
    return np.asarray(array, object).item()
