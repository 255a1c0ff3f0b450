"""`tf.data`: input pipelines.

>>> data = tf.data.Dataset.from_tensor_slices([1, 2, 3, 4]).shuffle(4).batch(2).prefetch(tf.data.AUTOTUNE)
>>> sum(int(tf.reduce_sum(batch)) for batch in data)
10
"""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: F401

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing
from tapeflow._src.data.dataset import Dataset as Dataset
from tapeflow._src.data.experimental import (
    INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
)
from tapeflow._src.data.iterator import (
    IteratorSpec as IteratorSpec,
    NumpyIterator as NumpyIterator,
    OwnedIterator as Iterator,
)
from tapeflow._src.data.options import Options as Options, ThreadingOptions as ThreadingOptions
from tapeflow._src.data.readers import (
    FixedLengthRecordDataset as FixedLengthRecordDataset,
    TextLineDataset as TextLineDataset,
    TFRecordDataset as TFRecordDataset,
)
from tapeflow._src.data.transformations import AUTOTUNE as AUTOTUNE
from tapeflow.data import experimental as experimental

# For editors and type checkers: these are imported when they are first asked for.
if _typing.TYPE_CHECKING:
    from tapeflow._src.data.specs import DatasetSpec as DatasetSpec

__getattr__ = _Missing("tf.data", names={"data.specs": "DatasetSpec"})


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
