"""Where the replicas of a graph run: the mesh of their devices, and how values lie on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
from jax.sharding import Mesh, NamedSharding

from tapeflow._src.core.placement.devices import devices as known_devices
from tapeflow._src.core.system.jax_loading import cpu
from tapeflow._src.engines.xla.replicas.alike import Unlike
from tapeflow._src.engines.xla.replicas.rows import AXIS, WORKERS
from tapeflow._src.engines.xla.sharding import divided, everywhere, mesh_over
from tapeflow._src.graph.graph import Graph
from tapeflow._src.graph.workers import Workers, workers_of


class Place(NamedTuple):
    """Where replicas run.

    Attributes:
      mesh: of their devices, with those of other processes.
      devices: those of the replicas of this process.
      rows: the layout of a batch: each device has the rows of its replica.
      common: the layout of what the replicas of a process have in common. Those of another one may have something else.
      is_of_several: whether there are several processes.
    """

    mesh: Mesh
    devices: Sequence[Any]
    rows: NamedSharding
    common: NamedSharding
    is_of_several: bool

    @staticmethod
    def of(graph: Graph) -> Place:
        """That of the replicas of a graph, whose devices are there."""
        workers = workers_of(graph)
        names = graph.replicas if workers is None else workers.devices
        if graph.replicas not in ((), names):
            raise Unlike("the function runs several strategies")
        here = [known_devices.buffers_of(n.rpartition("device:")[2]) or cpu(0) for n in names]
        if workers is None:
            mesh = mesh_over(here, (len(here),), (AXIS,))
            return Place(mesh, here, divided(mesh, AXIS), everywhere(mesh), False)
        mesh = mesh_over(_of_all(workers, here), (workers.count, len(here)), (WORKERS, AXIS))
        rows = NamedSharding(mesh, jax.P((WORKERS, AXIS)))
        return Place(mesh, here, rows, divided(mesh, WORKERS), True)


def _of_all(workers: Workers, here: Sequence[Any]) -> list[Any]:
    """The devices of all workers, in their order: of each those that this one uses."""
    by_process: dict[int, list[Any]] = {}
    for device in jax.devices(here[0].platform):
        by_process.setdefault(device.process_index, []).append(device)
    places = [by_process[here[0].process_index].index(device) for device in here]
    if len(by_process) != workers.count or any(
        len(found) <= max(places) for found in by_process.values()
    ):
        raise Unlike("the workers have different numbers of devices")
    return [by_process[i][place] for i in sorted(by_process) for place in places]
