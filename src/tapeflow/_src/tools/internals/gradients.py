"""TensorFlow's registry of gradients, which some libraries change for as long as they differentiate.

It holds what `tf.RegisterGradient` has noted, and the gradients of the primitives under the names that TensorFlow's ops
have. Whoever replaces one of these changes the gradient of such ops in all functions that are traced from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from tapeflow._src.autodiff import registered
from tapeflow._src.function.tracing.overrides import (
    gradient_function,
    gradient_of,
    row_of,
)
from tapeflow._src.primitives.types import rows_by_type

_LOCATION = ("UNKNOWN",) * 5  # where TensorFlow notes the line of a registration


class Entry(MutableMapping[str, Any]):
    """What is registered for a type of op: its function, as `"type"`, and a place, as `"location"`."""

    def __init__(self, op_type: str) -> None:
        self._op_type = op_type

    def __getitem__(self, key: str) -> Any:
        if key == "location":
            return _LOCATION
        if key != "type":
            raise KeyError(key)
        if self._op_type in registered.gradients:
            return registered.gradients[self._op_type]
        return gradient_function(self._op_type)

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "type":
            _put(self._op_type, value)

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"{key!r} cannot be taken out of the entry of {self._op_type!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(("type", "location"))

    def __len__(self) -> int:
        return 2


def _put(op_type: str, function: Callable[..., Any] | None) -> None:
    """Registers a function, or puts it in the place of a primitive's gradient."""
    row = row_of(op_type)
    if row is None:
        registered.gradients[op_type] = function
    elif function is gradient_of(row):
        registered.replaced.pop(op_type, None)
    else:
        registered.replaced[op_type] = function or (lambda op, *grads: [None] * len(op.inputs))


class Entries(MutableMapping[str, Any]):
    """The entries by types of ops."""

    def __getitem__(self, op_type: str) -> Entry:
        if op_type not in registered.gradients and row_of(op_type) is None:
            raise KeyError(op_type)
        return Entry(op_type)

    def __setitem__(self, op_type: str, entry: Any) -> None:
        _put(op_type, entry["type"])

    def __delitem__(self, op_type: str) -> None:
        if op_type not in registered.gradients:
            raise KeyError(op_type)
        del registered.gradients[op_type]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*registered.gradients, *filter(row_of, rows_by_type())]))

    def __len__(self) -> int:
        return len(list(iter(self)))


class Registry:
    """`ops._gradient_registry`."""

    def __init__(self) -> None:
        self._registry = Entries()

    def lookup(self, name: str) -> Any:
        """The function that is registered."""
        if name not in self._registry:
            raise LookupError(f"gradient registry has no entry for: {name}")
        return self._registry[name]["type"]

    def list(self) -> list[str]:
        """The types of ops."""
        return list(self._registry)


registry = Registry()


def record_gradient(op_name: str, inputs: Any, attrs: Any, outputs: Any) -> None:
    """What TensorFlow's ops tell tapes by, and ours do not: libraries put it back where they have replaced it."""
