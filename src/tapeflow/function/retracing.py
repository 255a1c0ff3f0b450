"""A warning for functions that are traced again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.core.log import warn_once
from tapeflow.function.signature import ObjectKey, TensorKey

if TYPE_CHECKING:
    from tapeflow.function.polymorphic import Function

_TOO_OFTEN = 5


class RetracingWatch:
    """Counts the traces of a function, and says which argument changes."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._keys: list[Any] = []

    def traced(self, key: Any) -> None:
        """Takes note of a trace."""
        self._keys = [*self._keys[-_TOO_OFTEN:], key]
        if len(self._keys) > _TOO_OFTEN and len(self._keys) == _TOO_OFTEN + 1:
            name = self._function.name
            warn_once(
                f"{name} was traced {self._function.experimental_get_tracing_count()} times. Tracing is slow. "
                f"{self._why()}"
            )

    def _why(self) -> str:
        before, now = self._keys[-2:]
        if len(before) != len(now) or before[0] != now[0]:
            return "The structure of its arguments changes from call to call."
        names = list(self._function.signature.parameters.parameters)
        for i, (a, b) in enumerate(zip(before[1:], now[1:], strict=True)):
            if a == b:
                continue
            name = names[i] if i < len(names) else f"{i}"
            if type(a) is TensorKey and type(b) is TensorKey and a.dtype is b.dtype:
                return (
                    f"The shape of the argument {name!r} changes ({list(a.shape or ())}, then {list(b.shape or ())}): "
                    "use tf.function(reduce_retracing=True), or an input_signature with None for what varies."
                )
            if type(a) is TensorKey or type(b) is TensorKey:
                return f"The dtype or kind of the argument {name!r} changes ({a}, then {b})."
            if type(a) is ObjectKey or type(b) is ObjectKey:
                return f"The argument {name!r} is another object in each call ({b}): make it once, outside of the loop."
            return (
                f"The Python value of the argument {name!r} changes ({_value(a)}, then {_value(b)}): pass it as a "
                f"tensor, tf.constant({_value(b)})."
            )
        return "Sizes that it depends on change from call to call."


def _value(key: Any) -> str:
    if isinstance(key, tuple) and len(key) == 2:
        return repr(float.fromhex(key[1]) if key[0] is float else key[1])
    return repr(key)
