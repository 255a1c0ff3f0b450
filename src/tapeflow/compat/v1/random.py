"""`tf.compat.v1.random`: TensorFlow 1's name for setting the seed; other names are those of `tf.random`."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.compat.first import set_random_seed as set_random_seed
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.compat.v1.random", names={"compat.first": "set_random_seed"}, like="tapeflow.random"
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
