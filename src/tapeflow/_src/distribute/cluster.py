"""`tf.train.ClusterSpec`: the addresses of all processes of a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.io.cluster_messages import ClusterDef, JobDef


@export("train.ClusterSpec")
class ClusterSpec:
    """The addresses of processes, by their roles and numbers.

    >>> spec = tf.train.ClusterSpec({"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]})
    >>> spec.num_tasks("worker"), spec.task_address("worker", 1)
    (2, '10.0.0.2:2222')

    Args:
      cluster: for each role a list of addresses, or a dictionary of them by numbers. A `tf.train.ClusterDef`, too.
    """

    def __init__(self, cluster: Any) -> None:
        self._tasks: dict[str, dict[int, Any]] = {}
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        if isinstance(cluster, ClusterDef):
            cluster = {job.name: dict(job.tasks) for job in cluster.job}
        if not isinstance(cluster, Mapping):
            raise TypeError(
                "ClusterSpec: cluster must be a dictionary from names of jobs to lists of addresses, got "
                f"{shown(cluster)}"
            )
        for job, tasks in cluster.items():
            if isinstance(tasks, (list, tuple)):
                found = dict(enumerate(tasks))
            elif isinstance(tasks, Mapping):
                found = {int(i): task for i, task in tasks.items()}
            else:
                raise TypeError(
                    f"The tasks for job {job!r} must be a list or a dictionary from integers to strings."
                )
            for address in found.values():
                if not isinstance(address, (str, bytes)):
                    raise TypeError(f"Task address {address!r} must be bytes or unicode")
            self._tasks[job] = found

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._tasks == other._tasks

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        items = [f"{job!r}: {tasks!r}" for job, tasks in sorted(self.as_dict().items())]
        return "ClusterSpec({" + ", ".join(items) + "})"

    def as_dict(self) -> dict[str, Any]:
        """The addresses: a list for each role, or a dictionary where numbers are left out."""
        found: dict[str, Any] = {}
        for job, tasks in self._tasks.items():
            whole = bool(tasks) and max(tasks) + 1 == len(tasks)
            found[job] = self.job_tasks(job) if whole else dict(sorted(tasks.items()))
        return found

    def as_cluster_def(self) -> ClusterDef:
        """The same as a message. Its roles are sorted."""
        jobs = [JobDef(name=job, tasks=tasks) for job, tasks in sorted(self._tasks.items())]
        return ClusterDef(job=jobs)

    @property
    def jobs(self) -> list[str]:
        """The roles."""
        return list(self._tasks)

    def num_tasks(self, job_name: str) -> int:
        """How many processes have a role."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of those that have a role."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of one of them."""
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[Any]:
        """The addresses of those that have a role, with None where a number is left out."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _job(self, name: str) -> dict[int, str]:
        if name not in self._tasks:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self._tasks[name]
