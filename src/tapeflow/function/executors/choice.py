"""Choosing what runs a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.context import recorders
from tapeflow.core.dims import Guard
from tapeflow.core.tensor import Tensor
from tapeflow.core.variable import Variable
from tapeflow.function.executors.numpy_program import NumpyProgram
from tapeflow.function.graph import Graph
from tapeflow.function.passes import optimized


class Executor:
    """Runs a graph on tensors, and puts new values into variables."""

    def __init__(self, graph: Graph, guards: Sequence[Guard], jit_compile: bool | None) -> None:
        self.traced = graph
        self.graph: Graph | None = None
        self._program: Any = None
        self._count = len(graph.outputs)
        self._positions = [i for i, v in enumerate(graph.inputs) if v not in graph.constants]

    def run(self, inputs: Sequence[Tensor], assigned: Sequence[Variable]) -> list[Tensor]:
        """The outputs for these inputs."""
        if self._program is None:
            self.graph = optimized(self.traced)
            self._program = NumpyProgram(self.graph)
        results = self._program.run([inputs[i]._array for i in self._positions])
        count = self._count
        for variable, array in zip(assigned, results[count:], strict=True):
            variable._value = Tensor(array)
            for recorder in recorders():
                recorder.note("assign", variable, origins=())
        return [Tensor(array) for array in results[:count]]
