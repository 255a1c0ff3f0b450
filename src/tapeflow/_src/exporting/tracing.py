"""What is exported: the trace of a function, or of a model, which knows what it takes."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.function.function import Function


def traced(
    op: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ConcreteFunction:
    """The trace of a function for arguments."""
    if isinstance(function, ConcreteFunction):
        return function
    if not callable(function):
        raise TypeError(f"{op}: function must be callable, got {shown(function)}")
    serve = getattr(function, "_served_by_default", None)  # a Keras model has it
    if serve is not None and not args and not kwargs:
        served = serve(named=True)
        if served is None:
            raise ValueError(
                f"{op}: it is not known what the model takes. Build it or call it first, or give a tf.TensorSpec"
            )
        return served
    if not isinstance(function, Function):
        function = Function(function)
    return function.get_concrete_function(*args, **kwargs)
