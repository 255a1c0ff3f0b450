"""Finding the one program that all replicas of a strategy run.

Replicas are traced one after another, so a graph has the nodes of each of them, and between these the nodes of what
they have met for (`distribute.lockstep`). If all of them have called the same primitives in the same order, each on
values of its own, the nodes of the first one will do, for every device of a mesh:

- Values that correspond are a *family*: one value of the new graph, which differs from device to device. Inputs are
  families, too: the parts of a batch, the copies of a variable.
- What is outside of the replicas is *common*: each device computes it, and all have the same. A sum of all members of
  a family becomes an `all_reduce`, and their concatenation an `all_gather`. Where anything else looks at a member of a
  family, all devices are sent that one.
- With several processes each has a graph of its own replicas. What is common to these need not be common to all; where
  workers exchange values (`graph.workers`), it becomes a sum over all devices, or a collection.
- What XLA cannot run, and needs nothing that it computes (the next state of a random stream, the next element of a
  dataset), comes before the program, on the host.

Replicas that have not called the same raise `Unlike`, which says where. So nothing is assumed of a function: what is
run here is what running the replicas one by one would have given, up to the order in which numbers are added.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.xla.lower import lowerable
from tapeflow._src.engines.xla.lowerings import ON_HOST
from tapeflow._src.engines.xla.replicas import rows
from tapeflow._src.engines.xla.replicas.alike import (
    First,
    Unlike,
    check_alike,
    equal_arrays,
    of_first,
    place_of,
)
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.passes import optimized
from tapeflow._src.graph.passes.common_subexpressions import key_of
from tapeflow._src.graph.sizes import needs
from tapeflow._src.graph.workers import exchanged_by


class Root(NamedTuple):
    """An input of the program.

    Attributes:
      values: of the graph that was traced: one for each replica, or one for all.
      is_equal: whether the program takes it that the values of all replicas are equal, as the copies of a weight are.
    """

    values: tuple[Value, ...]
    is_equal: bool = False


class Result(NamedTuple):
    """What becomes a value of the graph that was traced.

    Attributes:
      place: that of an output of the program.
      member: the replica whose part of it is meant; None if all replicas have the same.
    """

    place: int
    member: int | None


class Found(NamedTuple):
    """One program for all replicas.

    Attributes:
      graph: of a replica.
      roots: what its inputs are, by them.
      is_family: for each of its outputs whether it differs between replicas.
      results: for each output of the graph that was traced, and each new value of a variable, where it is; or the input
        or constant that it is.
      early: the nodes that come before the program.
    """

    graph: Graph
    roots: dict[Value, Root]
    is_family: list[bool]
    results: list[Result | Value]
    early: list[Node]


def found_in(graph: Graph, count: int) -> Found:
    """The program that the replicas in a graph share. There are `count` of them in this process."""
    return _Matching(graph, count).found()


class _Matching:
    def __init__(self, graph: Graph, count: int) -> None:
        self._graph = graph
        self._count = count
        self._nodes: list[Node] = []
        self._roots: dict[Value, Root] = {}
        self._by_values: dict[tuple[Value, ...], Value] = {}
        self._parts: dict[Value, tuple[Value, int]] = {}  # inputs that are members of families
        self._early, self._inputs = _early_nodes(graph)
        self._alias: dict[Value, Value] = {}
        # What is the same on all devices; the members of families, each with its replica; what differs.
        self._common: dict[Value, Value] = {}
        self._members: dict[Value, tuple[Value, int]] = {}
        self._differing: set[Value] = set()
        self._done: dict[Any, Node] = {}  # the nodes outside of replicas
        self._chosen: dict[tuple[Value, ...], Value] = {}
        self._first: First = {}
        self._copies = {v: copies.values for copies in graph.copies for v in copies.values}
        self._equal = {copies.values: copies.are_equal for copies in graph.copies}
        # Sums of some members of a family, from the first on: how many.
        self._partial: dict[Value, tuple[Value, int, Node]] = {}
        self._totals: dict[Value, Value] = {}  # sums of all members: of which family

    def found(self) -> Found:
        """The program."""
        queues: list[deque[Node]] = [deque() for _ in range(self._count)]
        early = set(map(id, self._early))
        for node in self._graph.nodes:
            if id(node) in early:
                continue
            if node.replica is None:
                _check_empty(queues)
                self._outside(node)
                continue
            queues[node.replica].append(node)
            if all(queues):
                self._matched([queue.popleft() for queue in queues])
        _check_empty(queues)
        return self._finished()

    # Nodes.

    def _matched(self, nodes: Sequence[Node]) -> None:
        """Adds a node that all replicas have."""
        mine, *others = nodes
        inputs = [self._of_all(c) for c in zip(*[node.inputs for node in nodes], strict=False)]
        for other in others:
            check_alike(mine, other, self._first)
        if mine.has_effect:
            raise Unlike(not_lowered(mine))
        self._add(mine, inputs)
        differ = any(self._is_family(v) for v in inputs)
        for i, node in enumerate(nodes):
            for x, y in zip(mine.outputs, node.outputs, strict=True):
                self._first[y] = x
                if differ:
                    self._members[y] = (x, i)
                    self._differing.add(x)
                else:
                    self._common[y] = x

    def _outside(self, node: Node) -> None:
        """Adds a node that is outside of the replicas."""
        if node.primitive.name == "identity":
            (new,), (old,) = node.outputs, node.inputs
            self._alias[new] = self._alias.get(old, old)
            self._first[new] = self._first.get(old, old)
        elif exchanged_by(node) is not None:
            self._exchange(node)
        elif node.has_effect:
            raise Unlike(not_lowered(node))
        elif not self._is_sum(node) and not self._is_gathered(node):
            self._add_common(node)

    def _add_common(self, node: Node) -> None:
        """Adds a node that all devices compute; but once, if the same is done for each copy of a variable."""
        inputs = tuple([self._for_all(v) for v in node.inputs])
        try:
            key = (node.primitive, inputs, key_of(of_first(node.attrs, self._first)))
        except TypeError:
            key = id(node)
        first = self._done.setdefault(key, node)
        if first is node:
            self._add(node, inputs)
        self._common.update(zip(node.outputs, first.outputs, strict=True))
        self._first.update(zip(node.outputs, first.outputs, strict=True))

    def _add(self, node: Node, inputs: Sequence[Value]) -> None:
        new = node.replaced(inputs)
        new.attrs = of_first(node.attrs, self._first)
        self._nodes.append(new)

    def _new_node(
        self, row: rows.Row, inputs: Sequence[Value], attrs: dict[str, Any], like: Value
    ) -> Value:
        found = Value(like.shape, like.dtype)
        self._nodes.append(Node(row, inputs, attrs, (found,)))
        return found

    def _is_sum(self, node: Node) -> bool:
        """Whether a node adds the next member of a family to the sum of those before, as `ReduceOp.SUM` does."""
        if node.primitive.name != "add":
            return False
        a, b = [self._alias.get(v, v) for v in node.inputs]
        family, index = self._member(b) or (None, 0)
        if family is None or index == 0:
            return False
        before = self._member(a) if index == 1 else self._partial.get(a, ())[:2]
        if before != (family, index - 1):
            return False
        (total,) = node.outputs
        if index < self._count - 1:
            self._partial[total] = (family, index, node)
        else:
            self._nodes.append(Node(rows.all_reduce, (family,), {}, (total,), node.line))
            self._common[total] = total
            self._totals[total] = family
        return True

    def _exchange(self, node: Node) -> None:
        """Adds what all workers exchange: sums over all replicas at once, where each brings the sum of its own."""
        exchanged: Any = exchanged_by(node)
        inputs = [self._for_all(v) for v in node.inputs]
        if exchanged.kind == "all_gather":
            row, attrs = rows.all_gather_of_workers, {"axis": exchanged.axis}
            self._nodes.append(Node(row, inputs, attrs, node.outputs, node.line))
        else:
            for v, total in zip(inputs, node.outputs, strict=True):
                family = self._totals.get(v)
                row = rows.all_reduce_of_workers if family is None else rows.all_reduce_of_all
                v = v if family is None else family
                self._nodes.append(Node(row, (v,), {}, (total,), node.line))
        self._common.update((v, v) for v in node.outputs)

    def _is_gathered(self, node: Node) -> bool:
        """Whether a node puts all members of a family together."""
        if node.primitive.name != "concat":
            return False
        family = self._family_of([self._alias.get(v, v) for v in node.inputs])
        if family is None:
            return False
        axis = node.attrs["axis"]
        axis += len(family.shape) if axis < 0 else 0
        self._nodes.append(
            Node(rows.all_gather, (family,), {"axis": axis}, node.outputs, node.line)
        )
        self._common.update((v, v) for v in node.outputs)
        return True

    # Values.

    def _is_family(self, value: Value) -> bool:
        """Whether a value of the new graph differs between devices, as far as is known."""
        root = self._roots.get(value)
        if root is None:
            return value in self._differing
        return len(root.values) > 1 and not self._equal.get(root.values)

    def _member(self, v: Value) -> tuple[Value, int] | None:
        """The family that a value is a member of, and of which replica."""
        if v in self._copies and v not in self._members:
            copies = self._copies[v]
            return self._input(copies), copies.index(v)
        return self._members.get(v) or self._parts.get(v)

    def _family_of(self, column: Sequence[Value]) -> Value | None:
        """The family that values are all members of, in their order."""
        members = [self._member(v) for v in column]
        family = None if members[0] is None else members[0][0]
        wanted = [(family, i) for i in range(self._count)]
        return family if members == wanted else None

    def _for_all(self, v: Value) -> Value:
        """A value outside of the replicas."""
        v = self._alias.get(v, v)
        if v not in self._common:
            self._common[v] = self._made_common(v)
        return self._common[v]

    def _made_common(self, v: Value) -> Value:
        if v in self._partial:
            node = self._partial[v][2]
            self._add(node, [self._for_all(x) for x in node.inputs])
            return v
        if v in self._members:
            family, index = self._members[v]
            return self._new_node(rows.of_replica, (family,), {"index": index}, family)
        if v in self._copies:
            copies = self._copies[v]
            if self._equal[copies] is False and self._count > 1:
                index = {"index": copies.index(v)}
                return self._new_node(rows.of_replica, (self._input(copies),), index, v)
            return self._input(copies, is_equal=True)
        if v not in self._inputs:
            raise Unlike(
                "one replica uses what another has computed, such as the value of a variable that was not made in the "
                "scope of the strategy"
            )
        return self._input((v,))

    def _of_all(self, column: Sequence[Value]) -> Value:
        """A value that each replica has."""
        column = tuple([self._alias.get(v, v) for v in column])
        first = column[0]
        if all(v is first for v in column):
            return self._for_all(first)
        commons = {self._common.get(v) for v in column}
        if len(commons) == 1 and None not in commons:
            return commons.pop()  # type: ignore[return-value]
        family = self._family_of(column) or self._chosen.get(column)
        if family is None:
            family = self._chosen[column] = self._new_family(column)
        return family

    def _new_family(self, column: tuple[Value, ...]) -> Value:
        first, *others = column
        constants = self._graph.constants
        if all(v in constants for v in column):
            if all(equal_arrays(constants[first], constants[v]) for v in others):
                return self._for_all(first)
        elif all(v in self._inputs and v not in constants for v in column):
            return self._input(column)
        _check_same(column)
        made = self._new_node(rows.chosen, [self._for_all(v) for v in column], {}, first)
        self._differing.add(made)
        return made

    def _input(self, values: tuple[Value, ...], is_equal: bool = False) -> Value:
        """An input of the program, or a constant."""
        first, *others = values
        if not others and first in self._graph.constants:
            return first
        found = self._by_values.get(values)
        if found is None:
            _check_same(values)
            self._first.update(dict.fromkeys(others, first))
            # It is the value that it stands for, if that is not an input already.
            found = Value(first.shape, first.dtype) if first in self._roots else first
            self._by_values[values] = found
            self._roots[found] = Root(values, self._equal.get(values) is True)
            if others:
                self._parts.update((v, (found, i)) for i, v in enumerate(values))
        if is_equal:
            self._roots[found] = Root(values, is_equal=True)
        return found

    # The end.

    def _finished(self) -> Found:
        graph = self._graph
        places: dict[Value, int] = {}
        results: list[Result | Value] = []
        for v in graph.outputs:
            v = self._alias.get(v, v)
            if v in self._inputs:
                results.append(v)
                continue
            family, member = self._members.get(v, (None, None))
            value = self._for_all(v) if family is None else family
            results.append(Result(places.setdefault(value, len(places)), member))
        for v, new in graph.assigned.items():
            copies = self._copies.get(v, ())
            member = copies.index(v) if copies else None
            if copies and all(copy in graph.assigned for copy in copies):
                value = self._of_all([graph.assigned[copy] for copy in copies])
            else:
                value = self._for_all(new)
            results.append(Result(places.setdefault(value, len(places)), member))
        made = Graph(graph.name)
        made.nodes = self._nodes
        made.outputs = list(places)
        made.constants = dict(graph.constants)
        made.inputs = [*self._roots, *made.constants]
        made = optimized(made)
        for node in made.nodes:
            if not lowerable(node):
                raise Unlike(not_lowered(node))
        made = made.with_nodes(_together(made.nodes))
        families = [self._is_family(v) for v in places]
        return Found(made, self._roots, families, results, self._early)


def _early_nodes(graph: Graph) -> tuple[list[Node], set[Value]]:
    """The nodes that XLA cannot run and that need nothing of what it computes; and all that is there before it runs."""
    there = set(graph.inputs)
    early = []
    for node in graph.nodes:
        if not lowerable(node) and exchanged_by(node) is None and there.issuperset(needs(node)):
            early.append(node)
            there.update(node.outputs)
    return early, there


def _check_empty(queues: Sequence[Sequence[Node]]) -> None:
    if any(queues):
        raise Unlike("the replicas have called different numbers of ops")


def _check_same(values: Sequence[Value]) -> None:
    first = values[0]
    for v in values[1:]:
        fits = v.dtype is first.dtype and len(v.shape) == len(first.shape)
        if not fits or any(_unlike(a, b) for a, b in zip(first.shape, v.shape, strict=True)):
            raise Unlike(f"the replicas have values of different kinds: {first.spec} and {v.spec}")


def _unlike(a: Any, b: Any) -> bool:
    if is_dynamic(a) or is_dynamic(b):
        return is_dynamic(a) != is_dynamic(b)
    return a != b


def not_lowered(node: Node) -> str:
    """Why a node keeps replicas from sharing a program of XLA's."""
    name = node.primitive.name
    why = ON_HOST.get(name, "it has an effect" if node.has_effect else "it needs the host")
    return f"XLA does not run {name}{place_of(node)}: {why}"


def _together(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, with sums that do not wait for one another in one message."""
    found: list[Node] = []
    waiting: dict[rows.Row, list[Node]] = {}
    made: set[Value] = set()

    def send() -> None:
        for row, alike in waiting.items():
            inputs = [v for node in alike for v in node.inputs]
            outputs = [v for node in alike for v in node.outputs]
            found.append(Node(row, inputs, {}, outputs, alike[0].line))
        waiting.clear()
        made.clear()

    for node in nodes:
        if not made.isdisjoint(needs(node)):
            send()
        if node.primitive in rows.SUMS:
            waiting.setdefault(node.primitive, []).append(node)
            made.update(node.outputs)
        else:
            found.append(node)
    send()
    return found
