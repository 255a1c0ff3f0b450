"""Other gradients for types of ops: those of `tf.Graph.gradient_override_map`, and those in TensorFlow's registry.

An op has the gradient of its primitive. Where a program wants another, a tape is told of a call that brings a pullback
of its own, and that calls the program's function with the operation and the gradients of its outputs, as TensorFlow
does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.autodiff import registered
from tapeflow._src.autodiff.backprop import Call
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.graph.graph import Graph, Node
from tapeflow._src.graph.operations import Operation, attributes_of, type_of
from tapeflow._src.primitives.array.sizes import vector_of
from tapeflow._src.primitives.table import Primitive
from tapeflow._src.primitives.types import rows_by_type, type_named

# What is an attribute here and the last input of TensorFlow's op.
_LAST_INPUTS = {
    "BroadcastTo": "shape",
    "Reshape": "shape",
    "Tile": "multiples",
    "Transpose": "perm",
    **dict.fromkeys(("ConcatV2", "GatherV2", "ReverseV2"), "axis"),
    **dict.fromkeys(("All", "Any", "Max", "Mean", "Min", "Prod", "Sum"), "axis"),
}


class DifferentiatedOperation(Operation):
    """An operation as gradient functions get it: its inputs and outputs are tensors that can be computed with."""

    def __init__(
        self, graph: Graph, node: Node, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> None:
        kind = type_of(node)
        name = graph.operation_of(node.outputs[0]).name
        last = node.attrs.get(_LAST_INPUTS.get(kind, ""))
        more = [] if last is None else [_constant(last)]
        super().__init__(graph, name, kind, [*inputs, *more], node.outputs, attributes_of(node))
        self.outputs = list(outputs)
        self.node = node
        self.own = tuple(inputs)  # without those that are attributes here


def _constant(attribute: Any) -> Tensor:
    held = vector_of(attribute) if isinstance(attribute, tuple) else convert_to_tensor(attribute)
    # As an input of the graph that is traced now: gradient functions may ask for its name.
    return held if held.symbolic else context.tracer.capture(held)


def tell_recorders(tracer: Any, node: Node, inputs: tuple[Tensor, ...], output: Any) -> None:
    """Tells the recorders of this thread of an op that a tracer has added to its graph."""
    instead, everywhere = None, False
    if tracer.graph.overridden or registered.replaced:
        instead, everywhere = _call_instead(tracer, node, inputs, output)
    for recorder in context.dispatch[1]:
        if instead is not None and (
            recorder is tracer.tape or (everywhere and not recorder.substitutes)
        ):
            recorder.record_call(instead)
        else:
            recorder.record(node.primitive, inputs, output, node.attrs)


def _call_instead(
    tracer: Any, node: Node, inputs: tuple[Tensor, ...], output: Any
) -> tuple[Call | None, bool]:
    """A call with the pullback that the op is to have, if it is another, and whether that is for all tapes.

    `gradient_override_map` is for the tape of the trace alone, as in TensorFlow.
    """
    graph: Graph = tracer.graph
    kind = type_of(node)
    wanted = graph.overridden.get(kind, kind)
    everywhere = kind in registered.replaced
    if wanted == kind and not everywhere:
        return None, False
    named = tuple([x if x.symbolic else tracer.capture(x) for x in inputs])
    outputs = output if node.primitive.outputs != 1 else (output,)

    def pullback(*grads: Any) -> list[Any]:
        op = DifferentiatedOperation(graph, node, named, outputs)
        return _checked(op, gradient_function(wanted)(op, *grads))

    return Call(kind, named, outputs, pullback, custom=True), everywhere


def gradient_function(op_type: str) -> Callable[..., Any]:
    """The gradient of a type of op: the one that is registered, else that of the primitive."""
    function = registered.replaced.get(op_type)
    if function is not None:
        return function
    if op_type in registered.gradients:
        return registered.gradients[op_type] or _no_gradients
    row = row_of(op_type)
    if row is None:
        raise LookupError(
            f"No gradient defined for operations of type {op_type!r}. Register one: "
            f"@tf.RegisterGradient({op_type!r})."
        )
    return gradient_of(row)


def row_of(op_type: str) -> Primitive | None:
    """The primitive that TensorFlow calls so, if it has a gradient."""
    row = rows_by_type().get(op_type)
    return row if row is not None and row.differentiable else None


@functools.cache
def gradient_of(row: Primitive) -> Callable[..., Any]:
    """The gradient of a primitive as a function like those that are registered."""

    def gradient(op: DifferentiatedOperation, *grads: Any) -> Any:
        if len(op.own) != len(row.inputs) and not row.variadic:
            raise ValueError(
                f"The gradient of {type_named(row.name)!r} is for ops of {len(row.inputs)} inputs, and {op.name!r} "
                f"({op.type}) has {len(op.own)}"
            )
        asked = [
            row.gradients[i] is not None and x.dtype.is_differentiable for i, x in enumerate(op.own)
        ]
        several = row.outputs != 1
        output = tuple(op.outputs) if several else op.outputs[0]
        found = row.pullback(asked, op.own, output, op.node.attrs)(asked, *grads)
        # As TensorFlow's: one of an op with one input is returned by itself.
        rest = [None] * (len(op.inputs) - len(found))
        return found[0] if len(op.inputs) == 1 else [*found, *rest]

    return gradient


def _no_gradients(op: Operation, *grads: Any) -> list[None]:
    return [None] * len(op.inputs)


def _checked(op: DifferentiatedOperation, found: Any) -> list[Any]:
    """The gradients by the inputs of the primitive, of those that a function gave for TensorFlow's inputs."""
    gradients = list(found) if isinstance(found, (list, tuple)) else [found]
    if len(gradients) != len(op.inputs):
        raise ValueError(
            f"Num gradients {len(gradients)} generated for op {op.name!r} ({op.type}) do not match num inputs "
            f"{len(op.inputs)}. A gradient function returns one for each input, None where there is none."
        )
    return [_of_shape(x, g, op) for x, g in zip(op.own, gradients, strict=False)]


def _of_shape(x: Tensor, gradient: Any, op: DifferentiatedOperation) -> Any:
    """The gradient by an input, as a tensor."""
    if gradient is None or isinstance(gradient, IndexedSlices):
        return gradient
    g = convert_to_tensor(gradient)
    if not g.shape.is_compatible_with(x.shape):
        raise ValueError(
            f"Incompatible shapes between op input and calculated input gradient: the input {x.name!r} of "
            f"{op.name!r} ({op.type}) has the shape {x.shape}, and its gradient {g.shape}."
        )
    return g
