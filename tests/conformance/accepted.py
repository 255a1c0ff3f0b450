"""Where tapeflow differs from TensorFlow on purpose, with the reason.

Each entry names a case and says what tapeflow gives instead, so that the difference itself is
tested. An entry whose case has come to agree with TensorFlow fails: it should be removed.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Accepted(NamedTuple):
    """What tapeflow gives for a case instead of TensorFlow's result, and why."""

    outcome: dict[str, Any]
    why: str


ACCEPTED: dict[str, Accepted] = {}
