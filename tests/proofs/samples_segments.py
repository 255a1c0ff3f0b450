"""Proofs of the reductions by segment, of counts, and of the primitives on sequences."""

from __future__ import annotations

import numpy as np
from tests.proofs.samples import (
    FLOAT,
    NUMERIC,
    REAL,
    Mistake,
    Reference,
    Sample,
    bools,
    ints,
    mismatched,
    pairs,
    real,
    refused,
)

from tapeflow._src.core import dtypes

_IDS = np.array([2, -1, 0, 2, 1], np.int32)
_SORTED = np.array([0, 0, 1, 1, 2], np.int32)
_GAPS = np.array([0, 0, 1, 3, 3], np.int64)


def _segments(gaps: bool = True) -> list[Sample]:
    return [
        Sample((real(5, 2), _IDS), {"size": 3}),
        Sample((real(5), _SORTED), {"size": None}),
        *([Sample((real(5, 2), _GAPS), {"size": size}) for size in (None, 5)] if gaps else []),
        Sample((real(0, 2), _IDS[:0]), {"size": 0}),
    ]


def _reduced(reduce: Reference, gap: float) -> Reference:
    def reference(x: np.ndarray, ids: np.ndarray, size: int | None) -> np.ndarray:
        count = int(ids.max(initial=-1)) + 1 if size is None else size
        out = np.full((count, *x.shape[1:]), gap, x.dtype)
        for i in range(count):
            if (ids == i).any():
                out[i] = reduce(x[ids == i], axis=0)
        return out

    return reference


_BINS = {"minlength": 4, "maxlength": 4, "binary": False}


def _counts(
    x: np.ndarray, weights: np.ndarray, minlength: int, maxlength: int | None, binary: bool
):
    rows, amounts = np.atleast_2d(x), np.atleast_2d(weights)
    size = max(minlength, int(rows.max(initial=-1)) + 1)
    size = size if maxlength is None else min(size, maxlength)
    out = np.zeros((len(rows), size), weights.dtype)
    for i, row in enumerate(rows):
        for j, number in enumerate(row):
            if number < size:
                out[i, number] = 1 if binary else out[i, number] + amounts[i, j]
    return out.reshape(*x.shape[:-1], size)


def _running(x: np.ndarray, axis: int, exclusive: bool, reverse: bool) -> np.ndarray:
    if reverse:
        x = np.flip(x, axis)
    sums = np.cumsum(np.exp(x), axis)
    if exclusive:
        sums = sums - np.exp(x)
        np.moveaxis(sums, axis, 0)[:1] = 0
    out = np.log(sums)
    return np.flip(out, axis) if reverse else out


def _reversed(x: np.ndarray, lengths: np.ndarray, axis: int, batch_axis: int) -> np.ndarray:
    out = x.copy()
    moved, source = (np.moveaxis(each, (batch_axis, axis), (0, 1)) for each in (out, x))
    for i, n in enumerate(lengths):
        moved[i, :n] = source[i, :n][::-1]
    return out


SAMPLES: dict[str, list[Sample]] = {
    "segment_sum": _segments(),
    "segment_prod": [
        *_segments(),
        Sample((np.array([0.0, 2.0, 0.0, 1.5, 0.7]), _SORTED), {"size": None}, also_complex=False),
    ],
    "segment_max": _segments(gaps=False),
    "segment_min": _segments(gaps=False),
    "segment_pick": [Sample((real(3, 2), _IDS)), Sample((real(3), _IDS))],
    "bincount": [
        Sample((np.array([1, 1, 3, 0]), real(4)), _BINS),
        Sample((np.array([[1, 5, 3], [0, 0, 2]]), real(2, 3)), _BINS),
        Sample((np.array([1, 1, 3]), ints(3)), {"minlength": 0, "maxlength": None, "binary": True}),
    ],
    "counted": [
        Sample((real(4), np.array([1, 1, 3]))),
        Sample((real(2, 4), np.array([[1, 5, 3], [0, 0, 2]]))),
    ],
    "histogram_bins": [
        Sample(
            (real(2, 3, low=-1.0, high=6.0), np.array([0.0, 5.0])),
            {"bins": 7, "dtype": dtypes.int32},
        )
    ],
    "cumulative_logsumexp": [
        Sample((real(2, 3),), {"axis": axis, "exclusive": False, "reverse": reverse})
        for axis in (0, 1)
        for reverse in (False, True)
    ]
    + [
        # The first sum is of nothing: -inf has no differences.
        Sample(
            (real(2, 3),),
            {"axis": 1, "exclusive": True, "reverse": reverse},
            first_order=False,
            second_order=False,
            low_precision=False,
        )
        for reverse in (False, True)
    ],
    "reverse_sequence": [
        Sample((real(2, 3), np.array([2, 3])), {"axis": 1, "batch_axis": 0}),
        Sample((real(4, 2, 3), np.array([0, 1, 4], np.int32)), {"axis": 0, "batch_axis": 2}),
    ],
    "invert_permutation": [Sample((np.array([2, 0, 1]),)), Sample((np.array([], np.int32),))],
    "unravel_index": [Sample((np.array([2, 5, 7]), np.array([3, 3])))],
    "truncate_divide": [Sample((np.array([7.3, -7.3]), np.array([2.0, 2.0]))), *pairs(ints)],
    "truncate_mod": [Sample((np.array([2.3, -1.7]), np.array([0.9, -0.6]))), *pairs(ints)],
    "next_after": [Sample((real(2, 3), real(3)), low_precision=False)],
}

REFERENCES: dict[str, Reference] = {
    "segment_sum": _reduced(np.sum, 0),
    "segment_prod": _reduced(np.prod, 1),
    "segment_max": _reduced(np.max, 0),
    "segment_min": _reduced(np.min, 0),
    "segment_pick": lambda x, ids: np.where(
        (ids < 0).reshape(-1, *[1] * (x.ndim - 1)), 0, x[np.maximum(ids, 0)]
    ),
    "bincount": _counts,
    "counted": lambda g, x: np.array(
        [
            [row[j] if j < len(row) else 0 for j in numbers]
            for row, numbers in zip(np.atleast_2d(g), np.atleast_2d(x), strict=True)
        ]
    ).reshape(x.shape),
    "histogram_bins": lambda x, limits, bins, dtype: np.clip(
        np.digitize(x, np.linspace(limits[0], limits[1], bins + 1)) - 1, 0, bins - 1
    ),
    "cumulative_logsumexp": _running,
    "reverse_sequence": _reversed,
    "invert_permutation": np.argsort,
    "unravel_index": lambda x, dims: np.stack(np.unravel_index(x, dims)),
    "truncate_divide": lambda a, b: np.trunc(a / b).astype(a.dtype),
    "truncate_mod": np.fmod,
    "next_after": np.nextafter,
}


def _segment_mistakes(name: str, accepts: tuple[str, ...]) -> list[Mistake]:
    op = f"unsorted_segment_{name}"
    values = [
        Mistake((x, _IDS), {"size": 3}, op, (x.dtype.name,), shapes=(0,))
        for x, kind in ((bools(5), "bool"), (real(5) + 1j, "complex"))
        if kind not in accepts
    ]
    return [
        *values,
        Mistake((real(5, 2), real(5)), {"size": 3}, op, ("float64", "int32"), shapes=(1,)),
        Mistake((real(5, 2), _IDS[:4]), {"size": 3}, op),
        Mistake((real(5, 2), _IDS[None]), {"size": 3}, op, ("vector",), shapes=(1,)),
        Mistake((real(5, 2), _IDS), {"size": 2}, op, ("segment_ids[0] = 2",), shapes=()),
        Mistake((real(5, 2), _IDS), {"size": -1}, op, ("-1",), shapes=()),
        Mistake((real(5, 2), _IDS), {"size": None}, f"segment_{name}", ("increasing",), shapes=()),
        Mistake((real(1), _IDS[1:2]), {"size": None}, f"segment_{name}", ("-1",), shapes=()),
    ]


MISTAKES: dict[str, list[Mistake]] = {
    "segment_sum": _segment_mistakes("sum", NUMERIC),
    "segment_prod": _segment_mistakes("prod", NUMERIC),
    "segment_max": _segment_mistakes("max", REAL),
    "segment_min": _segment_mistakes("min", REAL),
    "bincount": [
        Mistake((real(3), real(3)), _BINS, says=("float64",), shapes=(0,)),
        Mistake((ints(3), real(2)), _BINS),
        Mistake((np.array([1, -2]), real(2)), _BINS, says=("non-negative", "-2"), shapes=()),
    ],
    "histogram_bins": [
        Mistake(
            (real(3), real(3)),
            {"bins": 7, "dtype": dtypes.int32},
            "histogram_fixed_width",
            shapes=(1,),
        ),
        Mistake(
            (real(3), np.array([5.0, 0.0])),
            {"bins": 7, "dtype": dtypes.int32},
            "histogram_fixed_width",
            ("5.0",),
            shapes=(),
        ),
        Mistake(
            (bools(3), np.array([0.0, 1.0])),
            {"bins": 7, "dtype": dtypes.int32},
            "histogram_fixed_width",
            ("bool",),
            shapes=(0,),
        ),
    ],
    "cumulative_logsumexp": refused(FLOAT, axis=0, exclusive=False, reverse=False),
    "reverse_sequence": [
        Mistake(
            (real(2, 3), real(2)), {"axis": 1, "batch_axis": 0}, says=("float64",), shapes=(1,)
        ),
        Mistake((real(2, 3), ints(3)), {"axis": 1, "batch_axis": 0}),
        Mistake(
            (real(2, 3), np.array([4, 1])),
            {"axis": 1, "batch_axis": 0},
            says=("seq_lengths[0] = 4",),
            shapes=(0,),
        ),
    ],
    "invert_permutation": [
        Mistake((real(3),), says=("float64",)),
        Mistake((ints(2, 2),)),
        Mistake((np.array([0, 3, 1]),), says=("3",), shapes=()),
        Mistake((np.array([0, 1, 1]),), says=("1 is duplicated",), shapes=()),
    ],
    "unravel_index": [
        Mistake((real(3), ints(2)), says=("float64",), shapes=(0,)),
        Mistake((ints(2, 2), ints(2))),
        Mistake((np.array([9]), np.array([3, 3])), says=("[3, 3]",), shapes=()),
    ],
    "truncate_divide": [*refused(REAL, 2), *mismatched("float", "int")],
    "truncate_mod": [*refused(REAL, 2), *mismatched("float", "int")],
    "next_after": [*refused(FLOAT, 2), *mismatched("float", "int")],
}
