"""`tf.test.experimental`: waiting for devices."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.tools.test_conditions import sync_devices as sync_devices
# fmt: on
# isort: on

__getattr__ = _Missing("tf.test.experimental", names={"tools.test_conditions": "sync_devices"})


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
