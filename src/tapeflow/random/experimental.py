"""`tf.random.experimental`: other names for what is in `tf.random`, and shuffles that a seed decides."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.ops.random.distributions import (
        stateless_shuffle as stateless_shuffle, index_shuffle as index_shuffle,
        split as stateless_split, fold_in as stateless_fold_in
    )
    from tapeflow._src.ops.random.generator import (
        Algorithm as Algorithm, create_rng_state as create_rng_state, Generator as Generator,
        get_global_generator as get_global_generator, set_global_generator as set_global_generator
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.random.experimental",
    names={
        "ops.random.distributions": "stateless_shuffle index_shuffle stateless_split:split stateless_fold_in:fold_in",
        "ops.random.generator": "Algorithm create_rng_state Generator get_global_generator set_global_generator",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
