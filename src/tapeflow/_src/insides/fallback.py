"""Saying that something of another library is not there."""

from __future__ import annotations

from tapeflow._src.core.log import logger, warn_once


def slower(missing: str, instead: str) -> None:
    """Notes in the log that something takes longer. Callers remember the answer, so it is said once."""
    logger.info("%s: %s", missing, instead)


def lacking(missing: str, instead: str) -> None:
    """Warns, once, that something is not as it was promised or asked for."""
    warn_once(f"{missing}: {instead}", times=1)
