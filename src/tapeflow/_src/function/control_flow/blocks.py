"""Blocks: the branches of a conditional and the bodies of loops, each traced into a graph of its own.

A block captures what it uses from around it. A variable belongs to the function around, so a block takes note of each
one it meets: what is assigned in the block has to come out of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tapeflow._src.core.context import context
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.graph_function import GraphFunction, symbol_of
from tapeflow._src.function.outer_sizes import capture_outer_sizes
from tapeflow._src.function.tracing.symbols import SymbolicTensor, new_input
from tapeflow._src.function.tracing.tracer import Tracer


class Block(Tracer):
    """Traces a piece of a function.

    Attributes:
      met: the variables that were read or assigned, with what each held before.
      now: what each of them holds.
      assigned: after the trace, what the block leaves in those it has assigned.
    """

    def __init__(self, name: str, outer: Tracer) -> None:
        super().__init__(name, outer, inline=True)
        self.met: dict[int, tuple[Variable, Tensor]] = {}
        self.now: dict[int, Tensor] = {}
        self.assigned: dict[int, Tensor] = {}

    def held(self, variable: Variable) -> Tensor:
        """What a variable holds in this block: at first, what it holds around it."""
        found = self.now.get(id(variable))
        if found is None:
            self.meet(variable)
            found = self.now[id(variable)] = self._at_first(variable)
        return found

    def meet(self, variable: Variable) -> None:
        """Takes note of a variable and of what it holds around the block."""
        if id(variable) not in self.met:
            assert self.outer is not None
            self.met[id(variable)] = (variable, self.outer.held(variable))

    def _at_first(self, variable: Variable) -> Tensor:
        return self.met[id(variable)][1]

    def assign(self, variable: Variable, value: Tensor) -> None:
        """Makes `value` what the variable holds from here on."""
        self.held(variable)
        self.now[id(variable)] = SymbolicTensor(self.value_of(value), self)

    @contextlib.contextmanager
    def holding(self, variables: Sequence[Variable], values: Sequence[Tensor]) -> Iterator[None]:
        """Within this context variables hold other values. What is assigned meanwhile is forgotten afterwards."""
        for variable in variables:
            self.held(variable)
        saved = dict(self.now)
        self.now.update(zip(map(id, variables), values, strict=True))
        try:
            yield
        finally:
            self.now = saved

    def run(self, function: Callable[[], Any]) -> Any:
        """Traces a function without arguments."""
        with self.tracing():
            result = function()
        for key, (variable, _) in self.met.items():
            if self.now[key] is not self._at_first(variable):
                self.assigned[key] = self.now[key]
        return result

    def graph_function(self, outputs: Sequence[Tensor]) -> GraphFunction:
        """The finished block, whose graph stands by itself: whatever is from outside is an input."""
        symbols = [symbol_of(self, x) for x in outputs]
        capture_outer_sizes(self)
        self.graph.constants.clear()
        return GraphFunction(self, symbols)


class LoopBlock(Block):
    """A block that runs many times: what a variable holds may be new in each turn, so it is an argument.

    Attributes:
      symbols: for each variable that was met, the argument that stands for its value at the beginning of a turn.
    """

    def __init__(self, name: str, outer: Tracer) -> None:
        super().__init__(name, outer)
        self.symbols: dict[int, SymbolicTensor] = {}

    def _at_first(self, variable: Variable) -> Tensor:
        return self.symbol(variable)

    def symbol(self, variable: Variable) -> SymbolicTensor:
        """The argument for a variable."""
        found = self.symbols.get(id(variable))
        if found is None:
            before = self.met[id(variable)][1]
            found = self.symbols[id(variable)] = self.own(before._array.shape, before.dtype)
        return found

    def own(self, shape: tuple[Any, ...], dtype: Any) -> SymbolicTensor:
        """A new symbol, which is to become an input."""
        symbol = new_input(self, shape, dtype)
        self._name_sizes(symbol)
        self._watch(symbol)
        return symbol

    def settle(self, carried: Sequence[Variable]) -> list[SymbolicTensor]:
        """The arguments for variables that change in the loop. Others are captured, as in any block."""
        keys = {id(v) for v in carried}
        for key, symbol in self.symbols.items():
            if key not in keys:
                self.captures[id(symbol)] = (self.met[key][1], symbol)
        for variable in carried:
            self.meet(variable)
        return [self.symbol(v) for v in carried]


def current() -> Tracer:
    """Who traces now."""
    assert context.tracer is not None
    return context.tracer


def reread(blocks: Sequence[Block]) -> None:
    """Tells tapes around a block of the variables that were read in it."""
    for block in blocks:
        for variable, _ in block.met.values():
            variable._read()


def outer_tensors(graph_function: GraphFunction) -> list[Tensor]:
    """What a block takes from around it, as tensors there."""
    return [*[v._read() for v in graph_function.variables], *graph_function.captured]
