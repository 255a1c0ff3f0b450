"""`tf.Graph.as_default`: ops that become nodes of a graph that belongs to no function."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.context import context, elsewhere
from tapeflow._src.core.scopes import Scope
from tapeflow._src.function.tracing.tracer import Tracer, tracing_lock
from tapeflow._src.graph.graph import Graph


class opened(Scope):
    """Within this context ops are added to a graph."""

    def __init__(self, graph: Graph) -> None:
        if graph.tracer is None:
            graph.tracer = Tracer(graph.name)
            graph.tracer.graph = graph
        self._graph = graph
        self._tracing: Any = None
        self._holds = False

    def __enter__(self) -> Graph:
        self._guard = self._latest
        tracing_lock.acquire()
        self._holds = True
        self._tracing = self._graph.tracer.whole()
        self._tracing.__enter__()
        context.dispatch = (
            elsewhere,
            context.dispatch[1],
        )  # what has constant inputs is added, too
        return self._graph

    def _leave(self, *exception: Any) -> None:
        if self._tracing is not None:
            self._tracing.__exit__(*exception)
            self._tracing = None
        if self._holds:
            self._holds = False
            tracing_lock.release()
        self._guard = None
