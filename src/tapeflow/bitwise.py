"""`tf.bitwise`: logic and shifts on the bits of integers."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.ops.elementwise.bits import (
        bitwise_and as bitwise_and, bitwise_or as bitwise_or, bitwise_xor as bitwise_xor,
        invert as invert, left_shift as left_shift, right_shift as right_shift
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.bitwise",
    names={
        "ops.elementwise.bits": "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift"
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
