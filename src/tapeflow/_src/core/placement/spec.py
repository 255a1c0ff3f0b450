"""`tf.DeviceSpec`: the parts of a device's name."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export


@export("DeviceSpec")
class DeviceSpec:
    """A device's name in parts, any of which may be left open.

    >>> tf.DeviceSpec(job="worker", task=1, device_type="GPU", device_index=0).to_string()
    '/job:worker/task:1/device:GPU:0'
    >>> tf.DeviceSpec.from_string("/CPU:0")
    <DeviceSpec(job=None, replica=None, task=None, device_type=CPU, device_index=0)>
    """

    __slots__ = ("_device_index", "_device_type", "_job", "_replica", "_task")

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        if device_type is not None and not isinstance(device_type, str):
            raise TypeError(f"DeviceSpec: device_type must be a text, got {shown(device_type)}")
        known = device_type is not None and device_type.upper() in ("CPU", "GPU", "TPU")
        self._device_type = device_type.upper() if device_type and known else device_type
        self._device_index = None if device_index is None else int(device_index)

    @property
    def job(self) -> str | None:
        """The name of the job that a process belongs to."""
        return self._job

    @property
    def replica(self) -> int | None:
        """The number of the replica."""
        return self._replica

    @property
    def task(self) -> int | None:
        """The number of the process in its job."""
        return self._task

    @property
    def device_type(self) -> str | None:
        """The kind of device: "CPU" or "GPU"."""
        return self._device_type

    @property
    def device_index(self) -> int | None:
        """The number of the device among those of its kind."""
        return self._device_index

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Reads a name such as `"/job:worker/task:1/device:GPU:0"`.

        >>> tf.DeviceSpec.from_string("/task:2/GPU:1").task
        2
        """
        found: dict[str, Any] = {}
        for part in filter(None, str(spec or "").split("/")):
            words = part.split(":")
            kind = words[0].lower()
            if kind in ("job", "replica", "task") and len(words) == 2:
                found[kind] = words[1] if kind == "job" else int(words[1])
            elif kind == "device" and len(words) in (2, 3):
                found["device_type"] = words[1]
                found["device_index"] = _number(words[2]) if len(words) == 3 else None
            elif kind in ("cpu", "gpu", "tpu") and len(words) in (1, 2):
                found["device_type"] = kind.upper()
                found["device_index"] = _number(words[1]) if len(words) == 2 else None
            else:
                raise ValueError(
                    f"Unknown part {part!r} in the name of a device: {shown(spec)}. Names are like "
                    '"/job:worker/task:1/device:GPU:0" or "GPU:0".'
                )
        return cls(**found)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """The same as `from_string`."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """The name, without what is left open."""
        parts = [
            f"/{kind}:{value}"
            for kind, value in (("job", self.job), ("replica", self.replica), ("task", self.task))
            if value is not None
        ]
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type}:{index}")
        return "".join(parts)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """These parts, with those that `dev` has in their place.

        >>> tf.DeviceSpec(job="worker", task=1).make_merged_spec(tf.DeviceSpec(task=2)).to_string()
        '/job:worker/task:2'
        """
        given = {k: v for k, v in dev._parts().items() if v is not None}
        return type(self)(**{**self._parts(), **given})

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """The same with other parts.

        >>> tf.DeviceSpec(job="worker").replace(device_type="CPU", device_index=0).to_string()
        '/job:worker/device:CPU:0'
        """
        return type(self)(**{**self._parts(), **kwargs})

    def _parts(self) -> dict[str, Any]:
        return {name.lstrip("_"): getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(tuple(self._parts().items()))

    def __repr__(self) -> str:
        return (
            f"<DeviceSpec(job={self.job}, replica={self.replica}, task={self.task}, "
            f"device_type={self.device_type}, device_index={self.device_index})>"
        )


def _number(text: str) -> int | None:
    return None if text == "*" else int(text)
