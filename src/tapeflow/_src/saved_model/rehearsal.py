"""Checking the graphs of a saved model before anybody calls them.

A graph is replayed for the sizes it was traced for, on tensors without values: the shape rule of every primitive is
asked whether it takes such inputs and attributes and what it gives, and nothing is computed. What comes out is compared
with what the file says. If its gradient is saved, that is replayed behind it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tapeflow._src.function.control_flow.statements  # noqa: F401  # what a tracer does with branches and loops
from tapeflow._src.core.context import context
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.concrete import argument_symbol
from tapeflow._src.function.signature import TensorKey
from tapeflow._src.function.tracing.contents import contents_of
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.function.tracing.tracer import Tracer, tracing_lock
from tapeflow._src.graph.graph import Value
from tapeflow._src.saved_model.damage import Damage, index
from tapeflow._src.saved_model.gradients import gradient_of, with_gradient
from tapeflow._src.saved_model.replay import Read, is_like, replay, results

_FEW = 64


def rehearse(
    graphs: Sequence[dict[str, Any]], variables: Sequence[Variable], entries: Any, read: Read
) -> list[list[TensorSpec]]:
    """Checks graphs. Returns what the arguments of each are: what it takes besides variables and constants.

    Args:
      graphs: all that there are.
      variables: those of the model.
      entries: what arrays there are, by name.
      read: gives them.
    """
    gradients = {id(data): gradient_of(data, graphs) for data in graphs if "gradient" in data}
    belonging = {id(backward) for backward in gradients.values()}
    found = []
    for data in graphs:
        graph = _Graph(data, variables, entries)
        if id(data) in belonging:
            found.append(
                []
            )  # it is checked with what it is the gradient of, and is nobody's function
            continue
        backward = gradients.get(id(data))
        _rehearse(graph, None if backward is None else _Graph(backward, variables, entries), read)
        found.append(graph.specs[: graph.arguments])
    return found


class _Graph:
    """A graph as a file tells it, with variables and constants that there are.

    Args:
      data: the graph.
      variables: those of the model.
      entries: what arrays there are, by name.
    """

    def __init__(self, data: dict[str, Any], variables: Sequence[Variable], entries: Any) -> None:
        if not isinstance(data["name"], str):
            raise Damage("a graph has a name that is no text")
        self.data = data
        self.held = [variables[index(i, len(variables), "a variable")] for i in data["variables"]]
        self.captured = [entries[name] for name in data["captured"]]
        self.specs = [TensorSpec(shape, as_dtype(dtype)) for _, shape, dtype in data["inputs"]]
        taken = len(self.held) + len(self.captured)
        self.arguments = len(self.specs) - taken
        if self.arguments < 0:
            raise Damage(f"a graph with {len(self.specs)} inputs takes {taken}")
        known = [(x.shape, x.dtype) for x in (*self.held, *self.captured)]
        for spec, (shape, dtype) in zip(self.specs[self.arguments :], known, strict=True):
            if spec.dtype is not dtype or not spec.shape.is_compatible_with(shape):
                raise Damage(f"a graph takes {spec}, and there is {dtype.name} of shape {shape}")

    def inputs(self, tracer: Tracer, read: Read, first: int = 0) -> list[Any]:
        """Tensors without values in the place of its inputs, from one of them on."""
        pairs = zip(self.specs[first:], self.data["hints"][first:], strict=True)
        found = [_input(tracer, spec, hints) for spec, hints in pairs]
        constants = found[len(found) - len(self.captured) :]
        _tell_contents(constants, self.data["captured"], self.captured, read)
        return found


def _rehearse(graph: _Graph, backward: _Graph | None, read: Read) -> None:
    outside = context.tracer
    tracer = Tracer("rehearsal")
    data = graph.data

    def run(data: dict[str, Any], inputs: Sequence[Tensor]) -> dict[int, Tensor]:
        return replay(data, inputs, read)

    with (
        contextlib.nullcontext() if outside is None else outside.suspended(),
        tracing_lock,
        tracer.whole(),
    ):
        inputs = graph.inputs(tracer, read)
        if backward is None:
            values = run(data, inputs)
        else:
            more = backward.inputs(tracer, read, first=backward.arguments)
            values, pullback = with_gradient(data, backward.data, inputs, lambda: more, run)
            pullback(*[None] * len(data["outputs"]))
        results(data, values)
        of_variables = [number for number, _, _ in data["inputs"][graph.arguments :]]
        numbers = dict(zip(of_variables, graph.held, strict=False))
        _check_assigned([(numbers[number], values[new]) for number, new in data["assigned"]])


def _tell_contents(
    symbols: Sequence[Any], names: Sequence[str], entries: Sequence[Any], read: Callable[[str], Any]
) -> None:
    """Few integers are known while a graph is traced: they may be sizes."""
    for symbol, name, entry in zip(symbols, names, entries, strict=True):
        if entry.dtype.is_integer and np.prod(entry.shape, dtype=float) <= _FEW:
            symbol.contents = contents_of(Tensor(read(name)))


def _check_assigned(pairs: Sequence[tuple[Any, Any]]) -> None:
    for variable, value in pairs:
        if not is_like(value, variable.shape._dims, variable.dtype):
            raise Damage(f"a graph assigns something else to the variable {variable.name!r}")


def _sizes(spec: TensorSpec) -> tuple[int | None, ...]:
    dims = spec.shape._dims
    if dims is None or len(dims) > 32:
        raise Damage(f"an input of a graph is {spec}")
    return dims


def _input(tracer: Tracer, spec: TensorSpec, hints: Any) -> Any:
    dims = _sizes(spec)
    if hints is None or len(hints) != len(dims):
        raise Damage(f"an input of a graph is {spec}, and was traced for {str(hints)[:100]}")
    sizes = [hint if d is None else d for d, hint in zip(dims, hints, strict=True)]
    if None in sizes:  # a variable of any size
        symbol = SymbolicTensor(Value(dims, spec.dtype), tracer)
        tracer._name_sizes(symbol)
        return symbol
    for size in sizes:
        index(size, 2**48, "a size that a graph was traced for")
    # A tensor of the sizes that the graph was traced for, which takes no memory.
    stand_in = Tensor(np.broadcast_to(np.zeros((), spec.dtype.np_dtype), sizes))
    return argument_symbol(tracer, TensorKey(dims, spec.dtype), stand_in)
