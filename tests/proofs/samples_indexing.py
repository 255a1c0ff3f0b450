"""Proofs of the primitives that pick elements and rows, and put them back."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.proofs.samples import Mistake, Reference, Sample, cplx, ints, real, strings

DOWN = np.array([[0], [2], [0]])
CORNERS = np.array([[0, 1], [2, 3], [0, 1]])

SAMPLES: dict[str, list[Sample]] = {
    "getitem": [
        Sample((real(4, 3),), {"index": (slice(1, None, 2), None, 1)}),
        Sample((real(4, 3),), {"index": (Ellipsis, slice(None, None, -1))}),
        Sample((real(4, 3),), {"index": (slice(2, 2),)}),
        Sample((real(),), {"index": (None,)}),
        Sample((real(3),), {"index": (-1,)}),
    ],
    "put": [
        Sample((real(2),), {"shape": (4, 3), "index": (slice(1, None, 2), 1)}),
        Sample((real(),), {"shape": (3,), "index": (-1,)}),
        Sample((real(0, 3),), {"shape": (4, 3), "index": (slice(2, 2),)}),
    ],
    "gather": [
        Sample((real(4, 3), np.array([[0, 2], [2, 1]])), {"axis": 0, "batch_dims": 0}),
        Sample((real(4, 3), np.array(2, np.int32)), {"axis": 0, "batch_dims": 0}),
        Sample((real(4, 3), np.zeros((0,), np.int64)), {"axis": 0, "batch_dims": 0}),
        Sample((real(4, 3), np.array([0, 2, 2])), {"axis": 1, "batch_dims": 0}),
        Sample((real(2, 4, 3), np.array([[0, 3], [1, 1]])), {"axis": 1, "batch_dims": 1}),
        Sample((real(2, 3, 4), np.array([[0, 3], [1, 1]])), {"axis": 2, "batch_dims": 1}),
        Sample((real(2, 3), np.array([2, 0])), {"axis": 1, "batch_dims": 1}),
        Sample((strings(3), np.array([2, 0])), {"axis": 0, "batch_dims": 0}),
    ],
    "scatter_rows": [
        Sample((real(3, 2), np.array([0, 3, 0])), {"shape": (4, 2), "axis": 0, "batch_dims": 0}),
        Sample((real(2, 3), np.array([0, 3, 0])), {"shape": (2, 4), "axis": 1, "batch_dims": 0}),
        Sample(
            (real(2, 2, 3), np.array([[0, 3], [1, 1]])),
            {"shape": (2, 4, 3), "axis": 1, "batch_dims": 1},
        ),
        Sample((real(0, 2), np.zeros(0, np.int32)), {"shape": (4, 2), "axis": 0, "batch_dims": 0}),
        Sample((real(2, 300), np.array([1, 1])), {"shape": (2, 300), "axis": 0, "batch_dims": 0}),
    ],
    "gather_nd": [
        Sample((real(3, 4), CORNERS), {"batch_dims": 0}),
        Sample((real(3, 4), DOWN), {"batch_dims": 0}),
        Sample((real(3, 4), np.zeros((2, 0), np.int32)), {"batch_dims": 0}),
        Sample((real(2, 3, 4), np.array([[[0], [2]], [[1], [1]]])), {"batch_dims": 1}),
    ],
    "scatter_nd": [
        Sample((DOWN, real(3, 4)), {"shape": (3, 4), "batch_dims": 0}),
        Sample((CORNERS, real(3)), {"shape": (3, 4), "batch_dims": 0}),
        Sample((np.zeros((0, 1), np.int32), real(0, 4)), {"shape": (3, 4), "batch_dims": 0}),
        Sample(
            (np.array([[[0], [2]], [[1], [1]]]), real(2, 2)), {"shape": (2, 3), "batch_dims": 1}
        ),
    ],
    "scatter_update": [
        Sample((real(3, 4), np.array([[2], [0]]), real(2, 4))),
        Sample((real(3, 4), np.array([[0, 1], [2, 3]]), real(2))),
        Sample((real(3), np.zeros((0, 1), np.int64), real(0))),
    ],
    **{
        name: [
            Sample((real(3, 4), DOWN, real(3, 4))),
            Sample((real(3, 4), CORNERS, real(3))),
            Sample((ints(3), DOWN, ints(3))),
            Sample((real(3), np.zeros((0, 1), np.int64), real(0))),
        ]
        for name in ("scatter_max", "scatter_min")
    },
    "one_hot": [
        Sample((np.array([[0, 2], [-1, 5]]), real(), real()), {"depth": 3, "axis": axis})
        for axis in (0, 1, 2)
    ]
    + [
        Sample((np.array(1, np.int32), np.array(True), np.array(False)), {"depth": 2, "axis": 0}),
        Sample((np.zeros(0, np.int64), real(), real()), {"depth": 3, "axis": 1}),
    ],
    "take_along": [
        Sample((real(2, 4), np.array([[3, 0], [1, 2]])), {"axis": 1}),
        Sample((real(3, 2), np.array([[2, 0]], np.int32)), {"axis": 0}),
    ],
    "put_along": [
        Sample((real(2, 2), np.array([[3, 0], [1, 2]])), {"size": 4, "axis": 1}),
        Sample((real(1, 2), np.array([[2, 0]], np.int32)), {"size": 3, "axis": 0}),
    ],
}


def _put(x: np.ndarray, *, shape: tuple[int, ...], index: Any) -> np.ndarray:
    places = np.arange(np.prod(shape)).reshape(shape)[index]
    out = np.zeros(int(np.prod(shape)), x.dtype)
    out[places.reshape(-1)] = x.reshape(-1)
    return out.reshape(shape)


def _gather(x: np.ndarray, indices: np.ndarray, *, axis: int, batch_dims: int) -> np.ndarray:
    if batch_dims:
        rows = [
            _gather(a, i, axis=axis - 1, batch_dims=batch_dims - 1)
            for a, i in zip(x, indices, strict=True)
        ]
        return np.stack(rows)
    return x[(slice(None),) * axis + (indices,)]


def _scatter_rows(
    x: np.ndarray, indices: np.ndarray, *, shape: tuple[int, ...], axis: int, batch_dims: int
) -> np.ndarray:
    """The transpose of gathering the numbers of the places."""
    places = np.arange(np.prod(shape)).reshape(shape)
    return _summed(x, _gather(places, indices, axis=axis, batch_dims=batch_dims), shape)


def _summed(x: np.ndarray, places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    out = np.zeros(int(np.prod(shape)), x.dtype)
    for place, value in zip(places.reshape(-1).tolist(), x.reshape(-1), strict=True):
        out[place] += value
    return out.reshape(shape)


def _gather_nd(x: np.ndarray, indices: np.ndarray, *, batch_dims: int) -> np.ndarray:
    if batch_dims:
        return np.stack(
            [_gather_nd(a, i, batch_dims=batch_dims - 1) for a, i in zip(x, indices, strict=True)]
        )
    return (
        x[tuple(np.moveaxis(indices, -1, 0))] if indices.shape[-1] else np.stack([x] * len(indices))
    )


def _scatter_nd(
    indices: np.ndarray, updates: np.ndarray, *, shape: tuple[int, ...], batch_dims: int
) -> np.ndarray:
    places = np.arange(np.prod(shape)).reshape(shape)
    return _summed(updates, _gather_nd(places, indices, batch_dims=batch_dims), shape)


def _replaced(combine: Any) -> Reference:
    def reference(x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        out = x.copy()
        for index, update in zip(indices.tolist(), updates, strict=True):
            out[tuple(index)] = combine(out[tuple(index)], update)
        return out

    return reference


def _one_hot(
    indices: np.ndarray, on: np.ndarray, off: np.ndarray, *, depth: int, axis: int
) -> np.ndarray:
    classes = np.arange(depth).reshape((1,) * axis + (-1,) + (1,) * (indices.ndim - axis))
    return np.where(np.expand_dims(indices, axis) == classes, on, off)


def _put_along(x: np.ndarray, indices: np.ndarray, *, size: int, axis: int) -> np.ndarray:
    shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
    places = np.arange(np.prod(shape)).reshape(shape)
    return _summed(x, np.take_along_axis(places, indices.astype(np.intp), axis), shape)


REFERENCES: dict[str, Reference] = {
    "getitem": lambda x, index: x[index],
    "put": _put,
    "gather": _gather,
    "scatter_rows": _scatter_rows,
    "gather_nd": _gather_nd,
    "scatter_nd": _scatter_nd,
    "scatter_update": _replaced(lambda old, new: new),
    "scatter_max": _replaced(np.maximum),
    "scatter_min": _replaced(np.minimum),
    "one_hot": _one_hot,
    "take_along": lambda x, indices, axis: np.take_along_axis(x, indices.astype(np.intp), axis),
    "put_along": _put_along,
}

_ROWS = {"axis": 0, "batch_dims": 0}
_HOT = {"depth": 3, "axis": 0}


def _scatters(op: str) -> list[Mistake]:
    return [
        Mistake(
            (real(3, 4), np.array([[0]]), ints(1, 4)),
            op=op,
            says=("float64", "int32"),
            shapes=(0, 2),
        ),
        Mistake((real(3, 4), real(1, 1), real(1, 4)), op=op, says=("float64",), shapes=(1,)),
        Mistake((real(3, 4), np.array([[0]]), real(1, 3)), op=op),
        Mistake((real(3, 4), np.array([[0, 0, 0]]), real(1)), op=op, shapes=(0, 1)),
        Mistake((real(3, 4), np.array([[3]]), real(1, 4)), op=op, says=("[0, 3)",), shapes=()),
        Mistake((real(3, 4), np.array([[0, -1]]), real(1)), op=op, says=("[0, -1]",), shapes=()),
        Mistake((real(3, 4), np.array(0), real()), op=op, says=("scalar",), shapes=()),
    ]


MISTAKES: dict[str, list[Mistake]] = {
    "getitem": [
        Mistake((real(2, 3),), {"index": (2,)}, op="slice", says=("2",)),
        Mistake((real(2, 3),), {"index": (0, 0, 0)}, op="slice"),
    ],
    "gather": [
        Mistake((real(2, 3), real(2)), _ROWS, says=("float64",), shapes=(1,)),
        Mistake(
            (real(2, 3), np.array([0, 2])), _ROWS, says=("indices[1] = 2", "[0, 2)"), shapes=()
        ),
        Mistake((real(2, 3), np.array(-1)), _ROWS, says=("-1",), shapes=()),
        Mistake((real(2, 3), np.array([[0], [0], [0]])), {"axis": 1, "batch_dims": 1}),
    ],
    "gather_nd": [
        Mistake((real(2, 3), real(2, 2)), {"batch_dims": 0}, says=("float64",), shapes=(1,)),
        Mistake((real(2, 3), np.array([[1, 3]])), {"batch_dims": 0}, says=("[1, 3]",), shapes=()),
        Mistake((real(2, 3), np.array([[1, 1, 1]])), {"batch_dims": 0}),
        Mistake((real(2, 3), np.array([[1]])), {"batch_dims": 1}),
        Mistake((real(2, 3), np.array(1)), {"batch_dims": 0}, says=("scalar",), shapes=()),
    ],
    "scatter_nd": [
        Mistake(
            (real(2, 1), real(2)), {"shape": (3,), "batch_dims": 0}, says=("float64",), shapes=(0,)
        ),
        Mistake((np.array([[0], [1]]), real(3)), {"shape": (3,), "batch_dims": 0}),
        Mistake(
            (np.array([[0], [5]]), real(2)),
            {"shape": (3,), "batch_dims": 0},
            says=("5",),
            shapes=(),
        ),
        Mistake((np.array([[0, 0]]), real(1)), {"shape": (3,), "batch_dims": 0}, shapes=(0,)),
    ],
    "scatter_update": _scatters("tensor_scatter_nd_update"),
    **{
        f"scatter_{name}": [
            *_scatters(f"tensor_scatter_nd_{name}"),
            Mistake(
                (cplx(3), np.array([[0]]), cplx(1)),
                op=f"tensor_scatter_nd_{name}",
                says=("complex128",),
                shapes=(0,),
            ),
        ]
        for name in ("max", "min")
    },
    "one_hot": [
        Mistake((real(2), real(), real()), _HOT, says=("float64",), shapes=(0,)),
        Mistake(
            (ints(2), real(), np.array(1, np.int32)), _HOT, says=("float64", "int32"), shapes=()
        ),
        Mistake((ints(2), real(2), real()), _HOT, says=("on_value",), shapes=(1,)),
        Mistake((ints(2), real(), real()), {"depth": -1, "axis": 0}, says=("-1",), shapes=()),
    ],
}
