"""Switches of `tf.debugging`: the log of where ops run; and what is kept for programs that set it."""

from __future__ import annotations

import sys
from typing import Any

from tapeflow._src.core.context import pop_recorder, push_recorder, recorders
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor

_traceback_filtering = True


class _PlacementLog:
    """A recorder that says of each op where it has run."""

    substitutes = False

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Says it of a primitive."""
        _say(primitive.name, output if isinstance(output, (tuple, list)) else [output])

    def record_call(self, call: Any) -> None:
        """Says it of a function, which is one program."""
        _say(call.name, call.outputs)

    def read(self, variable: Any, value: Tensor) -> Tensor:
        """Reading moves nothing."""
        return value

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Nothing else matters."""

    def follows(self, identity: int) -> bool:
        """Whether there is a gradient does not matter."""
        return False


def _say(op: str, outputs: Any) -> None:
    for x in outputs:
        if isinstance(x, Tensor) and not x.symbolic:
            print(f"Executing op {op} in device {x.device}", file=sys.stderr)
            return


_log = _PlacementLog()


@export("debugging.set_log_device_placement")
def set_log_device_placement(enabled: bool) -> None:
    """Says whether each op that runs in this thread tells on the standard error on which device it has run.

    >>> tf.debugging.set_log_device_placement(True)
    >>> x = tf.constant([1.0, 2.0]) * 2.0  # prints: Executing op multiply in device /job:localhost/...
    >>> tf.debugging.set_log_device_placement(False)

    The names are those of primitives, what ops are made of. A compiled function is one program, and tells nothing of
    the ops in it. In other threads nothing is told.

    Args:
      enabled: whether they do.
    """
    if not isinstance(enabled, bool):
        raise TypeError(
            f"set_log_device_placement: enabled must be True or False, got {enabled!r} of type {type(enabled).__name__}"
        )
    if enabled and not get_log_device_placement():
        push_recorder(_log)
    elif not enabled:
        pop_recorder(_log)


@export("debugging.get_log_device_placement")
def get_log_device_placement() -> bool:
    """Whether ops that run in this thread tell where.

    >>> tf.debugging.get_log_device_placement()
    False
    """
    return _log in recorders()


@export("debugging.enable_traceback_filtering")
def enable_traceback_filtering() -> None:
    """Remembers that tracebacks are to be filtered. They are short already.

    >>> tf.debugging.enable_traceback_filtering()
    """
    global _traceback_filtering
    _traceback_filtering = True


@export("debugging.disable_traceback_filtering")
def disable_traceback_filtering() -> None:
    """Remembers that tracebacks are not to be filtered.

    >>> tf.debugging.disable_traceback_filtering()
    >>> tf.debugging.enable_traceback_filtering()
    """
    global _traceback_filtering
    _traceback_filtering = False


@export("debugging.is_traceback_filtering_enabled")
def is_traceback_filtering_enabled() -> bool:
    """What the two functions above were told last.

    >>> tf.debugging.is_traceback_filtering_enabled()
    True
    """
    return _traceback_filtering
