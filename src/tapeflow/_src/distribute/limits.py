"""How long workers wait for one another. The environment says otherwise where that suits a job better."""

from __future__ import annotations

import os


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
