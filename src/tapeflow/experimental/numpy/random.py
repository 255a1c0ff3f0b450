"""`tf.experimental.numpy.random`: random numbers, by NumPy's names."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.numpy.random import (
        seed as seed, rand as rand, random as random, uniform as uniform, randn as randn,
        standard_normal as standard_normal, randint as randint, poisson as poisson
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.experimental.numpy.random",
    names={"numpy.random": "seed rand random uniform randn standard_normal randint poisson"},
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
