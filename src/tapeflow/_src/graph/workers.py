"""What several processes do together in a graph: nodes by which the workers of a job exchange values.

Such a node calls an `Exchanged`, on the host, wherever the program has come to. An engine that can run a program in all
processes at once takes the node for what it says that it is, and asks the `Workers` first whether all of them are about
to run the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from tapeflow._src.graph.graph import Graph, Node


class Workers(Protocol):
    """The workers of a job, one of which is this process."""

    number: int
    count: int
    devices: tuple[str, ...]
    """Those of this process's replicas, by their names. Each worker has as many."""

    def turn(self) -> AbstractContextManager[Any]:
        """Within this context no other thread of this process exchanges anything."""
        ...

    def agree(self, mine: Any, what: str) -> list[Any]:
        """What all workers have to say before they run a program together, in their order."""
        ...

    def exchanging(self) -> AbstractContextManager[Any]:
        """Within this context numbers travel between the workers."""
        ...


class Exchanged:
    """A function of arrays that all workers call together.

    Attributes:
      kind: "all_reduce" for the sums of arrays, "all_gather" for one array of all and where that of this worker is.
      axis: along which arrays are put together.
      workers: who calls it.
    """

    def __init__(
        self,
        kind: str,
        axis: int,
        workers: Workers,
        function: Callable[..., Sequence[np.ndarray]],
    ) -> None:
        self.kind, self.axis, self.workers = kind, axis, workers
        self._function = function

    def __call__(self, *arrays: np.ndarray) -> Sequence[np.ndarray]:
        return self._function(*arrays)


def exchanged_by(node: Node) -> Exchanged | None:
    """What a node exchanges with other workers, if it does."""
    function = getattr(node.primitive, "function", None)
    return function if isinstance(function, Exchanged) else None


def workers_of(graph: Graph) -> Workers | None:
    """Who exchanges values in a graph, outside of its loops and branches."""
    found = map(exchanged_by, graph.nodes)
    return next((each.workers for each in found if each is not None), None)
