"""Saying that something of another library is not there."""

from __future__ import annotations

import functools

from tapeflow._src.core.log import get_logger, warn_once


@functools.cache
def slower(missing: str, instead: str) -> None:
    """Notes in the log, once, that something takes longer."""
    get_logger().info("%s: %s", missing, instead)


def lacking(missing: str, instead: str) -> None:
    """Warns, once, that something is not as it was promised or asked for."""
    warn_once(f"{missing}: {instead}", times=1)
