"""`tf.experimental.extension_type`: what there is to know of extension types."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.extension.extension_type import as_dict as as_dict
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.experimental.extension_type", names={"extension.extension_type": "as_dict"}
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
