"""Finding parts of a graph that work on each row of a large array alone.

A layer norm needs the mean of a row before it can subtract it, and XLA reads the row anew for each such step; in its
gradient, and for the sums over all rows that become the gradients of its parameters, once more. What is found here can
be one kernel (`rows`), which holds a row in registers while it does all of that. It is not looked for by name: any
nodes will do that are elementwise, or reduce rows, or add all rows up, together with what is around them (a bias, a
residual connection, casts).

A *region* is one set of such nodes that can run at once: no path leads out of it and back again. What a region needs of
an earlier one is computed again in it where that reads no more memory than the result would: of a layer norm's forward
pass, the backward pass reads the input and two numbers for each row.
"""

from __future__ import annotations

import enum
import heapq
import math
from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.xla.kernels.able import is_worth_it
from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.graph.sizes import needs

Shape = tuple[int, ...]

_ELEMENTWISE = frozenset(
    (
        *(
            "abs",
            "add",
            "add_n",
            "cast",
            "divide",
            "exp",
            "gelu_tanh",
            "gelu_tanh_gradient",
            "identity",
            "log",
        ),
        *(
            "maximum",
            "minimum",
            "multiply",
            "negative",
            "reciprocal",
            "relu",
            "relu_gradient",
            "rsqrt",
            "sigmoid",
        ),
        *("silu", "sqrt", "square", "stop_gradient", "subtract", "tanh"),
    )
)
_REDUCING = frozenset(("mean", "sum", "variance_about_mean"))
# XLA's loops compute their tanh with divisions, which take longer than memory does.
_GELU = frozenset(("gelu_tanh", "gelu_tanh_gradient"))
_ROWS = 16  # the number of rows is a multiple of it
_WIDEST = 8192  # elements of a row that fit in the registers of a few warps
_MOST_NODES = 96
_MOST_ARRAYS = 12  # large ones that a kernel reads and writes


class Kind(enum.Enum):
    """What a value is to the rows of a region."""

    ALL = "all elements"
    ROW = "one number for each row"
    COLUMN = "one number for each column"
    NUMBER = "one number"


class Region(NamedTuple):
    """Nodes that can be one kernel.

    Attributes:
      shape: of the arrays whose last axis are the rows.
      nodes: in an order in which they can run.
      inputs: what they take, and what it is to the rows.
      outputs: what is needed of them. What is one number for each column is a sum over the rows.
    """

    shape: Shape
    nodes: Sequence[Node]
    inputs: dict[Value, Kind]
    outputs: dict[Value, Kind]


def regions_among(
    nodes: Sequence[Any], wanted: Iterable[Value], excluded: Container[int]
) -> Sequence[Any]:
    """The nodes in an order in which they can run, with regions in the place of what can be one kernel.

    Args:
      nodes: in an order in which they can run. If there are loops among them, they are let alone.
      wanted: what is needed of them in the end.
      excluded: the identities of nodes that must stay as they are.
    """
    if any(type(node) is not Node for node in nodes):
        return nodes
    search = _Search(nodes, excluded)
    regions, inside = search.regions(set(wanted))
    return _in_order(nodes, regions, inside) if regions else list(nodes)


def _is_plain(node: Node) -> bool:
    values = (*node.inputs, *node.outputs)
    return (
        node.primitive.outputs == 1
        and not node.has_effect
        and all(v.dtype.name in ("float32", "bfloat16", "float16") for v in values)
        and not any(is_dynamic(v.shape) for v in values)
        and not is_dynamic(node.attrs)
    )


def _suits(shape: Shape) -> bool:
    """Whether arrays of this shape may be the rows of a region."""
    if len(shape) < 2 or shape[-1] < 2 or shape[:-1] == shape[-1:]:
        return False
    count = math.prod(shape[:-1])
    return count > 0 and count % _ROWS == 0 and is_worth_it(count * shape[-1])


def reduces_rows(node: Node, shape: Shape) -> bool:
    name = node.primitive.name
    return name in _REDUCING and node.attrs["axis"] == (len(shape) - 1,)


def adds_rows(node: Node, shape: Shape) -> bool:
    every = tuple(range(len(shape) - 1))
    return (
        node.primitive.name == "sum"
        and node.attrs["axis"] == every
        and not node.attrs["keepdims"]
        and node.inputs[0].shape == shape
    )


def _begins(node: Node, shape: Shape) -> bool:
    """Whether a node that takes an array of this shape may be why there is a region."""
    return reduces_rows(node, shape) or node.primitive.name in _GELU


def kind_of(value: Value, shape: Shape) -> Kind | None:
    """What a value is to rows of this shape."""
    own = value.shape
    if own == shape:
        return Kind.ALL
    if own in ((*shape[:-1], 1), shape[:-1]):
        return Kind.ROW
    if math.prod(own) == 1 and len(own) <= len(shape):
        return Kind.NUMBER
    if own and own[-1] == shape[-1] == math.prod(own) and len(own) <= len(shape):
        return Kind.COLUMN
    return None


def _result(node: Node, shape: Shape) -> Kind | None:
    """What the result of a node is to rows of this shape, if the node works on each of them alone."""
    out = node.outputs[0]
    if adds_rows(node, shape):
        return Kind.COLUMN
    kind = kind_of(out, shape)
    if kind not in (Kind.ALL, Kind.ROW):
        return None
    name, given = node.primitive.name, [kind_of(v, shape) for v in node.inputs]
    if reduces_rows(node, shape):
        if name == "variance_about_mean" and node.inputs[1].shape != (*shape[:-1], 1):
            return None
        fits = kind is Kind.ROW and given in ([Kind.ALL], [Kind.ALL, Kind.ROW])
        return kind if fits else None
    if name == "reshape":
        return kind if given == [Kind.ROW] and kind is Kind.ROW else None
    if name not in _ELEMENTWISE:
        return None
    for v, its in zip(node.inputs, given, strict=True):
        if its is None or (
            its is Kind.ROW and v.shape != (*out.shape[:-1], 1) and kind is Kind.ALL
        ):
            return None
        if kind is Kind.ROW and not (v.shape == out.shape or its is Kind.NUMBER):
            return None
    # One number for each row and one for each column together are all elements.
    return kind if kind in given or {*given} >= {Kind.ROW, Kind.COLUMN} else None


class _Search:
    """The search for regions among nodes."""

    def __init__(self, nodes: Sequence[Node], excluded: Container[int]) -> None:
        self._nodes = nodes
        plain = [n for n in nodes if _is_plain(n) and id(n) not in excluded]
        shapes = {
            shape
            for n in plain
            if (shape := n.inputs[0].shape if n.inputs else ()) and _begins(n, shape)
        }
        self._shapes = [s for s in shapes if _suits(s)]
        self._places = {id(node): i for i, node in enumerate(nodes)}
        # Of each value that a node makes of rows: the node, their shape, what it is to them.
        self.made: dict[Value, tuple[Node, Shape, Kind]] = {}
        for node in plain if self._shapes else ():
            # One number for each row may belong to arrays of several shapes: to that of what it was computed from.
            own = [self.made[v][1] for v in node.inputs if v in self.made]
            for shape in dict.fromkeys([*own, *self._shapes]):
                kind = _result(node, shape)
                if kind is not None:
                    self.made[node.outputs[0]] = (node, shape, kind)
                    break
        # What a value can be computed from again, reading no more than itself takes, and numbers of rows and columns;
        # None if these are enough.
        self._roots: dict[Value, Value | None] = {}
        for value, (node, shape, kind) in self.made.items():
            if kind is Kind.COLUMN or reduces_rows(node, shape):
                continue
            roots = {self._roots.get(v, v) for v in node.inputs if kind_of(v, shape) is kind}
            root = next(iter(roots - {None}), None)
            if len(roots - {None}) < 2 and (root is None or root.dtype.size <= value.dtype.size):
                self._roots[value] = root

    def regions(self, wanted: set[Value]) -> tuple[list[Region], set[int]]:
        """The regions that are worth while, in no order, and the identities of nodes that nobody else has to run."""
        if not self._shapes:
            return [], set()
        parts = [part for part in _Parts(self._nodes, self.made).found if self._is_worth_it(part)]
        whole = [self._with_what_is_computed_again(part) for part in parts]
        inside = {id(node) for part in parts for node in part}
        needed = set(wanted)
        needed.update(v for node in self._nodes if id(node) not in inside for v in needs(node))
        for part in whole:
            own = {node.outputs[0] for node in part}
            needed.update(v for node in part for v in node.inputs if v not in own)
        regions = []
        for part, again in zip(parts, whole, strict=True):
            own = [node.outputs[0] for node in part]
            outputs = {v: self.made[v][2] for v in own if v in needed}
            if outputs:
                regions.append(self._region(again, outputs))
        return regions, inside

    def _is_worth_it(self, part: Sequence[Node]) -> bool:
        """Whether XLA would read rows again, having reduced them, or adds up what it computes of reduced rows."""
        kinds = {n.outputs[0]: self.made[n.outputs[0]][2] for n in part}
        shape = self.made[part[0].outputs[0]][1]
        if shape[-1] > _WIDEST and any(reduces_rows(n, shape) for n in part):
            return False
        large = [n for n in part if kinds[n.outputs[0]] is Kind.ALL]
        if any(n.primitive.name in _GELU for n in large):
            return True
        rows = {v for n in large for v in n.inputs if kind_of(v, shape) is Kind.ROW}
        return bool(rows) and (Kind.COLUMN in kinds.values() or any(v in kinds for v in rows))

    def _with_what_is_computed_again(self, part: Sequence[Node]) -> list[Node]:
        own = {node.outputs[0] for node in part}
        again: dict[Value, Node] = {}
        left = [v for node in part for v in node.inputs if v not in own]
        while left:
            value = left.pop()
            if value in own or value in again or value not in self._roots:
                continue
            node = self.made[value][0]
            again[value] = node
            left += node.inputs
        return sorted([*again.values(), *part], key=lambda node: self._places[id(node)])

    def _region(self, nodes: Sequence[Node], outputs: dict[Value, Kind]) -> Region:
        alive, used = set(outputs), []
        for node in reversed(nodes):
            if node.outputs[0] in alive:
                used.append(node)
                alive.update(node.inputs)
        shape = self.made[used[0].outputs[0]][1]
        own = {node.outputs[0] for node in used}
        inputs = dict.fromkeys(v for node in reversed(used) for v in node.inputs if v not in own)
        kinds = {v: kind for v in inputs if (kind := kind_of(v, shape)) is not None}
        return Region(shape, used[::-1], kinds, outputs)


class _Parts:
    """Nodes put together to sets that can run at once.

    A set of nodes can if nothing outside of it depends on some of them while others depend on that. Sets are numbered,
    and sets of numbers are the bits of integers.
    """

    def __init__(self, nodes: Sequence[Node], made: dict[Value, tuple[Node, Shape, Kind]]) -> None:
        self.found: list[list[Node]] = []
        self._made = made
        self._shapes: list[Shape] = []
        self._after: list[int] = []  # for each set, those that must run before it
        self._home: dict[Value, int] = {}  # the set that makes a value
        self._behind: dict[Value, int] = {}  # the sets that a value of no set depends on
        for node in nodes:
            if node.outputs and node.outputs[0] in made and made[node.outputs[0]][0] is node:
                self._put(node)
            else:
                behind = 0
                for v in needs(node):
                    behind |= self._sets_behind(v)
                if behind:
                    self._behind.update((v, behind) for v in node.outputs)

    def _sets_behind(self, value: Value) -> int:
        home = self._home.get(value)
        return self._behind.get(value, 0) if home is None else 1 << home

    def _put(self, node: Node) -> None:
        """Adds a node to the latest set that has made something of what it takes, if it may, or begins one."""
        value = node.outputs[0]
        shape = self._made[value][1]
        homes = {self._home[v] for v in node.inputs if v in self._home}
        for home in sorted(homes, reverse=True):
            if self._shapes[home] == shape and self._may_join(node, home):
                break
        else:
            home = len(self.found)
            self.found.append([])
            self._shapes.append(shape)
            self._after.append(0)
        self.found[home].append(node)
        self._home[value] = home
        for v in node.inputs:
            if self._home.get(v) != home:
                self._after[home] |= self._sets_behind(v)

    def _may_join(self, node: Node, home: int) -> bool:
        before = 0
        for v in node.inputs:
            if self._home.get(v) != home:
                before |= self._sets_behind(v)
            elif self._made[v][2] is Kind.COLUMN:
                return False  # it is there when all rows have been read
        part = self.found[home]
        large = {v for n in part for v in (*n.inputs, *n.outputs) if v.shape == self._shapes[home]}
        own = {n.outputs[0] for n in part}
        if len(part) >= _MOST_NODES or len(large - own) >= _MOST_ARRAYS:
            return False
        return not self._all_behind(before) >> home & 1

    def _all_behind(self, sets: int) -> int:
        """These sets, and all that must run before them."""
        seen = 0
        while left := sets & ~seen:
            last = left.bit_length() - 1
            seen |= 1 << last
            sets |= self._after[last]
        return seen


def _in_order(
    nodes: Sequence[Node], regions: Sequence[Region], inside: Container[int]
) -> list[Node | Region]:
    """Regions, and the nodes that are in none, each after what it needs, and else as they were."""
    places = {id(node): i for i, node in enumerate(nodes)}
    items: list[tuple[int, Node | Region]] = [
        (places[id(region.nodes[-1])], region) for region in regions
    ]
    items += [(i, node) for i, node in enumerate(nodes) if id(node) not in inside]
    items.sort(key=lambda item: item[0])
    maker = {v: i for i, (_, item) in enumerate(items) for v in item.outputs}
    users: list[list[int]] = [[] for _ in items]
    waits = [0] * len(items)
    for i, (_, item) in enumerate(items):
        taken = item.inputs if isinstance(item, Region) else needs(item)
        for place in {maker[v] for v in taken if v in maker}:
            users[place].append(i)
            waits[i] += 1
    ready = [i for i, count in enumerate(waits) if not count]
    order: list[Node | Region] = []
    while ready:
        i = heapq.heappop(ready)
        order.append(items[i][1])
        for user in users[i]:
            waits[user] -= 1
            if not waits[user]:
                heapq.heappush(ready, user)
    if len(order) != len(items):
        raise AssertionError("regions of a graph depend on one another in a circle")
    return order
