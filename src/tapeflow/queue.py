"""`tf.queue`: queues of tensors between threads."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.queues.kinds import (
        FIFOQueue as FIFOQueue, PaddingFIFOQueue as PaddingFIFOQueue,
        PriorityQueue as PriorityQueue, RandomShuffleQueue as RandomShuffleQueue
    )
    from tapeflow._src.queues.queue import QueueBase as QueueBase
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.queue",
    names={
        "queues.kinds": "FIFOQueue PaddingFIFOQueue PriorityQueue RandomShuffleQueue",
        "queues.queue": "QueueBase",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
