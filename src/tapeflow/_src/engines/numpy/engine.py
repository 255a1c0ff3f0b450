"""NumPy's engine: always there, and ready at once."""

from __future__ import annotations

from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.engines.protocol import Engine
from tapeflow._src.graph.graph import Graph


class NumpyEngine(Engine):
    """Calls the kernels of the nodes one after the other."""

    name = "numpy"

    def program(self, graph: Graph, checked: bool = True) -> NumpyProgram:
        """A program of kernels. It refuses what they refuse, checked or not."""
        return NumpyProgram(graph)
