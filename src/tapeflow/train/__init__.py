"""`tf.train`: checkpoints, and moving averages of variables."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.train import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.distribute.cluster import ClusterSpec as ClusterSpec
    from tapeflow._src.io.cluster_messages import (
        JobDef as JobDef, ClusterDef as ClusterDef, ServerDef as ServerDef
    )
    from tapeflow._src.io.example import (
        BytesList as BytesList, FloatList as FloatList, Int64List as Int64List, Feature as Feature,
        Features as Features, FeatureList as FeatureList, FeatureLists as FeatureLists,
        Example as Example, SequenceExample as SequenceExample
    )
    from tapeflow._src.train.checkpoint import (
        CheckpointOptions as CheckpointOptions, Checkpoint as Checkpoint
    )
    from tapeflow._src.train.checkpoint_view import CheckpointView as CheckpointView
    from tapeflow._src.train.coordinator import (
        Coordinator as Coordinator, checkpoints_iterator as checkpoints_iterator
    )
    from tapeflow._src.train.manager import CheckpointManager as CheckpointManager
    from tapeflow._src.train.moving_average import (
        ExponentialMovingAverage as ExponentialMovingAverage
    )
    from tapeflow._src.train.reader import (
        load_checkpoint as load_checkpoint, load_variable as load_variable,
        list_variables as list_variables
    )
    from tapeflow._src.train.state_file import (
        get_checkpoint_state as get_checkpoint_state, latest_checkpoint as latest_checkpoint
    )
    from tapeflow._src.train.trackable_view import TrackableView as TrackableView
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.train",
    names={
        "distribute.cluster": "ClusterSpec",
        "io.cluster_messages": "JobDef ClusterDef ServerDef",
        "io.example": "BytesList FloatList Int64List Feature Features FeatureList FeatureLists Example SequenceExample",
        "train.checkpoint": "CheckpointOptions Checkpoint",
        "train.checkpoint_view": "CheckpointView",
        "train.coordinator": "Coordinator checkpoints_iterator",
        "train.manager": "CheckpointManager",
        "train.moving_average": "ExponentialMovingAverage",
        "train.reader": "load_checkpoint load_variable list_variables",
        "train.state_file": "get_checkpoint_state latest_checkpoint",
        "train.trackable_view": "TrackableView",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
