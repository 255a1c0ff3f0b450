"""`tf.edit_distance`: how many changes lead from one sequence to another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import float32
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import unlisted
from tapeflow._src.sparse.tensor import SparseTensor

Rows = dict[tuple[int, ...], list[Any]]


def _kernel(*arrays: Any, normalize: bool) -> np.ndarray:
    given = [np.asarray(x) for x in arrays]
    hypothesis, truth = _rows(*given[:3]), _rows(*given[3:])
    out = np.zeros(
        [int(max(n)) for n in zip(given[2][:-1], given[5][:-1], strict=True)], np.float32
    )
    for place in hypothesis.keys() | truth.keys():
        if any(i >= n for i, n in zip(place, out.shape, strict=True)):
            raise invalid(f"edit_distance: the sequence at {list(place)} is not within the shape")
        mine, theirs = hypothesis.get(place, []), truth.get(place, [])
        distance = float(_distance(mine, theirs))
        if normalize and distance:
            distance = distance / len(theirs) if theirs else math.inf
        out[place] = distance
    return out


def _rows(indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> Rows:
    rows: Rows = {}
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        rows.setdefault(tuple(place), []).append(value)
    return rows


def _distance(a: list[Any], b: list[Any]) -> int:
    """How many elements must be put in, left out or changed."""
    if len(a) < len(b):
        a, b = b, a
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


def _result(*xs: ArraySpec, normalize: bool) -> ArraySpec:
    rank = xs[2].shape[0] if xs[2].shape is not None else None
    sizes: Any = (None,) * (rank - 1) if isinstance(rank, int) else None
    return ArraySpec(sizes, float32)


_edit_distance = unlisted("sparse.edit_distance", "*xs", _kernel, result=_result)


@export("edit_distance")
def edit_distance(
    hypothesis: SparseTensor,
    truth: SparseTensor,
    normalize: bool = True,
    name: str | None = "edit_distance",
) -> Tensor:
    """The number of changes that lead from sequences to others, the last dimension of sparse tensors.

    >>> hypothesis = tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])
    >>> truth = tf.SparseTensor([[0, 0], [0, 1]], ["a", "c"], [1, 2])
    >>> tf.edit_distance(hypothesis, truth).numpy()
    array([0.5], dtype=float32)

    Args:
      hypothesis: the sequences.
      truth: those that they should be, of the same dtype.
      normalize: whether to divide by the length of the truth; what differs from an empty one is infinitely far.
      name: accepted for compatibility.
    """
    if not isinstance(hypothesis, SparseTensor):
        raise TypeError("Hypothesis must be a SparseTensor.")
    if not isinstance(truth, SparseTensor):
        raise TypeError("Truth must be a SparseTensor.")
    if hypothesis.dtype is not truth.dtype:
        raise invalid(
            f"edit_distance: hypothesis and truth must have the same dtype, got {hypothesis.dtype.name} and "
            f"{truth.dtype.name}"
        )
    ranks = hypothesis.shape.rank, truth.shape.rank
    for rank in ranks:
        if rank is not None and rank < 2:
            raise invalid(f"edit_distance: the tensors must have at least 2 dimensions, got {rank}")
    if None not in ranks and ranks[0] != ranks[1]:
        raise invalid(f"edit_distance: hypothesis has {ranks[0]} dimensions, and truth {ranks[1]}")
    parts = [p for x in (hypothesis, truth) for p in (x.indices, x.values, x.dense_shape)]
    return _edit_distance(*parts, normalize=bool(normalize))
