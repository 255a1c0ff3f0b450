"""`tf.RegisterGradient`: gradients by the type of an op, for programs that bring ops of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.primitives.types import rows_by_type

F = TypeVar("F", bound=Callable[..., Any])

gradients: dict[str, Any] = {}
"""The functions by the types that they are registered for; None where there is no gradient."""

replaced: dict[str, Callable[..., Any]] = {}
"""Gradients that types of ops have instead of those of their primitives, in all functions that are traced."""


@export("RegisterGradient")
class RegisterGradient:
    """A decorator that notes a gradient for a type of op. Each type may have one.

    The ops that there are bring their own gradients. Within `tf.Graph.gradient_override_map` they have those that are
    registered; `tf.custom_gradient` gives one to a function.

    >>> @tf.RegisterGradient("MyOp")
    ... def my_gradient(op, grad):
    ...     return grad

    Args:
      op_type: the type.
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError(f"op_type must be a string, got {shown(op_type)}")
        self._op_type = op_type

    def __call__(self, f: F) -> F:
        """Notes the function."""
        _register(self._op_type, f)
        return f


@export("no_gradient")
def no_gradient(op_type: str) -> None:
    """Notes that a type of op has no gradient.

    >>> tf.no_gradient("MyOtherOp")
    """
    if not isinstance(op_type, str):
        raise TypeError(f"op_type must be a string, got {shown(op_type)}")
    _register(op_type, None)


def _register(op_type: str, f: Any) -> None:
    if op_type in gradients or op_type in rows_by_type():
        raise KeyError(f"Registering two gradient with name {op_type!r}!")
    gradients[op_type] = f
