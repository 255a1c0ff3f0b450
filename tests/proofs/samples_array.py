"""Proofs of the primitives that move elements about: shapes, joining, repeating, ordering."""

from __future__ import annotations

import numpy as np
from tests.proofs.samples import (
    REAL,
    Mistake,
    Reference,
    Sample,
    bools,
    cplx,
    everywhere,
    ints,
    real,
    refused,
    strings,
)

import tapeflow as tf
from tapeflow._src.core import dtypes

INT32, INT64 = dtypes.int32, dtypes.int64

SAMPLES: dict[str, list[Sample]] = {
    **{
        name: [*everywhere(real), Sample((ints(2),)), Sample((bools(2),))]
        for name in ["identity", "barrier", "stop_gradient", "zeros_like", "ones_like"]
    },
    "laid_out": [Sample((real(2, 3),), {"layout": None}), Sample((ints(2),), {"layout": None})],
    "shape": [
        Sample((real(*shape),), {"dtype": dtype})
        for shape in [(), (3,), (2, 3), (0, 2)]
        for dtype in (INT32, INT64)
    ],
    "size": [
        Sample((real(*shape),), {"dtype": dtype})
        for shape in [(), (3,), (2, 3), (0, 2)]
        for dtype in (INT32, INT64)
    ],
    "reshape": [
        Sample((real(2, 3),), {"shape": (3, 2)}),
        Sample((real(),), {"shape": (1, 1)}),
        Sample((real(1, 1),), {"shape": ()}),
        Sample((real(0, 2),), {"shape": (2, 0)}),
        Sample((strings(2, 2),), {"shape": (4,)}),
    ],
    "transpose": [
        Sample((real(2, 3, 4),), {"perm": (2, 0, 1)}),
        Sample((real(2, 3),), {"perm": (0, 1)}),
        Sample((real(),), {"perm": ()}),
        Sample((real(0, 2),), {"perm": (1, 0)}),
    ],
    "broadcast_to": [
        Sample((real(3, 1),), {"shape": (2, 3, 4)}),
        Sample((real(),), {"shape": (2,)}),
        Sample((real(1, 3),), {"shape": (0, 3)}),
        Sample((real(2),), {"shape": (2,)}),
    ],
    "cast": [
        Sample((real(2, 3),), {"dtype": dtypes.float64}),
        Sample((real(2, 3),), {"dtype": dtypes.complex128}),
        Sample((ints(3),), {"dtype": dtypes.float64}),
        Sample((bools(3),), {"dtype": dtypes.float64}),
        Sample((real(),), {"dtype": dtypes.float64}),
    ],
    "cast_to_discrete": [
        Sample((real(2, 3),), {"dtype": dtypes.int32}),
        Sample((np.array([0.0, 0.4, -2.7]),), {"dtype": dtypes.bool_}),
        Sample((ints(2),), {"dtype": dtypes.uint8}),
    ],
    "bitcast": [
        Sample((real(2, 3),), {"dtype": INT64}, low_precision=False, also_complex=False),
        Sample((real(2),), {"dtype": dtypes.uint8}, low_precision=False, also_complex=False),
        Sample((ints(3, 2),), {"dtype": dtypes.float64}),
        Sample((ints(),), {"dtype": dtypes.float32}),
    ],
    "select": [
        Sample((bools(2, 3), real(2, 3), real(2, 3))),
        Sample((bools(3), real(2, 3), real())),
        Sample((bools(2, 1), real(3), real(1, 3))),
        Sample((np.array(True), real(), real())),
        Sample((bools(0, 2), real(2), real(1, 2))),
    ],
    "concat": [
        Sample((real(2, 1), real(2, 3), real(2, 0)), {"axis": 1}),
        Sample((real(2),), {"axis": 0}),
        Sample((real(1, 2, 2), real(1, 1, 2)), {"axis": 1}),
    ],
    "stack": [
        Sample((real(2, 3), real(2, 3)), {"axis": 0}),
        Sample((real(2), real(2), real(2)), {"axis": 1}),
        Sample((real(), real()), {"axis": 0}),
        Sample((real(0, 2),), {"axis": 2}),
    ],
    "unstack": [
        Sample((real(2, 3),), {"axis": 0}),
        Sample((real(2, 3),), {"axis": 1}),
        Sample((real(3),), {"axis": 0}),
        Sample((real(2, 0),), {"axis": 0}),
    ],
    "split": [
        Sample((real(5, 2),), {"sizes": (2, 3), "axis": 0}),
        Sample((real(2, 4),), {"sizes": (1, 3, 0), "axis": 1}),
        Sample((real(4),), {"sizes": (4,), "axis": 0}),
    ],
    "pad": [
        Sample((real(2, 3), real()), {"paddings": ((1, 0), (2, 1))}),
        Sample((real(), real()), {"paddings": ()}),
        Sample((real(0), real()), {"paddings": ((1, 1),)}),
    ],
    "tile": [
        Sample((real(2, 3),), {"multiples": (2, 3)}),
        Sample((real(2),), {"multiples": (0,)}),
        Sample((real(),), {"multiples": ()}),
    ],
    "repeat": [
        Sample((real(2, 3),), {"repeats": (2,), "axis": 1}),
        Sample((real(2, 3),), {"repeats": (2, 0, 1), "axis": 1}),
        Sample((real(2, 3),), {"repeats": (1, 3), "axis": 0}),
        Sample((real(2),), {"repeats": (0,), "axis": 0}),
    ],
    "mirror_pad": [
        Sample((real(3, 4),), {"paddings": ((1, 2), (0, 3)), "edge": False}),
        Sample((real(3, 4),), {"paddings": ((3, 1), (0, 4)), "edge": True}),
        Sample((real(2),), {"paddings": ((0, 0),), "edge": True}),
    ],
    "mirror_fold": [
        Sample((real(6, 7),), {"paddings": ((1, 2), (0, 3)), "edge": False}),
        Sample((real(7, 8),), {"paddings": ((3, 1), (0, 4)), "edge": True}),
    ],
    "reverse": [
        Sample((real(2, 3),), {"axis": (1,)}),
        Sample((real(2, 3),), {"axis": (0, 1)}),
        Sample((real(2),), {"axis": ()}),
    ],
    "roll": [
        Sample((real(2, 3),), {"shift": (1,), "axis": (1,)}),
        Sample((real(4, 3),), {"shift": (-1, 5), "axis": (0, 1)}),
        Sample((real(4, 3),), {"shift": (1, 2), "axis": (0, 0)}),
    ],
    **{
        name: [
            Sample((real(2, 3),), {"axis": axis, "descending": descending})
            for axis in (0, 1)
            for descending in (False, True)
        ]
        + [
            Sample((np.array([2, 1, 2, 1, 1], np.int32),), {"axis": 0, "descending": True}),
            Sample((real(0, 2),), {"axis": 0, "descending": False}),
        ]
        for name in ("sort", "argsort")
    },
    "searchsorted": [
        Sample(
            (np.sort(real(2, 5)), real(2, 3)),
            {"side": side, "dtype": INT32},
        )
        for side in ("left", "right")
    ]
    + [
        Sample(
            (np.array([1, 2, 2, 3], np.int32), np.array([0, 2, 4], np.int32)),
            {"side": side, "dtype": INT64},
        )
        for side in ("left", "right")
    ],
    "nonzero": [Sample((bools(2, 3),)), Sample((np.array([0.0, 1.5, -2.0]),)), Sample((bools(0),))],
    "unique": [
        Sample((np.array([3, 1, 3, 2, 1], np.int32),), {"dtype": INT32}),
        Sample((np.array([0.5, 0.25, 0.5]),), {"dtype": INT64}),
        Sample((real(0),), {"dtype": INT32}),
    ],
    "distinct": [
        Sample((np.array([3, 1, 3, 2, 1], np.int32),)),
        Sample((np.array([[1, 0], [0, 2], [1, 0], [0, 1]], np.int64),)),
        Sample((real(0),)),
        Sample((real(0, 2),)),
        Sample((np.zeros([3, 0]),)),
    ],
}


def _distinct(x: np.ndarray) -> tuple[np.ndarray, ...]:
    rows = [tuple(np.ravel(row).tolist()) for row in x]
    ordered = sorted(set(rows))
    return (
        np.array([rows.index(row) for row in ordered], np.int32),
        np.array([ordered.index(row) for row in rows], np.int32),
        np.array([rows.count(row) for row in ordered], np.int32),
    )


def _first_appearances(x: np.ndarray, dtype: dtypes.DType) -> tuple[np.ndarray, ...]:
    values = list(dict.fromkeys(x.tolist()))
    return (
        np.array(values, x.dtype),
        np.array([values.index(v) for v in x.tolist()]),
        np.array([x.tolist().count(v) for v in values]),
    )


def _order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    return np.argsort(-x if descending else x, axis, kind="stable")


def _mirror_fold(x: np.ndarray, *, paddings: tuple[tuple[int, int], ...], edge: bool) -> np.ndarray:
    """The transpose of padding the numbers of the places."""
    shape = tuple(d - a - b for d, (a, b) in zip(x.shape, paddings, strict=True))
    places = np.arange(np.prod(shape)).reshape(shape)
    shown = np.pad(places, paddings, mode="symmetric" if edge else "reflect")
    out = np.zeros(shape, x.dtype).reshape(-1)
    for place, value in zip(shown.reshape(-1), x.reshape(-1), strict=True):
        out[place] += value
    return out.reshape(shape)


REFERENCES: dict[str, Reference] = {
    "identity": lambda x: x,
    "barrier": lambda x: x,
    "laid_out": lambda x, layout: x,
    "stop_gradient": lambda x: x,
    "zeros_like": lambda x: x * 0 if x.dtype.kind != "b" else x & False,
    "ones_like": lambda x: x * 0 + 1 if x.dtype.kind != "b" else x | True,
    "shape": lambda x, dtype: np.array(x.shape),
    "size": lambda x, dtype: np.size(x),
    "reshape": lambda x, shape: np.array(x.ravel().tolist(), x.dtype).reshape(shape),
    "transpose": lambda x, perm: np.einsum(x, list(range(x.ndim)), list(perm)),
    "broadcast_to": lambda x, shape: x + np.zeros(shape),
    "cast": lambda x, dtype: np.array(x, dtype.np_dtype) if dtype.is_complex else x.real * 1.0,
    "cast_to_discrete": lambda x, dtype: x.real != 0 if dtype.is_bool else np.trunc(x.real),
    "bitcast": lambda x, dtype: (
        x.view(dtype.np_dtype)
        if dtype.size == x.itemsize
        else x.view(dtype.np_dtype).reshape(
            (*x.shape, -1) if dtype.size < x.itemsize else x.shape[:-1]
        )
    ),
    "select": lambda condition, a, b: np.choose(condition, [b, a]),
    "concat": lambda *xs, axis: np.concatenate(xs, axis),
    "stack": lambda *xs, axis: np.stack(xs, axis),
    "unstack": lambda x, axis: [np.take(x, i, axis) for i in range(x.shape[axis])],
    "split": lambda x, sizes, axis: np.split(x, np.cumsum(sizes)[:-1], axis),
    "pad": lambda x, value, paddings: np.pad(x, paddings, constant_values=value) if x.ndim else x,
    "tile": lambda x, multiples: np.tile(x, multiples),
    "repeat": lambda x, repeats, axis: np.take(
        x,
        [
            i
            for i, n in enumerate(repeats * x.shape[axis] if len(repeats) == 1 else repeats)
            for _ in range(n)
        ],
        axis,
    ),
    "mirror_pad": lambda x, paddings, edge: np.pad(
        x, paddings, mode="symmetric" if edge else "reflect"
    ),
    "mirror_fold": _mirror_fold,
    "reverse": lambda x, axis: np.flip(x, axis),
    "roll": lambda x, shift, axis: np.roll(x, shift, axis),
    "sort": lambda x, axis, descending: np.take_along_axis(x, _order(x, axis, descending), axis),
    "argsort": _order,
    "searchsorted": lambda x, values, side, dtype: (
        (x[..., None, :] < values[..., None])
        if side == "left"
        else (x[..., None, :] <= values[..., None])
    ).sum(-1),
    "nonzero": lambda x: np.stack(np.nonzero(x), -1),
    "unique": _first_appearances,
    "distinct": _distinct,
}

MISTAKES: dict[str, list[Mistake]] = {
    "reshape": [Mistake((real(2, 3),), {"shape": (4, 2)}, says=("[4, 2]", "6", "8"))],
    "transpose": [
        Mistake((real(2, 3),), {"perm": (0,)}),
        Mistake((real(2, 3),), {"perm": (1, 1)}, says=("[1, 1]",)),
    ],
    "broadcast_to": [
        Mistake((real(2, 3),), {"shape": (2, 2)}, says=("[2, 2]",)),
        Mistake((real(2, 3),), {"shape": (3,)}, says=("[3]",)),
    ],
    **{
        name: [
            Mistake(
                (strings(2),),
                {"dtype": dtype},
                op="cast",
                says=("string", dtype.name),
                shapes=(),
                error=tf.errors.UnimplementedError,
            )
        ]
        for name, dtype in (("cast", dtypes.float64), ("cast_to_discrete", dtypes.int32))
    },
    "bitcast": [
        Mistake((ints(3),), {"dtype": dtypes.float64}, says=("int32", "float64")),
        Mistake((bools(3),), {"dtype": dtypes.float64}, says=("bool",)),
    ],
    "select": [
        Mistake((ints(2, 3), real(2, 3), real(2, 3)), op="where", says=("int32",)),
        Mistake((bools(2, 3), real(2, 3), ints(2, 3)), op="where", says=("float64", "int32")),
        Mistake((bools(2, 3), real(2, 2), real(1)), op="where"),
    ],
    "concat": [
        Mistake((real(2, 1), ints(2, 1)), {"axis": 1}, says=("float64", "int32")),
        Mistake((real(2, 1), real(3, 1)), {"axis": 1}),
        Mistake((real(2, 1), real(2)), {"axis": 0}),
        Mistake((real(), real()), {"axis": 0}, says=("tf.stack",), shapes=()),
    ],
    "stack": [
        Mistake((real(2), ints(2)), {"axis": 0}, says=("float64", "int32")),
        Mistake((real(2), real(3)), {"axis": 0}),
    ],
    "split": [Mistake((real(5, 2),), {"sizes": (2, 2), "axis": 0}, says=("[2, 2]", "5"))],
    "pad": [
        Mistake((real(2, 3), np.array(1, np.int32)), {"paddings": ((0, 0), (0, 1))}),
        Mistake((real(2, 3), real(2)), {"paddings": ((0, 0), (0, 1))}, shapes=(1,)),
        Mistake((real(2, 3), real()), {"paddings": ((0, 0),)}, shapes=(0,)),
        Mistake((real(2, 3), real()), {"paddings": ((0, 0), (-1, 0))}, shapes=(0,)),
    ],
    "tile": [
        Mistake((real(2, 3),), {"multiples": (2,)}, says=("[2]",)),
        Mistake((real(2, 3),), {"multiples": (2, -1)}),
    ],
    "repeat": [
        Mistake((real(2, 3),), {"repeats": (1, -1), "axis": 0}, says=("[1, -1]",)),
        Mistake((real(2, 3),), {"repeats": (1, 2, 3), "axis": 0}, says=("[1, 2, 3]",)),
    ],
    "mirror_pad": [
        Mistake((real(2, 3),), {"paddings": ((2, 0), (0, 0)), "edge": False}, op="pad"),
        Mistake((real(2, 3),), {"paddings": ((0, 0), (0, 4)), "edge": True}, op="pad"),
        Mistake((real(2, 3),), {"paddings": ((0, 0),), "edge": True}, op="pad"),
    ],
    "sort": refused(REAL, axis=0, descending=False),
    "argsort": refused(REAL, axis=0, descending=False),
    "searchsorted": [
        Mistake(
            (real(2, 3), ints(2, 3)), {"side": "left", "dtype": INT32}, says=("float64", "int32")
        ),
        Mistake((cplx(2, 3), cplx(2, 3)), {"side": "left", "dtype": INT32}, says=("complex128",)),
        Mistake((real(2, 3), real(3, 3)), {"side": "left", "dtype": INT32}),
    ],
    "unique": [Mistake((real(2, 3),), {"dtype": INT32})],
    "distinct": [Mistake((real(2, 3, 4),)), Mistake((real(),))],
}
