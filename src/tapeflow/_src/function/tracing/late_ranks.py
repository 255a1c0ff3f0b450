"""The rank of what nobody has said the shape of: a result of `tf.py_function`, say.

Ops depend on the rank. Where a function is traced for a call, its arguments have values, so that the tensor can be
computed there and then, and the trace goes on for its rank. What Python functions gave meanwhile they give once more
when the graph runs for that call (`PythonCall.keep`), so that they are called once, and in their order. Where there are
no values the trace has to wait for a call, which an `UnknownRankError` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow._src.core.context import quietly
from tapeflow._src.core.errors import OpError
from tapeflow._src.core.sizes.dims import atoms_of
from tapeflow._src.core.sizes.extremes import evaluated, hint_of
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.engines.numpy.program import with_user_line
from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.graph.sizes import mapped

if TYPE_CHECKING:
    from tapeflow._src.function.tracing.tracer import Tracer


class UnknownRankError(ValueError):
    """The rank of a tensor is needed to go on with a trace, and is known only when the function is called."""


def rank_of(value: Value, tracer: Tracer) -> int:
    """The rank that a value of a trace has in the call that it is traced for."""
    if tracer.outer is not None or not (tracer.actual or tracer.given_variables):
        raise _unknown()
    arrays: dict[Value, Any] = {**tracer.graph.constants}
    arrays.update((v, x._array) for v, x in tracer.actual.items())
    arrays.update((c.symbol.value, c.variable._value._array) for c in tracer.variables.values())
    arrays.update(
        (symbol.value, x._array) for x, symbol in tracer.captures.values() if not x.symbolic
    )
    with tracer.suspended():
        try:
            found = _computed(value, tracer, arrays)
        except OpError:
            raise
        except (ValueError, TypeError, KeyError):
            raise _unknown() from None
    _expect(value, tracer, found.ndim)
    return found.ndim


def _computed(wanted: Value, tracer: Tracer, arrays: dict[Value, Any]) -> Any:
    made: dict[Value, Node] = {}

    def find(value: Value) -> Any:
        if value not in arrays:
            run(made[value])
        return arrays[value]

    def run(node: Node) -> None:
        if node.has_effect and not hasattr(node.primitive, "keep"):
            raise _unknown()  # it must not happen twice
        attrs = mapped(node.attrs, lambda dim: evaluated(dim, size))
        given = [find(v) for v in node.inputs]
        try:
            result = quietly(node.primitive.kernel, *given, **attrs)
        except OpError as error:
            raise with_user_line(error, node) from error.__cause__
        if node.has_effect:
            node.primitive.keep(given, result)
        several = node.primitive.outputs != 1
        arrays.update(zip(node.outputs, result if several else (result,), strict=True))

    def size(atom: Any) -> int:
        tensor, axis, position = atom.origin
        array = find(tensor.value)
        return int(array.ravel()[position]) if axis is None else array.shape[axis]

    for node in tracer.graph.nodes:
        made.update(dict.fromkeys(node.outputs, node))
        if node.has_effect:  # what happens before it happens before it now, too
            run(node)
        if wanted in node.outputs:
            break
    return find(wanted)


def assume_ranks(tensors: Sequence[Tensor]) -> None:
    """Tensors of which one will be taken: where the rank of one is known, the others have to have it, too."""
    known = next((x.shape.rank for x in tensors if x.shape.rank is not None), None)
    for x in tensors:
        if known is not None and x.shape.rank is None:
            _expect(x.value, x.interpreter, known)  # pyright: ignore[reportAttributeAccessIssue]
            x.set_shape([None] * known)


def _expect(value: Value, tracer: Any, rank: int) -> None:
    """What a value turns out to be in other calls is checked where it is made."""
    node = next(n for n in tracer.graph.nodes if value in n.outputs)
    node.primitive.expect(node.outputs.index(value), rank)


def known_length(size: Any) -> int:
    """The length of a vector that says a shape: the rank depends on it, so the trace is for this length alone."""
    if hint_of(size) is None or any(atom.made_up for atom in atoms_of(size)):
        raise UnknownRankError(
            "A shape of unknown length is a tensor of unknown rank, which is known only when the function is called. "
            "Say how long it is: tf.TensorSpec([2], tf.int32)."
        )
    return int(size)


def _unknown() -> UnknownRankError:
    return UnknownRankError(
        "The shape of what tf.py_function and tf.numpy_function return is not known inside tf.function before it is "
        "called. Say it: Tout=tf.TensorSpec(shape, dtype), or call set_shape on the result. None stands for unknown "
        "sizes."
    )
