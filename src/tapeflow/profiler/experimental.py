"""`tf.profiler.experimental`: profiles of what runs."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.profiler.session import (
        ProfilerOptions as ProfilerOptions, start as start, stop as stop, Profile as Profile,
        Trace as Trace
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.profiler.experimental",
    names={"profiler.session": "ProfilerOptions start stop Profile Trace"},
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
