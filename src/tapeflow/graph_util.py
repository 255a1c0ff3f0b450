"""`tf.graph_util`: graphs that TensorFlow wrote."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.tensorflow_files.importing import import_graph_def as import_graph_def
# fmt: on
# isort: on

__getattr__ = _Missing("tf.graph_util", names={"tensorflow_files.importing": "import_graph_def"})


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
