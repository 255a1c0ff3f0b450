"""`tf.distribute.experimental.coordinator`: older names of `tf.distribute.coordinator`."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.distribute.left_out import ClusterCoordinator as ClusterCoordinator
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.distribute.experimental.coordinator", names={"distribute.left_out": "ClusterCoordinator"}
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
