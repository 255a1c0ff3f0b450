"""The contract of engines: what makes programs of graphs, and what a program can do.

An engine is small. It says what it is called, whether it can be used, and what it would cost to try it on a graph, and
it makes programs. `engines.choice` asks no more than that, and names them in one place, the list `ENGINES`.

An engine is also an interpreter (`core.interpreter`). If its tensors are of a kind of their own, which name it as their
interpreter, it is handed each primitive that meets one: that is eager execution on it. NumPy's engine has no need of
that, because kernels on plain tensors are what a primitive runs anyway.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tapeflow._src.core.context import recorders
from tapeflow._src.core.interpreter import Interpreter
from tapeflow._src.core.system.timeline import span, timeline
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.steps import Step
from tapeflow._src.graph.graph import Graph
from tapeflow._src.primitives.table import Primitive

NEVER = math.inf
"""The price of what is not worth trying."""


class Program(Protocol):
    """A graph that can be run."""

    def run(self, tensors: Sequence[Tensor], step: Step | None = None) -> list[Tensor]:
        """The graph's `outputs`, followed by the new values of the variables that it assigns, those of `assigned`.

        Args:
          tensors: the `inputs` of the graph that are no constants, in their order.
          step: the change of variables that this is, if they may be changed. It tells which of them nobody else can see
            (`private`), so that their memory may be used, and is told how to find new values when old ones are gone
            (`made`).
        """
        ...

    def finish(self, results: Sequence[Tensor]) -> None:
        """Waits until the results are there."""
        ...

    def details(self) -> list[str]:
        """Lines that a report has about it besides how long it takes."""
        ...

    @property
    def run_arrays(self) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
        """The same from arrays of NumPy's to arrays of NumPy's, if it is quicker so than with tensors."""
        ...


class Engine(Interpreter):
    """What runs graphs, and primitives on its own tensors.

    Attributes:
      name: what it is called in reports.
      compiles: whether it makes something of a graph as a whole. `jit_compile=True` asks for the first such engine, and
        `jit_compile=False` for one that does not.
    """

    name: str
    compiles: bool = False

    def missing(self) -> Exception | None:
        """The error for who insists on it, if it cannot be used in this process."""
        return None

    def leads(self) -> bool:
        """Whether it runs all graphs, without a comparison."""
        return False

    def may_run(self, graph: Graph) -> bool:
        """Whether there is any point in it, as far as can be said at once: its price, if it takes long, may say no."""
        return self.price(graph) < NEVER

    def price(self, graph: Graph) -> float:
        """About how many seconds pass before its first result: others run for so long before it is tried."""
        return 0.0

    def program(self, graph: Graph, checked: bool = True) -> Program:
        """A program that runs a graph.

        Args:
          graph: after the passes.
          checked: whether it must refuse what eager mode refuses, or may give any value there.
        """
        raise NotImplementedError

    def execute(
        self, primitive: Primitive, inputs: tuple[Tensor, ...], attrs: dict[str, Any]
    ) -> Any:
        """The output of a primitive as a tensor of its own, or a tuple of them. Some inputs may be plain tensors."""
        raise NotImplementedError

    def interpret(
        self, primitive: Primitive, inputs: tuple[Tensor, ...], attrs: dict[str, Any]
    ) -> Any:
        """The output of a primitive, of which the recorders are told."""
        if timeline.watcher is None:
            output = self.execute(primitive, inputs, attrs)
        else:
            with span("device op", primitive.name, engine=self.name):
                output = self.execute(primitive, inputs, attrs)
        for recorder in recorders():
            recorder.record(primitive, inputs, output, attrs)
        return output
