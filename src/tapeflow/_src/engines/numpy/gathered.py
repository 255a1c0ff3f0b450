"""Small products put together, for the NumPy executor: what a loop that is unrolled does with one matrix in each turn.

    x[0] @ w, x[1] @ w, ...                             the rows of `x`, some turns at a time, by `w`
    transpose(a) @ g + transpose(b) @ h + ...           one product of what is one below the other

The first is what a recurrent layer does with its inputs, the second what its gradient does with the weights. A product
of few rows takes twice as long as its part of a large one, and what was added up need not be read and written again. It
is added up in another order, so the last digits may differ from those of eager mode.

No more than `_ROWS` rows are put together: more are no quicker, and all of them are kept until the last is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.numpy.fused import Fused
from tapeflow._src.engines.numpy.lifetimes import PRODUCT_ROWS, PRODUCT_SUM
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.primitives.linalg.shared_products import product

_ROWS = 512
_FEWEST = 4  # products that are worth it

Add = Callable[[Any, Any, Any], Any]
"""Adds the product of two matrices to a third, in place."""


def with_gathered_products(graph: Graph, add: Add) -> Graph:
    """The graph with small products put together."""
    products = [node for node in graph.nodes if _is_product(node)]
    if len(products) < _FEWEST:
        return graph
    instead: dict[int, Node | None] = {}
    _gather_rows(graph, products, instead)
    _gather_sums(graph, products, instead, add)
    if not instead:
        return graph
    nodes = [instead.get(id(n), n) for n in graph.nodes]
    return graph.with_nodes([n for n in nodes if n is not None])


def _is_product(node: Node) -> bool:
    """Whether it is one of two matrices whose sizes are known."""
    if node.primitive.name != "matmul":
        return False
    values = (*node.inputs, *node.outputs)
    return values[0].dtype.np_dtype.char in "fd" and all(
        len(v.shape) == 2 and not is_dynamic(v.shape) and 0 not in v.shape for v in values
    )


# Rows by one matrix.


def _rows_kernel(x: Any, w: Any, *, start: int, stop: int, transpose: bool) -> tuple[Any, ...]:
    part = x[start:stop]
    count, rows, terms = part.shape
    found = product(part.reshape(count * rows, terms), w.T if transpose else w)
    return tuple(found.reshape(count, rows, found.shape[1]))


def _gather_rows(graph: Graph, products: list[Node], instead: dict[int, Node | None]) -> None:
    parts = _parts_of_arrays(graph)
    groups: dict[Any, dict[int, Node]] = {}
    for node in products:
        x, w = node.inputs
        if x in parts and not node.attrs["transpose_a"]:
            whole, number = parts[x]
            group = groups.setdefault((whole, w, node.attrs["transpose_b"]), {})
            group.setdefault(number, node)
    order = {id(node): i for i, node in enumerate(graph.nodes)}
    for (whole, w, transpose), group in groups.items():
        most = _ROWS // whole.shape[1]
        for start, stop in _runs(sorted(group), most):
            members = [group[i] for i in range(start, stop)]
            attrs = {"start": start, "stop": stop, "transpose": transpose}
            outputs = [v for node in members for v in node.outputs]
            first = min(members, key=lambda node: order[id(node)])
            row = Fused(PRODUCT_ROWS, _rows_kernel, len(outputs))
            instead.update({id(node): None for node in members})
            instead[id(first)] = Node(row, [whole, w], attrs, outputs, first.line)


def _parts_of_arrays(graph: Graph) -> dict[Value, tuple[Value, int]]:
    """For each matrix that is one of several in an array: that array, and the matrix's number."""
    found: dict[Value, tuple[Value, int]] = {}
    for node in graph.nodes:
        name = node.primitive.name
        if name not in ("unstack", "getitem"):
            continue
        whole = node.inputs[0]
        if len(whole.shape) != 3 or is_dynamic(whole.shape):
            continue
        if name == "unstack" and node.attrs["axis"] == 0:
            found.update({v: (whole, i) for i, v in enumerate(node.outputs)})
        elif name == "getitem":
            index = node.attrs["index"]
            if isinstance(index, tuple) and len(index) == 1 and type(index[0]) is int:
                found[node.outputs[0]] = whole, index[0] % whole.shape[0]
    return found


def _runs(numbers: list[int], most: int) -> list[tuple[int, int]]:
    """Ranges of neighbours, none of them longer than `most` or too short to be worth it."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        start, stop = found[-1] if found else (0, -1)
        if number == stop and stop - start < most:
            found[-1] = start, stop + 1
        else:
            found.append((number, number + 1))
    return [(i, j) for i, j in found if j - i >= _FEWEST]


# Sums of products.


def _gather_sums(
    graph: Graph, products: list[Node], instead: dict[int, Node | None], add: Add
) -> None:
    uses: dict[Value, int] = {}
    for value in [v for n in graph.nodes for v in n.inputs]:
        uses[value] = uses.get(value, 0) + 1
    staying = {*graph.outputs, *graph.assigned.values()}

    # For a sum, its terms and what added each of them; the first was added by nobody.
    sums: dict[Value, list[tuple[Node, Node | None]]] = {}
    for node in products:
        if node.attrs["transpose_a"] and not node.attrs["transpose_b"] and id(node) not in instead:
            sums[node.outputs[0]] = [(node, None)]
    for node in graph.nodes:
        if node.primitive.name != "add":
            continue
        total, term = node.inputs
        if len(sums.get(term, ())) > 1:
            total, term = term, total
        if total is term or total not in sums or len(sums.get(term, ())) != 1:
            continue
        if total.shape != term.shape:  # one is broadcast to the other
            continue
        if uses[total] == uses[term] == 1 and not staying & {total, term}:
            sums[node.outputs[0]] = [*sums.pop(total), (sums.pop(term)[0][0], node)]
    for terms in sums.values():
        most = _ROWS // max(node.inputs[0].shape[0] for node, _ in terms)
        if len(terms) < _FEWEST or most < 2:
            continue
        instead.update({id(node): None for pair in terms for node in pair if node is not None})
        before: list[Value] = []
        for i in range(0, len(terms), most):
            part = terms[i : i + most]
            last = part[-1][1]
            assert last is not None  # the first part has two terms or more
            inputs = [node.inputs[side] for side in (0, 1) for node, _ in part]
            kernel = _first_sum if not before else _next_sum(add)
            row = Fused(PRODUCT_SUM, kernel)
            instead[id(last)] = Node(row, [*before, *inputs], {}, last.outputs, last.line)
            before = list(last.outputs)


def _below(arrays: tuple[Any, ...]) -> tuple[Any, Any]:
    """The first half of these matrices in one, and the second half."""
    half = len(arrays) // 2
    if half == 1:
        return arrays
    return np.concatenate(arrays[:half]), np.concatenate(arrays[half:])


def _first_sum(*arrays: Any) -> Any:
    a, b = _below(arrays)
    return product(a.T, b)


def _next_sum(add: Add) -> Callable[..., Any]:
    def kernel(total: Any, *arrays: Any) -> Any:
        a, b = _below(arrays)
        return add(total, a.T, b)

    return kernel
