"""`tf.data`: input pipelines.

>>> data = tf.data.Dataset.from_tensor_slices([1, 2, 3, 4]).shuffle(4).batch(2).prefetch(tf.data.AUTOTUNE)
>>> sum(int(tf.reduce_sum(batch)) for batch in data)
10
"""

from tapeflow.core.missing import Missing as _Missing
from tapeflow.data.dataset import Dataset as Dataset
from tapeflow.data.iterator import (
    NumpyIterator as NumpyIterator,
    OwnedIterator as Iterator,  # noqa: F401  # offered under TensorFlow's name
)
from tapeflow.data.options import Options as Options, ThreadingOptions as ThreadingOptions
from tapeflow.data.specs import DatasetSpec as DatasetSpec
from tapeflow.data.transformations import AUTOTUNE as AUTOTUNE

from tapeflow.data import experimental as experimental  # isort: skip

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2

__getattr__ = _Missing("tf.data")
