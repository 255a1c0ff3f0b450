"""How long workers wait for one another. The environment says otherwise where that suits a job better."""

from __future__ import annotations

import os
import threading
import time


def _seconds(name: str, otherwise: float) -> float:
    text = os.environ.get(name, "")
    try:
        found = float(text) if text else otherwise
    except ValueError:
        found = 0.0
    if not found > 0:
        raise ValueError(
            f"{name} must be a number of seconds, got {text!r} from the environment. Leave it away for {otherwise:g}."
        )
    return found


def heartbeat() -> float:
    """`TAPEFLOW_HEARTBEAT`: who is not heard of for so long is taken for dead."""
    return _seconds("TAPEFLOW_HEARTBEAT", 30.0)


def step() -> float:
    """`TAPEFLOW_STEP_LIMIT`: for so long the others are waited for where workers meet."""
    return _seconds("TAPEFLOW_STEP_LIMIT", 600.0)


def start() -> float:
    """`TAPEFLOW_START_LIMIT`: for so long the others are waited for at the beginning."""
    return _seconds("TAPEFLOW_START_LIMIT", 300.0)


class Watch:
    """A clock that stands still while this process does, for somebody who looks at it often.

    Workers that are all suspended together (Ctrl-Z, a queue of jobs, a machine that is moved) have heard nothing of
    one another when they go on, and none of them is dead.

    Args:
      often: there are never more seconds between two looks; what passes beyond is not counted.
    """

    def __init__(self, often: float) -> None:
        self._often = often
        self._looked = time.monotonic()
        self._lost = 0.0
        self._looking = threading.Lock()

    def __call__(self) -> float:
        """Seconds, from an arbitrary beginning."""
        with self._looking:
            now = time.monotonic()
            self._lost += max(0.0, now - self._looked - self._often)
            self._looked = now
            return now - self._lost
