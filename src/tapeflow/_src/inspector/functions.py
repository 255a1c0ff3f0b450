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
from tapeflow._src.inspector.traces import Traced, traced

_CALLS = 30
_LONG = 1_000_000_000
_ONCE = "no program was made of it: it ran in the step that is shown here, op by op, and not again"


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
      tracing: nanoseconds that they took.
      retraced: why there is more than one.
      wall: nanoseconds of a call; 0 if that is not known.
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
    tracing: int
    retraced: str
    wall: int
    peak: int


def facts(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Facts:
    """Traces a function for these arguments, and calls it until a program is chosen, for a second at most."""
    concrete = function.get_concrete_function(*args, **kwargs)
    walls: list[int] = []
    begun = now()
    while len(walls) < 3 or (len(walls) < _CALLS and now() - begun < _LONG):
        begin = now()
        function(*args, **kwargs)
        walls.append(now() - begin)
    late = sorted(walls[len(walls) // 2 :])
    graph_function = concrete._graph_function
    in_python = graph_function.programs() <= {NumpyEngine.name}
    peak = _peak(function, args, kwargs) if in_python else 0
    return facts_of(graph_function, traced(function), late[len(late) // 2], peak)


def facts_of(function: Any, found: Traced | None, wall: int = 0, peak: int = 0) -> Facts:
    """What is known of a graph function, and of the traces that it is one of."""
    found = found or Traced(function.name, "")
    after = optimized(function.graph)
    return Facts(
        function.name,
        found.place,
        str(function.graph),
        str(after),
        NumpyProgram(after).source,
        fates(function.graph),
        function.report() + ("" if function.programs() else f"\n  {_ONCE}"),
        found.count,
        found.time,
        found.why,
        wall or _typical(function),
        peak,
    )


def _typical(function: Any) -> int:
    """Nanoseconds of a typical call, as who chose among programs has measured it; 0 where nobody has."""
    times = [f.seconds for f in function._forwards.values() if f.seconds is not None]
    return int(times[-1] * 1e9) if times else 0


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
