"""The hybrid executor: large matrix products by BLAS, everything between them fused by XLA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from tapeflow.core.device_tensor import DeviceTensor
from tapeflow.core.tensor import Tensor
from tapeflow.function.executors.numpy_program import NumpyProgram
from tapeflow.function.executors.partition import Stage
from tapeflow.function.executors.shared_work import computed, is_large
from tapeflow.function.executors.workers import one_blas_thread
from tapeflow.function.executors.xla_program import XlaProgram, buffer_of
from tapeflow.function.graph import Graph, Node, Value
from tapeflow.function.sizes import needs

Arrays = dict[Value, Any]
Step = Callable[[Arrays], None]


class HybridProgram(XlaProgram):
    """Stages of XLA programs and of products on the host, in memory that both use."""

    name = "hybrid"

    def __init__(self, graph: Graph) -> None:
        views = _views(graph)
        super().__init__(graph, lambda node: is_large(node) or id(node) in views)

    def _build(self) -> None:
        graph = self._graph
        last: dict[Value, int] = {}
        for i, stage in enumerate(self._stages):
            last.update(dict.fromkeys(stage.inputs, i))
        staying = {*graph.inputs, *graph.outputs, *graph.assigned.values()}
        self._let_go = [
            [v for v in stage.inputs if last[v] == i and v not in staying]
            for i, stage in enumerate(self._stages)
        ]
        self._runs = [self._step(stage, i) for i, stage in enumerate(self._stages)]

    def run(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The outputs, followed by the new values of assigned variables."""
        arrays: Arrays = {v: buffer_of(x) for v, x in zip(self._inputs, tensors, strict=True)}
        with jax.enable_x64(True), one_blas_thread():
            for step, done in zip(self._runs, self._let_go, strict=True):
                step(arrays)
                for value in done:
                    del arrays[value]
        constants = self._graph.constants
        return [_tensor(arrays[v] if v in arrays else constants[v]) for v in self._outputs]

    def _step(self, stage: Stage, number: int) -> Step:
        if not stage.on_host:
            program = self._runner(stage, number)

            def compiled(arrays: Arrays) -> None:
                _share(arrays, stage.inputs)
                found = program(*[arrays[v] for v in stage.inputs])
                arrays.update(zip(stage.outputs, found, strict=True))

            return compiled
        steps = [self._wave(wave) for wave in _waves(stage.nodes)]

        def on_host(arrays: Arrays) -> None:
            for step in steps:
                step(arrays)

        return on_host

    def _wave(self, nodes: list[Node]) -> Step:
        large = [node for node in nodes if is_large(node)]
        others = [node for node in nodes if not is_large(node)]
        constants = self._graph.constants
        part = Graph(self._graph.name)
        part.nodes = others
        part.outputs = [v for node in others for v in node.outputs]
        made = set(part.outputs)
        part.inputs = list(dict.fromkeys(v for n in others for v in needs(n) if v not in made))
        part.constants = {v: constants[v] for v in part.inputs if v in constants}
        given = [v for v in part.inputs if v not in constants]
        rest = NumpyProgram(part) if others else None

        def step(arrays: Arrays) -> None:
            if large:
                inputs = [tuple(_host(arrays, v, constants) for v in node.inputs) for node in large]
                found = computed(large, inputs)
                arrays.update((n.outputs[0], a) for n, a in zip(large, found, strict=True))
            if rest is not None:
                results = rest.run_arrays([_host(arrays, v, constants) for v in given])
                arrays.update(zip(part.outputs, results, strict=True))

        return step


def _views(graph: Graph) -> set[int]:
    """Reshapes and transpositions on the way to a product: NumPy makes views of them, and BLAS reads those."""
    users: dict[Value, list[Node]] = {}
    for node in graph.nodes:
        for value in node.inputs:
            users.setdefault(value, []).append(node)
    staying = {*graph.outputs, *graph.assigned.values()}
    found: set[int] = set()
    for node in reversed(graph.nodes):
        if node.primitive.name in ("reshape", "transpose") and node.outputs[0] not in staying:
            after = users.get(node.outputs[0], [])
            if after and all(is_large(n) or id(n) in found for n in after):
                found.add(id(node))
    return found


def _waves(nodes: list[Node]) -> list[list[Node]]:
    """Nodes in groups that do not depend on each other, in the order in which they can run."""
    level: dict[Value, int] = {}
    waves: dict[int, list[Node]] = {}
    for node in nodes:
        mine = max((level[v] + 1 for v in node.inputs if v in level), default=0)
        waves.setdefault(mine, []).append(node)
        level.update(dict.fromkeys(node.outputs, mine))
    return [waves[i] for i in sorted(waves)]


def _host(arrays: Arrays, value: Value, constants: dict[Value, Any]) -> np.ndarray:
    """A value as a NumPy array, without a copy."""
    found = arrays.get(value)
    return np.asarray(constants[value] if found is None else found)


def _share(arrays: Arrays, values: Sequence[Value]) -> None:
    """Gives XLA the memory of arrays, without a copy where its place allows."""
    ours = [v for v in values if type(arrays[v]) is np.ndarray]
    if ours:
        theirs = jax.device_put([arrays[v] for v in ours], may_alias=True)
        arrays.update(zip(ours, theirs, strict=True))


def _tensor(array: Any) -> Tensor:
    return Tensor(array) if isinstance(array, (np.ndarray, np.generic)) else DeviceTensor(array)
