"""`tf.distribute.MultiWorkerMirroredStrategy`: replicas in several processes, each of which may have several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core import settings
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.system import jax_loading
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.distribute.communication import (
    CommunicationImplementation,
    CommunicationOptions,
)
from tapeflow._src.distribute.exchange import Exchange
from tapeflow._src.distribute.extended import StrategyExtended
from tapeflow._src.distribute.job import Job
from tapeflow._src.distribute.mirrored import devices_in_use, full_name
from tapeflow._src.distribute.reduce_op import ReduceOp, gathered, reduced
from tapeflow._src.distribute.replica import own
from tapeflow._src.distribute.resolvers.cluster_resolver import (
    ClusterResolver,
    TFConfigClusterResolver,
)
from tapeflow._src.distribute.strategy import Strategy
from tapeflow._src.distribute.values import local

_exchanges: list[Exchange] = []
"""That of the job which this process belongs to, once it has joined it."""


def current_exchange() -> Exchange | None:
    """That of the job which this process belongs to, if it does."""
    return _exchanges[0] if _exchanges else None


class WorkersExtended(StrategyExtended):
    """What `Strategy.extended` is where there are several workers.

    Args:
      devices: one for each replica of this process.
      exchange: with the other workers.
    """

    def __init__(self, devices: Sequence[str], exchange: Exchange) -> None:
        job = exchange.job
        counts = exchange.questions("how many replicas a worker has")(len(devices))
        if len(set(counts)) > 1:
            raise ValueError(
                f"MultiWorkerMirroredStrategy: all workers must have as many devices. They have {counts}, in their "
                "order. Hide some with CUDA_VISIBLE_DEVICES or tf.config.set_visible_devices."
            )
        super().__init__(devices, job.number * len(devices), job.count * len(devices))
        self.exchange = exchange
        exchange.devices = self._devices

    @property
    def mesh_devices(self) -> tuple[str, ...]:
        """The devices of this process: what all processes run together says so by itself (`graph.workers`)."""
        return self._devices

    # Values of all replicas: those of this process first, then those of all.

    def _parts(self, op: str, value: Any) -> Sequence[Any]:
        parts = local(value)
        if parts is None:
            if self.local > 1:
                raise ValueError(
                    f"A non-DistributedValues value {value} cannot be reduced with the given reduce op {op}."
                )
            parts = (value,)
        return parts

    def reduced_across(self, op: ReduceOp, value: Any) -> Any:
        """One value of those of all replicas."""
        if local(value) is None and self.local > 1 and op is ReduceOp.MEAN:
            value = [convert_to_tensor(value)] * self.local
        else:
            value = self._parts(str(op), value)
        (found,) = self._totals(op, [reduced(ReduceOp.SUM, value)], of_one=True)
        return found

    def _totals(self, op: ReduceOp, sums: Sequence[Any], of_one: bool) -> list[Any]:
        """For each of the sums over this process that over all of them, or the mean."""
        dense = [x for x in sums if isinstance(x, Tensor)]
        totals = iter(self.exchange.summed(dense, of_one) if dense else [])
        found = [next(totals) if isinstance(x, Tensor) else self._slices(x) for x in sums]
        return [_divided(x, self.count) for x in found] if op is ReduceOp.MEAN else found

    def _slices(self, x: IndexedSlices) -> IndexedSlices:
        values, _ = self.exchange.gathered(convert_to_tensor(x.values), 0)
        indices, _ = self.exchange.gathered(convert_to_tensor(x.indices), 0)
        return IndexedSlices(values, indices, x.dense_shape)

    def gathered_across(self, value: Any, axis: int) -> Any:
        """The values of all replicas, put together."""
        found, _ = self.exchange.gathered(gathered(self._parts("gather", value), axis), axis)
        return found

    def all_reduced(self, op: ReduceOp, brought: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """For each replica what becomes of the tensors that all have brought."""
        sums = [reduced(ReduceOp.SUM, column) for column in zip(*brought, strict=True)]
        totals = self._totals(op, sums, of_one=False)
        return [[own(x, self.placed(i)) for x in totals] for i in range(self.local)]

    def all_gathered(self, axis: int, brought: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """For each replica what all have brought put together, and where its own begins."""
        answers: list[list[Any]] = [[] for _ in brought]
        for column in zip(*brought, strict=True):
            whole, before = self.exchange.gathered(gathered(column, axis), axis)
            for i, (answer, x) in enumerate(zip(answers, column, strict=True)):
                answer.append((own(whole, self.placed(i)), before))
                before = before + x._array.shape[axis]
        return answers

    def first_value(self, value: Tensor) -> Tensor:
        """What the first worker has made for a new variable."""
        return Tensor(self.exchange.of_first(value.numpy()))


def _divided(x: Any, count: int) -> Any:
    if isinstance(x, IndexedSlices):
        return IndexedSlices(convert_to_tensor(x.values) / count, x.indices, x.dense_shape)
    return x / count


def _addresses(resolver: ClusterResolver) -> tuple[list[str], int]:
    """The addresses of the workers, the chief's first, and the number of this one."""
    spec = resolver.cluster_spec()
    role, number = resolver.task_type, resolver.task_id
    jobs = spec.as_dict()
    chief = list(jobs.get("chief", []))
    workers = chief + list(jobs.get("worker", []))
    if role == "evaluator" or len(workers) <= 1:
        return [], 0
    if len(chief) > 1:
        raise ValueError("There must be at most one 'chief' job.")
    if role not in ("chief", "worker") or number is None:
        raise ValueError(
            f"MultiWorkerMirroredStrategy: the task of this process must be a 'worker' or the 'chief', with its index; "
            f"got type {shown(role)} and index {shown(number)}. Say it in TF_CONFIG: "
            '{"cluster": {"worker": ["host:port", ...]}, "task": {"type": "worker", "index": 0}}'
        )
    number += len(chief) if role == "worker" else 0
    if not 0 <= number < len(workers):
        raise ValueError(
            f"MultiWorkerMirroredStrategy: task_id {resolver.task_id} exceeds the number of tasks of type {role!r} in "
            f"{spec}"
        )
    return workers, number


def _joined(addresses: Sequence[str], number: int, options: CommunicationOptions) -> Exchange:
    """The exchange of this process's job, which it joins the first time."""
    if _exchanges:
        job = _exchanges[0].job
        if (job.count, job.number) != (len(addresses), number):
            raise RuntimeError(
                f"MultiWorkerMirroredStrategy: this process is worker {job.number} of {job.count} already, and cannot "
                f"be worker {number} of {len(addresses)} as well."
            )
    else:
        if jax_loading.begun():
            raise RuntimeError(
                "MultiWorkerMirroredStrategy must be made at the beginning of the program, before a function is "
                "compiled or a tensor placed on a device: XLA has begun without the other workers."
            )
        settings.alike = True
        _exchanges.append(Exchange(Job(addresses, number, options.timeout_seconds)))
    return _exchanges[0]


@export("distribute.MultiWorkerMirroredStrategy")
class MultiWorkerMirroredStrategy(Strategy):
    """Replicas in several processes, on one machine or many. Each has a copy of every variable, kept equal.

    Every process runs the same program. `TF_CONFIG` tells it the addresses of all and its own number; `tapeflow launch`
    sets it for processes of one machine. Without it there is one worker.

    >>> strategy = tf.distribute.MultiWorkerMirroredStrategy()
    >>> strategy.num_replicas_in_sync, strategy.cluster_resolver.task_type
    (1, None)

    Args:
      cluster_resolver: says who the workers are; by default `TF_CONFIG` does.
      communication_options: a `tf.distribute.experimental.CommunicationOptions`.
    """

    def __init__(
        self,
        cluster_resolver: ClusterResolver | None = None,
        communication_options: CommunicationOptions | None = None,
    ) -> None:
        if cluster_resolver is None:
            cluster_resolver = TFConfigClusterResolver()
        if context.tracer is not None:
            raise RuntimeError("MultiWorkerMirroredStrategy cannot be made inside of tf.function.")
        self._resolver = cluster_resolver
        addresses, number = _addresses(cluster_resolver)
        if not addresses:
            super().__init__(StrategyExtended([full_name(d) for d in devices_in_use()]))
        else:
            exchange = _joined(addresses, number, communication_options or CommunicationOptions())
            prefix = f"/job:{cluster_resolver.task_type}/replica:0/task:{cluster_resolver.task_id}"
            names = [full_name(d) for d in devices_in_use()]
            here = [prefix + "/device:" + name.rpartition("device:")[2] for name in names]
            super().__init__(WorkersExtended(here, exchange))
        self.extended.strategy = self

    @property
    def cluster_resolver(self) -> ClusterResolver:
        """Says who the workers are."""
        return self._resolver


@export("distribute.experimental.MultiWorkerMirroredStrategy")
class ExperimentalMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """The older name of `tf.distribute.MultiWorkerMirroredStrategy`, with other arguments.

    >>> tf.distribute.experimental.MultiWorkerMirroredStrategy().num_replicas_in_sync
    1

    Args:
      communication: a `tf.distribute.experimental.CollectiveCommunication`.
      cluster_resolver: says who the workers are; by default `TF_CONFIG` does.
    """

    def __init__(
        self,
        communication: Any = CommunicationImplementation.AUTO,
        cluster_resolver: ClusterResolver | None = None,
    ) -> None:
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))
