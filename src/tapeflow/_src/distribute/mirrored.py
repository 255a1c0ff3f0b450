"""Strategies of one process: several replicas in step, or one on a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.devices import devices as known_devices
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.distribute.extended import StrategyExtended
from tapeflow._src.distribute.reduce_op import ReduceOp
from tapeflow._src.distribute.strategy import Strategy
from tapeflow._src.distribute.values import local


def full_name(device: Any) -> str:
    """A device as TensorFlow writes it out: "CPU:1" is "/job:localhost/replica:0/task:0/device:CPU:1"."""
    text = str(device).rpartition("device:")[2].strip("/")
    kind, _, number = text.partition(":")
    if not kind.isalpha() or (number and not number.isdigit()):
        raise ValueError(
            f"tf.distribute: {shown(device)} is not the name of a device. Names are such as 'GPU:0' or '/device:CPU:1'."
        )
    return f"/job:localhost/replica:0/task:0/device:{kind.upper()}:{number or 0}"


def devices_in_use() -> list[str]:
    """All GPUs, or without one all logical CPUs."""
    found = [d.name for d in known_devices.logical() if d.device_type == "GPU"]
    return found or [d.name for d in known_devices.logical() if d.device_type == "CPU"]


@export("distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """Replicas on the devices of this computer. Each has a copy of every variable, and they are kept equal.

    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> with strategy.scope():
    ...     v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
    >>> _ = strategy.run(lambda: v.assign_add(tf.constant(1.0)))
    >>> v.numpy()
    np.float32(2.0)

    The devices need not exist: without jax, or where there are fewer, replicas with names share this computer.

    Args:
      devices: names of devices, one for each replica. By default all GPUs, or without one all logical CPUs.
      cross_device_ops: a `tf.distribute.CrossDeviceOps`. The sums are the same with any of them.
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        if isinstance(devices, str):
            raise ValueError(
                f"MirroredStrategy: devices must be a list of names, got {shown(devices)}. Write [{devices!r}]."
            )
        names = tuple(full_name(d) for d in devices or devices_in_use())
        if len(set(names)) != len(names):
            raise AssertionError(f"No duplicates allowed in `devices` argument: {names}")
        super().__init__(StrategyExtended(names))
        self.extended.strategy = self


@export("distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """One replica on a device: to try a program that is written for several.

    >>> strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    >>> strategy.run(lambda x: x + 1.0, args=(tf.constant(1.0),)).numpy()
    np.float32(2.0)

    Args:
      device: its name.
    """

    def __init__(self, device: str) -> None:
        super().__init__(StrategyExtended([full_name(device)]))
        self.extended.strategy = self

    def _reduced(self, op: ReduceOp, value: Any) -> Any:
        # Of any kind, None as well: a step need not return anything.
        return value if local(value) is None else super()._reduced(op, value)

    def new_variable(self, *args: Any, **kwargs: Any) -> Variable:
        """A plain variable: there is but one copy."""
        return object.__new__(Variable)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset."""
        return dataset
