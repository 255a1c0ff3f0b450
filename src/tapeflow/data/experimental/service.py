"""`tf.data.experimental.service`: datasets that servers compute, for several programs that train."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.distribute.service.client import (
        distribute as distribute, register_dataset as register_dataset,
        from_dataset_id as from_dataset_id
    )
    from tapeflow._src.distribute.service.policies import (
        ShardingPolicy as ShardingPolicy, CrossTrainerCache as CrossTrainerCache
    )
    from tapeflow._src.distribute.service.servers import (
        DispatcherConfig as DispatcherConfig, DispatchServer as DispatchServer,
        WorkerConfig as WorkerConfig, WorkerServer as WorkerServer
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.data.experimental.service",
    names={
        "distribute.service.client": "distribute register_dataset from_dataset_id",
        "distribute.service.policies": "ShardingPolicy CrossTrainerCache",
        "distribute.service.servers": "DispatcherConfig DispatchServer WorkerConfig WorkerServer",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
