"""Samples of the primitives that make tensors of a size alone."""

from __future__ import annotations

import numpy as np
from tests.proofs.samples import Mistake, Sample

import tapeflow as tf

SAMPLES = {
    "range": [
        Sample((), {"size": size, "dtype": dtype})
        for size, dtype in [(5, tf.int64), (1, tf.int32), (0, tf.int64), (300, tf.float32)]
    ],
}

REFERENCES = {"range": lambda *, size, dtype: np.array(list(range(size)), dtype.as_numpy_dtype)}

MISTAKES = {
    "range": [Mistake((), {"size": -2, "dtype": tf.int64}, says=("-2",))],
}
