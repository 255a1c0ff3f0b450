"""`tf.experimental.dlpack`: values as capsules of DLPack, for other libraries and from them."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.core.placement.exchange import (
        to_dlpack as to_dlpack, from_dlpack as from_dlpack
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.experimental.dlpack", names={"core.placement.exchange": "to_dlpack from_dlpack"}
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
