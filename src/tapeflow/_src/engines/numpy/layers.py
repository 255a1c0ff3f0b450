"""Layers of convolutional networks in fewer steps than the graph has, for the NumPy executor.

- A bias is added by the convolution.
- The maxima of a pooling are found once, and what the backward pass needs of them is a function that spreads gradients:
  the input of the pooling need not stay.
- `relu` moves behind the pooling that follows it, where fewer elements are left. The largest element is the largest
  after `relu`, too, and where it is not positive nobody gets a gradient.
- The sum of a gradient that was spread is the sum of what it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.core.dtypes import float32
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.numpy.fused import Fused
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.primitives.nn.conv_kernels import conv_kernel
from tapeflow._src.primitives.nn.pooling import max_pool_and_way_back


def _conv_with_bias_kernel(x: Any, w: Any, bias: Any, **where: Any) -> Any:
    return conv_kernel(x, w, bias=bias.reshape(-1), **where)


def _way_back_kernel(g: Any, way_back: Callable[[Any], tuple[Any, Any]]) -> tuple[Any, Any]:
    return way_back(g)


conv_with_bias = Fused("conv_with_bias", _conv_with_bias_kernel)
pooling = Fused("max_pool_and_way_back", max_pool_and_way_back, 2)
unpooling = Fused("max_pool_way_back", _way_back_kernel, 2)


class _Edges:
    """Who computes a value, and who uses it."""

    def __init__(self, graph: Graph) -> None:
        self.made = {v: node for node in graph.nodes for v in node.outputs}
        self.users: dict[Value, list[Node]] = {}
        for node in graph.nodes:
            for value in dict.fromkeys(node.inputs):
                self.users.setdefault(value, []).append(node)
        self.staying = {*graph.outputs, *graph.assigned.values()}

    def only_user(self, value: Value) -> Node | None:
        """The node that uses a value, if there is one and nobody else sees it."""
        users = self.users.get(value, [])
        return users[0] if len(users) == 1 and value not in self.staying else None


# Biases.


def with_biases(graph: Graph) -> Graph:
    """The graph with convolutions that add a bias themselves."""
    convolutions = [n for n in graph.nodes if n.primitive.name == "conv"]
    if not convolutions:
        return graph
    edges = _Edges(graph)
    instead: dict[int, list[Node]] = {}
    for node in convolutions:
        (y,) = node.outputs
        user = edges.only_user(y)
        if user is None or user.primitive.name != "add" or y.dtype is not float32:
            continue
        bias = user.inputs[0] if user.inputs[1] is y else user.inputs[1]
        if not _is_for_channels(bias, y) or user.inputs == (y, y):
            continue
        inputs = [*node.inputs, bias]
        new = Node(conv_with_bias, inputs, node.attrs, user.outputs, node.line)
        instead[id(node)], instead[id(user)] = [], [new]
    return _replaced(graph, instead)


def _is_for_channels(bias: Value, y: Value) -> bool:
    shape = bias.shape
    if is_dynamic((*shape, y.shape[-1])) or not 0 < len(shape) <= len(y.shape):
        return False
    return shape[-1] == y.shape[-1] and all(size == 1 for size in shape[:-1])


def _replaced(graph: Graph, instead: dict[int, list[Node]]) -> Graph:
    if not instead:
        return graph
    return graph.with_nodes([new for n in graph.nodes for new in instead.get(id(n), [n])])


# Pooling.


def with_places(graph: Graph) -> Graph:
    """The graph with poolings that find their maxima once, and `relu` behind them."""
    pools = [n for n in graph.nodes if n.primitive.name == "max_pool"]
    if not pools:
        return graph
    edges = _Edges(graph)
    instead: dict[int, list[Node]] = {}
    for node in pools:
        spreads = _spreads(node, edges)
        instead.update(_behind_pooling(node, spreads, edges) or _once(node, spreads))
    return _replaced(graph, instead)


def _spreads(pool: Node, edges: _Edges) -> list[Node]:
    """The nodes that spread a gradient to where the maxima of a pooling were."""
    (x,), (y,) = pool.inputs, pool.outputs
    return [
        n
        for n in edges.users.get(y, [])
        if n.primitive.name == "max_pool_spread"
        and n.inputs[1] is x
        and n.inputs[2] is y
        and n.inputs[0] is not y
        and n.attrs == pool.attrs
    ]


def _once(pool: Node, spreads: list[Node]) -> dict[int, list[Node]]:
    if not spreads:
        return {}
    first, way_back = _pooling(pool, pool.inputs, relu=False)
    instead = {id(pool): [first]}
    for node in spreads:
        g, to = node.inputs[0], node.outputs[0]
        instead[id(node)] = [_way_back(g, way_back, Value(g.shape, g.dtype), to, node)]
    return instead


def _pooling(pool: Node, inputs: Sequence[Value], relu: bool) -> tuple[Node, Value]:
    (y,) = pool.outputs
    way_back = Value((-1,), y.dtype)
    attrs = {**pool.attrs, "relu": relu}
    return Node(pooling, inputs, attrs, [y, way_back], pool.line), way_back


def _way_back(g: Value, way_back: Value, kept: Value, to: Value, node: Node) -> Node:
    return Node(unpooling, [g, way_back], {}, [kept, to], node.line)


def _behind_pooling(pool: Node, spreads: list[Node], edges: _Edges) -> dict[int, list[Node]] | None:
    """The same for `max_pool(relu(x))`, if nobody else needs `relu(x)`."""
    (r,) = pool.inputs
    relu = edges.made.get(r)
    if relu is None or relu.primitive.name != "relu" or r in edges.staying:
        return None
    if not _sees_something(**pool.attrs):
        return None
    gradients = [edges.only_user(n.outputs[0]) for n in spreads]
    expected = [id(pool), *map(id, spreads), *map(id, gradients)]
    if sorted(expected) != sorted(map(id, edges.users[r])):
        return None
    first, way_back = _pooling(pool, relu.inputs, relu=True)
    instead = {id(relu): [], id(pool): [first]}
    for spread, gradient in zip(spreads, gradients, strict=True):
        if gradient is None or gradient.primitive.name != "relu_gradient":
            return None
        if gradient.inputs != (spread.outputs[0], r):
            return None
        g, to = spread.inputs[0], gradient.outputs[0]
        kept = Value(g.shape, g.dtype)
        instead[id(spread)] = [_way_back(g, way_back, kept, to, spread)]
        instead[id(gradient)] = []
        axes = tuple(range(len(g.shape) - 1))
        for user in edges.users.get(to, []):
            if user.primitive.name == "sum" and user.attrs["axis"] == axes:
                instead[id(user)] = [
                    Node(user.primitive, [kept], user.attrs, user.outputs, user.line)
                ]
    return instead


def _sees_something(window: Any, strides: Any, dilations: Any, padding: Any) -> bool:
    """Whether each window has an element that is not padding, for sure: of none, the largest is minus infinity."""
    if is_dynamic((*window, *dilations)) or is_dynamic(padding) or set(dilations) != {1}:
        return False
    return all(side < k for k, pair in zip(window, padding, strict=True) for side in pair)
