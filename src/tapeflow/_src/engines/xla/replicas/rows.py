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
"""The axis of the mesh of the replicas' devices."""


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


def _summed(*values: Any) -> tuple[Any, ...]:
    return tuple(lax.psum(values, AXIS))


all_reduce = Row("all_reduce", _summed, outputs=None)
"""The sums of values over all replicas, in one message."""

all_gather = Row("all_gather", lambda x, *, axis: lax.all_gather(x, AXIS, axis=axis, tiled=True))
"""The values of all replicas, put together along an axis."""

of_replica = Row("of_replica", _of_replica)
chosen = Row("chosen", _chosen)


def agreed(ok: Any) -> Any:
    """Whether something holds in all replicas."""
    return lax.pmin(ok.astype(jnp.int32), AXIS) > 0
