"""What conditionals and loops are to graphs and executors: rows like those of the table of primitives."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.context import context, quietly
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.interpreter import innermost
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.user_lines import user_line
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.function.outer_sizes import is_in_scope, is_of_trace
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.function.tracing.tracer import Tracer
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.passes import optimized
from tapeflow._src.graph.sizes import mapped
from tapeflow._src.primitives.array import stacks  # noqa: F401  # gradients of loops add them
from tapeflow._src.primitives.array.stack import Stack, StackShape
from tapeflow._src.primitives.specs import ArraySpec


class ControlFlow:
    """A row that is not in the table: its attributes hold graphs, so there is no gradient to write down.

    Attributes:
      name: for printing, and for executors.
      kernel: runs it on arrays; it gets the attributes of the node as keywords.
    """

    outputs = None
    elementwise = False
    variadic = True
    inputs = ("inputs",)

    def __init__(self, name: str, kernel: Callable[..., tuple[Any, ...]]) -> None:
        self.name = name
        self.kernel = kernel

    def call(self, *inputs: Any, **attrs: Any) -> tuple[Tensor, ...]:
        """Runs a node again, or copies it into the function that is traced."""
        tensors = [convert_to_tensor(x) for x in inputs]
        interpreter = innermost(tensors)
        if interpreter is None and context.tracer is None:
            return tuple(
                Tensor(a) for a in quietly(self.kernel, *[x._array for x in tensors], **attrs)
            )
        if not isinstance(interpreter, Tracer | None):
            from tapeflow._src.function.control_flow import batching

            return tuple(batching.node_of_batch(self.name, interpreter, tensors, attrs))
        _, outputs = self.node(tensors, attrs)
        return tuple(outputs)

    def node(
        self, inputs: Sequence[Tensor], attrs: dict[str, Any]
    ) -> tuple[Node, list[SymbolicTensor]]:
        """Adds a node to the function that is traced."""
        tracer = context.tracer
        values = [tracer.value_of(x) for x in inputs]
        specs = [spec_from(shape, dtype) for shape, dtype in attrs["shapes"]]
        symbols = tracer.node(self, values, attrs, specs, user_line())
        return tracer.graph.nodes[-1], symbols

    # For the XLA executor: see `engines.xla.control_flow`.

    def lowerable(self, node: Node) -> bool:
        """Whether XLA can run a node of this row."""
        from tapeflow._src.engines.xla import control_flow, lower

        return control_flow.lowerable_block(node, lower.lowerable)

    def lowering(self, *arrays: Any, **attrs: Any) -> tuple[Any, ...]:
        """Runs it on jax arrays."""
        from tapeflow._src.engines.xla import control_flow, lower

        function = getattr(control_flow, f"lower_{self.name}")
        return function(lower.lower_graph, *arrays, **attrs)

    def __repr__(self) -> str:
        return f"<{self.name}>"


# Shapes of outputs, as attributes: then unknown sizes in them are known when the node runs, or is copied.

Described = tuple[Any, DType]
"""A shape, or ("stack", length, shape of the elements), and a dtype."""


def described(x: Tensor, tracer: Tracer) -> Described:
    """The shape and dtype of a tensor, with None for sizes that mean nothing in `tracer`."""
    shape = x._array.shape
    if isinstance(shape, StackShape):
        element = None if shape.element is None else outside(shape.element, tracer)
        return ("stack", *outside(tuple(shape), tracer), element), x.dtype
    return outside(shape, tracer), x.dtype


def outside(shape: tuple[Any, ...], tracer: Tracer) -> tuple[Any, ...]:
    """A shape with None for sizes that mean nothing in `tracer`."""
    return tuple([d if d is not None and is_in_scope(d, tracer) else None for d in shape])


def spec_from(shape: Any, dtype: DType) -> ArraySpec:
    """The reverse of `described`."""
    if shape[:1] == ("stack",):
        return ArraySpec(StackShape(shape[1], shape[2]), dtype)
    return ArraySpec(shape, dtype)


def blank(shape: Any, dtype: DType) -> Any:
    """An array that nobody will look at."""
    if shape[:1] == ("stack",):
        return Stack({}, shape[1] or 0, dtype.np_dtype, shape[2])
    return np.broadcast_to(np.zeros((), dtype.np_dtype), tuple([d or 0 for d in shape]))


def add_output(
    tracer: Tracer, node: Node, position: int, shape: Any, dtype: DType
) -> SymbolicTensor:
    """One more output of a node, which is in the graph of `tracer`.

    The graph may be finished, so sizes of other traces do not mean anything in it any more: they are forgotten.
    """
    shape = mapped(shape, lambda size: size if is_of_trace(size, tracer) else None)
    spec = spec_from(shape, dtype)
    symbol = SymbolicTensor(Value(spec.shape, spec.dtype), tracer)
    tracer._name_sizes(symbol)
    node.outputs = (*node.outputs[:position], symbol.value, *node.outputs[position:])
    shapes = node.attrs["shapes"]
    described_ = (*shapes[:position], (shape, dtype), *shapes[position:])
    node.attrs = {**node.attrs, "shapes": described_}
    return symbol


def has_effect(graph: Graph) -> bool:
    """Whether a graph does something besides computing."""
    return any(node.has_effect for node in graph.nodes)


# Programs of graphs.

_programs: weakref.WeakKeyDictionary[Graph, NumpyProgram] = weakref.WeakKeyDictionary()


def program(graph: Graph) -> Callable[..., tuple[Any, ...]]:
    """A graph as a function of arrays."""
    found = _programs.get(graph)
    if found is None:
        found = _programs[graph] = NumpyProgram(optimized(graph))
    return found._program


def with_user_line(error: Exception, *graphs: Graph | None) -> Exception:
    """The failure of a program, with the user's line."""
    for graph in graphs:
        found = None if graph is None else _programs.get(graph)
        if found is not None:
            new = found.with_user_line(error)
            if new is not error:
                return new
    return error
