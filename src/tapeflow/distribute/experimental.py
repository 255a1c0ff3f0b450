"""`tf.distribute.experimental`: how replicas talk, and what a program does when its machine is taken away."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.distribute.communication import (
    CollectiveHints as CollectiveHints,
    CommunicationImplementation as CollectiveCommunication,
    CommunicationImplementation as CommunicationImplementation,
    CommunicationOptions as CommunicationOptions,
)
from tapeflow._src.distribute.left_out import (
    CentralStorageStrategy as CentralStorageStrategy,
    ParameterServerStrategy as ParameterServerStrategy,
    TPUStrategy as TPUStrategy,
)
from tapeflow._src.distribute.multi_worker import (
    ExperimentalMultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from tapeflow._src.distribute.preemption import (
    PreemptionCheckpointHandler as PreemptionCheckpointHandler,
    TerminationConfig as TerminationConfig,
)
from tapeflow._src.distribute.strategy import ValueContext as ValueContext

__getattr__ = _Missing("tf.distribute.experimental")
