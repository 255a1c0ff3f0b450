"""`tf.nest`: nested structures of lists, tuples and dictionaries."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.core.nest import (
        is_nested as is_nested, flatten as flatten, pack_sequence_as as pack_sequence_as,
        map_structure as map_structure, assert_same_structure as assert_same_structure
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.nest",
    names={"core.nest": "is_nested flatten pack_sequence_as map_structure assert_same_structure"},
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
