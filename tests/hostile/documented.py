"""Which exceptions a call may end with: those of docs/reliability.md, section "Errors"."""

from __future__ import annotations

from typing import Any

BUILT_IN = {
    "TypeError",
    "ValueError",
    "NotImplementedError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
}

ELSEWHERE: dict[str, set[str]] = {}
"""Others, for the names that may raise them, as TensorFlow's do."""


def is_documented(label: str, kinds: list[tuple[str, str]]) -> bool:
    """Whether a call may end with an exception of a class and those above it."""
    module, name = kinds[0]
    names = {name for _, name in kinds}
    if name == "InternalError":
        return False
    if module == "builtins":
        return name in BUILT_IN or name in ELSEWHERE.get(label, ())
    return module.startswith("tapeflow.") and bool(names & {"OpError", "TypeError", "ValueError", "NotImplementedError"})
