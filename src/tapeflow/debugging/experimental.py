"""`tf.debugging.experimental`: files that tell what every op gave."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.autodiff.dump_debug_info import (
        enable_dump_debug_info as enable_dump_debug_info,
        disable_dump_debug_info as disable_dump_debug_info
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.debugging.experimental",
    names={"autodiff.dump_debug_info": "enable_dump_debug_info disable_dump_debug_info"},
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
