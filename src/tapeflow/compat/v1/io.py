"""`tf.compat.v1.io`: how TensorFlow 1 reads records; other names are those of `tf.io`."""

# Written by scripts/exports.py, from the lines in _src that export these names.

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.compat.records import tf_record_iterator as tf_record_iterator
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.compat.v1.io", names={"compat.records": "tf_record_iterator"}, like="tapeflow.io"
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
