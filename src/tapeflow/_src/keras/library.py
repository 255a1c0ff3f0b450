"""What Keras gets in the place of its lazy `tensorflow`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tapeflow._src.keras.hook import NAME


class Library:
    """Stands for a library, as Keras's own lazy modules do."""

    available = True

    def __init__(self, find: Callable[[], ModuleType]) -> None:
        self._find = find

    def __getattr__(self, name: str) -> Any:
        return getattr(self._find(), name)


ours = Library(lambda: sys.modules[NAME])
either = Library(lambda: sys.modules.get("tensorflow") or sys.modules[NAME])
"""TensorFlow in programs that use it beside tapeflow, and may give its datasets to Keras."""
