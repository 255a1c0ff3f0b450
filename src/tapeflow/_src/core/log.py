"""Warnings, logged the first few times they happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow._src.core.export import export

if TYPE_CHECKING:
    import logging

_counts: dict[str, int] = {}


@export("get_logger")
def get_logger() -> logging.Logger:
    """The logger tapeflow's warnings go to.

    >>> tf.get_logger().name
    'tapeflow'
    """
    import logging  # takes longer than most of what is imported with tapeflow, and most programs are never warned

    return logging.getLogger("tapeflow")


def warn_once(message: str, times: int = 5) -> None:
    """Logs a warning the first `times` it happens, as TensorFlow does."""
    count = _counts.get(message, 0)
    if count < times:
        _counts[message] = count + 1
        get_logger().warning(message)


def forget_warnings() -> None:
    """Begins counting afresh, for tests."""
    _counts.clear()
