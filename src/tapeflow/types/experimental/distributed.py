"""`tf.types.experimental.distributed`: values of several replicas."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.distribute.values import PerReplica as PerReplica, Mirrored as Mirrored
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.types.experimental.distributed", names={"distribute.values": "PerReplica Mirrored"}
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
