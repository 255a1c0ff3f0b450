"""Whether all workers are about to run the same program, on values of the same shapes: only then may they begin.

A program that several processes run together waits inside of XLA for those that do not come, or come with another one.
So they ask one another at every call, through the job's hub, which knows who is late, and for how long one waits:

1. Each tells what its graph does, the shapes of what it was given, and a checksum of its constants. It tells nothing if
   it cannot run the program: XLA does not take it, or eager mode has to decide about a value.
2. If any of these differ, all of them run the graph in step, and exchange values through the host. If only constants
   differ (the number of a replica, say), those that do become inputs: the program is one and the same in all processes.
3. Who comes to it for the first time compiles it; the others wait, and hear whether that went well.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.graph.graph import Graph, Value, attribute_text, subgraphs
from tapeflow._src.graph.workers import Workers


class Refused(NamedTuple):
    """Why the workers do not run a program together."""

    why: str


class Agreement:
    """What workers tell one another about one graph.

    Args:
      graph: as it was traced.
      workers: who runs it.
    """

    def __init__(self, graph: Graph, workers: Workers) -> None:
        self._workers = workers
        self._what = f"the others to run the function {graph.name!r}, in one program"
        self._about = _checksum(_structure(graph))
        self._constants = [(v, _bits(array)) for v, array in graph.constants.items()]
        self._sum = _checksum(str(bits) for _, bits in self._constants)
        self._differing: dict[tuple[int, ...], frozenset[Value]] = {}
        self._ready: dict[str, list[int]] = {}

    def refuse(self) -> None:
        """Says that this worker does not run a program in this call."""
        self._workers.agree(None, self._what)

    def reached(
        self, shapes: str, compiled: Callable[[frozenset[Value]], None]
    ) -> frozenset[Value] | Refused:
        """The constants that differ, which are inputs of the program that all of them run; or why they do not.

        Args:
          shapes: of what this worker was given.
          compiled: makes the program ready to be run, with some constants as inputs. It raises an error if it cannot.
        """
        ready = self._ready.setdefault(shapes, [])
        told = self._workers.agree([self._about, shapes, self._sum, ready], self._what)
        if None in told:
            return Refused(f"worker {told.index(None)} does not run it in one program")
        for about, given, *_ in told:
            if given != told[0][1]:
                return Refused("the workers have parts of different shapes")
            if about != told[0][0]:
                return Refused("the workers have traced different functions")
        sums = tuple(each[2] for each in told)
        key = _checksum(map(str, sums))
        if all(key in each[3] for each in told):
            return self._differing[sums]
        return self._made_ready(sums, key, ready, compiled)

    def _made_ready(
        self,
        sums: tuple[int, ...],
        key: int,
        ready: list[int],
        compiled: Callable[[frozenset[Value]], None],
    ) -> frozenset[Value] | Refused:
        bits = [bits for _, bits in self._constants]
        told = self._workers.agree(bits, self._what)
        positions = [i for i, column in enumerate(zip(*told, strict=True)) if len(set(column)) > 1]
        differing = frozenset(self._constants[i][0] for i in positions)
        why = None
        try:
            compiled(differing)
        except Exception as error:
            why = f"{type(error).__name__}: {error}".split("\n")[0][:200]
        for number, other in enumerate(self._workers.agree(why, self._what)):
            if other is not None:
                return Refused(f"worker {number} cannot compile it: {other}")
        self._differing[sums] = differing
        ready.append(key)
        return differing


def _checksum(texts: Iterable[str]) -> int:
    found = 0
    for text in texts:
        found = zlib.crc32(text.encode(), found)
    return found


def _bits(array: Any) -> int:
    array = np.asarray(array)
    if array.dtype.kind == "O":
        return zlib.crc32(repr(array.tolist()).encode())
    return zlib.crc32(np.ascontiguousarray(array).tobytes())


def _structure(graph: Graph) -> Iterable[str]:
    """What a graph does, apart from what its constants are: the same text in every process."""
    names: dict[Value, int] = {}

    def numbers(values: Sequence[Value]) -> str:
        return " ".join(f"{names.setdefault(v, len(names))}:{v.dtype.name}" for v in values)

    def of(graph: Graph) -> Iterable[str]:
        yield f"{numbers(graph.inputs)} constants {numbers(list(graph.constants))}\n"
        for node in graph.nodes:
            blocks = list(subgraphs(node))
            yield f"{numbers(node.outputs)} = {node.primitive.name} {node.replica} {numbers(node.inputs)}"
            for name, value in node.attrs.items():
                is_array = isinstance(value, np.ndarray)
                text = str(_bits(value)) if is_array else attribute_text(value)
                yield f" {name}={text if not blocks else ''}"
            for block in blocks:
                yield from of(block)
        yield f"return {numbers(graph.outputs)}, {numbers(list(graph.assigned.values()))}\n"

    return of(graph)
