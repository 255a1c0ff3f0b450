"""`tf.linalg.experimental`: systems solved by products alone."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.linear_operators.gradient_descent import (
        conjugate_gradient as conjugate_gradient
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.linalg.experimental", names={"linear_operators.gradient_descent": "conjugate_gradient"}
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
