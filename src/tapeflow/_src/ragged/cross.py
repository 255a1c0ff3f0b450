"""`tf.ragged.cross`: all combinations of the values in the rows of several tensors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import int64, string
from tapeflow._src.core.export import export
from tapeflow._src.ops.effects.py_function import numpy_function
from tapeflow._src.ragged.broadcasting import operand
from tapeflow._src.ragged.conversion import from_tensor
from tapeflow._src.ragged.tensor import RaggedTensor


@export("ragged.cross")
def cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """Feature crosses: in each row all combinations of values, as strings.

    >>> tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])])
    <tf.RaggedTensor [[b'a_X_d'], [b'b_X_e', b'c_X_e']]>

    Args:
      inputs: tensors of rank 2, ragged or not, of strings or integers.
      name: accepted for compatibility.
    """
    tensors = [operand(x) for x in inputs]
    if not tensors:
        raise ValueError("ragged.cross: inputs must hold at least one tensor")
    for x in tensors:
        if x.shape.rank != 2:
            raise ValueError(f"ragged.cross: inputs must have rank 2, got shape {x.shape}")
        if x.dtype is not string and not x.dtype.is_integer:
            raise ValueError(
                f"ragged.cross: inputs must be strings or integers, got {x.dtype.name}"
            )
    rows = [x if isinstance(x, RaggedTensor) else from_tensor(RaggedTensor, x) for x in tensors]
    parts = [part for x in rows for part in (x.values, x.row_splits)]
    values, splits = numpy_function(_crossed, parts, [string, int64])
    values.set_shape([None])
    splits.set_shape([rows[0].row_splits.shape[0]])
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _crossed(*parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values = [_texts(x) for x in parts[::2]]
    bounds = [x.tolist() for x in parts[1::2]]
    if len({len(b) for b in bounds}) > 1:
        raise ValueError("ragged.cross: inputs must have the same number of rows")
    found: list[bytes] = []
    splits = [0]
    for i in range(len(bounds[0]) - 1):
        columns = [v[b[i] : b[i + 1]] for v, b in zip(values, bounds, strict=True)]
        found += [b"_X_".join(each) for each in itertools.product(*columns)]
        splits.append(len(found))
    texts = np.empty(len(found), object)
    texts[:] = found
    return texts, np.array(splits, np.int64)


def _texts(values: np.ndarray) -> list[bytes]:
    return [x if isinstance(x, bytes) else str(x).encode() for x in values.tolist()]
