"""`tf.train.ClusterDef`, `JobDef` and `ServerDef`: the processes of a job, as messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any, ClassVar, Self

from tapeflow._src.core.export import export
from tapeflow._src.io import wire
from tapeflow._src.io.message_fields import Tell, Told
from tapeflow._src.io.message_scalars import INTEGER, TEXT
from tapeflow._src.io.messages import Field, Message


class NumberedTexts(Told, MutableMapping[int, str]):
    """A map from integers to texts."""

    def __init__(self, tell: Tell = None) -> None:
        self._tell = tell
        self._items: dict[int, str] = {}

    def __getitem__(self, key: int) -> str:
        return self._items.setdefault(INTEGER.checked("key", key), "")

    def get(self, key: int, default: Any = None) -> Any:
        """What is there, without adding it."""
        return self._items.get(key, default)

    def __setitem__(self, key: int, value: str) -> None:
        self._items[INTEGER.checked("key", key)] = TEXT.checked("value", value)
        self._changed()

    def __delitem__(self, key: int) -> None:
        del self._items[key]

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[int]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self._items == dict(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return repr(self._items)

    def copied(self) -> Self:
        """The same map, by itself."""
        new = type(self)()
        new._items = dict(self._items)
        return new

    def extend(self, others: Mapping[int, str]) -> None:
        """Takes over what is in another map."""
        for key, value in others.items():
            self[key] = value

    def blocks(self) -> Iterable[list[str]]:
        """The lines of each entry, as they are shown."""
        for key in sorted(self._items):
            yield [f"key: {key}", f"value: {TEXT.shown(self._items[key])}"]

    def serialized(self, number: int) -> bytes:
        """The whole field."""
        return b"".join(
            wire.data(number, wire.integer(1, key) + wire.text(2, self._items[key]))
            for key in sorted(self._items)
        )

    def read(self, value: int | bytes) -> None:
        """Adds an entry that stands on the wire."""
        if not isinstance(value, bytes):
            raise ValueError("an integer, where an entry of a map belongs")
        inside = dict(wire.fields(value))
        self[INTEGER.read(inside.get(1, 0))] = TEXT.read(inside.get(2, b""))


@export("train.JobDef")
class JobDef(Message):
    """The addresses of the processes of one role.

    >>> tf.train.JobDef(name="worker", tasks={0: "a:1", 1: "b:1"}).tasks[1]
    'b:1'
    """

    FULL_NAME = "tensorflow.JobDef"
    FIELDS: ClassVar[dict[str, Field]] = {"name": Field(1, TEXT), "tasks": Field(2, NumberedTexts)}


@export("train.ClusterDef")
class ClusterDef(Message):
    """The addresses of all processes of a job, by their roles.

    >>> spec = tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})
    >>> tf.train.ClusterSpec(tf.train.ClusterDef.FromString(spec.as_cluster_def().SerializeToString()))
    ClusterSpec({'worker': ['a:1', 'b:1']})
    """

    FULL_NAME = "tensorflow.ClusterDef"
    FIELDS: ClassVar[dict[str, Field]] = {"job": Field(1, "messages", JobDef)}


@export("train.ServerDef")
class ServerDef(Message):
    """A job, and which of its processes one is.

    >>> server = tf.train.ServerDef(job_name="worker", task_index=1, protocol="grpc")
    >>> server.cluster.job.add(name="worker").tasks[0] = "a:1"
    >>> print(server)
    cluster {
      job {
        name: "worker"
        tasks {
          key: 0
          value: "a:1"
        }
      }
    }
    job_name: "worker"
    task_index: 1
    protocol: "grpc"
    <BLANKLINE>
    """

    FULL_NAME = "tensorflow.ServerDef"
    FIELDS: ClassVar[dict[str, Field]] = {
        "cluster": Field(1, "message", ClusterDef),
        "job_name": Field(2, TEXT),
        "task_index": Field(3, INTEGER),
        "protocol": Field(5, TEXT),
        "port": Field(6, INTEGER),
    }
