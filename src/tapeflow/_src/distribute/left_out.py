"""Strategies, and what drives them, that are classes here because libraries ask for them, and that cannot be made."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.errors import UnimplementedError
from tapeflow._src.core.export import export
from tapeflow._src.distribute.strategy import Strategy


class _LeftOut(Strategy):
    _instead: str

    def __init__(self, *_: Any, **__: Any) -> None:
        raise UnimplementedError(
            None, None, f"tf.distribute.{type(self).__name__} is not in tapeflow. {self._instead}"
        )


@export("distribute.TPUStrategy", "distribute.experimental.TPUStrategy")
class TPUStrategy(_LeftOut):
    """Replicas on the cores of TPUs. It is not here.

    >>> tf.distribute.TPUStrategy()
    Traceback (most recent call last):
    tapeflow._src.core.errors.UnimplementedError: tf.distribute.TPUStrategy is not in tapeflow. Use ...
    """

    _instead = "Use tf.distribute.MirroredStrategy, or keras.distribution, on the devices jax has."


@export("distribute.ParameterServerStrategy", "distribute.experimental.ParameterServerStrategy")
class ParameterServerStrategy(_LeftOut):
    """Workers that do not wait for each other, and servers that keep the variables. It is not here.

    >>> tf.distribute.ParameterServerStrategy(None)
    Traceback (most recent call last):
    tapeflow._src.core.errors.UnimplementedError: tf.distribute.ParameterServerStrategy is not in tapeflow. Use ...
    """

    _instead = "Use tf.distribute.MultiWorkerMirroredStrategy: workers in step, without servers."


@export(
    "distribute.coordinator.ClusterCoordinator",
    "distribute.experimental.coordinator.ClusterCoordinator",
)
class ClusterCoordinator:
    """Sends functions to the workers of a `ParameterServerStrategy`. It is not here.

    >>> tf.distribute.coordinator.ClusterCoordinator(None)
    Traceback (most recent call last):
    tapeflow._src.core.errors.UnimplementedError: tf.distribute.coordinator.ClusterCoordinator is not in tapeflow. ...
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        raise UnimplementedError(
            None,
            None,
            "tf.distribute.coordinator.ClusterCoordinator is not in tapeflow. Use "
            "tf.distribute.MultiWorkerMirroredStrategy: workers in step, which nobody drives. "
            "tf.distribute.experimental.rpc calls functions of other processes.",
        )


@export("distribute.experimental.CentralStorageStrategy")
class CentralStorageStrategy(_LeftOut):
    """Replicas on several devices, and variables on one. It is not here.

    >>> tf.distribute.experimental.CentralStorageStrategy()
    Traceback (most recent call last):
    tapeflow._src.core.errors.UnimplementedError: tf.distribute.CentralStorageStrategy is not in tapeflow. ...
    """

    _instead = "Use tf.distribute.MirroredStrategy."
