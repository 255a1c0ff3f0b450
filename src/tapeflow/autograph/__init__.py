"""`tf.autograph`: Python's control flow inside `tf.function`."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.autograph import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.function.autograph.inspection import (
        to_graph as to_graph, to_code as to_code, set_verbosity as set_verbosity, trace as trace
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.autograph", names={"function.autograph.inspection": "to_graph to_code set_verbosity trace"}
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
