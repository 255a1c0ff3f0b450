"""`tf.distribute.experimental.partitioners`: into how many pieces a variable is cut."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.distribute.partitioners import (
        Partitioner as Partitioner, FixedShardsPartitioner as FixedShardsPartitioner,
        MinSizePartitioner as MinSizePartitioner, MaxSizePartitioner as MaxSizePartitioner
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.distribute.experimental.partitioners",
    names={
        "distribute.partitioners": "Partitioner FixedShardsPartitioner MinSizePartitioner MaxSizePartitioner"
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
