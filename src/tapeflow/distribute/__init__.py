"""`tf.distribute`: one program on several replicas.

>>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
>>> strategy.num_replicas_in_sync
2
"""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.distribute import cluster_resolver as cluster_resolver, experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow.distribute import coordinator as coordinator
    from tapeflow._src.distribute.cross_device_ops import (
        CrossDeviceOps as CrossDeviceOps, ReductionToOneDevice as ReductionToOneDevice,
        HierarchicalCopyAllReduce as HierarchicalCopyAllReduce, NcclAllReduce as NcclAllReduce
    )
    from tapeflow._src.distribute.current import (
        get_strategy as get_strategy, has_strategy as has_strategy,
        in_cross_replica_context as in_cross_replica_context,
        get_replica_context as get_replica_context,
        experimental_set_strategy as experimental_set_strategy
    )
    from tapeflow._src.distribute.datasets import (
        DistributedIterator as DistributedIterator, DistributedDataset as DistributedDataset
    )
    from tapeflow._src.distribute.extended import StrategyExtended as StrategyExtended
    from tapeflow._src.distribute.input_context import (
        InputContext as InputContext, InputReplicationMode as InputReplicationMode,
        InputOptions as InputOptions, RunOptions as RunOptions
    )
    from tapeflow._src.distribute.left_out import (
        TPUStrategy as TPUStrategy, ParameterServerStrategy as ParameterServerStrategy
    )
    from tapeflow._src.distribute.mirrored import (
        MirroredStrategy as MirroredStrategy, OneDeviceStrategy as OneDeviceStrategy
    )
    from tapeflow._src.distribute.multi_worker import (
        MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
    )
    from tapeflow._src.distribute.reduce_op import ReduceOp as ReduceOp
    from tapeflow._src.distribute.replica import ReplicaContext as ReplicaContext
    from tapeflow._src.distribute.strategy import Strategy as Strategy
    from tapeflow._src.distribute.values import DistributedValues as DistributedValues
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.distribute",
    later="coordinator",
    names={
        "distribute.cross_device_ops": "CrossDeviceOps ReductionToOneDevice HierarchicalCopyAllReduce NcclAllReduce",
        "distribute.current": "get_strategy has_strategy in_cross_replica_context get_replica_context experimental_set_strategy",
        "distribute.datasets": "DistributedIterator DistributedDataset",
        "distribute.extended": "StrategyExtended",
        "distribute.input_context": "InputContext InputReplicationMode InputOptions RunOptions",
        "distribute.left_out": "TPUStrategy ParameterServerStrategy",
        "distribute.mirrored": "MirroredStrategy OneDeviceStrategy",
        "distribute.multi_worker": "MultiWorkerMirroredStrategy",
        "distribute.reduce_op": "ReduceOp",
        "distribute.replica": "ReplicaContext",
        "distribute.strategy": "Strategy",
        "distribute.values": "DistributedValues",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
