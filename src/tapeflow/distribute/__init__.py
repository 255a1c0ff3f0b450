"""`tf.distribute`: one program on several replicas.

>>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
>>> strategy.num_replicas_in_sync
2
"""

# Written by scripts/exports.py, from the lines in _src that export these names.

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.distribute.cross_device_ops import (
    CrossDeviceOps as CrossDeviceOps,
    HierarchicalCopyAllReduce as HierarchicalCopyAllReduce,
    NcclAllReduce as NcclAllReduce,
    ReductionToOneDevice as ReductionToOneDevice,
)
from tapeflow._src.distribute.current import (
    experimental_set_strategy as experimental_set_strategy,
    get_replica_context as get_replica_context,
    get_strategy as get_strategy,
    has_strategy as has_strategy,
    in_cross_replica_context as in_cross_replica_context,
)
from tapeflow._src.distribute.datasets import (
    DistributedDataset as DistributedDataset,
    DistributedIterator as DistributedIterator,
)
from tapeflow._src.distribute.extended import StrategyExtended as StrategyExtended
from tapeflow._src.distribute.input_context import (
    InputContext as InputContext,
    InputOptions as InputOptions,
    InputReplicationMode as InputReplicationMode,
    RunOptions as RunOptions,
)
from tapeflow._src.distribute.left_out import (
    ParameterServerStrategy as ParameterServerStrategy,
    TPUStrategy as TPUStrategy,
)
from tapeflow._src.distribute.mirrored import (
    MirroredStrategy as MirroredStrategy,
    OneDeviceStrategy as OneDeviceStrategy,
)
from tapeflow._src.distribute.multi_worker import (
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from tapeflow._src.distribute.reduce_op import ReduceOp as ReduceOp
from tapeflow._src.distribute.replica import ReplicaContext as ReplicaContext
from tapeflow._src.distribute.strategy import Strategy as Strategy
from tapeflow._src.distribute.values import DistributedValues as DistributedValues
from tapeflow.distribute import cluster_resolver as cluster_resolver, experimental as experimental

__getattr__ = _Missing("tf.distribute")
