"""What the NumPy executor does in one step although the graph has several.

- A gradient step on a matrix, `w - rate * (a @ b)`, is one call of BLAS, which adds the product to `w` in place.
- A cross entropy and its gradient share the exponentials.
- What convolutions are followed by, biases, `relu` and pooling: see `layers`.
- Operations on the elements of large arrays: see `chains`.
- Small products, those of unrolled loops: see `gathered`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.numpy import chains, layers
from tapeflow._src.engines.numpy.early import with_early_updates
from tapeflow._src.engines.numpy.fused import Fused
from tapeflow._src.engines.numpy.gathered import with_gathered_products
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.insides import blas
from tapeflow._src.primitives.linalg.quickest import (
    add_by_library,
    library_of,
    may_write,
    suits,
)
from tapeflow._src.primitives.linalg.shared_products import product
from tapeflow._src.primitives.nn.softmax import narrow, pick_labels, rows_and_labels, shifted, wide
from tapeflow._src.primitives.sharing import MATRIX_ALONE, in_parts, shared_out


def fused(graph: Graph) -> Graph:
    """The graph with what can be done in one step as one node."""
    graph = layers.with_places(layers.with_biases(with_gathered_products(graph, _added)))
    graph = chains.with_chains(_with_shared_exponentials(_with_matrix_updates(graph)))
    return with_early_updates(graph)


# Updates of matrices.


def _update_kernel(
    w: Any,
    a: Any,
    b: Any,
    out: Any = None,
    *,
    scale: float,
    transpose_a: bool,
    transpose_b: bool,
) -> Any:
    """`w + scale * a @ b`, in place where `out` is `w` itself and BLAS does not read what it writes."""
    a = a.T if transpose_a else a
    b = b.T if transpose_b else b
    library = library_of(a, b)
    if library is not None and suits(a, b):
        if not (out is w and may_write(w, a, b)):
            w = np.array(w, order="C")
        add_by_library(library, a, b, w, scale, 1.0)
        return w
    update = blas.product_update(w.dtype)
    if update is None or not (blas.fits(a) and blas.fits(b)):
        step = product(a, b)
        step *= w.dtype.type(scale)
        return np.add(w, step, out=step)
    in_place = (
        out is w
        and w.flags.c_contiguous  # BLAS writes rows
        and not (np.may_share_memory(w, a) or np.may_share_memory(w, b))
    )
    result = w if in_place else np.array(w, order="C")
    rows = len(result)
    work = result.size * a.shape[1]
    if work < MATRIX_ALONE:
        update(result, a, b, scale, 0, rows)
    else:
        share = shared_out if library is None or not library.awake else in_parts
        share(lambda i, j: update(result, a, b, scale, i, j), rows, work, 16)
    return result


product_update = Fused("product_update", _update_kernel)


def _added(total: Any, a: Any, b: Any) -> Any:
    """A sum that nobody else sees with the product of `a` and `b` in it."""
    return _update_kernel(total, a, b, total, scale=1.0, transpose_a=False, transpose_b=False)


def _with_matrix_updates(graph: Graph) -> Graph:
    made = {v: node for node in graph.nodes for v in node.outputs}
    uses = _uses(graph)
    gone: set[int] = set()
    new: dict[int, Node] = {}
    for node in graph.nodes:
        found = _matrix_update(node, graph, made, uses)
        if found is not None:
            updated, replaced = found
            new[id(node)] = updated
            gone.update(map(id, replaced))
    if not new:
        return graph
    nodes = [new.get(id(n), n) for n in graph.nodes if id(n) not in gone]
    return graph.with_nodes(nodes)


def _matrix_update(
    node: Node, graph: Graph, made: dict[Value, Node], uses: dict[Value, int]
) -> tuple[Node, list[Node]] | None:
    """For `w - c * (a @ b)` and the like: the node in its place, and those that are not needed any more."""
    if node.primitive.name not in ("subtract", "add") or len(node.outputs[0].shape) != 2:
        return None
    w, change = node.inputs
    if w.dtype.np_dtype.char not in "fd":
        return None
    if w not in graph.assigned or graph.assigned[w] is not node.outputs[0] or uses[change] != 1:
        return None
    sign = 1.0 if node.primitive.name == "add" else -1.0
    scaled = made.get(change)
    replaced = []
    if scaled is not None and scaled.primitive.name == "multiply":
        factor, product = scaled.inputs
        if factor not in graph.constants:
            factor, product = product, factor
        constant = graph.constants.get(factor)
        if constant is None or constant.size != 1 or uses[product] != 1:
            return None
        sign *= float(constant.reshape(()))
        replaced.append(scaled)
        scaled = made.get(product)
    if scaled is None or scaled.primitive.name != "matmul" or uses[scaled.outputs[0]] != 1:
        return None
    values = (*scaled.inputs, *scaled.outputs, w)
    if any(len(v.shape) != 2 or is_dynamic(v.shape) for v in values):
        return None
    if w.shape != scaled.outputs[0].shape:
        return None
    replaced.append(scaled)
    attrs = {"scale": sign, **scaled.attrs}
    return Node(product_update, [w, *scaled.inputs], attrs, node.outputs, node.line), replaced


def _uses(graph: Graph) -> dict[Value, int]:
    uses: dict[Value, int] = {}
    for value in [v for n in graph.nodes for v in n.inputs]:
        uses[value] = uses.get(value, 0) + 1
    for value in (*graph.outputs, *graph.assigned.values()):
        uses[value] = uses.get(value, 0) + 1
    return uses


# Cross entropies.


def _entropy_kernel(x: Any, labels: Any) -> tuple[Any, Any]:
    """The cross entropy of each row, and the softmax."""
    matrix, flat = rows_and_labels(x, labels)
    z = shifted(matrix, 1)
    picked = pick_labels(z, flat)
    np.exp(z, z)
    total = np.add.reduce(z, 1)
    z *= (z.dtype.type(1) / total)[:, None]
    loss = np.log(total, total)
    loss -= picked
    return narrow(loss.reshape(labels.shape), x), z


def _entropy_gradient_kernel(u: Any, p: Any, labels: Any, *, like: Value) -> Any:
    u = wide(u).reshape(-1)
    out = p * u[:, None]
    out[np.arange(u.size), labels.reshape(-1)] -= u
    return out.reshape(like.shape).astype(like.dtype.np_dtype, copy=False)


entropy = Fused("cross_entropy_and_softmax", _entropy_kernel, 2)
entropy_gradient = Fused("cross_entropy_gradient_from_softmax", _entropy_gradient_kernel)


def _with_shared_exponentials(graph: Graph) -> Graph:
    name = "sparse_softmax_cross_entropy"
    losses = {
        n.inputs: n
        for n in graph.nodes
        if n.primitive.name == name and not is_dynamic(n.inputs[0].shape)
    }
    pairs = {
        id(n): losses[n.inputs[1:]]
        for n in graph.nodes
        if n.primitive.name == f"{name}_gradient" and n.inputs[1:] in losses
    }
    if not pairs:
        return graph
    probabilities: dict[int, Value] = {}
    shared = {id(loss) for loss in pairs.values()}
    nodes: list[Node] = []
    for node in graph.nodes:
        if id(node) in shared:
            x = node.inputs[0]
            p = probabilities[id(node)] = Value((-1, x.shape[-1]), x.dtype)
            node = Node(entropy, node.inputs, {}, [*node.outputs, p], node.line)
        elif id(node) in pairs:
            u, x, labels = node.inputs
            inputs = [u, probabilities[id(pairs[id(node)])], labels]
            node = Node(entropy_gradient, inputs, {"like": x}, node.outputs, node.line)
        nodes.append(node)
    return graph.with_nodes(nodes)
