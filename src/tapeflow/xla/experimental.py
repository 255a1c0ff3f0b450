"""`tf.xla.experimental`: computations that XLA compiles."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.function.compiled import compile as compile, jit_scope as jit_scope
# fmt: on
# isort: on

__getattr__ = _Missing("tf.xla.experimental", names={"function.compiled": "compile jit_scope"})


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
