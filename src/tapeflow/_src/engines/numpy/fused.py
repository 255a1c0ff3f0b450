"""Rows of the NumPy executor's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Fused:
    """A row for several primitives in one. It is the NumPy executor's own, and no other sees it."""

    elementwise = False

    def __init__(self, name: str, kernel: Callable[..., Any], outputs: int = 1) -> None:
        self.name = name
        self.kernel = kernel
        self.outputs = outputs
