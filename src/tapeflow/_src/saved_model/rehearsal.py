"""Checking the graphs of a saved model before anybody calls them.

A graph is replayed for the sizes it was traced for, on tensors without values: the shape rule of every primitive is
asked whether it takes such inputs and attributes and what it gives, and nothing is computed. What comes out is compared
with what the file says.
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
from tapeflow._src.saved_model.replay import Read, is_like, replay, results

_FEW = 64


def rehearse(
    data: dict[str, Any], variables: Sequence[Variable], entries: Any, read: Read
) -> list[TensorSpec]:
    """Checks a graph. Returns what its arguments are: what it takes besides variables and constants.

    Args:
      data: the graph.
      variables: those of the model.
      entries: what arrays there are, by name.
      read: gives them.
    """
    if not isinstance(data["name"], str):
        raise Damage("a graph has a name that is no text")
    held = [variables[index(i, len(variables), "a variable")] for i in data["variables"]]
    captured = [entries[name] for name in data["captured"]]
    specs = [TensorSpec(shape, as_dtype(dtype)) for _, shape, dtype in data["inputs"]]
    count = len(specs) - len(held) - len(captured)
    if count < 0:
        raise Damage(f"a graph with {len(specs)} inputs takes {len(held) + len(captured)}")
    known = [*[(v.shape, v.dtype) for v in held], *[(e.shape, e.dtype) for e in captured]]
    for spec, (shape, dtype) in zip(specs[count:], known, strict=True):
        if spec.dtype is not dtype or not spec.shape.is_compatible_with(shape):
            raise Damage(f"a graph takes {spec}, and there is {dtype.name} of shape {shape}")
    outside = context.tracer
    tracer = Tracer("rehearsal")
    with (
        contextlib.nullcontext() if outside is None else outside.suspended(),
        tracing_lock,
        tracer.whole(),
    ):
        inputs = [
            _input(tracer, spec, hints) for spec, hints in zip(specs, data["hints"], strict=True)
        ]
        _tell_contents(inputs[len(specs) - len(captured) :], data["captured"], captured, read)
        values = replay(data, inputs, read)
        results(data, values)
        numbers = {said[0]: v for said, v in zip(data["inputs"][count:], held, strict=False)}
        _check_assigned([(numbers[number], values[new]) for number, new in data["assigned"]])
    return specs[:count]


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
