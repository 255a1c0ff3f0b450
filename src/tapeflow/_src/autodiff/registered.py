"""`tf.RegisterGradient`: gradients by the type of an op, for programs that bring ops of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export

F = TypeVar("F", bound=Callable[..., Any])
_gradients: dict[str, Any] = {}


@export("RegisterGradient")
class RegisterGradient:
    """A decorator that notes a gradient for a type of op. Each type may have one.

    Ops of tapeflow bring their own gradients, which it does not change: give a function another one by
    `tf.custom_gradient`.

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
    if op_type in _gradients:
        raise KeyError(f"Registering two gradient with name {op_type!r}!")
    _gradients[op_type] = f
