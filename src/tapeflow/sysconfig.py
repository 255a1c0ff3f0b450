"""`tf.sysconfig`: what this installation can do."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.config.build import get_build_info as get_build_info
# fmt: on
# isort: on

__getattr__ = _Missing("tf.sysconfig", names={"config.build": "get_build_info"})


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
