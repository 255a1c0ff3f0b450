"""The hybrid executor: large matrix products by BLAS, everything between them fused by XLA."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.context import quietly
from tapeflow._src.engines.hybrid.shared_work import computed, is_large
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.engines.xla.partition import Stage
from tapeflow._src.engines.xla.program import StageRun, Values, XlaProgram, on_host
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.sizes import needs
from tapeflow._src.insides.blas_threads import one_blas_thread


class HybridProgram(XlaProgram):
    """Stages of XLA programs and of products on the host, in memory that both use."""

    def __init__(self, graph: Graph, checked: bool = True) -> None:
        views = _views(graph)
        super().__init__(graph, lambda node: is_large(node) or id(node) in views, checked)

    def _run_stages(self, values: Values, steps: list[StageRun]) -> None:
        with one_blas_thread():
            super()._run_stages(values, steps)

    def _host_step(self, stage: Stage) -> StageRun:
        steps = [self._wave(wave) for wave in _waves(stage.nodes)]

        def step(values: Values) -> None:
            for each in steps:
                each(values)

        return step

    def _wave(self, nodes: list[Node]) -> StageRun:
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

        def step(values: Values) -> None:
            def array(v: Value) -> Any:
                return on_host(values[v] if v in values else constants[v])

            if large:
                inputs = [tuple(map(array, node.inputs)) for node in large]
                found = quietly(computed, large, inputs)
                values.update((n.outputs[0], a) for n, a in zip(large, found, strict=True))
            if rest is not None:
                results = rest.run_arrays([*map(array, given)])
                values.update(zip(part.outputs, results, strict=True))

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
