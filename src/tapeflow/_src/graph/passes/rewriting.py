"""What passes have in common: a walk through a graph that leaves nodes out and puts other values in their place.

A pass is a *step*: a function that is given one node after the other and says what to put in its place, or None.

    a `Value`   that is equal to its output
    a `Node`    that computes the same outputs
    an array    if the output is known now
    a list      of values or arrays, one for each of several outputs

The nodes come in the order in which they run, with the values that took the place of their inputs. A step looks only at
what comes before a node, so all steps can be made in one walk, and a second walk would find nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow._src.core.sizes.dims import Atom, Compound, Dim, is_dynamic, same_size
from tapeflow._src.core.sizes.extremes import evaluated
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.sizes import atoms_in, mapped, origin

Step = Callable[[Node], Any]
_SMALL = 1024


def rewritten(graph: Graph, *makers: Callable[[Rewriting], Step]) -> Graph:
    """The graph after the steps that these functions make. Nodes with effects stay as they are."""
    rewriting = Rewriting(graph)
    steps = [make(rewriting) for make in makers]
    for node in rewriting:
        old = node
        if not node.has_effect:
            for step in steps:
                new = step(node)
                if new is None:
                    continue
                if not isinstance(new, Node):
                    rewriting.leave_out(node, new if isinstance(new, list) else [new])
                    break
                node = new
            else:
                rewriting.keep(node, changed=node is not old)
        else:
            rewriting.keep(node)
    return rewriting.result()


class Rewriting:
    """A walk through a graph from its first node to its last, and the new graph as far as it is made.

    Attributes:
      constants: the constants of the new graph.
      producers: for each value the node that computes it.
    """

    def __init__(self, graph: Graph) -> None:
        self.constants = dict(graph.constants)
        self.producers: dict[Value, Node] = {}
        self._graph = graph
        self._nodes: list[Node] = []
        self._instead: dict[Value, Value] = {}
        self._renamed: dict[Value, Value] = {}  # new names of values whose sizes have new names
        self._changed = False
        self._sized: bool | None = None
        self._atoms: dict[tuple[Value, int | None, int], Any] = {}
        self._equal: dict[Any, Value] = {}  # small constants by what they are
        for value, array in self.constants.items():
            self.first_equal(value, array)

    def __iter__(self) -> Iterator[Node]:
        for node in self._graph.nodes:
            yield self._updated(node) if self._instead else node

    def keep(self, node: Node, changed: bool = False) -> None:
        """Makes a node part of the new graph."""
        self._changed |= changed
        self._nodes.append(node)
        for value in node.outputs:
            self.producers[value] = node

    def leave_out(self, node: Node, found: list[Any]) -> None:
        """Puts values or arrays in the place of the outputs of a node."""
        for value, new in zip(node.outputs, found, strict=True):
            if isinstance(new, Value):
                self.replace(value, new)
            else:
                self.know(value, new)

    def replace(self, old: Value, new: Value) -> None:
        """Puts a value in the place of another wherever that is used."""
        self._changed = True
        self._instead[old] = new
        first = self._renamed.get(old)
        if first is not None:
            self._instead[first] = new

    def know(self, value: Value, array: Any) -> Value:
        """Makes a value a constant, or puts an equal one in its place. Gives the constant."""
        first = self.first_equal(value, array)
        if first is not value:
            self.replace(value, first)
        else:
            self._changed = True
            self.constants[value] = array
        return first

    def first_equal(self, value: Value, array: Any) -> Value:
        """The first constant that is equal to this one; itself if it is the first, or large."""
        if not isinstance(array, (np.ndarray, np.generic)) or array.dtype.kind == "O":
            return value
        if array.nbytes > _SMALL:
            return value
        return self._equal.setdefault((array.dtype, array.shape, array.tobytes()), value)

    def result(self) -> Graph:
        """The new graph, or the old one if nothing has changed."""
        old, instead = self._graph, self._instead
        if not self._changed:
            return old
        graph = old.with_nodes(self._nodes, [instead.get(v, v) for v in old.outputs])
        graph.assigned = {v: instead.get(new, new) for v, new in old.assigned.items()}
        graph.inputs += [v for v in self.constants if v not in old.constants]
        graph.constants = self.constants
        return graph

    # Nodes whose inputs, or the origins of whose sizes, have been replaced.

    def _updated(self, node: Node) -> Node:
        instead = self._instead
        for value in node.inputs:
            if value in instead:
                node = node.replaced([instead.get(v, v) for v in node.inputs])
                break
        if self._sized is None:
            self._sized = any(map(_is_sized, self._graph.nodes))
        return self._resized(node) if self._sized else node

    def _resized(self, node: Node) -> Node:
        shapes = [v.shape for v in node.outputs]
        if not any(self._is_moved(a) for a in atoms_in((node.attrs, shapes))):
            return node
        outputs = []
        for value in node.outputs:
            new = value
            if any(map(self._is_moved, atoms_in(value.shape))):
                new = Value(mapped(value.shape, self._size), value.dtype)
                self.replace(value, new)
                self._renamed[new] = value
            outputs.append(new)
        attrs = mapped(node.attrs, self._size)
        return Node(node.primitive, node.inputs, attrs, outputs, node.line)

    def _is_moved(self, atom: Atom) -> bool:
        return origin(atom) in self._instead

    def _size(self, dim: Dim) -> Any:
        """A size in terms of the values that are there now."""
        return evaluated(dim, self._of_atom)

    def _of_atom(self, atom: Atom) -> Any:
        if not self._is_moved(atom):
            return Dim.of(atom)
        _, axis, position = atom.origin
        value = self._instead[origin(atom)]
        key = (value, axis, position)
        if key not in self._atoms:
            self._atoms[key] = _own_size(value, axis) or Dim.of(
                Atom(atom.name, (_Place(value), axis, position), atom.hint, atom.made_up)
            )
        return self._atoms[key]


class _Place:
    """Where a size comes from, in the words of `Atom.origin`: something that has a value."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


def _own_size(value: Value, axis: int | None) -> Any:
    """The name that a value itself has given to its unknown size, or None."""
    size = None if axis is None else value.shape[axis]
    atom = size.atom if type(size) is Dim else None
    if atom is None or isinstance(atom, Compound):
        return None
    return size if atom.origin[1] == axis and origin(atom) is value else None


def _is_sized(node: Node) -> bool:
    return is_dynamic(node.attrs) or any(is_dynamic(v.shape) for v in node.outputs)


def same_shape(a: Any, b: Any) -> bool:
    """Whether two shapes are one for sure. Unknown sizes are compared without asking, which would leave a guard."""
    if a is b:
        return True
    return type(a) is type(b) is tuple and len(a) == len(b) and all(map(same_size, a, b))


def is_static(value: Value) -> bool:
    """Whether it is an array whose sizes are all known."""
    return type(value.shape) is tuple and not is_dynamic(value.shape)
