"""`tf.distribute.cluster_resolver`: where a process learns who else belongs to its job, and who it is itself."""

from __future__ import annotations

import json
import os
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.distribute.cluster import ClusterSpec


def _url(address: str, rpc_layer: str | None) -> str:
    return f"{rpc_layer}://{address}" if rpc_layer else address


@export("distribute.cluster_resolver.ClusterResolver")
class ClusterResolver:
    """What all resolvers have in common: `cluster_spec()`, `master()`, `task_type` and `task_id`.

    >>> issubclass(tf.distribute.cluster_resolver.TFConfigClusterResolver,
    ...            tf.distribute.cluster_resolver.ClusterResolver)
    True
    """

    _task_type: str | None = None
    _task_id: int | None = None
    _rpc_layer: str | None = None

    def cluster_spec(self) -> ClusterSpec:
        """The addresses of all processes."""
        raise NotImplementedError

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of one process, by default of this one."""
        raise NotImplementedError

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """How many GPUs this process has."""
        count = sum(d.device_type == "GPU" for d in devices.logical())
        return {"GPU": count} if count else {}

    @property
    def environment(self) -> Any:
        """Where it runs, if somebody has said so."""
        return ""

    @property
    def task_type(self) -> str | None:
        """The role of this process, such as "worker"."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The number of this process among those of its role."""
        return self._task_id

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str | None:
        """What addresses begin with, if anything."""
        return self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer


@export("distribute.cluster_resolver.SimpleClusterResolver")
class SimpleClusterResolver(ClusterResolver):
    """A cluster that the program knows by itself.

    >>> spec = tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})
    >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec, task_type="worker", task_id=1)
    >>> resolver.master("worker", 0), resolver.task_id
    ('a:1', 1)

    Args:
      cluster_spec: the addresses.
      master: what `master()` gives.
      task_type: the role of this process.
      task_id: its number.
      environment: where it runs.
      num_accelerators: what `num_accelerators()` gives.
      rpc_layer: what addresses begin with.
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._spec, self._master = cluster_spec, master
        self._task_type, self._task_id, self._rpc_layer = task_type, task_id, rpc_layer
        self._environment, self._accelerators = environment, num_accelerators

    def cluster_spec(self) -> ClusterSpec:
        """The addresses that were given."""
        return self._spec

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of one process, or the one that was given."""
        address = self._master
        if task_type is not None and task_id is not None:
            address = self._spec.task_address(task_type, task_id)
        return _url(address, rpc_layer or self.rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """What was given."""
        return self._accelerators or {}

    @property
    def environment(self) -> Any:
        """What was given."""
        return self._environment


@export("distribute.cluster_resolver.TFConfigClusterResolver")
class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment variable `TF_CONFIG` describes.

    >>> import json, os
    >>> os.environ["TF_CONFIG"] = json.dumps(
    ...     {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}})
    >>> resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    >>> resolver.task_type, resolver.task_id, resolver.master()
    ('worker', 1, 'b:1')
    >>> del os.environ["TF_CONFIG"]

    Args:
      task_type: in place of that of the environment.
      task_id: in place of that of the environment.
      rpc_layer: in place of that of the environment.
      environment: where it runs.
    """

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        self._task_type, self._task_id = task_type, task_id
        self._rpc_layer, self._environment = rpc_layer, environment

    @staticmethod
    def _config() -> dict[str, Any]:
        text = os.environ.get("TF_CONFIG") or "{}"
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            raise json.JSONDecodeError(
                f"TF_CONFIG must be JSON, got {shown(text)}: {error.msg}", error.doc, error.pos
            ) from None
        if not isinstance(found, dict):
            raise ValueError(f"TF_CONFIG must be an object of JSON, got {shown(text)}")
        return found

    @property
    def task_type(self) -> str | None:
        """The role of this process."""
        if self._task_type is not None:
            return str(self._task_type)
        task = self._config().get("task", {})
        return str(task["type"]) if "type" in task else None

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The number of this process."""
        if self._task_id is not None:
            return int(self._task_id)
        task = self._config().get("task", {})
        return int(task["index"]) if "index" in task else None

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def environment(self) -> Any:
        """What was given."""
        return self._environment

    @property
    def rpc_layer(self) -> str | None:
        """What addresses begin with."""
        return self._config().get("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """The addresses in the environment."""
        return ClusterSpec(self._config().get("cluster", {}))

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of one process; nothing where there is only one."""
        given = self._config().get("session_master")
        if given is not None:
            return given
        spec = self.cluster_spec()
        if sum(spec.num_tasks(job) for job in spec.jobs) <= 1:
            return ""
        role = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        address = spec.task_address(role, number)  # type: ignore[arg-type]
        return _url(address, self.rpc_layer if rpc_layer is None else rpc_layer)


@export("distribute.cluster_resolver.UnionResolver")
class UnionResolver(ClusterResolver):
    """Several clusters as one. Who this process is, the first resolver says.

    >>> simple = tf.distribute.cluster_resolver.SimpleClusterResolver
    >>> tf.distribute.cluster_resolver.UnionResolver(
    ...     simple(tf.train.ClusterSpec({"worker": ["a:1"]})),
    ...     simple(tf.train.ClusterSpec({"worker": ["b:1"]}))).cluster_spec()
    ClusterSpec({'worker': ['a:1', 'b:1']})

    Args:
      resolvers: the clusters.
      rpc_layer: in place of that of the first.
      task_type: in place of that of the first.
      task_id: in place of that of the first.
    """

    def __init__(
        self,
        *resolvers: ClusterResolver,
        rpc_layer: str | None = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        if not resolvers:
            raise ValueError("At least one ClusterResolver is required.")
        for resolver in resolvers:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers = resolvers
        self._rpc_layer, self._task_type, self._task_id = rpc_layer, task_type, task_id

    def cluster_spec(self) -> ClusterSpec:
        """All addresses. Lists of one role follow each other; numbers that are given twice are an error."""
        found = [resolver.cluster_spec().as_dict() for resolver in self._resolvers]
        merged: dict[str, Any] = {}
        for job in dict.fromkeys(job for tasks in found for job in tasks):
            groups = [tasks[job] for tasks in found if job in tasks]
            if all(isinstance(group, list) for group in groups):
                merged[job] = [address for group in groups for address in group]
                continue
            merged[job] = {}
            for group in groups:
                numbered = dict(enumerate(group)) if isinstance(group, list) else group
                twice = set(numbered) & set(merged[job])
                if twice:
                    raise KeyError(
                        f"Duplicate keys detected when merging two ClusterSpecs: {twice!r}"
                    )
                merged[job].update(numbered)
        return ClusterSpec(merged)

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of one process, or what the first resolver gives."""
        if task_type is not None and task_id is not None:
            address = self.cluster_spec().task_address(task_type, task_id)
            return _url(address, rpc_layer or self._rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """What the first resolver says."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

    @property
    def task_type(self) -> str | None:
        """The role of this process."""
        return self._task_type or self._resolvers[0].task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The number of this process."""
        return self._task_id or self._resolvers[0].task_id

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def environment(self) -> Any:
        """What the first resolver says."""
        return self._resolvers[0].environment

    @property
    def rpc_layer(self) -> str | None:
        """What addresses begin with."""
        return self._rpc_layer or self._resolvers[0].rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer
