"""`tf.lookup`: tables from keys to values."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.lookup import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.lookup.initializers import (
        KeyValueTensorInitializer as KeyValueTensorInitializer, TextFileIndex as TextFileIndex,
        TextFileInitializer as TextFileInitializer
    )
    from tapeflow._src.lookup.static import (
        StaticHashTable as StaticHashTable, StaticVocabularyTable as StaticVocabularyTable
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.lookup",
    names={
        "lookup.initializers": "KeyValueTensorInitializer TextFileIndex TextFileInitializer",
        "lookup.static": "StaticHashTable StaticVocabularyTable",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
