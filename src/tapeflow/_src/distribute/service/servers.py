"""`tf.data.experimental.service`: the servers, and how they are asked over TCP.

A request is a text in JSON; an answer is one, and the tensors of an element. A connection lasts as long as somebody
reads. There is no encryption, and nobody is asked who he is: use it in networks that you trust.
"""

from __future__ import annotations

import itertools
import json
import socket
import socketserver
import struct
import threading
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.errors import NotFoundError, OpError, UnavailableError, shown
from tapeflow._src.core.export import export
from tapeflow._src.data.dataset import Dataset
from tapeflow._src.distribute.service.jobs import Job
from tapeflow._src.distribute.service.policies import ShardingPolicy
from tapeflow._src.io import wire
from tapeflow._src.io.tensor_proto import parsed_tensor_proto, tensor_proto

_LARGEST = 2**31
_HERE = ("localhost", "127.0.0.1", "0.0.0.0", "::1", socket.gethostname())
_dispatchers: dict[int, DispatchServer] = {}  # of this process, by their ports


def place_of(address: str) -> tuple[str, int]:
    """The host and the port of an address, with or without the name of a protocol."""
    if not isinstance(address, str):
        raise TypeError(f"tf.data service: an address is a string, got {shown(address)}")
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdigit():
        raise ValueError(
            f"tf.data service: an address is such as 'grpc://localhost:5000', got {shown(address)}"
        )
    return host.strip("[]"), int(port)


def dispatcher_at(address: str) -> DispatchServer | None:
    """The dispatcher of this process that listens at an address."""
    host, port = place_of(address)
    return _dispatchers.get(port) if host in _HERE else None


def send(connection: socket.socket, said: Any, arrays: Any = ()) -> None:
    """Sends a text in JSON, and arrays."""
    tensors = [wire.data(2, tensor_proto(array, packed=True)) for array in arrays]
    message = wire.text(1, json.dumps(said)) + b"".join(tensors)
    connection.sendall(struct.pack("<Q", len(message)) + message)


def received(connection: socket.socket) -> tuple[Any, list[np.ndarray]]:
    """The text and the arrays of a message."""
    (length,) = struct.unpack("<Q", _exactly(connection, 8))
    if length > _LARGEST:
        raise ValueError(f"a message of {length} bytes")
    fields = wire.fields(_exactly(connection, length))
    (said,) = [json.loads(value) for number, value in fields if number == 1]  # type: ignore[arg-type]
    return said, [parsed_tensor_proto(v) for n, v in fields if n == 2 and isinstance(v, bytes)]


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts: list[bytes] = []
    while count:
        part = connection.recv(min(count, 2**20))
        if not part:
            raise ConnectionError("the connection has ended")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


class _Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    dispatcher: DispatchServer


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        dispatcher = self.server.dispatcher  # type: ignore[attr-defined]
        opened: list[str] = []
        try:
            while True:
                said, _ = received(self.request)
                try:
                    if "open" in said:
                        opened.append(dispatcher.open(**said["open"]))
                        send(self.request, {"job": opened[-1]})
                    else:
                        element = dispatcher.next(**said["next"])
                        send(self.request, {"over": element is None}, element or ())
                except Exception as error:
                    code = error.error_code if isinstance(error, OpError) else 2
                    send(self.request, {"error": str(error), "code": code})
        except (OSError, ValueError, KeyError, TypeError):  # who asked is gone, or speaks otherwise
            pass
        for job in opened:
            dispatcher.leave(job)


@export("data.experimental.service.DispatcherConfig")
class DispatcherConfig(NamedTuple):
    """Options of a `DispatchServer`.

    >>> tf.data.experimental.service.DispatcherConfig(port=5050).port
    5050

    Attributes:
      port: where it listens; 0 for one that is free.
      protocol: accepted for compatibility.
      work_dir: accepted for compatibility.
      fault_tolerant_mode: accepted for compatibility: what was registered ends with the process.
      worker_addresses: accepted for compatibility.
      job_gc_check_interval_ms: accepted for compatibility.
      job_gc_timeout_ms: accepted for compatibility.
      worker_timeout_ms: accepted for compatibility.
      worker_max_concurrent_snapshots: accepted for compatibility.
    """

    port: int = 0
    protocol: str | None = None
    work_dir: str | None = None
    fault_tolerant_mode: bool = False
    worker_addresses: Any = None
    job_gc_check_interval_ms: int | None = None
    job_gc_timeout_ms: int | None = None
    worker_timeout_ms: int | None = None
    worker_max_concurrent_snapshots: int = 0


@export("data.experimental.service.DispatchServer")
class DispatchServer:
    """Knows datasets and workers, and gives elements to clients, of this process and of others.

    >>> dispatcher = tf.data.experimental.service.DispatchServer()
    >>> worker = tf.data.experimental.service.WorkerServer(
    ...     tf.data.experimental.service.WorkerConfig(dispatcher.target.split("://")[1]))
    >>> data = tf.data.Dataset.range(5).apply(
    ...     tf.data.experimental.service.distribute("distributed_epoch", dispatcher.target))
    >>> sorted(data.as_numpy_iterator())
    [np.int64(0), np.int64(1), np.int64(2), np.int64(3), np.int64(4)]
    >>> dispatcher.stop()

    Args:
      config: a `DispatcherConfig`.
      start: whether it begins at once.
    """

    def __init__(self, config: DispatcherConfig | None = None, start: bool = True) -> None:
        self._config = config or DispatcherConfig()
        if self._config.fault_tolerant_mode and not self._config.work_dir:
            raise ValueError(
                "Cannot enable fault tolerant mode without configuring a work dir. Make sure to set `work_dir` in the "
                "`config` object passed to `DispatcherServer`."
            )
        self._listener: _Listener | None = None
        self._stopped = threading.Event()
        self._news = threading.Condition()
        self._workers = 0
        self._datasets: dict[str, Dataset] = {}
        self._jobs: dict[str, Job] = {}
        self._readers: dict[str, int] = {}
        self._numbers = itertools.count()
        if start:
            self.start()

    def start(self) -> None:
        """Begins to listen."""
        if self._listener is not None:
            return
        self._listener = _Listener(("", self._config.port), _Handler)
        self._listener.dispatcher = self
        _dispatchers[self._port] = self
        threading.Thread(
            target=self._listener.serve_forever,
            args=(0.05,),
            name="tapeflow data service",
            daemon=True,
        ).start()

    @property
    def _port(self) -> int:
        if self._listener is None:
            raise RuntimeError("The DispatchServer has not been started: call start().")
        return self._listener.server_address[1]

    @property
    def target(self) -> str:
        """Where it can be reached, such as `grpc://localhost:5050`."""
        return f"grpc://localhost:{self._port}"

    def join(self) -> None:
        """Waits until it is stopped."""
        self._stopped.wait()

    def stop(self) -> None:
        """Ends it, and all jobs."""
        if self._listener is not None and not self._stopped.is_set():
            self._stopped.set()
            _dispatchers.pop(self._port, None)
            self._listener.shutdown()
            self._listener.server_close()
            for job in self._jobs.values():
                job.close()
            with self._news:
                self._news.notify_all()

    def added(self, dataset: Dataset, dataset_id: str | None) -> str:
        """Notes a dataset, under a name of its own if none is given."""
        with self._news:
            names = list(filter(lambda name: self._datasets[name] is dataset, self._datasets))
            if names and dataset_id in (None, *names):
                return dataset_id or names[0]
            name = dataset_id or f"{1000 + next(self._numbers)}"
            known = self._datasets.setdefault(name, dataset)
            if known is not dataset and known.element_spec != dataset.element_spec:
                raise ValueError(
                    f"register_dataset: another dataset has the id {name!r}, with elements such as {known.element_spec}"
                )
            return name

    def dataset(self, dataset_id: str) -> Dataset:
        """The dataset of a name."""
        if dataset_id not in self._datasets:
            raise NotFoundError(
                None,
                None,
                f"tf.data service: no dataset {dataset_id!r} is registered at {self.target}",
            )
        return self._datasets[dataset_id]

    def joined(self, by: int) -> None:
        """A worker has come, or has gone."""
        with self._news:
            self._workers += by
            self._news.notify_all()

    def open(self, dataset: str, policy: int, name: str | None, number: int, consumers: int) -> str:
        """Begins a job, or joins the one of this name."""
        with self._news:
            self._news.wait_for(lambda: self._workers or self._stopped.is_set())
            if self._stopped.is_set():
                raise UnavailableError(None, None, "tf.data service: the dispatcher has stopped")
            found = self.dataset(dataset)
            key = f"{dataset}/{name}/{number}" if name else f"job {next(self._numbers)}"
            if key not in self._jobs:
                self._jobs[key] = Job(found, ShardingPolicy(policy), self._workers, consumers)
            self._readers[key] = self._readers.get(key, 0) + (0 if name else 1)
            return key

    def next(
        self, job: str, consumer: int | None = None, trainer: str | None = None
    ) -> list[np.ndarray] | None:
        """The next element of a job, or None when there is none."""
        return self._jobs[job].next(consumer, trainer)

    def leave(self, job: str) -> None:
        """Somebody reads no more. A job without a name ends with its reader."""
        with self._news:
            if self._readers.get(job) == 1:
                del self._readers[job]
                self._jobs.pop(job).close()


@export("data.experimental.service.WorkerConfig")
class WorkerConfig(NamedTuple):
    """Options of a `WorkerServer`.

    >>> tf.data.experimental.service.WorkerConfig("localhost:5050").dispatcher_address
    'localhost:5050'

    Attributes:
      dispatcher_address: of a `DispatchServer` in the same process.
      worker_address: accepted for compatibility.
      port: accepted for compatibility: clients ask the dispatcher.
      protocol: accepted for compatibility.
      heartbeat_interval_ms: accepted for compatibility.
      dispatcher_timeout_ms: accepted for compatibility.
      data_transfer_protocol: accepted for compatibility.
      data_transfer_address: accepted for compatibility.
    """

    dispatcher_address: str
    worker_address: str | None = None
    port: int = 0
    protocol: str | None = None
    heartbeat_interval_ms: int | None = None
    dispatcher_timeout_ms: int | None = None
    data_transfer_protocol: str | None = None
    data_transfer_address: str | None = None


@export("data.experimental.service.WorkerServer")
class WorkerServer:
    """Runs a pipeline of its own for every job of its dispatcher, in threads.

    >>> dispatcher = tf.data.experimental.service.DispatchServer()
    >>> worker = tf.data.experimental.service.WorkerServer(
    ...     tf.data.experimental.service.WorkerConfig(dispatcher.target.split("://")[1]))
    >>> worker.stop(), dispatcher.stop()
    (None, None)

    Args:
      config: a `WorkerConfig`.
      start: whether it begins at once.
    """

    def __init__(self, config: WorkerConfig, start: bool = True) -> None:
        if not isinstance(config, WorkerConfig):
            raise TypeError(f"WorkerServer: config must be a WorkerConfig, got {shown(config)}")
        if not config.dispatcher_address:
            raise ValueError(
                "Must specify a `dispatcher_address` in the `config` passed to `WorkerServer`."
            )
        self._config = config
        self._dispatcher: DispatchServer | None = None
        self._stopped = threading.Event()
        if start:
            self.start()

    def start(self) -> None:
        """Joins its dispatcher. Jobs that begin from now on are its own, too."""
        found = dispatcher_at(self._config.dispatcher_address)
        if found is None:
            raise UnavailableError(
                None,
                None,
                f"WorkerServer: there is no DispatchServer at {self._config.dispatcher_address} in this process. "
                "Workers run where datasets are made: start the dispatcher here.",
            )
        if self._dispatcher is None:
            self._dispatcher = found
            found.joined(1)

    def join(self) -> None:
        """Waits until it is stopped."""
        self._stopped.wait()

    def stop(self) -> None:
        """Takes no part in jobs that begin later."""
        if self._dispatcher is not None and not self._stopped.is_set():
            self._dispatcher.joined(-1)
        self._stopped.set()
