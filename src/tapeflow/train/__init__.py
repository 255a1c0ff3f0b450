"""`tf.train`: checkpoints, and moving averages of variables."""

from tapeflow.core.missing import Missing as _Missing
from tapeflow.train.checkpoint import (
    Checkpoint as Checkpoint,
    CheckpointOptions as CheckpointOptions,
)
from tapeflow.train.manager import (
    CheckpointManager as CheckpointManager,
)
from tapeflow.train.moving_average import (
    ExponentialMovingAverage as ExponentialMovingAverage,
)
from tapeflow.train.reader import (
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from tapeflow.train.state_file import (
    get_checkpoint_state as get_checkpoint_state,
    latest_checkpoint as latest_checkpoint,
)

__getattr__ = _Missing("tf.train")
