"""What became of a traced function: its graph, what the passes made of it, and what runs it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any, NamedTuple

from tapeflow._src.core.system.timeline import now
from tapeflow._src.engines.numpy.engine import NumpyEngine
from tapeflow._src.engines.numpy.fusions import fused
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.function.function import Function
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.passes import optimized
from tapeflow._src.graph.passes.common_subexpressions import merging
from tapeflow._src.graph.passes.dead_code import without_dead_code
from tapeflow._src.graph.passes.folding import precomputing
from tapeflow._src.graph.passes.rewriting import Rewriting, Step, rewritten
from tapeflow._src.graph.passes.simplification import simplifying
from tapeflow._src.profiler.profile import Place

_CALLS = 30
_LONG = 1_000_000_000


class Fate(NamedTuple):
    """What became of a node: "kept", "merged", "folded", "simplified", "fused" or "unused", and why."""

    node: Node
    what: str
    why: str


class Facts(NamedTuple):
    """What is known of a traced function.

    Attributes:
      name: of the function.
      place: where it is defined.
      before: its graph, as it was traced.
      after: its graph, after the passes.
      program: the NumPy program.
      fates: what became of each op.
      report: which programs were tried for these arguments.
      traces: how many there are.
      retraced: why there is more than one.
      wall: nanoseconds of a call.
      peak: bytes that a call of the NumPy program allocates at most; 0 while another program runs it, whose memory
        Python does not count.
    """

    name: str
    place: str
    before: str
    after: str
    program: str
    fates: list[Fate]
    report: str
    traces: int
    retraced: str
    wall: int
    peak: int


def facts(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Facts:
    """Traces a function for these arguments, and calls it until a program is chosen, for a second at most."""
    concrete = function.get_concrete_function(*args, **kwargs)
    graph = concrete.graph
    walls: list[int] = []
    begun = now()
    while len(walls) < 3 or (len(walls) < _CALLS and now() - begun < _LONG):
        begin = now()
        function(*args, **kwargs)
        walls.append(now() - begin)
    after = optimized(graph)
    late = sorted(walls[len(walls) // 2 :])
    return Facts(
        function.name,
        _place(function.python_function),
        str(graph),
        str(after),
        NumpyProgram(after).source,
        fates(graph),
        concrete.report(),
        function.experimental_get_tracing_count(),
        function.why_retraced(),
        late[len(late) // 2],
        _peak(function, args, kwargs)
        if concrete._graph_function.programs() <= {NumpyEngine.name}
        else 0,
    )


def _place(function: Any) -> str:
    """The line where a function is defined, if it is one."""
    code = getattr(function, "__code__", None)
    return "" if code is None else str(Place(code.co_filename, code.co_firstlineno))


def _peak(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """The bytes that a call allocates at most beyond those that are there before, as Python counts them."""
    mine = not tracemalloc.is_tracing()
    if mine:
        tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        function(*args, **kwargs)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if mine:
            tracemalloc.stop()


def fates(graph: Graph) -> list[Fate]:
    """What the passes do with each node of a graph."""
    told: dict[Value, tuple[str, str]] = {}  # by the first output of a node

    def telling(maker: Callable[[Rewriting], Step], what: str) -> Callable[[Rewriting], Step]:
        def make(rewriting: Rewriting) -> Step:
            step = maker(rewriting)

            def tell(node: Node) -> Any:
                new = step(node)
                if new is not None and node.outputs:
                    told[node.outputs[0]] = (what, _why(what, node, new, rewriting))
                return new

            return tell

        return make

    after = rewritten(
        graph,
        telling(simplifying, "simplified"),
        telling(precomputing, "folded"),
        telling(merging, "merged"),
    )
    left = without_dead_code(after)
    there = {v for node in left.nodes for v in node.outputs}
    last = {v for node in fused(left).nodes for v in node.outputs}
    found: list[Fate] = []
    for node in graph.nodes:
        first = node.outputs[0] if node.outputs else None
        if first in told:
            found.append(Fate(node, *told[first]))
        elif first is not None and first not in there:
            found.append(Fate(node, "unused", "nobody needs its result"))
        elif first is not None and first not in last:
            found.append(Fate(node, "fused", "one kernel does it together with what follows"))
        else:
            found.append(Fate(node, "kept", ""))
    return found


def _why(what: str, node: Node, new: Any, rewriting: Rewriting) -> str:
    if what == "folded":
        return "its inputs are known, so it is computed once, now"
    if what == "merged":
        made = rewriting.producers.get(new) if isinstance(new, Value) else None
        where = f" at line {made.line.number}" if made is not None and made.line is not None else ""
        return f"the same was computed before{where}"
    if isinstance(new, Node):
        if new.primitive is node.primitive:
            return "its inputs can be simpler"
        return f"{new.primitive.name} gives the same"
    return "it changes nothing" if isinstance(new, Value) else "its result is known"
