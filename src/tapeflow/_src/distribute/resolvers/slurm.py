"""`tf.distribute.cluster_resolver.SlurmClusterResolver`: the processes that Slurm has started together."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.distribute.cluster import ClusterSpec
from tapeflow._src.distribute.resolvers.cluster_resolver import ClusterResolver


def _variable(name: str) -> str:
    found = os.environ.get("SLURM_" + name)
    if found is None:
        raise RuntimeError(
            f"{name} not found in environment. Not running inside a SLURM step? Start the program with srun."
        )
    return found


def hosts(text: str) -> list[str]:
    """The names of hosts in Slurm's notation: "n[1-2,07]m,x" is n1m, n2m, n07m and x."""
    found: list[str] = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        names = [""]
        for plain, inside in re.findall(r"([^\[]+)|\[([^\]]*)\]", part):
            ends = [plain] if plain else [n for piece in inside.split(",") for n in _numbers(piece)]
            names = [name + end for name in names for end in ends]
        found += names
    return found


def _numbers(piece: str) -> list[str]:
    first, _, last = piece.partition("-")
    return [f"{n:0{len(first)}d}" for n in range(int(first), int(last or first) + 1)]


def tasks(text: str) -> list[int]:
    """How many processes each host has in Slurm's notation: "3(x2),1" is 3, 3 and 1."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if match is None:
            raise ValueError(f"SLURM_STEP_TASKS_PER_NODE: {part!r} is not such as '3' or '3(x2)'")
        found += [int(match[1])] * int(match[2] or 1)
    return found


@export("distribute.cluster_resolver.SlurmClusterResolver")
class SlurmClusterResolver(ClusterResolver):
    """The processes of a step of Slurm, as its environment variables describe them.

    >>> import os
    >>> os.environ.update(SLURM_PROCID="2", SLURM_STEP_NUM_TASKS="3", SLURM_STEP_NODELIST="n[1-2]",
    ...                   SLURM_STEP_TASKS_PER_NODE="2,1")
    >>> resolver = tf.distribute.cluster_resolver.SlurmClusterResolver()
    >>> resolver.cluster_spec()
    ClusterSpec({'worker': ['n1:8888', 'n1:8889', 'n2:8888']})
    >>> resolver.get_task_info()
    ('worker', 2)
    >>> for name in ("PROCID", "STEP_NUM_TASKS", "STEP_NODELIST", "STEP_TASKS_PER_NODE"):
    ...     del os.environ["SLURM_" + name]

    Args:
      jobs: how many processes have each role. By default all are workers.
      port_base: the first port on each host.
      gpus_per_node: how many GPUs a host has; by default as many as this process sees.
      gpus_per_task: how many of them a process has; by default they are divided evenly.
      tasks_per_node: how many processes a host has, or for each host. By default Slurm says so.
      auto_set_gpu: whether `CUDA_VISIBLE_DEVICES` is set to the GPUs of this process.
      rpc_layer: what `master()` begins with.
    """

    def __init__(
        self,
        jobs: Mapping[str, int] | None = None,
        port_base: int = 8888,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: Any = None,
        auto_set_gpu: bool = True,
        rpc_layer: str = "grpc",
    ) -> None:
        self._rank = int(_variable("PROCID"))
        self._port, self._rpc_layer, self._sets = port_base, rpc_layer, auto_set_gpu
        self._jobs = {"worker": int(_variable("STEP_NUM_TASKS"))} if jobs is None else dict(jobs)
        if isinstance(tasks_per_node, Mapping):
            self._hosts = dict(tasks_per_node)
        else:
            names = hosts(_variable("STEP_NODELIST"))
            counts = (
                tasks(_variable("STEP_TASKS_PER_NODE"))
                if tasks_per_node is None
                else [int(tasks_per_node)] * len(names)
            )
            self._hosts = dict(zip(names, counts, strict=False))
        most = max(self._hosts.values())
        if gpus_per_node is None:
            gpus_per_node = super().num_accelerators().get("GPU", 0)
        self._gpus = gpus_per_node // most if gpus_per_task is None else gpus_per_task
        if most * self._gpus > gpus_per_node:
            raise RuntimeError("Requested more GPUs per node than available.")
        wanted, there = sum(self._jobs.values()), sum(self._hosts.values())
        if wanted != there:
            raise RuntimeError(f"Requested {wanted} tasks but only {there} were assigned.")

    def cluster_spec(self) -> ClusterSpec:
        """The addresses. It also says who this process is, and which GPUs it has."""
        places = [(host, i) for host, count in sorted(self._hosts.items()) for i in range(count)]
        addresses = [f"{host}:{self._port + i}" for host, i in places]
        if self._sets and self._gpus:
            first = places[self._rank][1] * self._gpus
            own = map(str, range(first, first + self._gpus))
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(own)
        cluster: dict[str, list[str]] = {}
        begin = 0
        for job, count in sorted(self._jobs.items()):
            cluster[job] = addresses[begin : begin + count]
            if begin <= self._rank < begin + count:
                self.task_type, self.task_id = job, self._rank - begin
            begin += count
        return ClusterSpec(cluster)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """The role of this process, and its number, once `cluster_spec()` was asked for."""
        return self.task_type, self.task_id

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of one process, by default of this one."""
        role = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        if role is None or number is None:
            return ""
        address = self.cluster_spec().task_address(role, number)
        return f"{rpc_layer or self.rpc_layer}://{address}"

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """How many GPUs each process has."""
        return {"GPU": self._gpus}
