"""What Keras gets in the place of its lazy `tensorflow`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from tapeflow._src.keras.hook import NAME


class Library:
    """Stands for a library, as Keras's own lazy modules do."""

    available = True
    __name__ = NAME

    def __init__(self, find: Callable[[], ModuleType]) -> None:
        self._find = find

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what a protocol probes for: no reason to import anything
            raise AttributeError(name)
        found = self._find()
        if name == "compat" and found is sys.modules[NAME]:
            return SimpleNamespace(as_text=_as_text)  # all that is asked for
        return getattr(found, name)


def _as_text(value: str | bytes, encoding: str = "utf-8") -> str:
    return value.decode(encoding) if isinstance(value, bytes) else value


ours = Library(lambda: sys.modules[NAME])
backend_of_tensorflow = Library(lambda: importlib.import_module("tapeflow._src.keras.backend"))
"""For layers that compute with TensorFlow on every backend. By its name, they take it to have `tf.math.bincount`."""
backend_of_tensorflow.__name__ = "tensorflow"
either = Library(lambda: sys.modules.get("tensorflow") or sys.modules[NAME])
"""TensorFlow in programs that use it beside tapeflow, and may give its datasets to Keras."""
