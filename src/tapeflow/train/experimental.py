"""`tf.train.experimental`: what checkpoints hold besides variables, and in which files."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.train.python_state import PythonState as PythonState
    from tapeflow._src.train.sharding import (
        ShardableTensor as ShardableTensor, ShardingCallback as ShardingCallback,
        ShardByTaskPolicy as ShardByTaskPolicy, MaxShardSizePolicy as MaxShardSizePolicy
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.train.experimental",
    names={
        "train.python_state": "PythonState",
        "train.sharding": "ShardableTensor ShardingCallback ShardByTaskPolicy MaxShardSizePolicy",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
