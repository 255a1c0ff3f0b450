"""`tf.config.threading`: how many threads compute."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.config.threading import (
        get_inter_op_parallelism_threads as get_inter_op_parallelism_threads,
        set_inter_op_parallelism_threads as set_inter_op_parallelism_threads,
        get_intra_op_parallelism_threads as get_intra_op_parallelism_threads,
        set_intra_op_parallelism_threads as set_intra_op_parallelism_threads
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.config.threading",
    names={
        "config.threading": "get_inter_op_parallelism_threads set_inter_op_parallelism_threads get_intra_op_parallelism_threads set_intra_op_parallelism_threads"
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
