"""One engine for all functions."""

from __future__ import annotations

from typing import Any

from tapeflow._src.engines import choice
from tapeflow._src.engines.protocol import Engine

PROGRAMS = ["numpy", "xla", "hybrid"]


def named(name: str) -> Engine:
    """The engine of this name."""
    return next(engine for engine in choice.ENGINES if engine.name == name)


def run_all_on(monkeypatch: Any, name: str) -> None:
    """Makes one engine run all graphs from the first call on."""
    monkeypatch.setattr(choice, "engines_for", lambda graph, jit_compile: [named(name)])
