"""What replicas tell one another, as rows of a graph: sums over all of them, and values of each of them.

A graph with such nodes is that of any one replica, and means something only where all of them run it, inside of
`jax.shard_map`. So these rows are not in the table of primitives: nobody calls them, and NumPy has no kernels for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from tapeflow._src.graph.graph import Node

AXIS = "replica"
"""The axis of the mesh of the replicas' devices: those of one process."""

WORKERS = "worker"
"""The axis of the processes, where a mesh has the devices of several."""


class Row:
    """A row that only the program of replicas has.

    Attributes:
      name: for printing.
      outputs: how many there are; None for as many as there are inputs, in a tuple.
      lowering: computes it on jax arrays.
    """

    elementwise = False
    variadic = True
    inputs = ("inputs",)

    def __init__(self, name: str, lowering: Callable[..., Any], outputs: int | None = 1) -> None:
        self.name = name
        self.outputs = outputs
        self.lowering = lowering

    def lowerable(self, node: Node) -> bool:
        """XLA is the only one that can run it."""
        return True

    def __repr__(self) -> str:
        return f"<{self.name}>"


def _of_replica(x: Any, *, index: int) -> Any:
    """The value of one replica, for all."""
    return lax.all_gather(x, AXIS)[index]


def _chosen(*values: Any) -> Any:
    """For each replica another one of some values that all have."""
    return jnp.stack(values)[lax.axis_index(AXIS)]


_SMALL = 2**18  # elements that are cheaper to copy than to send by themselves


def _sum_over(*axes: str) -> Callable[..., Any]:
    if WORKERS not in axes:
        return lambda *values: tuple(lax.psum(values, axes))

    def summed(*values: Any) -> tuple[Any, ...]:
        """Small arrays of one dtype travel together: between processes each message takes its time."""
        packs: dict[Any, list[int]] = {}
        for i, x in enumerate(values):
            packs.setdefault(x.dtype if x.size <= _SMALL else i, []).append(i)
        flat = [jnp.concatenate([values[i].ravel() for i in pack]) for pack in packs.values()]
        found: dict[int, Any] = {}
        for pack, total in zip(packs.values(), lax.psum(flat, axes), strict=True):
            begin = 0
            for i in pack:
                end = begin + values[i].size
                found[i] = total[begin:end].reshape(values[i].shape)
                begin = end
        return tuple([found[i] for i in range(len(values))])

    return summed


all_reduce = Row("all_reduce", _sum_over(AXIS), outputs=None)
"""The sums of values over the replicas of a process, in one message."""

all_reduce_of_all = Row("all_reduce", _sum_over(WORKERS, AXIS), outputs=None)
"""The same over the replicas of all processes."""

all_reduce_of_workers = Row("all_reduce", _sum_over(WORKERS), outputs=None)
"""The same over processes, of what all replicas of each have in common."""

SUMS = (all_reduce, all_reduce_of_all, all_reduce_of_workers)

all_gather = Row("all_gather", lambda x, *, axis: lax.all_gather(x, AXIS, axis=axis, tiled=True))
"""The values of the replicas of a process, put together along an axis."""


def _of_workers(x: Any, *, axis: int) -> tuple[Any, Any]:
    before = (lax.axis_index(WORKERS) * x.shape[axis]).astype(jnp.int64)
    return lax.all_gather(x, WORKERS, axis=axis, tiled=True), before


all_gather_of_workers = Row("all_gather", _of_workers, outputs=2)
"""What processes have, put together along an axis, and where that of each begins."""

of_replica = Row("of_replica", _of_replica)
chosen = Row("chosen", _chosen)


def agreed(axes: tuple[str, ...]) -> Callable[[Any], Any]:
    """A function that gives whether something holds in all replicas."""
    return lambda ok: lax.pmin(ok.astype(jnp.int32), axes) > 0
