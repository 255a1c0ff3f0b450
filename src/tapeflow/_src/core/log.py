"""Warnings, logged the first few times they happen."""

from __future__ import annotations

import logging

from tapeflow._src.core.export import export

logger = logging.getLogger("tapeflow")

_counts: dict[str, int] = {}


@export("get_logger")
def get_logger() -> logging.Logger:
    """The logger tapeflow's warnings go to.

    >>> tf.get_logger().name
    'tapeflow'
    """
    return logger


def warn_once(message: str, times: int = 5) -> None:
    """Logs a warning the first `times` it happens, as TensorFlow does."""
    count = _counts.get(message, 0)
    if count < times:
        _counts[message] = count + 1
        logger.warning(message)


def forget_warnings() -> None:
    """Begins counting afresh, for tests."""
    _counts.clear()
