"""`tf.train`: checkpoints, and moving averages of variables."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.distribute.cluster import ClusterSpec as ClusterSpec
from tapeflow._src.io.example import (
    BytesList as BytesList,
    Example as Example,
    Feature as Feature,
    FeatureList as FeatureList,
    FeatureLists as FeatureLists,
    Features as Features,
    FloatList as FloatList,
    Int64List as Int64List,
    SequenceExample as SequenceExample,
)
from tapeflow._src.train.checkpoint import (
    Checkpoint as Checkpoint,
    CheckpointOptions as CheckpointOptions,
)
from tapeflow._src.train.coordinator import (
    Coordinator as Coordinator,
    checkpoints_iterator as checkpoints_iterator,
)
from tapeflow._src.train.manager import CheckpointManager as CheckpointManager
from tapeflow._src.train.moving_average import ExponentialMovingAverage as ExponentialMovingAverage
from tapeflow._src.train.reader import (
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from tapeflow._src.train.state_file import (
    get_checkpoint_state as get_checkpoint_state,
    latest_checkpoint as latest_checkpoint,
)

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow._src.train.trackable_view import TrackableView as TrackableView

__getattr__ = _Missing("tf.train", names={"train.trackable_view": "TrackableView"})


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
