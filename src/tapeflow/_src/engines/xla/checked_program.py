"""Programs on XLA that refuse what eager mode refuses.

XLA cannot raise an error for a value: it clamps an index, gives some number for a division by zero, and goes on. A
function whose executor is chosen for the user must not come to mean something else by that. So the checks of its nodes
(`engines.xla.checking`) are made, each as early as it can be:

- what follows from constants, when the program is made,
- what follows from the inputs of a program by a few cheap steps (row numbers, labels), by NumPy before it is started,
- all else in the program itself, which then gives one more result: whether all checks hold. If they do not, variables
  whose memory was given away come out as they went in.

Where a check fails, NumPy runs what is left of the graph, in the order in which it was written, from the same values.
That raises the error of eager mode, with the user's line; or, because checks may be too careful, gives the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import evaluated, hint_of
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.engines.xla.checks import (
    all_of,
    arguments_of,
    doubtful,
    holds,
    looked_at,
    measured,
    noting,
    own_check,
)
from tapeflow._src.engines.xla.lower import size_in, with_sizes
from tapeflow._src.engines.xla.lowerings import CHECKS
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.sizes import atoms_in, mapped, needs, origin
from tapeflow._src.primitives.dispatch import KERNEL_FAILURES

Values = dict[Value, Any]
Program = Callable[..., Sequence[Any]]

# Steps on the way from an input to what is looked at that NumPy takes, too: those that move elements or change their
# type, and any arithmetic with integers.
_CHEAP_STEPS = frozenset(
    {
        *("reshape", "transpose", "broadcast_to", "getitem", "concat", "stack", "split", "unstack"),
        *("pad", "tile", "reverse", "select", "identity", "stop_gradient", "barrier"),
        *("cast", "cast_to_discrete"),
    }
)
_CHEAP_SIZE = 2**20  # elements, of which each names at least a row of work for the program itself


class Watch:
    """The checks of a program.

    Args:
      nodes: of the program.
      inputs: what it takes.
      constants: arrays that are known already.

    Attributes:
      inside: the nodes whose checks the program itself has to make.
      looks_before: whether there are checks that are made before it is started.
    """

    def __init__(
        self, nodes: Sequence[Node], inputs: Sequence[Value], constants: dict[Value, Any]
    ) -> None:
        doubts = doubtful(nodes, constants)
        steps = _cheap_steps(nodes, [*inputs, *constants]) if doubts else {}
        early = [node for node in doubts if _is_early(node, steps, inputs)]
        self._before = _Before(early, steps, inputs, constants) if early else None
        self.looks_before = bool(early)
        known = set(map(id, early))
        self.inside = [node for node in doubts if id(node) not in known]

    def flagged(
        self, function: Program, given: dict[int, int], agreed: Callable[[Any], Any] | None = None
    ) -> Program:
        """A function to be compiled that also gives whether the checks inside hold, if there are any.

        Args:
          function: what the program computes.
          given: for each input whose memory is given away, the place of the output that may have it.
          agreed: whether they hold for all that run the program, if several do on values of their own.
        """
        if not self.inside:
            return function

        def with_flag(*arrays: Any) -> tuple[Any, ...]:
            with noting() as found:
                outputs = list(function(*arrays))
            ok = all_of(found)
            ok = ok if agreed is None else agreed(ok)
            for i, o in given.items():
                outputs[o] = jnp.where(ok, outputs[o], arrays[i])
            return (*outputs, ok)

        return with_flag

    def allows(self, arrays: Sequence[Any]) -> bool:
        """Whether the checks hold that are made before the program is started."""
        return self._before is None or self._before.holds(arrays)


class _Before:
    """Checks that NumPy makes on the inputs of a program."""

    def __init__(
        self,
        nodes: list[Node],
        steps: dict[Value, Node],
        inputs: Sequence[Value],
        constants: dict[Value, Any],
    ) -> None:
        wanted = list(dict.fromkeys(v for node in nodes for v in looked_at(node)))
        path = _path(wanted, steps)
        part = Graph("checks")
        part.nodes = path
        used = dict.fromkeys([*wanted, *(v for node in path for v in needs(node))])
        made = {v for node in path for v in node.outputs}
        part.constants = {v: constants[v] for v in used if v in constants}
        taken = [v for v in used if v not in made and v not in constants]
        part.inputs = [*taken, *part.constants]
        part.outputs = wanted
        self._program = NumpyProgram(part).run_arrays if path or part.constants else None
        self._places = {v: i for i, v in enumerate(inputs)}
        self._taken = [self._places[v] for v in taken]
        self._wanted = wanted
        self._sized: list[Node] = []  # those whose sizes are known only when they are called
        questions: dict[Any, Callable[[Sequence[Any]], Any]] = {}
        for node in nodes:
            if is_dynamic(_sizes_of(node)):
                self._sized.append(node)
            else:  # a loss and its gradient ask the same
                key, ask = _question(node, wanted)
                questions.setdefault(key, ask)
        self._questions = list(questions.values())

    def holds(self, arrays: Sequence[Any]) -> bool:
        """Whether all checks hold."""
        found: Any = []
        for i in self._taken:
            array = arrays[i]
            if type(array) is not np.ndarray:
                if isinstance(array, jax.Array) and not array.is_fully_addressable:
                    return True  # it is in several processes, and none of them could do what XLA does not
                array = np.asarray(array)
            found.append(array)
        if self._program is not None:
            try:
                found = self._program(found)
            except KERNEL_FAILURES:
                return False
        for ask in self._questions:
            if not ask(found):
                return False
        return not self._sized or all(self._with_sizes(node, found, arrays) for node in self._sized)

    def _with_sizes(self, node: Node, found: Sequence[Any], arrays: Sequence[Any]) -> bool:
        values = _Inputs(self._places, arrays)
        shapes = {
            v: _Sized(mapped(v.shape, lambda size: evaluated(size, size_in(values))))
            for v in measured(node)
        }
        looked = dict(zip(self._wanted, found, strict=True))
        return bool(holds(node, shapes | looked, with_sizes(node, values)))


def _question(node: Node, wanted: Sequence[Value]) -> tuple[Any, Callable[[Sequence[Any]], Any]]:
    """A check whose sizes are known: a function of the arrays that are wanted, and what tells it from others."""
    function = CHECKS[node.primitive.name].holds
    values = looked_at(node)
    known = {v: _Sized(v.shape) for v in (*measured(node), *values)}
    fixed = arguments_of(node, known, node.attrs)
    rest = {name: x for name, x in fixed.items() if not isinstance(x, _Sized)}
    places = [wanted.index(v) for v in values]
    owners = {id(x): place for x, place in zip(map(known.get, values), places, strict=True)}
    names = {name: owners[id(x)] for name, x in fixed.items() if isinstance(x, _Sized)}
    key = (function, tuple(places), repr(rest))

    def ask(found: Sequence[Any]) -> Any:
        return function(**{name: found[at] for name, at in names.items()}, **rest)

    return key, ask


def _sizes_of(node: Node) -> list[Any]:
    return [*(v.shape for v in measured(node)), tuple(node.attrs.values())]


class _Sized:
    """Something that has a shape."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


class _Inputs:
    """The arrays of inputs, by their values."""

    def __init__(self, places: dict[Value, int], arrays: Sequence[Any]) -> None:
        self._places = places
        self._arrays = arrays

    def get(self, value: Value) -> Any:
        """The array, or None."""
        place = self._places.get(value)
        return None if place is None else self._arrays[place]


def _cheap_steps(nodes: Sequence[Node], known: Sequence[Value]) -> dict[Value, Node]:
    """The nodes that NumPy can run before the program does, by what they compute."""
    there = set(known)
    steps: dict[Value, Node] = {}
    for node in nodes:
        if _is_cheap(node) and all(v in there for v in needs(node)):
            there.update(node.outputs)
            steps.update(dict.fromkeys(node.outputs, node))
    return steps


def _is_cheap(node: Node) -> bool:
    values = (*node.inputs, *node.outputs)
    if node.has_effect or not all(map(_is_small, values)):
        return False
    if node.primitive.name in _CHEAP_STEPS:
        return True
    return node.primitive.elementwise and all(v.dtype.np_dtype.kind in "iub" for v in values)


def _is_small(value: Value) -> bool:
    sizes = [hint_of(d) for d in value.shape]
    return None not in sizes and math.prod(sizes) <= _CHEAP_SIZE  # type: ignore[arg-type]


def _is_early(node: Node, steps: dict[Value, Node], inputs: Sequence[Value]) -> bool:
    """Whether the check of a node can be made before the program is started."""
    check = own_check(node)
    if check is None or not check.early:
        return False
    there = set(inputs)
    return (
        all(v in there or v in steps for v in looked_at(node))
        and all(
            atom.origin is not None and atom.origin[1] is not None and origin(atom) in there
            for atom in atoms_in(_sizes_of(node))
        )
        and all(map(_is_small, looked_at(node)))
    )


def _path(wanted: Sequence[Value], steps: dict[Value, Node]) -> list[Node]:
    """The steps that lead to some values, in their order."""
    needed: set[int] = set()
    todo = list(wanted)
    while todo:
        node = steps.get(todo.pop())
        if node is not None and id(node) not in needed:
            needed.add(id(node))
            todo += needs(node)
    return [n for n in dict.fromkeys(steps.values()) if id(n) in needed]


class Unwatched:
    """The checks of a program that is to do as XLA does: there are none."""

    inside: Sequence[Node] = ()
    looks_before = False

    def flagged(
        self, function: Program, given: dict[int, int], agreed: Callable[[Any], Any] | None = None
    ) -> Program:
        """The function as it is."""
        return function

    def allows(self, arrays: Sequence[Any]) -> bool:
        """It may be started on anything."""
        return True


def finish(graph: Graph, left: Sequence[Node], values: Values, outputs: Sequence[Value]) -> None:
    """Runs what is left of a graph on NumPy, and adds the outputs that it makes to the values."""
    finishing(graph, left, outputs)(values)


def finishing(
    graph: Graph, left: Sequence[Node], outputs: Sequence[Value]
) -> Callable[[Values], None]:
    """A function that does so as often as it is called."""
    chosen = set(map(id, left))
    part = Graph(graph.name)
    part.nodes = [node for node in graph.nodes if id(node) in chosen]
    made = {v for node in part.nodes for v in node.outputs}
    used = dict.fromkeys(v for node in part.nodes for v in needs(node))
    part.constants = {v: graph.constants[v] for v in used if v in graph.constants}
    taken = [v for v in used if v not in made and v not in part.constants]
    part.inputs = [*taken, *part.constants]
    part.outputs = [v for v in dict.fromkeys(outputs) if v in made]
    program = NumpyProgram(part)

    def run(values: Values) -> None:
        arrays = [np.asarray(a) if isinstance(a := values[v], jax.Array) else a for v in taken]
        values.update(zip(part.outputs, program.run_arrays(arrays), strict=True))

    return run
