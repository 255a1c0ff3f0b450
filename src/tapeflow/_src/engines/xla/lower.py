"""Lowering a graph: a function of jax arrays that computes what the graph computes."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, Protocol

import jax.numpy as jnp

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import evaluated
from tapeflow._src.engines.numpy.program import with_user_line
from tapeflow._src.engines.xla.checks import doubtful, holds, is_noting, note, own_check
from tapeflow._src.engines.xla.engine import TOO_LONG
from tapeflow._src.engines.xla.failures import checked
from tapeflow._src.engines.xla.kernels.able import has_kernels
from tapeflow._src.engines.xla.kernels.classes import Loss, run_loss, with_losses
from tapeflow._src.engines.xla.kernels.regions import Region, regions_among
from tapeflow._src.engines.xla.kernels.rows import run_region
from tapeflow._src.engines.xla.lowerings import LOWERINGS
from tapeflow._src.engines.xla.remembered import remembering
from tapeflow._src.engines.xla.rolling import Arrays, run_by_rows, run_loop
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.repeats.loops import Loop
from tapeflow._src.graph.repeats.rolling import Rolling
from tapeflow._src.graph.repeats.tokens import size_of
from tapeflow._src.graph.sizes import atoms_in, is_sized, mapped, mistake, origin

_LONG = 500  # nodes from which it is worth while to look for loops
_LIGHT = (
    2**10
)  # bytes that nodes make on average: if it is less, going round a loop takes as long as what is in it


class Known(Protocol):
    """Arrays by the value that they are."""

    def get(self, value: Value, /) -> Any:
        """The array, or None."""
        ...


def lower_nodes(
    nodes: Sequence[Node],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    constants: Any,
    watched: Sequence[Node] = (),
) -> Callable[..., tuple[Any, ...]]:
    """A function from the arrays of `inputs` to those of `outputs`, by the lowerings of `nodes`.

    Whether the checks of `watched` nodes hold is noted, where somebody listens: see `checking`.
    """
    looked = {id(node) for node in watched if own_check(node) is not None}
    items: Sequence[Any] = nodes
    if _may_be_rolled(nodes):
        rolling = Rolling(nodes, outputs, looked, constants)
        items, looked = rolling.items, rolling.watched

    def run(items: Sequence[Any], values: Arrays) -> None:
        for item in items:
            if type(item) is Loop:
                run_loop(item, values, run)
            elif type(item) is Region:
                run_region(item, values, constants)
            elif type(item) is Loss:
                watch(item.node, values, id(item.node) in looked)
                run_loss(item, values)
            elif not run_by_rows(item, values):
                run_node(item, values, id(item) in looked)

    def function(*arrays: Any) -> tuple[Any, ...]:
        values = Arrays()
        values.update((value, jnp.asarray(array)) for value, array in constants.items())
        values.update(zip(inputs, arrays, strict=True))
        with remembering():
            run(with_kernels(items, outputs, looked) if has_kernels() else items, values)
        return tuple([values[v] for v in outputs])

    return function


def with_kernels(
    items: Sequence[Any], outputs: Sequence[Value], looked: Container[int]
) -> Sequence[Any]:
    """The items of a program, with kernels in the place of what XLA would go through memory for several times."""
    return with_losses(regions_among(items, outputs, looked), outputs)


def _may_be_rolled(nodes: Sequence[Node]) -> bool:
    """Whether parts that repeat themselves are compiled as loops: sooner, and if they do little, slower to run."""
    if not _LONG <= len(nodes) <= TOO_LONG:
        return len(nodes) > TOO_LONG
    return sum(size_of(v) for node in nodes for v in node.outputs) >= _LIGHT * len(nodes)


def run_node(node: Node, values: Arrays, looked: bool) -> None:
    """Adds what a node computes to the values, and notes what its check says, if it is looked at."""
    attrs = with_sizes(node, values)
    if is_sized(node):
        check_sizes(node, [values[v].shape for v in node.inputs], attrs)
    watch(node, values, looked)
    found = lowering_of(node)(*[values[v] for v in node.inputs], **attrs)
    checked(node.primitive.name, found)
    several = node.primitive.outputs != 1
    values.update(zip(node.outputs, found if several else (found,), strict=True))


def watch(node: Node, values: Arrays, looked: bool) -> None:
    """Notes what the check of a node says, if it is looked at."""
    if looked and is_noting():
        note(holds(node, values, with_sizes(node, values)))


def lower_graph(graph: Graph) -> Callable[..., tuple[Any, ...]]:
    """The same for a whole graph: its inputs but for constants, and its outputs."""
    inputs = [v for v in graph.inputs if v not in graph.constants]
    outputs = [*graph.outputs, *graph.assigned.values()]
    checked = doubtful(graph.nodes, graph.constants)
    return lower_nodes(graph.nodes, inputs, outputs, graph.constants, checked)


def lowering_of(node: Node) -> Callable[..., Any]:
    """The lowering of a node: from the table, or one that it brings along."""
    own = getattr(node.primitive, "lowering", None)
    return LOWERINGS[node.primitive.name] if own is None else own


def lowerable(node: Node) -> bool:
    """Whether XLA can run a node."""
    own = getattr(node.primitive, "lowerable", None)
    if own is not None:
        return own(node)
    if node.primitive.name not in LOWERINGS or node.has_effect:
        return False
    if any(v.dtype.np_dtype.kind == "O" for v in (*node.inputs, *node.outputs)):
        return False
    # A size that is an element of a tensor is not known when XLA compiles, nor is one that a node itself decides.
    made = set(node.outputs)
    return all(
        atom.origin[1] is not None for atom in atoms_in(tuple(node.attrs.values()))
    ) and not any(origin(atom) in made for value in node.outputs for atom in atoms_in(value.shape))


def check_sizes(node: Node, shapes: Sequence[Any], attrs: dict[str, Any]) -> None:
    """Raises where sizes that were unknown while tracing do not fit: a lowering may do without a word what it can."""
    wrong = mistake(node, shapes, attrs)
    if wrong is not None:
        raise with_user_line(wrong, node)


def with_sizes(node: Node, arrays: Known) -> dict[str, Any]:
    """The attributes of a node, with the sizes that its function was called with."""
    if not is_dynamic(node.attrs):
        return node.attrs
    number = size_in(arrays)
    return {k: mapped(v, lambda size: evaluated(size, number)) for k, v in node.attrs.items()}


def size_in(arrays: Known) -> Callable[[Any], int | None]:
    """For an unknown size the number that it is where values have these arrays; None if they do not tell."""

    def number(atom: Any) -> int | None:
        symbol, axis, _ = atom.origin
        found = arrays.get(symbol.value)
        return None if found is None or axis is None else found.shape[axis]

    return number
