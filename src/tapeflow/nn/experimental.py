"""`tf.nn.experimental`: dropout that a seed decides."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.ops.nn.dropout import (
        stateless_dropout as stateless_dropout, general_dropout as general_dropout
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.nn.experimental", names={"ops.nn.dropout": "stateless_dropout general_dropout"}
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
