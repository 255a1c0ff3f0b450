"""A warning for functions that are traced again and again.

It comes when 5 of the last 10 calls were traced, and not more than twice for a function, as in TensorFlow. Functions
made by the same line count as one, so that a `tf.function` that is made anew in every turn of a loop is noticed too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow._src.core.log import get_logger
from tapeflow._src.function.signature import ObjectKey, TensorKey, VariableKey
from tapeflow._src.function.trace_types import SpecKey

if TYPE_CHECKING:
    from tapeflow._src.function.function import Function

_CALLS = 10
_TOO_MANY = 5
_WARNINGS = 2


class RetracingWatch:
    """Counts calls and traces, and says which argument changes."""

    def __init__(self) -> None:
        self.calls = 0  # functions count their calls here
        # The number of the call, the function, the key.
        self._traces: list[tuple[int, int, Any]] = []
        self._warnings = 0

    def traced(self, function: Function, key: Any) -> None:
        """Takes note of a trace, in the call that is counted already."""
        now = self.calls
        self._traces = [t for t in self._traces if t[0] > now - _CALLS]
        self._traces.append((now, function._number, key))
        by_calls = len({number for number, _, _ in self._traces})  # others were asked for
        if by_calls >= _TOO_MANY and self._warnings < _WARNINGS:
            self._warnings += 1
            calls = max(by_calls, min(now, _CALLS))  # get_concrete_function is none that is counted
            get_logger().warning(
                f"{by_calls} of the last {calls} calls of {function.name} traced it again, which "
                f"is slow. {self.why(function)}"
            )

    def why(self, function: Function) -> str:
        """What changed between the last two traces. Nothing, if there were not two of late."""
        if len(self._traces) < 2:
            return ""
        (_, one, before), (_, other, now) = self._traces[-2:]
        if one != other:
            return (
                "Each time it was another tf.function, made by the same line: make it once, outside of the loop (a "
                "method is traced for each object)."
            )
        if len(before) != len(now) or before[0] != now[0]:
            return "The structure of its arguments changes from call to call."
        changed = [i for i, (a, b) in enumerate(zip(before, now, strict=True)) if a != b]
        if not changed:
            return "Sizes that it depends on change from call to call."
        name = repr(function._argument_name(changed[0] - 1))
        return _advice(name, before[changed[0]], now[changed[0]])


def _advice(name: str, a: Any, b: Any) -> str:
    if type(a) is TensorKey and type(b) is TensorKey and a.dtype is b.dtype:
        return (
            f"The shape of the argument {name} changes ({list(a.shape or ())}, then {list(b.shape or ())}): use "
            "tf.function(reduce_retracing=True), or an input_signature with None for what varies."
        )
    if type(a) is SpecKey and type(b) is SpecKey:
        return (
            f"The spec of the argument {name} changes ({a!r}, then {b!r}): use tf.function(reduce_retracing=True), or "
            "give values whose shapes do not change."
        )
    if isinstance(a, (TensorKey, VariableKey)) or isinstance(b, (TensorKey, VariableKey)):
        return f"The dtype or kind of the argument {name} changes ({_value(a)}, then {_value(b)})."
    if type(a) is ObjectKey or type(b) is ObjectKey:
        return f"The argument {name} is another object in each call ({_value(b)}): make it once, outside of the loop."
    return (
        f"The Python value of the argument {name} changes ({_value(a)}, then {_value(b)}): pass it as a tensor, "
        f"tf.constant({_value(b)})."
    )


def _value(key: Any) -> str:
    if isinstance(key, tuple) and len(key) == 2:
        return repr(float.fromhex(key[1]) if key[0] is float else key[1])
    return repr(key)


_watches: dict[tuple[str, int, str], RetracingWatch] = {}


def watch_for(python_function: Callable[..., Any]) -> RetracingWatch:
    """The watch of a function, which those made by the same line share.

    A method of an object, or a `functools.partial`, is a function of its own: whoever makes one for each of several
    models means to.
    """
    code = getattr(python_function, "__code__", None)
    if code is None or hasattr(python_function, "__self__"):
        return RetracingWatch()
    place = (code.co_filename, code.co_firstlineno, code.co_name)
    return _watches.setdefault(place, RetracingWatch())
