"""What XLA cannot do, in the words of `tf.errors`."""

from __future__ import annotations

from typing import Any

import jax

from tapeflow._src.core.system.memory import check_countable, exhausted, failed_on_device


def checked(op: str, result: Any) -> Any:
    """What a lowering gave. XLA ends the process for an array whose bytes cannot be counted."""
    for array in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(array, jax.Array):
            check_countable(op, array.shape, array.dtype)
    return result


class translating_xla_errors:
    """Within this context, the errors of XLA become those of `tf.errors`.

    Args:
      function: the name of what XLA runs.
    """

    def __init__(self, function: str) -> None:
        self._function = function

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None and issubclass(kind, jax.errors.JaxRuntimeError):
            raise failed_on_device(error, f"{self._function}: ") from None
        if kind is not None and issubclass(kind, MemoryError):  # of a lowering
            raise exhausted(self._function, error) from None
        if kind is ValueError and _is_of_interruption(error):
            raise KeyboardInterrupt from None


def _is_of_interruption(error: ValueError) -> bool:
    """Whether jax tells of an interruption as of a mistake: it does where it compares what it has cached."""
    text = str(error)
    return text.startswith("Cache keys should be comparable") and "KeyboardInterrupt" in text
