"""`tf.data.experimental.service`: datasets that are read from a service."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import (
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
    UnknownError,
    wrong_object,
)
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.dataset import Dataset
from tapeflow._src.distribute.service.policies import CrossTrainerCache, check_options, policy_of
from tapeflow._src.distribute.service.servers import dispatcher_at, place_of, received, send


@export("data.experimental.service.distribute")
def distribute(
    processing_mode: Any,
    service: str,
    job_name: str | None = None,
    consumer_index: int | None = None,
    num_consumers: int | None = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    compression: Any = "AUTO",
    cross_trainer_cache: CrossTrainerCache | None = None,
    target_workers: str = "AUTO",
) -> Callable[[Dataset], Dataset]:
    """Lets the workers of a service of this process compute a dataset.

    >>> service = tf.data.experimental.service
    >>> dispatcher = service.DispatchServer()
    >>> workers = [service.WorkerServer(service.WorkerConfig(dispatcher.target.split("://")[1])) for _ in range(2)]
    >>> data = tf.data.Dataset.range(3).map(lambda x: x * x)
    >>> sorted(int(x) for x in data.apply(service.distribute(service.ShardingPolicy.DYNAMIC, dispatcher.target)))
    [0, 1, 4]
    >>> sorted(int(x) for x in data.apply(service.distribute(service.ShardingPolicy.OFF, dispatcher.target)))
    [0, 0, 1, 1, 4, 4]
    >>> dispatcher.stop()

    A program that is not where the servers are reads a dataset by `from_dataset_id`.

    Args:
      processing_mode: a `tf.data.experimental.service.ShardingPolicy`, or `"parallel_epochs"` for OFF and
        `"distributed_epoch"` for DYNAMIC.
      service: the address of the dispatcher, as its `target`.
      job_name: readers that give the same name share the elements: each is read once.
      consumer_index: the number of this reader among those that take elements in turn.
      num_consumers: how many they are.
      max_outstanding_requests: accepted for compatibility.
      data_transfer_protocol: accepted for compatibility.
      compression: accepted for compatibility: nothing is compressed.
      cross_trainer_cache: a `CrossTrainerCache`, for trainers that read the same elements.
      target_workers: accepted for compatibility.

    Returns:
      A function for `Dataset.apply`.
    """
    policy = policy_of(processing_mode)
    check_options(job_name, consumer_index, num_consumers, compression, target_workers)
    place_of(service)

    def applied(dataset: Dataset) -> Dataset:
        name = register_dataset(service, dataset, compression)
        return _read(
            policy,
            service,
            name,
            dataset.element_spec,
            job_name,
            consumer_index,
            num_consumers,
            cross_trainer_cache,
        )

    return applied


@export("data.experimental.service.register_dataset")
def register_dataset(
    service: str, dataset: Dataset, compression: Any = "AUTO", dataset_id: str | None = None
) -> Tensor:
    """Makes a dataset known to a service of this process, for programs that read it by `from_dataset_id`.

    >>> dispatcher = tf.data.experimental.service.DispatchServer()
    >>> tf.data.experimental.service.register_dataset(
    ...     dispatcher.target, tf.data.Dataset.range(3), dataset_id="numbers").numpy()
    b'numbers'
    >>> dispatcher.stop()

    Args:
      service: the address of the dispatcher.
      dataset: the dataset.
      compression: accepted for compatibility.
      dataset_id: its name; by default a new one.

    Returns:
      The name, as a scalar string.
    """
    if not isinstance(dataset, Dataset):
        raise wrong_object("register_dataset", "dataset", "a tf.data.Dataset", dataset)
    check_options(None, None, None, compression, "AUTO")
    dispatcher = dispatcher_at(service)
    if dispatcher is None:
        raise UnavailableError(
            None,
            None,
            f"tf.data service: there is no DispatchServer at {service} in this process, and a dataset is not sent to "
            "another. Register it where the servers are, and read it here with "
            "tf.data.experimental.service.from_dataset_id.",
        )
    return convert_to_tensor(dispatcher.added(dataset, dataset_id))


@export("data.experimental.service.from_dataset_id")
def from_dataset_id(
    processing_mode: Any,
    service: str,
    dataset_id: Any,
    element_spec: Any = None,
    job_name: str | None = None,
    consumer_index: int | None = None,
    num_consumers: int | None = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    cross_trainer_cache: CrossTrainerCache | None = None,
    target_workers: str = "AUTO",
) -> Dataset:
    """Reads a dataset that was registered with a service, in this process or in another.

    >>> service = tf.data.experimental.service
    >>> dispatcher = service.DispatchServer()
    >>> worker = service.WorkerServer(service.WorkerConfig(dispatcher.target.split("://")[1]))
    >>> name = service.register_dataset(dispatcher.target, tf.data.Dataset.range(3))
    >>> [int(x) for x in service.from_dataset_id("parallel_epochs", dispatcher.target, name)]
    [0, 1, 2]
    >>> dispatcher.stop()

    Args:
      processing_mode: as for `distribute`.
      service: the address of the dispatcher.
      dataset_id: what `register_dataset` has given.
      element_spec: what the elements are like. It is needed in another process.
      job_name: as for `distribute`.
      consumer_index: as for `distribute`.
      num_consumers: as for `distribute`.
      max_outstanding_requests: accepted for compatibility.
      data_transfer_protocol: accepted for compatibility.
      cross_trainer_cache: as for `distribute`.
      target_workers: accepted for compatibility.
    """
    policy = policy_of(processing_mode)
    check_options(job_name, consumer_index, num_consumers, "AUTO", target_workers)
    name = convert_to_tensor(dataset_id)
    if element_spec is None:
        dispatcher = dispatcher_at(service)
        if dispatcher is None:
            raise ValueError(
                "from_dataset_id: the dataset was registered by another process, which does not tell what its elements "
                "are like. Pass an element_spec."
            )
        element_spec = dispatcher.dataset(_text(name)).element_spec
    return _read(
        policy,
        service,
        name,
        element_spec,
        job_name,
        consumer_index,
        num_consumers,
        cross_trainer_cache,
    )


def _text(name: Tensor) -> str:
    value = name.numpy()
    return value.decode() if isinstance(value, bytes) else str(value)


def _read(
    policy: Any,
    service: str,
    dataset_id: Tensor,
    spec: Any,
    job_name: str | None,
    consumer: int | None,
    consumers: int | None,
    cache: CrossTrainerCache | None,
) -> Dataset:
    wanted = {"dataset": _text(dataset_id), "policy": int(policy), "consumers": consumers or 0}
    # The readers of a trainer's cache share a job, whether or not it has a name.
    wanted["name"] = job_name or (cache and "cross trainer cache") or None
    who = {"consumer": consumer, "trainer": None if cache is None else cache.trainer_id}
    iterations = itertools.count()

    def elements() -> Iterator[Any]:
        opened = {**wanted, "number": next(iterations)}
        for flat in (_here if dispatcher_at(service) else _elsewhere)(service, opened, who):
            yield nest.pack_sequence_as(spec, [Tensor(x) for x in flat], expand_composites=True)

    return Dataset.from_generator(elements, output_signature=spec)


def _here(service: str, opened: dict[str, Any], who: dict[str, Any]) -> Iterator[list[np.ndarray]]:
    dispatcher = dispatcher_at(service)
    if dispatcher is None:
        raise UnavailableError(None, None, f"tf.data service: {service} has stopped")
    job = dispatcher.open(**opened)
    try:
        yield from iter(lambda: dispatcher.next(job, **who), None)
    finally:
        dispatcher.leave(job)


def _elsewhere(
    service: str, opened: dict[str, Any], who: dict[str, Any]
) -> Iterator[list[np.ndarray]]:
    try:
        connection = socket.create_connection(place_of(service))
    except OSError as error:
        raise UnavailableError(
            None, None, f"tf.data service: {service} cannot be reached: {error}"
        ) from error
    with connection:
        job = _answered(connection, service, {"open": opened})[0]["job"]
        while True:
            said, element = _answered(connection, service, {"next": {"job": job, **who}})
            if said["over"]:
                return
            yield element


def _answered(connection: socket.socket, service: str, said: Any) -> tuple[Any, list[np.ndarray]]:
    try:
        send(connection, said)
        answer, arrays = received(connection)
    except OSError as error:
        raise UnavailableError(
            None, None, f"tf.data service: {service} is gone: {error}"
        ) from error
    if "error" in answer:
        kinds = {
            kind._code: kind for kind in (InvalidArgumentError, NotFoundError, UnavailableError)
        }
        raise kinds.get(answer["code"], UnknownError)(None, None, answer["error"])
    return answer, arrays
