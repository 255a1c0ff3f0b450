"""`tf.summary.experimental`: the default step, and messages as they are."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.summary.state import get_step as get_step, set_step as set_step
    from tapeflow._src.summary.writing import (
        write_raw_pb as write_raw_pb, summary_scope as summary_scope
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.summary.experimental",
    names={"summary.state": "get_step set_step", "summary.writing": "write_raw_pb summary_scope"},
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
