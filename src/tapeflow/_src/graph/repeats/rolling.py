"""Repeated parts of a graph as loops.

A model of many equal layers, or a Python loop in a `tf.function`, is written out in its graph, and compilers take long
for it. Here the parts that repeat themselves are found again: the list of nodes is searched for stretches whose tokens
(`tokens`) repeat themselves (`runs`), and where the turns of such a stretch depend on each other in the same way, they
become a loop (`loops`). The turns of a backward pass, which come in the opposite order, are found just so.

Each turn has the same nodes as before in the same order. Nothing is moved: what is between two stretches stays there.

What each turn takes from outside has to be in one array. If an earlier loop has made it, it is; but the weights of
different layers would have to be copied, and their gradients taken apart again, in every call. A loop that copies much
stays as it was written (`pays`).
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Container, Iterable, Sequence
from typing import Any

from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.repeats.loops import Loop, Moving, Turns, loop_of
from tapeflow._src.graph.repeats.runs import FEWEST, runs
from tapeflow._src.graph.repeats.tokens import numbered, size_of
from tapeflow._src.graph.sizes import needs

_LEAST = 24  # nodes that a loop has to save
_MOST_COPIED = 2**15  # bytes in a turn
_COPY = 4  # nodes that a compiler takes as long for as for one array that is copied
_PART = 16  # nodes that are worth a program of their own
_ENOUGH = 1000  # nodes that are compiled soon enough
_TRIES = 16  # stretches that are looked at before it is believed that there is no loop


class Rolling:
    """A list of nodes in which parts that repeat themselves are loops.

    Args:
      nodes: in the order in which they run.
      wanted: what is needed of them in the end.
      watched: the identities of nodes that are watched. Of a node in a body, it is noted if one of its turns was.
      known: values that are known already, and cost nothing to copy.

    Attributes:
      items: nodes, and loops.
      given_up: loops that would copy too much, those that save most first.
      watched: with those of bodies.
    """

    def __init__(
        self,
        nodes: Sequence[Any],
        wanted: Iterable[Value],
        watched: Iterable[int] = (),
        known: Iterable[Value] = (),
    ) -> None:
        self.watched = set(watched)
        self._nodes = nodes
        self._numbers = numbered(nodes)
        self._wanted = set(wanted)
        self._known = set(known)
        self._users: dict[Value, list[int]] = {}
        for i, node in enumerate(nodes):
            for value in needs(_node(node)):
                self._users.setdefault(value, []).append(i)
        self.given_up: list[Loop] = []
        self.items = self._rolled(0, len(nodes), len(nodes))
        self._unroll_what_copies()

    def _rolled(self, start: int, stop: int, longest: int) -> list[Any]:
        """The items for a part of the nodes, with loops that have no more than so many nodes in a turn."""
        found = self._best(start, stop, longest) if stop - start > _LEAST else None
        if found is None:
            return list(self._nodes[start:stop])
        first, last, loop = found
        before, after = self._rolled(start, first, longest), self._rolled(last, stop, longest)
        return [*before, loop, *after]

    def _best(self, start: int, stop: int, longest: int) -> tuple[int, int, Loop] | None:
        """The loop that saves most in a part of the nodes, and where it begins and ends."""
        best: tuple[int, int, int] | None = None
        saved = _LEAST - 1
        found = [run for run in runs(self._numbers[start:stop]) if run.period <= longest]
        for run in found[:_TRIES]:
            if run.saved <= saved:
                break
            period, spare = run.period, run.length % run.period
            # Where a turn begins is not known if there are nodes left over. Both ends are tried.
            for shift in sorted({0, spare}):
                begin = start + run.start + shift
                count = (run.length - shift) // period
                turns = Turns(self._nodes[begin : begin + count * period], period)
                if turns.needs_own_sizes():
                    continue
                a, b = turns.longest()
                if b - a >= FEWEST and (b - a - 1) * period > saved:
                    best = begin + a * period, begin + b * period, period
                    saved = (b - a - 1) * period
        return None if best is None else self._made(*best)

    def _made(self, first: int, last: int, period: int) -> tuple[int, int, Loop]:
        nodes: list[Node] = list(self._nodes[first:last])
        needed = {
            v
            for node in nodes
            for v in node.outputs
            if v in self._wanted or any(not first <= i < last for i in self._users.get(v, ()))
        }
        loop, body = loop_of(nodes, period, needed)
        for at, node in enumerate(body):
            if any(id(n) in self.watched for n in nodes[at::period]):
                self.watched.add(id(node))
        inner = [c.following for c in loop.carried] + [k.inside for k in loop.kept]
        nested = Rolling(loop.body, inner, self.watched, self._known)
        self.watched |= nested.watched
        return first, last, loop._replace(body=nested.items)

    def _unroll_what_copies(self) -> None:
        """Puts other items in the place of loops that would copy too much: loops with less in a turn, or nodes."""
        places = {id(node): i for i, node in enumerate(self._nodes)}
        while True:
            rows, alone = self._known | _rows(self.items), self._wanted | _taken_alone(self.items)
            kept: list[Any] = []
            for item in self.items:
                if type(item) is Loop and not pays(item, rows, alone):
                    self.given_up.append(item)
                    first = places[id(item.nodes[0])]
                    shorter = len(item.nodes) // item.turns - 1
                    kept += self._rolled(first, first + len(item.nodes), shorter)
                else:
                    kept.append(item)
            if len(kept) == len(self.items):
                return
            self.items = kept  # and what they have kept is not in one array any more


def _node(item: Any) -> Node:
    return item.node if type(item) is Moving else item


def _rows(items: Sequence[Any]) -> set[Value]:
    """The values that are in one array with others: what loops have made, and what was taken from one array."""
    found: set[Value] = set()
    for item in items:
        if type(item) is Loop:
            found.update(v for kept in item.kept for v in kept.outside)
        elif type(item) is Node and item.primitive.name == "unstack":
            found.update(item.outputs)
    return found


def _taken_alone(items: Sequence[Any]) -> set[Value]:
    """The values that are used by nodes, and not by loops in turn."""
    found: set[Value] = set()
    for item in items:
        if type(item) is Loop:
            found.update(item.fixed)
            found.update(c.start for c in item.carried if c.start is not None)
        elif type(item) is Moving or item.primitive.name != "stack":
            found.update(_node(item).inputs)
    return found


def pays(loop: Loop, rows: Container[Value], alone: Container[Value]) -> bool:
    """Whether a loop copies little from and to arrays of their own.

    Args:
      loop: the loop.
      rows: values that are in one array with others.
      alone: values that are needed by themselves.
    """
    copies = [(each.inside, sum(v not in rows for v in each.outside)) for each in loop.stacked]
    copies += [(each.inside, sum(v in alone for v in each.outside)) for each in loop.kept]
    size = sum(size_of(inside) * times for inside, times in copies)
    saved = len(loop.nodes) * (loop.turns - 1) // loop.turns
    return size <= _MOST_COPIED * loop.turns and sum(times for _, times in copies) * _COPY <= saved


def count(items: Sequence[Any]) -> int:
    """The number of nodes that are compiled: those of a body once."""
    return sum(count(item.body) if type(item) is Loop else 1 for item in items)


def parts(
    nodes: Sequence[Node], wanted: Iterable[Value], known: Iterable[Value]
) -> list[list[Node]]:
    """Nodes in parts, many of which are alike, so that one program serves them: turns of loops that copy too much.

    Args:
      nodes: in the order in which they run.
      wanted: what is needed of them in the end.
      known: values that are known already.
    """
    part_of = _parts_of(Rolling(nodes, wanted, known=known))
    found = itertools.groupby(nodes, key=lambda node: part_of.get(id(node)))
    return [list(part) for _, part in found]


def _parts_of(rolling: Rolling) -> dict[int, tuple[int, int]]:
    """For nodes in loops that were given up, by their identities: which loop, and which part of it."""
    found: dict[int, tuple[int, int]] = {}
    if count(rolling.items) <= _ENOUGH:
        return found  # one program is better than several
    for number, loop in enumerate(rolling.given_up):
        if any(id(node) in found for node in loop.nodes):
            continue  # another loop was given up here, which saves more
        size = len(loop.nodes) // loop.turns
        together = size * -(-_PART // size)
        found.update((id(node), (number, i // together)) for i, node in enumerate(loop.nodes))
    return found


_lengths: weakref.WeakKeyDictionary[Graph, int] = weakref.WeakKeyDictionary()


def length(graph: Graph) -> int:
    """About how many nodes of a graph are compiled: of loops one turn, and of parts that are alike one."""
    found = _lengths.get(graph)
    if found is None:
        wanted = [*graph.outputs, *graph.assigned.values()]
        rolling = Rolling(graph.nodes, wanted, known=graph.constants)
        part_of = _parts_of(rolling)
        found = 0
        for item in rolling.items:
            first = item.nodes[0] if type(item) is Loop else item
            _, part = part_of.get(id(first), (0, 0))
            found += 0 if part else count([item])
        _lengths[graph] = found
    return found
