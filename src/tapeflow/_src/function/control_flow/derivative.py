"""The backward pass of a block, traced from the records of the block's own tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.autodiff import backprop
from tapeflow._src.autodiff.backprop import Call, summed
from tapeflow._src.core.context import context, identify, recorders
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.graph_function import GraphFunction, symbol_of
from tapeflow._src.function.outer_sizes import capture_outer_sizes
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.function.tracing.tracer import Tracer, tracing_lock
from tapeflow._src.primitives.array.stack import is_stack
from tapeflow._src.primitives.specs import ArraySpec


class BlockGradient:
    """A traced backward pass.

    Args:
      graph_function: the block.
      given: tensors that have the form of the gradients that are given.
      seed: takes those gradients, and gives pairs of a tensor in the block and its gradient.
      finish: takes the gradients of the inputs of the block, None where there is none, and gives the outputs of the
        pass.

    Attributes:
      given: its inputs for the gradients that are given.
      kept: tensors of the block that it needs, each with its input for it.
    """

    def __init__(
        self,
        graph_function: GraphFunction,
        given: Sequence[Tensor],
        seed: Callable[[list[Tensor]], Sequence[tuple[SymbolicTensor, Tensor]]],
        finish: Callable[[list[Any]], list[Tensor]],
    ) -> None:
        tracer = self.tracer = Tracer(
            f"gradient of {graph_function.name}", outer=graph_function.tracer
        )
        with tracing_lock, tracer.whole():
            seeds = summed(seed([tracer.argument_like(x) for x in given]))
            sources = graph_function.inputs()
            wanted = list(filter(lambda x: x.dtype.is_differentiable, sources))
            parts = iter(graph_function.tracer.tape._backward(seeds, wanted, release=False))
            found = [next(parts) if x.dtype.is_differentiable else None for x in sources]
            self._outputs = [symbol_of(tracer, x) for x in finish(found)]
        capture_outer_sizes(tracer)
        tracer.graph.constants.clear()
        self.given = list(tracer.arguments)
        self.kept: list[tuple[SymbolicTensor, SymbolicTensor]] = []
        for key, (x, symbol) in list(tracer.captures.items()):
            inside = graph_function.tracer.known.get(id(x), x)  # the block has captured it, too
            if isinstance(inside, SymbolicTensor) and inside.interpreter is graph_function.tracer:
                self.kept.append((inside, symbol))
                del tracer.captures[key]

    def graph_function(self, arguments: Sequence[SymbolicTensor]) -> GraphFunction:
        """The pass with its arguments in an order: the inputs in `given` and `kept`."""
        self.tracer.arguments = list(arguments)
        return GraphFunction(self.tracer, self._outputs)


def record_kept(call: Call, tracer: Tracer, known: Sequence[Any]) -> None:
    """Tells of outputs that a node got when its derivative was asked for: the derivative of that needs theirs.

    Args:
      call: the outputs, and how to differentiate them.
      tracer: has the node. Its tape is told, also if the trace is over.
      known: who was recording when the node was made.
    """
    listeners = [tracer.tape, *known]
    if context.tracer is tracer:  # in another trace they are inputs, and not computed
        listeners += recorders()
    kept = [x for x in call.outputs if x.dtype.is_differentiable]
    for recorder in {id(r): r for r in listeners}.values():
        if isinstance(recorder, Tracer) or getattr(recorder, "_records", ()) is None:
            continue
        if not all(recorder.follows(identify(x)) for x in kept):
            recorder.record_call(call)


def zeros_like(x: Tensor) -> Tensor:
    """Zeros in the shape of a tensor, or a stack of zeros."""
    if is_stack(x) or is_dynamic(x._array.shape):
        return backprop.zeros_like(x)
    return backprop.zeros(ArraySpec(x._array.shape, x.dtype))


def connected(
    graph_function: GraphFunction, source: SymbolicTensor, targets: Sequence[SymbolicTensor]
) -> bool:
    """Whether a target of a block may depend on an input of it."""
    found = backprop.reachable(graph_function.tracer.tape._records or [], {source._id})
    return any(t._id in found for t in targets)
