"""Sparse matrices of other libraries, in batches that Keras is given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor


def of_library(x: Any) -> Any:
    """A sparse matrix of SciPy, or a sparse array of JAX or TensorFlow, as ours. Anything else as it is."""
    if isinstance(x, (Tensor, np.ndarray)):
        return x
    home = type(x).__module__
    if home.startswith("scipy.sparse"):
        found = x.tocoo()
        # With the elements of one place added up, and in order.
        found.sum_duplicates()
        order = np.lexsort((found.col, found.row))
        at = np.column_stack([found.row[order], found.col[order]])
        return tf.SparseTensor(at, found.data[order], found.shape)
    if home.startswith("jax.experimental.sparse"):
        return _of_jax(x)
    if home.startswith("tensorflow.") and type(x).__name__ == "SparseTensor":
        return tf.SparseTensor(np.asarray(x.indices), np.asarray(x.values), x.shape)
    return x


def _of_jax(x: Any) -> Any:
    flat = x.update_layout(n_batch=0, n_dense=0) if x.n_batch or x.n_dense else x
    indices, values = np.asarray(flat.indices), np.asarray(flat.data)
    # What JAX has for no element is outside.
    inside = (indices < np.asarray(x.shape)).all(1)
    found = tf.SparseTensor(indices[inside], values[inside], x.shape)
    return tf.sparse.reorder(found) if math.prod(x.shape) else found
