"""`tf.autograph.experimental`: what to convert, and how."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.function.autograph.calls import do_not_convert as do_not_convert
    from tapeflow._src.function.autograph.directives import set_loop_options as set_loop_options
    from tapeflow._src.function.autograph.options import Feature as Feature
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.autograph.experimental",
    names={
        "function.autograph.calls": "do_not_convert",
        "function.autograph.directives": "set_loop_options",
        "function.autograph.options": "Feature",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
