"""`tf.config.optimizer`: how `tf.function` makes programs of graphs."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.config.optimizer import (
        get_jit as get_jit, set_jit as set_jit,
        get_experimental_options as get_experimental_options,
        set_experimental_options as set_experimental_options
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.config.optimizer",
    names={"config.optimizer": "get_jit set_jit get_experimental_options set_experimental_options"},
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
