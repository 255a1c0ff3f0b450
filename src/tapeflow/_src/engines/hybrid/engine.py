"""The engine for what XLA and BLAS do best together."""

from __future__ import annotations

from tapeflow._src.core.system import jax_loading
from tapeflow._src.core.system.loading import loaded
from tapeflow._src.engines.hybrid.shared_work import is_large
from tapeflow._src.engines.protocol import NEVER, Program
from tapeflow._src.engines.xla.engine import XlaEngine
from tapeflow._src.graph.graph import Graph


class HybridEngine(XlaEngine):
    """Large products by BLAS, and XLA for all that is between them, on the processor."""

    name = "hybrid"

    def leads(self) -> bool:
        """A GPU does not need BLAS."""
        return False

    def may_run(self, graph: Graph) -> bool:
        """As for XLA, if there is a large product."""
        return super().may_run(graph) and any(map(is_large, graph.nodes))

    def price(self, graph: Graph) -> float:
        """As for XLA, if there is a large product."""
        return super().price(graph) if self.may_run(graph) else NEVER

    def program(self, graph: Graph, checked: bool = True) -> Program:
        """A program of stages."""
        jax_loading.load()
        return loaded("tapeflow._src.engines.hybrid.program").HybridProgram(graph, checked=checked)
