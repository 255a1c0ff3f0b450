"""What the lowering of one node keeps for that of another: a backward pass finds what the forward pass has computed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core.scopes import setting


class _Lowering(threading.local):
    """What this thread is lowering."""

    def __init__(self) -> None:
        self.found: dict[Any, Any] | None = None


_lowering = _Lowering()


def remembering() -> setting:
    """Within this context one program is lowered, and `remembered` remembers."""
    return setting(_lowering, found={})


def remembered(what: Any, operands: Sequence[Any], compute: Callable[[], Any]) -> Any:
    """What was computed of these very arrays in this program, or is now."""
    known = _lowering.found
    if known is None:
        return compute()
    key = (what, *map(id, operands))
    if key not in known:
        # The operands stay alive there, so that the numbers stay theirs.
        known[key] = (compute(), operands)
    return known[key][0]
