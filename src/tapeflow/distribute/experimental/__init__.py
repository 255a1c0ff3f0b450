"""`tf.distribute.experimental`: how replicas talk, and what a program does when its machine is taken away."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401, E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow.distribute.experimental import (
        coordinator as coordinator, partitioners as partitioners, rpc as rpc
    )
    from tapeflow._src.distribute.communication import (
        CommunicationImplementation as CommunicationImplementation,
        CommunicationImplementation as CollectiveCommunication,
        CommunicationOptions as CommunicationOptions, CollectiveHints as CollectiveHints
    )
    from tapeflow._src.distribute.left_out import (
        TPUStrategy as TPUStrategy, ParameterServerStrategy as ParameterServerStrategy,
        CentralStorageStrategy as CentralStorageStrategy
    )
    from tapeflow._src.distribute.multi_worker import (
        ExperimentalMultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
    )
    from tapeflow._src.distribute.preemption import (
        TerminationConfig as TerminationConfig,
        PreemptionCheckpointHandler as PreemptionCheckpointHandler,
        PreemptionWatcher as PreemptionWatcher
    )
    from tapeflow._src.distribute.strategy import ValueContext as ValueContext
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.distribute.experimental",
    later="coordinator partitioners rpc",
    names={
        "distribute.communication": "CommunicationImplementation CollectiveCommunication:CommunicationImplementation CommunicationOptions CollectiveHints",
        "distribute.left_out": "TPUStrategy ParameterServerStrategy CentralStorageStrategy",
        "distribute.multi_worker": "MultiWorkerMirroredStrategy:ExperimentalMultiWorkerMirroredStrategy",
        "distribute.preemption": "TerminationConfig PreemptionCheckpointHandler PreemptionWatcher",
        "distribute.strategy": "ValueContext",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
