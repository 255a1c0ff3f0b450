"""`tf.data.Options`: accepted, kept and merged. Nothing here needs them to be fast."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.data.auto_shard import AutoShardPolicy


class _Group:
    """Options of one subject: any name can be set, and reads as None before."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({given})"


@export("data.ThreadingOptions", "data.experimental.ThreadingOptions")
class ThreadingOptions(_Group):
    """Options for threads.

    >>> options = tf.data.ThreadingOptions()
    >>> options.private_threadpool_size = 4
    >>> options
    ThreadingOptions(private_threadpool_size=4)
    """


@export("data.experimental.AutotuneOptions")
class AutotuneOptions(_Group):
    """Options for tuning.

    >>> options = tf.data.experimental.AutotuneOptions()
    >>> options.enabled = True
    >>> options
    AutotuneOptions(enabled=True)
    """


@export("data.experimental.DistributeOptions")
class DistributeOptions(_Group):
    """Options for several workers.

    >>> options = tf.data.experimental.DistributeOptions()
    >>> options.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    >>> options
    DistributeOptions(auto_shard_policy=<AutoShardPolicy.DATA: 2>)
    """

    def __getattr__(self, name: str) -> Any:
        return AutoShardPolicy.AUTO if name == "auto_shard_policy" else super().__getattr__(name)


@export("data.experimental.OptimizationOptions")
class OptimizationOptions(_Group):
    """Options for rewriting pipelines.

    >>> options = tf.data.experimental.OptimizationOptions()
    >>> options.map_fusion = True
    >>> options
    OptimizationOptions(map_fusion=True)
    """


@export("data.experimental.ServiceOptions")
class ServiceOptions(_Group):
    """Options for `tf.data.experimental.service`.

    >>> options = tf.data.experimental.ServiceOptions()
    >>> options.pinned = False
    >>> options
    ServiceOptions(pinned=False)
    """


@export("data.Options")
class Options(_Group):
    """Options of a dataset, for `Dataset.with_options`.

    >>> options = tf.data.Options()
    >>> options.deterministic = False
    >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
    False
    """

    def __init__(self) -> None:
        self.threading = ThreadingOptions()
        self.autotune = AutotuneOptions()
        self.experimental_distribute = DistributeOptions()
        self.experimental_optimization = OptimizationOptions()
        self.experimental_service = ServiceOptions()

    def merge(self, other: Options) -> Options:
        """These options, and those that `other` sets."""
        if not isinstance(other, Options):
            raise wrong_object("Options.merge", "options", "a tf.data.Options", other)
        merged = Options()
        for source in (self, other):
            for name, value in vars(source).items():
                if isinstance(value, _Group):
                    vars(getattr(merged, name)).update(vars(value))
                else:
                    setattr(merged, name, value)
        return merged
