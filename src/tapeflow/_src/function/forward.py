"""A graph and what runs it: on this computer, and on devices."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.placement.devices import devices
from tapeflow._src.engines.choice import Executor
from tapeflow._src.graph.graph import Graph


class Forward:
    """A graph and what runs it."""

    def __init__(self, graph: Graph, jit_compile: bool | None) -> None:
        self.graph = graph
        self.executor = Executor(graph, jit_compile)
        self._on_devices: Executor | None = None

    def on_devices(self, interpreter: Any) -> Executor:
        """What runs it on tensors of an engine's own, or in the scope of a device."""
        engine = devices.engine if interpreter is None else interpreter
        if self._on_devices is None or not self._on_devices.is_of(engine):
            self._on_devices = Executor(self.graph, self.executor.jit_compile, engine)
        return self._on_devices

    def report(self) -> str:
        """What runs it."""
        executors = [e for e in (self.executor, self._on_devices) if e is not None and e.has_begun]
        return "\n".join(e.report() for e in executors or [self.executor])
