"""A stretch of nodes that repeats itself as a loop: what a turn takes, hands on, and gives.

Each input of a node in the body is, in every turn, one of these:

- an output of the same turn,
- *carried*: what an earlier turn has made, and in the first turns something from before the loop,
- *fixed*: the same value from before the loop,
- *stacked*: another value from before the loop in each turn, such as the weights of a layer.

Windows (`x[:, t]`) may start elsewhere in each turn. What is needed later of all turns is *kept*; what is needed of the
last turn only is carried, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.graph.repeats.tokens import window
from tapeflow._src.graph.sizes import needs
from tapeflow._src.primitives.indexing.spans import Span

_FARTHEST = 2  # turns from which a value may be carried

# What an input is: ("here", node, output) in the same turn, ("before", turns, node, output), or ("outside",).
Link = tuple[Any, ...]
_OUTSIDE: Link = ("outside",)


class Moving(NamedTuple):
    """A node of a body whose window starts elsewhere in each turn.

    Attributes:
      node: the node, as it is in the first turn.
      spans: what it takes there.
      starts: for each turn, where the window starts in each dimension.
    """

    node: Node
    spans: Sequence[Span]
    starts: tuple[tuple[int, ...], ...]


class Carried(NamedTuple):
    """A value that is handed from turn to turn.

    Attributes:
      inside: what it is in a turn.
      following: what it is in the next.
      start: what it is in the first; None if nobody looks at it.
      result: the value from outside that it is in the end, if it is needed.
    """

    inside: Value
    following: Value
    start: Value | None
    result: Value | None


class Stacked(NamedTuple):
    """A value that is something else in each turn, and what it is in each."""

    inside: Value
    outside: tuple[Value, ...]


class Loop(NamedTuple):
    """Nodes that come again and again, as one body.

    Attributes:
      body: nodes, some of which move, and loops.
      turns: their number.
      fixed: what all turns take.
      carried: what is handed from turn to turn.
      stacked: what is taken in turn.
      kept: what is needed of all turns.
      nodes: of all turns, as they were.
    """

    body: list[Any]
    turns: int
    fixed: list[Value]
    carried: list[Carried]
    stacked: list[Stacked]
    kept: list[Stacked]
    nodes: list[Node]


class Turns:
    """A stretch of nodes as turns of so many nodes each, and how they depend on each other.

    Args:
      nodes: all turns, one after the other. Those at one place of a turn have one token.
      period: the number of nodes of a turn.
    """

    def __init__(self, nodes: Sequence[Node], period: int) -> None:
        self.nodes = nodes
        self.period = period
        self.count = len(nodes) // period
        self._made: dict[Value, tuple[int, int, int]] = {}
        for i, node in enumerate(nodes):
            turn, at = divmod(i, period)
            for o, value in enumerate(node.outputs):
                self._made[value] = turn, at, o
        self._links = [self._links_of(turn) for turn in range(self.count)]

    def turn(self, number: int) -> Sequence[Node]:
        """The nodes of a turn."""
        return self.nodes[number * self.period : (number + 1) * self.period]

    def _links_of(self, turn: int) -> list[Link]:
        found: list[Link] = []
        for node in self.turn(turn):
            for value in node.inputs:
                made = self._made.get(value)
                if made is None:
                    found.append(_OUTSIDE)
                elif made[0] == turn:
                    found.append(("here", *made[1:]))
                else:
                    found.append(("before", turn - made[0], *made[1:]))
        return found

    def longest(self) -> tuple[int, int]:
        """The longest row of turns that make a loop: the first of them, and the one after the last."""
        best, first = (0, 0), 0
        while first < self.count - (best[1] - best[0]):
            stop = self._stop(first)
            if stop - first > best[1] - best[0]:
                best = first, stop
            # A turn may be like the next ones, and they unlike those after them, because of what was before it.
            first = max(first + 1, stop - 1 - _FARTHEST)
        return best

    def _stop(self, first: int) -> int:
        pattern: list[Link] | None = (
            None  # the links of turns that no longer reach back to before the first
        )
        own = self._seen_from(first, first)
        stop = first + 1
        while stop < self.count:
            links = self._seen_from(first, stop)
            if links is None or not _agree(own, links):
                break
            if stop - first >= _FARTHEST:
                if pattern is None:
                    pattern = links
                elif links != pattern:
                    break
            stop += 1
        if pattern is not None:
            # The first turns get from outside what later ones get from the turns before.
            for early in range(first, min(first + _FARTHEST, stop)):
                if not self._begins(first, early, pattern):
                    return early + 1
        return stop

    def _seen_from(self, first: int, turn: int) -> list[Link] | None:
        """The links of a turn, if the loop begins with `first`; None if it reaches back too far to be carried."""
        links: list[Link] = []
        for link in self._links[turn]:
            if link[0] == "before":
                if link[1] > turn - first:
                    link = _OUTSIDE
                elif link[1] > _FARTHEST:
                    return None
            links.append(link)
        return links

    def _begins(self, first: int, turn: int, pattern: list[Link]) -> bool:
        links = self._seen_from(first, turn) or []
        return all(
            mine == other or (mine is _OUTSIDE and other[0] == "before" and other[1] > turn - first)
            for mine, other in zip(links, pattern, strict=True)
        )

    def needs_own_sizes(self) -> bool:
        """Whether sizes in attributes come from values that are made here: then they are not those of other turns."""
        return any(v in self._made for node in self.nodes for v in needs(node)[len(node.inputs) :])


def _agree(first: list[Link] | None, links: list[Link]) -> bool:
    """Whether what comes from the same turn does so in the first turn as well."""
    return first is not None and all(
        (mine[0] == "here") == (other[0] == "here") and (mine[0] != "here" or mine == other)
        for mine, other in zip(first, links, strict=True)
    )


def loop_of(nodes: Sequence[Node], period: int, needed: set[Value]) -> tuple[Loop, list[Node]]:
    """Turns that agree (see `Turns.longest`) as a loop, and the nodes of its body.

    Args:
      nodes: all turns, one after the other.
      period: the number of nodes of a turn.
      needed: what is used of them later.
    """
    return _Making(nodes, period, needed).loop()


class _Making:
    """A loop while it is made."""

    def __init__(self, nodes: Sequence[Node], period: int, needed: set[Value]) -> None:
        self.nodes = list(nodes)
        self.count = len(nodes) // period
        self.columns = [nodes[at::period] for at in range(period)]
        self.needed = needed
        self.made = {
            v: (i // period, i % period, o)
            for i, node in enumerate(nodes)
            for o, v in enumerate(node.outputs)
        }
        self.outputs = [[Value(v.shape, v.dtype) for v in c[0].outputs] for c in self.columns]
        self.fixed: dict[Value, None] = {}
        self.stacked: dict[tuple[Value, ...], Stacked] = {}
        self.carried: dict[Any, Carried] = {}

    def loop(self) -> tuple[Loop, list[Node]]:
        """The loop, and the nodes of its body."""
        body: list[Any] = []
        plain: list[Node] = []
        for at, column in enumerate(self.columns):
            inputs = [self._inside(vs) for vs in zip(*[n.inputs for n in column], strict=True)]
            first = column[0]
            node = Node(first.primitive, inputs, first.attrs, self.outputs[at], first.line)
            self.fixed.update(dict.fromkeys(needs(first)[len(inputs) :]))
            plain.append(node)
            body.append(_moving(node, column))
        kept = self._results()
        loop = Loop(
            body,
            self.count,
            list(self.fixed),
            list(self.carried.values()),
            list(self.stacked.values()),
            kept,
            self.nodes,
        )
        return loop, plain

    def _inside(self, values: tuple[Value, ...]) -> Value:
        """What an input is inside of the loop, of which these are the values in the turns."""
        last = self.made.get(values[-1])
        if last is None:
            if all(v is values[0] for v in values):
                self.fixed[values[0]] = None
                return values[0]
            if values not in self.stacked:
                inside = Value(values[0].shape, values[0].dtype)
                self.stacked[values] = Stacked(inside, values)
            return self.stacked[values].inside
        turn, at, o = last
        source = self.outputs[at][o]
        far = self.count - 1 - turn
        for back in range(1, far + 1):  # a turn ago, two turns ago, ...
            key = at, o, back, values[:far]
            if key not in self.carried:
                inside = Value(source.shape, source.dtype)
                self.carried[key] = Carried(inside, source, values[far - back], None)
            source = self.carried[key].inside
        return source

    def _results(self) -> list[Stacked]:
        """What is needed of all turns. What is carried on besides is noted with it."""
        kept: list[Stacked] = []
        for at, column in enumerate(self.columns):
            for o, inside in enumerate(self.outputs[at]):
                values = tuple([node.outputs[o] for node in column])
                used = [v for v in values if v in self.needed]
                if not used:
                    continue
                if used == [values[-1]] and not is_dynamic(inside.shape):
                    self._hand_out(inside, values[-1])
                else:
                    kept.append(Stacked(inside, values))
        return kept

    def _hand_out(self, inside: Value, result: Value) -> None:
        for key, carried in self.carried.items():
            if carried.following is inside:
                self.carried[key] = carried._replace(result=result)
                return
        own = Value(inside.shape, inside.dtype)
        self.carried[inside] = Carried(own, inside, None, result)


def _moving(node: Node, column: Sequence[Node]) -> Any:
    """The node, or one that moves, if those of the turns have windows that start elsewhere."""
    found = window(node)
    if found is None:
        return node
    starts = tuple([tuple([span.start for span in window(n) or ()]) for n in column])
    return node if len(set(starts)) == 1 else Moving(node, found, starts)
