"""Several operations on the elements of large arrays, some rows at a time, for the NumPy executor.

    y = relu(x * scale + shift)

is three operations, and NumPy goes over all of the memory for each. Here they are computed for as many rows as stay in
the processor's cache, then for the next ones: each element is read and written once. The operations are NumPy's, so the
results are the same, bit for bit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.numpy.fused import Fused
from tapeflow._src.engines.numpy.lifetimes import CHAIN, CHAIN_SUM, ufunc_of
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.primitives.sharing import side_by_side

_LARGE = 2**18  # elements; less stays in the cache anyway
_BLOCK = 2**15  # elements

Compute = Callable[..., Any]
"""A function of arrays and, last, of the array to write into, which may be one of them."""


# NumPy finds the larger of two arrays faster than that of an array and a number.


def _relu(x: Any, out: Any) -> None:
    np.maximum(x, _filled(0, x.dtype.char)[: x.size], out=out)


def _relu6(x: Any, out: Any) -> None:
    _relu(x, out)
    np.minimum(out, _filled(6, x.dtype.char)[: x.size], out=out)


@functools.cache
def _filled(number: int, char: str) -> Any:
    return np.full(_BLOCK, number, char)


def _relu_gradient(g: Any, y: Any, out: Any) -> None:
    np.multiply(g, y > 0, out=out)


def _between(g: Any, y: Any, most: Any, out: Any) -> None:
    inside = y > 0
    inside &= y < most
    np.multiply(g, inside, out=out)


_OTHERS: dict[str, Compute] = {"relu": _relu, "relu6": _relu6, "relu_gradient": _relu_gradient}


def _compute(node: Node) -> Compute | None:
    return _OTHERS.get(node.primitive.name) or ufunc_of(node)


def with_chains(graph: Graph) -> Graph:
    """The graph with operations on large arrays that feed each other as one node."""
    members = {id(n) for n in graph.nodes if _is_member(n)}
    made = {v: n for n in graph.nodes if id(n) in members for v in n.outputs}
    uses: dict[Value, int] = {}
    for value in [v for n in graph.nodes for v in n.inputs]:
        uses[value] = uses.get(value, 0) + 1
    # What a variable is given is written over its old value by one call, which nothing can interrupt.
    assigned = {*graph.assigned.values()}
    staying = {*graph.outputs, *assigned}
    sums = {id(n) for n in graph.nodes if _is_sum(n)}
    inner = {
        id(made[v])
        for n in graph.nodes
        if (id(n) in members and n.outputs[0] not in assigned) or id(n) in sums
        for v in n.inputs
        if v in made and uses[v] == 1 and v not in staying
        if v.shape == (n.inputs[0] if id(n) in sums else n.outputs[0]).shape
    }
    if not inner and not sums:
        return graph
    nodes: list[Node] = []
    for node in graph.nodes:
        if id(node) in inner:
            continue
        if id(node) in sums:
            node = _Chain(made, inner).sum(node)
        elif any(v in made and id(made[v]) in inner for v in node.inputs):
            node = _Chain(made, inner).node(node)
        nodes.append(node)
    return graph.with_nodes(nodes)


def _is_member(node: Node) -> bool:
    if _compute(node) is None or node.has_effect:
        return False
    (y,) = node.outputs
    return _is_large(y) and all(_fits(v, y) for v in node.inputs)


def _is_sum(node: Node) -> bool:
    """Whether it adds up, for each column, something large."""
    if node.primitive.name not in ("sum", "mean", "variance_about_mean"):
        return False
    x, *about = node.inputs
    if not _is_large(x) or node.attrs["axis"] != tuple(range(len(x.shape) - 1)):
        return False
    return all(_fits(v, x) and v.shape != x.shape for v in about)


def _is_large(y: Value) -> bool:
    shape = y.shape
    if is_dynamic(shape) or len(shape) < 2 or math.prod(shape) < _LARGE or shape[-1] > _BLOCK:
        return False
    return y.dtype.np_dtype.char in "fd"


def _fits(x: Value, y: Value) -> bool:
    """Whether an input has the shape of the result, or one number for all of it or for each column."""
    if x.dtype is not y.dtype or is_dynamic(x.shape) or len(x.shape) > len(y.shape):
        return False
    return x.shape == y.shape or math.prod(x.shape) == (
        y.shape[-1] if x.shape and x.shape[-1] == y.shape[-1] else 1
    )


class _Chain:
    """Writes down what is computed for each block.

    Attributes:
      inputs: of the node that computes it all.
      steps: what is computed, of which registers or inputs (counted from -1 downwards), into which register.
    """

    def __init__(self, made: dict[Value, Node], inner: set[int]) -> None:
        self._made, self._inner = made, inner
        self.inputs: list[Value] = []
        self.steps: list[tuple[Compute, list[int], int]] = []
        self._free: list[int] = []
        self._registers = 0

    def node(self, root: Node) -> Node:
        """A node that computes another one and all that only this one needs."""
        self._computed(root)
        last, sources, _ = self.steps.pop()
        (y,) = root.outputs
        blocks = self._blocks(sources, y)

        def chain(*given: Any) -> Any:
            to = given[-1] if len(given) > blocks.count else None
            if to is None or not to.flags.c_contiguous:
                to = np.empty(y.shape, blocks.dtype)
            flat, arrays = to.reshape(-1), blocks.arrays(given)

            def part(i: int, j: int) -> None:
                for start, stop, found in blocks.walk(arrays, i, j):
                    last(*found, flat[start:stop])

            side_by_side(part, blocks.rows, to.size)
            return to

        return Node(Fused(CHAIN, chain), self.inputs, {}, root.outputs, root.line)

    def sum(self, root: Node) -> Node:
        """A node that adds up what is computed, for each column."""
        x, *about = root.inputs
        sources = [self._place(x)]
        if about:  # the mean, of which the squares are the distances to
            sources.append(self._place(about[0]))
            into = self._register(sources)
            self.steps += [(np.subtract, sources, into), (np.square, [into], into)]
            sources = [into]
        shape = root.outputs[0].shape
        blocks = self._blocks(sources, x)
        count = 1 if root.primitive.name == "sum" else blocks.rows

        def chain(*given: Any) -> Any:
            arrays = blocks.arrays(given)
            sums: dict[int, Any] = {}

            def part(i: int, j: int) -> None:
                total = np.zeros(blocks.length, blocks.dtype)
                for start, stop, (found,) in blocks.walk(arrays, i, j):
                    to = total[: stop - start]
                    np.add(to, found, out=to)
                sums[i] = np.add.reduce(total.reshape(-1, blocks.columns))

            side_by_side(part, blocks.rows, blocks.rows * blocks.columns)
            first, *others = [sums[i] for i in sorted(sums)]  # whichever was ready first
            for each in others:
                first += each
            return (first if count == 1 else first / count).reshape(shape)

        return Node(Fused(CHAIN_SUM, chain), self.inputs, {}, root.outputs, root.line)

    def _place(self, value: Value) -> int:
        node = self._made.get(value)
        if node is not None and id(node) in self._inner:
            return self._computed(node)
        if value not in self.inputs:
            self.inputs.append(value)
        return -1 - self.inputs.index(value)

    def _computed(self, node: Node) -> int:
        function, values = _clipped(node, self._made, self._inner) or (_compute(node), node.inputs)
        assert function is not None
        sources = [self._place(v) for v in values]
        into = self._register(sources)
        self.steps.append((function, sources, into))
        return into

    def _register(self, sources: list[int]) -> int:
        """Where a result goes: to the place of something that nobody needs after it, if there is something."""
        mine = [s for s in sources if s >= 0]
        if mine:
            self._free += mine[1:]
            return mine[0]
        if self._free:
            return self._free.pop()
        self._registers += 1
        return self._registers - 1

    def _blocks(self, sources: list[int], y: Value) -> _Blocks:
        whole = [v.shape == y.shape for v in self.inputs]
        return _Blocks(self.steps, sources, whole, self._registers, y)


def _clipped(
    node: Node, made: dict[Value, Node], inner: set[int]
) -> tuple[Compute, tuple[Value, ...]] | None:
    """The gradient of `relu6` in one step: `relu_gradient(relu_gradient(g, y), 6 - y)`."""
    if node.primitive.name != "relu_gradient":
        return None
    first, second = map(made.get, node.inputs)
    if first is None or second is None or not {id(first), id(second)} <= inner:
        return None
    if first.primitive.name != "relu_gradient" or second.primitive.name != "subtract":
        return None
    (g, y), (most, same) = first.inputs, second.inputs
    return (_between, (g, y, most)) if same is y else None


class _Blocks:
    """Computes some steps for one block of rows after the other, and gives what is at `sources` then."""

    def __init__(
        self,
        steps: list[tuple[Compute, list[int], int]],
        sources: list[int],
        whole: list[bool],
        registers: int,
        y: Value,
    ) -> None:
        self._steps, self._sources, self._whole, self._registers = steps, sources, whole, registers
        self.count = len(whole)
        self.dtype = y.dtype.np_dtype
        self.columns = y.shape[-1]
        self.rows = math.prod(y.shape[:-1])
        self.length = _BLOCK // self.columns * self.columns

    def arrays(self, given: Sequence[Any]) -> list[Any]:
        """The inputs, flat; a row as often as a block has rows, for NumPy is faster with arrays of one shape."""

        def block(x: Any) -> Any:
            if x.size == 1:
                return x.reshape(())
            return np.tile(x.reshape(-1), self.length // self.columns)

        pairs = zip(given, self._whole, strict=False)
        return [x.reshape(-1) if whole else block(x) for x, whole in pairs]

    def walk(
        self, arrays: Sequence[Any], first: int, last: int
    ) -> Iterator[tuple[int, int, list[Any]]]:
        """For each block of the rows from `first` to `last`: where it is, and what was computed for it."""
        scratch = [np.empty(self.length, self.dtype) for _ in range(self._registers)]
        end = last * self.columns
        for start in range(first * self.columns, end, self.length):
            stop = min(start + self.length, end)
            size = stop - start
            own = scratch if size == self.length else [s[:size] for s in scratch]
            seen = [
                x[start:stop] if whole else x[:size] if x.ndim else x
                for x, whole in zip(arrays, self._whole, strict=True)
            ]
            for function, sources, into in self._steps:
                function(*[own[s] if s >= 0 else seen[-1 - s] for s in sources], own[into])
            yield start, stop, [own[s] if s >= 0 else seen[-1 - s] for s in self._sources]
