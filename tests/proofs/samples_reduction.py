"""Proofs of the primitives that reduce, accumulate and count along axes."""

from __future__ import annotations

import numpy as np
import scipy.special
from tests.proofs.samples import (
    FLOAT,
    NUMERIC,
    REAL,
    Mistake,
    Reference,
    Sample,
    bools,
    cplx,
    ints,
    real,
    refused,
)

from tapeflow._src.core import dtypes

ALL_AXES = [(0, 1, 2), (1,), (0, 2), (2, 0), ()]
INT64 = {"dtype": dtypes.int64}


def reductions(name: str) -> list[Sample]:
    rows = [
        Sample((real(2, 3, 2),), {"axis": axis, "keepdims": keepdims})
        for axis in ALL_AXES
        for keepdims in (False, True)
    ]
    rows.append(Sample((real(),), {"axis": (), "keepdims": False}))
    rows.append(Sample((real(0, 2),), {"axis": (1,), "keepdims": False}))
    if name not in ("max", "min", "mean"):  # over nothing they are infinite, or not defined
        rows.append(
            Sample((real(0, 2),), {"axis": (0,), "keepdims": True}, first_order=name != "logsumexp")
        )
    if name != "logsumexp":
        rows.append(Sample((ints(2, 3),), {"axis": (1,), "keepdims": False}))
    return rows


def cumulative(x: np.ndarray) -> list[Sample]:
    return [
        Sample((x,), {"axis": axis, "exclusive": exclusive, "reverse": reverse})
        for axis in range(x.ndim)
        for exclusive in (False, True)
        for reverse in (False, True)
    ]


SAMPLES: dict[str, list[Sample]] = {
    **{
        name: reductions(name)
        for name in ["sum", "mean", "max", "min", "prod", "logsumexp", "euclidean_norm"]
    },
    "sum_like": [
        Sample((x,), {"shape": shape})
        for x, shapes in [
            (real(2, 3, 2), [(2, 3, 2), (3, 2), (1, 2), (2, 1, 2), (1, 1, 1), ()]),
            (real(0, 2), [(0, 2), (1, 2), (2,)]),
            (ints(2, 3), [(1, 3)]),
        ]
        for shape in shapes
    ],
    **{
        name: [
            Sample((bools(2, 3),), {"axis": axis, "keepdims": keepdims})
            for axis in [(1,), (0, 1), ()]
            for keepdims in (False, True)
        ]
        + [Sample((bools(0, 3),), {"axis": (0,), "keepdims": False})]
        for name in ("any", "all")
    },
    **{
        name: [Sample((real(2, 3),), {"axis": axis, "dtype": dtypes.int64}) for axis in (0, 1)]
        + [
            Sample((ints(4, 2),), {"axis": 0, "dtype": dtypes.int32}),
            Sample((bools(4),), {"axis": 0, "dtype": dtypes.int32}),
            Sample((np.array([1.0, np.nan, 3.0, 3.0, 0.5]),), {"axis": 0, "dtype": dtypes.int64}),
            Sample((real(0, 3),), {"axis": 1, "dtype": dtypes.int64}),
        ]
        for name in ("argmax", "argmin")
    },
    "cumsum": [*cumulative(real(2, 3)), *cumulative(real(0, 2)), *cumulative(ints(3))],
    "cumprod": [
        *cumulative(real(2, 3)),
        *cumulative(np.array([1.3, 0.0, -0.7, 0.0])),  # its gradient does not divide
        *cumulative(real(0, 2)),
        *cumulative(ints(3)),
    ],
    "recurrence": [
        Sample((real(2, 3), real(2, 3)), {"axis": axis, "reverse": reverse})
        for axis in (0, 1)
        for reverse in (False, True)
    ]
    + [Sample((real(0, 2), real(0, 2)), {"axis": 1, "reverse": False})],
    "count_nonzero": [
        Sample((np.array([[0.0, 1.5, 0.0], [2.0, 0.0, -3.0]]),), {"axis": (1,), "keepdims": True}),
        Sample((bools(2, 3),), {"axis": (0, 1), "keepdims": False}),
        Sample((ints(2, 3, low=0, high=2),), {"axis": (0,), "keepdims": False}),
        Sample((real(0, 3),), {"axis": (0,), "keepdims": False}),
    ],
}
for row in SAMPLES["count_nonzero"]:
    row.attrs |= INT64
# exp would overflow in the first row, and vanish in the second.
SAMPLES["logsumexp"].append(
    Sample(
        (np.array([[1000.3, 999.6], [-1000.2, -1001.7]]),),
        {"axis": (1,), "keepdims": False},
        low_precision=False,
        first_order=False,
    )
)
# The norm of complex numbers is real, in a complex dtype: as in TensorFlow, the imaginary part of its
# gradient is not told apart.
for row in SAMPLES["euclidean_norm"]:
    row.also_complex = False
SAMPLES["euclidean_norm"].append(
    Sample((cplx(2, 3),), {"axis": (1,), "keepdims": True}, first_order=False)
)
SAMPLES["prod"].append(
    Sample((np.array([[1.3, 0.0], [0.0, 0.0]]),), {"axis": (1,), "keepdims": False})
)


def _cumulative(accumulate: Reference) -> Reference:
    def reference(x: np.ndarray, *, axis: int, exclusive: bool, reverse: bool) -> np.ndarray:
        out = np.empty_like(x)
        n = x.shape[axis]
        for i in range(n):
            start, stop = (i + exclusive, n) if reverse else (0, i + 1 - exclusive)
            part = np.take(x, range(start, stop), axis)
            np.moveaxis(out, axis, 0)[i] = accumulate(part, axis=axis)
        return out

    return reference


def _recurrence(x: np.ndarray, a: np.ndarray, *, axis: int, reverse: bool) -> np.ndarray:
    """The sum of all earlier terms, each times the factors that came after it."""
    if reverse:
        return np.flip(
            _recurrence(np.flip(x, axis), np.flip(a, axis), axis=axis, reverse=False), axis
        )
    out = np.zeros_like(x)
    for i in range(x.shape[axis]):
        for j in range(i + 1):
            factors = np.prod(np.take(a, range(j + 1, i + 1), axis), axis)
            np.moveaxis(out, axis, 0)[i] += np.take(x, j, axis) * factors
    return out


def _mean(x: np.ndarray, *, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    out = np.mean(x, axis=axis, keepdims=keepdims)
    return np.trunc(out) if x.dtype.kind in "iu" else out


def _sum_like(x: np.ndarray, *, shape: tuple[int, ...]) -> np.ndarray:
    wide = (1,) * (x.ndim - len(shape)) + shape
    stretched = tuple(i for i, size in enumerate(wide) if size != x.shape[i])
    return np.sum(x, axis=stretched, keepdims=True).reshape(shape)


def _norm(x: np.ndarray, *, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    out = np.sqrt(np.sum(np.abs(x) ** 2, axis=axis, keepdims=keepdims))
    return np.trunc(out) if x.dtype.kind in "iu" else out


REFERENCES: dict[str, Reference] = {
    "sum": np.sum,
    "sum_like": _sum_like,
    "mean": _mean,
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
    "logsumexp": lambda x, axis, keepdims: (
        scipy.special.logsumexp(x, axis=axis, keepdims=keepdims) if axis else x
    ),
    "euclidean_norm": _norm,
    "any": np.any,
    "all": np.all,
    "argmax": lambda x, axis, dtype: (
        np.nanargmax(x, axis=axis) if x.size else np.zeros(x.shape[:axis])
    ),
    "argmin": lambda x, axis, dtype: (
        np.nanargmin(x, axis=axis) if x.size else np.zeros(x.shape[:axis])
    ),
    "cumsum": _cumulative(np.sum),
    "cumprod": _cumulative(np.prod),
    "recurrence": _recurrence,
    "count_nonzero": lambda x, axis, keepdims, dtype: np.sum(x != 0, axis=axis, keepdims=keepdims),
}

_AXIS = {"axis": (1,), "keepdims": False}

MISTAKES: dict[str, list[Mistake]] = {
    **{
        name: refused(accepts, op=f"reduce_{name}", **_AXIS)
        for name, accepts in {
            "sum": NUMERIC,
            "mean": NUMERIC,
            "prod": NUMERIC,
            "euclidean_norm": NUMERIC,
            "max": REAL,
            "min": REAL,
            "logsumexp": FLOAT,
            "any": ("bool",),
            "all": ("bool",),
        }.items()
    },
    "sum_like": [
        *refused(NUMERIC, shape=(1,)),
        Mistake((real(2, 3),), {"shape": (2,)}, says=("[2]", "[2, 3]")),
        Mistake((real(3),), {"shape": (2, 3)}, says=("[2, 3]", "[3]")),
    ],
    **{
        name: [
            *refused((*REAL, "bool"), axis=0, dtype=dtypes.int64),
            Mistake((real(0, 3),), {"axis": 0, "dtype": dtypes.int64}, says=("empty",)),
        ]
        for name in ("argmax", "argmin")
    },
    **{
        name: refused(NUMERIC, axis=0, exclusive=False, reverse=False)
        for name in ("cumsum", "cumprod")
    },
}
