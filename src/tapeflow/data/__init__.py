"""`tf.data`: input pipelines.

>>> data = tf.data.Dataset.from_tensor_slices([1, 2, 3, 4]).shuffle(4).batch(2).prefetch(tf.data.AUTOTUNE)
>>> sum(int(tf.reduce_sum(batch)) for batch in data)
10
"""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow.data import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.data.dataset import Dataset as Dataset
    from tapeflow._src.data.experimental import (
        INFINITE_CARDINALITY as INFINITE_CARDINALITY, UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
    )
    from tapeflow._src.data.iterator import (
        OwnedIterator as Iterator, NumpyIterator as NumpyIterator, IteratorSpec as IteratorSpec
    )
    from tapeflow._src.data.options import ThreadingOptions as ThreadingOptions, Options as Options
    from tapeflow._src.data.readers import (
        TFRecordDataset as TFRecordDataset, TextLineDataset as TextLineDataset,
        FixedLengthRecordDataset as FixedLengthRecordDataset
    )
    from tapeflow._src.data.specs import DatasetSpec as DatasetSpec
    from tapeflow._src.data.transformations import AUTOTUNE as AUTOTUNE
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.data",
    names={
        "data.dataset": "Dataset",
        "data.experimental": "INFINITE_CARDINALITY UNKNOWN_CARDINALITY",
        "data.iterator": "Iterator:OwnedIterator NumpyIterator IteratorSpec",
        "data.options": "ThreadingOptions Options",
        "data.readers": "TFRecordDataset TextLineDataset FixedLengthRecordDataset",
        "data.specs": "DatasetSpec",
        "data.transformations": "AUTOTUNE",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
