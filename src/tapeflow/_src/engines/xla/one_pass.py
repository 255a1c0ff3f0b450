"""Updates of variables that read and write each array once.

Adam's step makes three arrays of four: the parameters, and two averages that the parameters need. XLA's compiler for
CPUs makes one loop for each array it is to make, and reads from memory again what the loop before has written. It can
write several arrays in one loop, if it is told to by an option, and if no array is made from another. So here every
output is computed from the inputs on its own; in the one loop that comes of it, LLVM finds what they have in common.

The option is not used for anything but elementwise programs on arrays of one shape, where it cannot go wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.xla.checks import doubtful
from tapeflow._src.engines.xla.lower import lower_nodes, lowerable, lowering_of
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.sizes import needs
from tapeflow._src.insides import multi_output_fusion

_WORTH_IT = 2**15  # elements of the arrays that are made and then used
# The same for each array, where one program becomes two for it: arrays have to be handed over.
_WORTH_LEAVING = 2**18
_TOO_OFTEN = 3  # how many times the nodes that were written may be computed


def updates(graph: Graph, divided: bool) -> list[Node]:
    """The elementwise nodes at the end of a graph, if doing them in one pass is worth a program of its own.

    Args:
      graph: the graph.
      divided: whether it is several programs anyway.
    """
    if jax.default_backend() != "cpu":
        return []
    results = {*graph.outputs, *graph.assigned.values()}
    users: dict[Value, list[Node]] = {}
    found: list[Node] = []
    inside: set[int] = set()
    for node in reversed(graph.nodes):
        after = [user for v in node.outputs for user in users.get(v, ())]
        if _suits(node, graph) and all(id(user) in inside for user in after):
            inside.add(id(node))
            found.append(node)
        for value in needs(node):
            users.setdefault(value, []).append(node)
    sizes = [
        math.prod(v.shape)
        for node in found
        for v in node.outputs
        if v in results and users.get(v) and v.shape
    ]
    alone = len(found) == len(graph.nodes)
    least = _WORTH_IT if alone or divided else _WORTH_LEAVING * max(len(sizes), 8)
    if sum(sizes) < least or not multi_output_fusion.is_available():
        return []
    return found[::-1]


def _suits(node: Node, graph: Graph) -> bool:
    """Whether a node works on numbers, or on arrays of one shape element by element, and refuses none."""
    values = (*node.inputs, *node.outputs)
    if node.primitive.outputs != 1 or node.has_effect or not lowerable(node):
        return False
    if doubtful([node], graph.constants):
        return False
    if any(v.dtype.np_dtype.kind not in "biuf" for v in values):
        return False
    if any(is_dynamic(v.shape) for v in values):  # which must not be compared here
        return False
    shape = node.outputs[0].shape
    if any(v.shape not in ((), shape) for v in values):
        return False
    return not shape or node.primitive.elementwise or node.primitive.name == "cast"


def lower_in_one_pass(
    nodes: Sequence[Node],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    constants: Any,
    checked: Sequence[Node] = (),
) -> Callable[..., tuple[Any, ...]]:
    """What `lower_nodes` gives, with every array among the outputs computed from the inputs on its own."""
    cones = {v: _cone(v, nodes) for v in outputs if v.shape}
    if checked or sum(map(len, cones.values())) > _TOO_OFTEN * len(nodes):
        return lower_nodes(nodes, inputs, outputs, constants, checked)
    scalars = [node for node in nodes if not node.outputs[0].shape]

    def function(*arrays: Any) -> tuple[Any, ...]:
        values = {value: jnp.asarray(array) for value, array in constants.items()}
        values.update(zip(inputs, arrays, strict=True))
        for node in scalars:
            _compute(node, values)
        results = []
        for output in outputs:
            own = dict(values)
            if output.shape:
                cone = cones[output]
                used = dict.fromkeys(v for node in cone for v in node.inputs)
                given = [v for v in used if v.shape and v in values]
                # Until the barrier is gone no two outputs have anything in common. Where XLA makes loops before that,
                # it does not make one, and we are not here.
                hidden = jax.lax.optimization_barrier([values[v] for v in given])
                own.update(zip(given, hidden, strict=True))
                for node in cone:
                    _compute(node, own)
            results.append(own[output])
        return tuple(results)

    return function


def _cone(value: Value, nodes: Sequence[Node]) -> list[Node]:
    """The nodes that make an array, without those that make scalars."""
    needed = {value}
    cone = []
    for node in reversed(nodes):
        if node.outputs[0] in needed and node.outputs[0].shape:
            needed.update(node.inputs)
            cone.append(node)
    return cone[::-1]


def _compute(node: Node, values: dict[Value, Any]) -> None:
    found = lowering_of(node)(*[values[v] for v in node.inputs], **node.attrs)
    values[node.outputs[0]] = found
