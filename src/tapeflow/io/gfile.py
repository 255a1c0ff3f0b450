"""`tf.io.gfile`: files and folders of this machine."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.io.gfile import (
        GFile as GFile, exists as exists, isdir as isdir, join as join, glob as glob,
        listdir as listdir, mkdir as mkdir, makedirs as makedirs, copy as copy, rename as rename,
        remove as remove, rmtree as rmtree, stat as stat, walk as walk,
        get_registered_schemes as get_registered_schemes
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.io.gfile",
    names={
        "io.gfile": "GFile exists isdir join glob listdir mkdir makedirs copy rename remove rmtree stat walk get_registered_schemes"
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
