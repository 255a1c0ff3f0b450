"""`tf.types.experimental.AtomicFunction`: the graph of a trace by itself, which takes what it captures as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.function.trace_types import FunctionType


@export("types.experimental.AtomicFunction")
class AtomicFunction:
    """The graph of a traced function by itself: what it captures is given with each call.

    `ConcreteFunction.inference_fn` is one.

    >>> w = tf.Variable(3.0)
    >>> concrete = tf.function(lambda x: w * x).get_concrete_function(tf.TensorSpec([], tf.float32))
    >>> graph = concrete.inference_fn
    >>> isinstance(graph, tf.types.experimental.AtomicFunction)
    True
    >>> graph.call_with_captures((tf.constant(2.0),), {}, concrete.captured_inputs).numpy()
    np.float32(6.0)
    >>> graph.call_with_captures((tf.constant(2.0),), {}, [tf.Variable(5.0)]).numpy()
    np.float32(10.0)

    Attributes:
      name: of the graph.
      graph: the graph.
    """

    def __init__(self, trace: Any) -> None:
        self._trace = trace
        self.name = f"__inference_{trace.name}".encode()
        self.graph = trace.graph

    @property
    def function_type(self) -> FunctionType:
        """What it takes and returns."""
        return self._trace.function_type

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results of a function that captures nothing."""
        count = len(self._trace.captured_inputs)
        if count:
            raise ValueError(
                f"{self._trace.name} captures {count} variables or tensors. Use call_with_captures, and give it what "
                "is to stand for them."
            )
        return self._trace(*args, **kwargs)

    def call_with_captures(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], captures: Sequence[Any]
    ) -> Any:
        """The results for arguments, and for what takes the places of the trace's `captured_inputs`.

        Args:
          args: the positional arguments.
          kwargs: the others, by name.
          captures: variables and tensors of the same shapes and dtypes, in the order of `captured_inputs`.
        """
        trace = self._trace
        leaves = trace._binding.leaves(tuple(args), dict(kwargs))
        if trace._guards:
            trace = trace._variant(leaves)
        given = _fitting(trace, captures)
        count = len(trace._own)
        instead = {id(v): new for v, new in zip(trace._own, given[:count], strict=True)}
        variables = [leaves[s] if isinstance(s, int) else instead[id(s)] for s in trace._slots]
        tensors = [leaves[i] for i in trace._positions]
        return trace._outputs(trace._graph_function.call(tensors, variables, given[count:]))

    def __repr__(self) -> str:
        return f"<AtomicFunction> {self._trace.pretty_printed_signature(verbose=False)}"


def _fitting(trace: Any, captures: Sequence[Any]) -> list[Any]:
    """What is given for captures, if it is of their kinds."""
    wanted = trace.captured_inputs
    if len(captures) != len(wanted):
        raise TypeError(
            f"call_with_captures: {trace.name} captures {len(wanted)} variables or tensors, and {len(captures)} are "
            "given. ConcreteFunction.captured_inputs has them in order."
        )
    found = []
    for number, (old, new) in enumerate(zip(wanted, captures, strict=True)):
        if isinstance(old, Variable) != isinstance(new, Variable):
            kind = "variable" if isinstance(old, Variable) else "tensor"
            raise TypeError(
                f"call_with_captures: captures[{number}] must be a {kind}, got {shown(new)}"
            )
        if not isinstance(new, Variable):
            new = convert_to_tensor(new, old.dtype)
        if new.dtype is not old.dtype or not old.shape.is_compatible_with(new.shape):
            raise TypeError(
                f"call_with_captures: captures[{number}] must have the dtype {old.dtype.name} and the shape "
                f"{old.shape}, got {new.dtype.name} and {new.shape}"
            )
        found.append(new)
    return found
