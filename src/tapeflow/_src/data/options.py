"""`tf.data.Options`: checked, kept and merged. Nothing here needs them to be fast."""

from __future__ import annotations

import enum
from typing import Any, ClassVar

from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.data.auto_shard import AutoShardPolicy


@export("data.experimental.AutotuneAlgorithm")
class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow finds out how many threads a pipeline needs. Here there is one way for all."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


@export("data.experimental.ExternalStatePolicy")
class ExternalStatePolicy(enum.Enum):
    """What to do where a pipeline depends on something outside of it, and is to be stored."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Group:
    """Options of one subject, each of which has a type, and reads as None before it is set."""

    kinds: ClassVar[dict[str, type]]
    aliases: ClassVar[dict[str, str]] = {}

    def __getattr__(self, name: str) -> Any:
        if name in self.aliases:
            return getattr(self, self.aliases[name])
        if name not in self.kinds:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return None

    def __setattr__(self, name: str, value: Any) -> None:
        name = self.aliases.get(name, name)
        kind = self.kinds.get(name)
        if kind is None:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}. It has {', '.join(self.kinds)}."
            )
        if not isinstance(value, kind):
            raise TypeError(
                f'Property "{name}" must be of type {kind}, got: {value!r} (type: {type(value)})'
            )
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.kinds]

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

    kinds: ClassVar = {"max_intra_op_parallelism": int, "private_threadpool_size": int}


@export("data.experimental.AutotuneOptions")
class AutotuneOptions(_Group):
    """Options for tuning.

    >>> options = tf.data.experimental.AutotuneOptions()
    >>> options.enabled = True
    >>> options
    AutotuneOptions(enabled=True)
    """

    kinds: ClassVar = {
        "enabled": bool,
        "autotune_algorithm": AutotuneAlgorithm,
        **dict.fromkeys(("cpu_budget", "ram_budget"), int),
        **dict.fromkeys(("initial_parallelism", "min_parallelism"), int),
    }


@export("data.experimental.DistributeOptions")
class DistributeOptions(_Group):
    """Options for several workers.

    >>> options = tf.data.experimental.DistributeOptions()
    >>> options.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    >>> options
    DistributeOptions(auto_shard_policy=<AutoShardPolicy.DATA: 2>)
    """

    kinds: ClassVar = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}

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

    kinds: ClassVar = dict.fromkeys(
        (
            *("apply_default_optimizations", "filter_fusion", "filter_parallelization"),
            *("inject_prefetch", "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion"),
            *("map_parallelization", "noop_elimination", "parallel_batch"),
            *("seq_interleave_prefetch", "shuffle_and_repeat_fusion"),
        ),
        bool,
    )


@export("data.experimental.ServiceOptions")
class ServiceOptions(_Group):
    """Options for `tf.data.experimental.service`.

    >>> options = tf.data.experimental.ServiceOptions()
    >>> options.pinned = False
    >>> options
    ServiceOptions(pinned=False)
    """

    kinds: ClassVar = {"pinned": bool}


@export("data.Options")
class Options(_Group):
    """Options of a dataset, for `Dataset.with_options`.

    >>> options = tf.data.Options()
    >>> options.deterministic = False
    >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
    False
    """

    kinds: ClassVar = {
        "deterministic": bool,
        "threading": ThreadingOptions,
        "autotune": AutotuneOptions,
        "dataset_name": str,
        "framework_type": list,
        "experimental_distribute": DistributeOptions,
        "experimental_optimization": OptimizationOptions,
        "experimental_service": ServiceOptions,
        "experimental_external_state_policy": ExternalStatePolicy,
        "experimental_slack": bool,
        "experimental_symbolic_checkpoint": bool,
        "experimental_warm_start": bool,
    }
    aliases: ClassVar = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
    }

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
