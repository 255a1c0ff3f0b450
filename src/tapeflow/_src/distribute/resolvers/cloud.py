"""Resolvers that ask somebody else who belongs to a job: Kubernetes, or Google's Compute Engine."""

from __future__ import annotations

import enum
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.distribute.cluster import ClusterSpec
from tapeflow._src.distribute.resolvers.cluster_resolver import ClusterResolver


class _Asking(ClusterResolver):
    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of one process, by default of this one; nothing where it is not known which that is."""
        role = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        if role is None or number is None:
            return ""
        address = self.cluster_spec().task_address(role, number)
        layer = rpc_layer or self.rpc_layer
        return f"{layer}://{address}" if layer else address


@export("distribute.cluster_resolver.KubernetesExecutableLocation")
class KubernetesExecutableLocation(enum.Enum):
    """Where a program runs that asks Kubernetes: in a pod of the cluster, or elsewhere."""

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


@export("distribute.cluster_resolver.KubernetesClusterResolver")
class KubernetesClusterResolver(_Asking):
    """The pods of Kubernetes with given labels, in the order of their names.

    >>> from types import SimpleNamespace as Some
    >>> pod = Some(metadata=Some(name="a"), status=Some(phase="Running", host_ip="10.0.0.1"))
    >>> client = Some(list_pod_for_all_namespaces=lambda label_selector: Some(items=[pod]))
    >>> tf.distribute.cluster_resolver.KubernetesClusterResolver(override_client=client).cluster_spec()
    ClusterSpec({'worker': ['10.0.0.1:8470']})

    Args:
      job_to_label_mapping: for each role the labels of its pods. By default all are workers that have the label
        `job-name=tensorflow`.
      tf_server_port: the port of all of them.
      rpc_layer: what `master()` begins with.
      override_client: who is asked for pods, in place of `kubernetes.client.CoreV1Api()`. It has to be configured.
      executable_location: where this program runs, which decides how the package `kubernetes` is configured.
    """

    def __init__(
        self,
        job_to_label_mapping: Mapping[str, Sequence[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str = "grpc",
        override_client: Any = None,
        executable_location: Any = KubernetesExecutableLocation.WITHIN_CLUSTER,
    ) -> None:
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port, self._rpc_layer = tf_server_port, rpc_layer
        self._client = override_client or _kubernetes(executable_location)

    def cluster_spec(self) -> ClusterSpec:
        """The addresses. Kubernetes is asked each time."""
        return ClusterSpec({job: self._addresses(labels) for job, labels in self._labels.items()})

    def _addresses(self, labels: Sequence[str]) -> list[str]:
        found: list[str] = []
        for label in labels:
            pods = self._client.list_pod_for_all_namespaces(label_selector=label).items
            for pod in sorted(pods, key=lambda pod: pod.metadata.name):
                if pod.status.phase != "Running":
                    raise RuntimeError(
                        f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"'
                    )
                found.append(f"{pod.status.host_ip}:{self._port}")
        return found


def _kubernetes(location: Any) -> Any:
    if location not in tuple(KubernetesExecutableLocation):
        raise ValueError(
            "KubernetesClusterResolver: executable_location must be one of KubernetesExecutableLocation, got "
            f"{shown(location)}"
        )
    config = _package(
        "kubernetes.config", "pip install kubernetes, or pass an override_client", "Kubernetes"
    )
    within = location is KubernetesExecutableLocation.WITHIN_CLUSTER
    (config.load_incluster_config if within else config.load_kube_config)()
    return importlib.import_module("kubernetes.client").CoreV1Api()


@export("distribute.cluster_resolver.GCEClusterResolver")
class GCEClusterResolver(_Asking):
    """The machines of an instance group of Google's Compute Engine that are running.

    >>> class Request:
    ...     def __init__(self, answer):
    ...         self.execute = lambda: answer
    >>> class Service:
    ...     def instanceGroups(self): return self
    ...     instances = instanceGroups
    ...     def listInstances(self, **_): return Request({"items": [{"instance": "zone/one"}]})
    ...     def listInstances_next(self, **_): return None
    ...     def get(self, **_): return Request({"networkInterfaces": [{"networkIP": "10.0.0.1"}]})
    >>> tf.distribute.cluster_resolver.GCEClusterResolver(
    ...     "project", "zone", "group", 8470, service=Service()).master()
    'grpc://10.0.0.1:8470'

    Args:
      project: the name of the project.
      zone: that of the instance group.
      instance_group: its name.
      port: the port of all machines.
      task_type: the role of all machines.
      task_id: the number of this one.
      rpc_layer: what `master()` begins with.
      credentials: for the package `googleapiclient`; by default those of the environment.
      service: who is asked, in place of `googleapiclient.discovery.build("compute", "v1")`.
    """

    def __init__(
        self,
        project: str,
        zone: str,
        instance_group: str,
        port: int,
        task_type: str = "worker",
        task_id: int = 0,
        rpc_layer: str = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ) -> None:
        self._place = {"project": project, "zone": zone}
        self._group, self._port = instance_group, port
        self._task_type, self._task_id, self._rpc_layer = task_type, task_id, rpc_layer
        self._service = _compute_engine(credentials) if service is None else service

    @property
    def task_type(self) -> str | None:
        """The role of all machines. It cannot be changed."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        raise RuntimeError(
            "You cannot reset the task_type of the GCEClusterResolver after it has been created."
        )

    def cluster_spec(self) -> ClusterSpec:
        """The addresses, sorted. Compute Engine is asked each time."""
        groups, found = self._service.instanceGroups(), []
        request = groups.listInstances(
            **self._place,
            instanceGroups=self._group,
            body={"instanceState": "RUNNING"},
            orderBy="name",
        )
        while request is not None:
            response = request.execute()
            for item in response["items"]:
                name = item["instance"].rpartition("/")[2]
                machine = self._service.instances().get(**self._place, instance=name).execute()
                found.append(f"{machine['networkInterfaces'][0]['networkIP']}:{self._port}")
            request = groups.listInstances_next(
                previous_request=request, previous_response=response
            )
        return ClusterSpec({str(self._task_type): sorted(found)})


def _compute_engine(credentials: Any) -> Any:
    advice = "pip install google-api-python-client, or pass a service"
    discovery = _package("googleapiclient.discovery", advice, "GCE")
    given = {} if credentials == "default" else {"credentials": credentials}
    return discovery.build("compute", "v1", **given)


def _package(name: str, advice: str, who: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{who}ClusterResolver needs the package {package}: {advice}") from error
