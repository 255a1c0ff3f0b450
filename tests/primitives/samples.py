"""Sample inputs for every primitive: the table of proofs that no primitive can escape.

Each row gives inputs (float64 where a gradient is to be checked) and attributes. `test_table.py` fails if a primitive
has no row here, and makes from each row checks of the shape rule and of first and second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tapeflow.core import dtypes

rng = np.random.default_rng(20261115)


@dataclass
class Sample:
    """One call of a primitive."""

    inputs: tuple[np.ndarray, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    second_order: bool = True


def real(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    """Numbers that keep clear of whole and half numbers, where kinks and jumps are."""
    x = rng.uniform(low, high, shape)
    near = np.abs(x * 2 - np.round(x * 2)) < 0.1
    return np.where(near, x + 0.11, x)


def cplx(*shape: int) -> np.ndarray:
    return real(*shape) + 1j * real(*shape)


def ints(*shape: int, low: int = 1, high: int = 9) -> np.ndarray:
    return rng.integers(low, high, shape).astype(np.int32)


def bools(*shape: int) -> np.ndarray:
    return rng.random(shape) < 0.5


def everywhere(make: Callable[..., np.ndarray], **kwargs: Any) -> list[Sample]:
    """A scalar, a vector, a matrix, an empty array."""
    return [Sample((make(*shape, **kwargs),)) for shape in [(), (3,), (2, 3), (0, 2)]]


def pairs(make: Callable[..., np.ndarray], **kwargs: Any) -> list[Sample]:
    """Equal shapes, and every way to broadcast."""
    shapes = [
        ((), ()),
        ((2, 3), (2, 3)),
        ((2, 3), (3,)),
        ((), (2, 2)),
        ((2, 1), (1, 3)),
        ((0, 3), (3,)),
    ]
    return [Sample((make(*a, **kwargs), make(*b, **kwargs))) for a, b in shapes]


POSITIVE = {"low": 0.3, "high": 2.6}
INSIDE = {"low": -0.8, "high": 0.7}
ABOVE_ONE = {"low": 1.2, "high": 3.0}

SAMPLES: dict[str, list[Sample]] = {
    # unary
    **{
        name: everywhere(real)
        for name in [
            "negative",
            "square",
            "sign",
            "floor",
            "ceil",
            "rint",
            "round",
            "exp",
            "expm1",
            "sin",
            "cos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "sigmoid",
            "softplus",
            "relu",
            "abs",
            "conj",
            "real",
            "imag",
            "is_nan",
            "is_inf",
            "is_finite",
            "identity",
            "stop_gradient",
            "zeros_like",
            "ones_like",
        ]
    },
    **{
        name: everywhere(real, **POSITIVE)
        for name in ["sqrt", "rsqrt", "reciprocal", "log", "log1p"]
    },
    **{name: everywhere(real, **INSIDE) for name in ["tan", "asin", "acos", "atanh"]},
    "acosh": everywhere(real, **ABOVE_ONE),
    "invert": everywhere(ints),
    "logical_not": everywhere(bools),
    # binary
    **{
        name: pairs(real)
        for name in [
            "add",
            "subtract",
            "multiply",
            "maximum",
            "minimum",
            "squared_difference",
            "atan2",
            "complex",
            "equal",
            "not_equal",
            "less",
            "less_equal",
            "greater",
            "greater_equal",
        ]
    },
    "relu_gradient": pairs(real),
    "divide": pairs(real, **POSITIVE),
    "power": pairs(real, **POSITIVE),
    "floor_divide": pairs(real, **POSITIVE) + pairs(ints),
    "floor_mod": [Sample((np.array([2.3, -1.7]), np.array([0.9, 0.6]))), *pairs(ints)],
    **{name: pairs(bools) for name in ["logical_and", "logical_or", "logical_xor"]},
    **{name: pairs(ints) for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]},
    # reduction
    **{
        name: [
            Sample((real(2, 3, 2),), {"axis": axis, "keepdims": keepdims})
            for axis in [(0, 1, 2), (1,), (0, 2), ()]
            for keepdims in (False, True)
        ]
        + [Sample((real(),), {"axis": (), "keepdims": False})]
        for name in ["sum", "mean", "max", "min", "prod"]
    },
    **{
        name: [Sample((bools(2, 3),), {"axis": (1,), "keepdims": keep}) for keep in (False, True)]
        for name in ("any", "all")
    },
    **{
        name: [Sample((real(2, 3),), {"axis": axis, "dtype": dtypes.int64}) for axis in (0, 1)]
        for name in ("argmax", "argmin")
    },
    **{
        name: [
            Sample((real(2, 3),), {"axis": axis, "exclusive": exclusive, "reverse": reverse})
            for axis in (0, 1)
            for exclusive in (False, True)
            for reverse in (False, True)
        ]
        for name in ("cumsum", "cumprod")
    },
    # array
    "reshape": [
        Sample((real(2, 3),), {"shape": (3, 2)}),
        Sample((real(),), {"shape": (1, 1)}),
        Sample((real(0, 2),), {"shape": (2, 0)}),
    ],
    "transpose": [Sample((real(2, 3, 4),), {"perm": (2, 0, 1)}), Sample((real(),), {"perm": ()})],
    "broadcast_to": [
        Sample((real(3, 1),), {"shape": (2, 3, 4)}),
        Sample((real(),), {"shape": (2,)}),
    ],
    "cast": [Sample((real(2, 3),), {"dtype": dtypes.float64})],
    "cast_to_discrete": [Sample((real(2, 3),), {"dtype": dtypes.int32})],
    "select": [
        Sample((bools(2, 3), real(2, 3), real(2, 3))),
        Sample((bools(3), real(2, 3), real())),
        Sample((bools(2, 1), real(3), real(1, 3))),
    ],
    "concat": [
        Sample((real(2, 1), real(2, 3), real(2, 0)), {"axis": 1}),
        Sample((real(2),), {"axis": 0}),
    ],
    "stack": [
        Sample((real(2, 3), real(2, 3)), {"axis": 0}),
        Sample((real(2), real(2), real(2)), {"axis": 1}),
    ],
    "unstack": [Sample((real(2, 3),), {"axis": 0}), Sample((real(2, 3),), {"axis": 1})],
    "split": [
        Sample((real(5, 2),), {"sizes": (2, 3), "axis": 0}),
        Sample((real(2, 4),), {"sizes": (1, 3, 0), "axis": 1}),
    ],
    "tile": [Sample((real(2, 3),), {"multiples": (2, 3)}), Sample((real(2),), {"multiples": (0,)})],
    "pad": [Sample((real(2, 3), real()), {"paddings": ((1, 0), (2, 1))})],
    "reverse": [Sample((real(2, 3),), {"axis": (1,)}), Sample((real(2, 3),), {"axis": (0, 1)})],
    # indexing
    "getitem": [
        Sample((real(4, 3),), {"index": (slice(1, None, 2), None, 1)}),
        Sample((real(4, 3),), {"index": (Ellipsis, slice(None, None, -1))}),
        Sample((real(),), {"index": (None,)}),
        Sample((real(3),), {"index": (-1,)}),
    ],
    "put": [Sample((real(2),), {"shape": (4, 3), "index": (slice(1, None, 2), 1)})],
    "gather": [
        Sample((real(4, 3), np.array([[0, 2], [2, 1]])), {"axis": 0, "batch_dims": 0}),
        Sample((real(4, 3), np.array([0, 2, 2])), {"axis": 1, "batch_dims": 0}),
        Sample((real(2, 4, 3), np.array([[0, 3], [1, 1]])), {"axis": 1, "batch_dims": 1}),
        Sample((real(2, 3, 4), np.array([[0, 3], [1, 1]])), {"axis": 2, "batch_dims": 1}),
    ],
    "scatter_rows": [
        Sample((real(3, 2), np.array([0, 3, 0])), {"shape": (4, 2), "axis": 0, "batch_dims": 0}),
        Sample((real(2, 3), np.array([0, 3, 0])), {"shape": (2, 4), "axis": 1, "batch_dims": 0}),
        Sample(
            (real(2, 2, 3), np.array([[0, 3], [1, 1]])),
            {"shape": (2, 4, 3), "axis": 1, "batch_dims": 1},
        ),
    ],
    "gather_nd": [
        Sample((real(3, 4), np.array([[0, 1], [2, 3], [0, 1]])), {"batch_dims": 0}),
        Sample((real(3, 4), np.array([[0], [2]])), {"batch_dims": 0}),
        Sample((real(2, 3, 4), np.array([[[0], [2]], [[1], [1]]])), {"batch_dims": 1}),
    ],
    "scatter_nd": [
        Sample((np.array([[0], [2], [0]]), real(3, 4)), {"shape": (3, 4), "batch_dims": 0})
    ],
    # linalg
    "matmul": [
        Sample((real(2, 3), real(3, 4)), {"transpose_a": False, "transpose_b": False}),
        Sample((real(3, 2), real(3, 4)), {"transpose_a": True, "transpose_b": False}),
        Sample((real(2, 3), real(4, 3)), {"transpose_a": False, "transpose_b": True}),
        Sample((real(3, 2), real(4, 3)), {"transpose_a": True, "transpose_b": True}),
        Sample((real(5, 2, 3), real(3, 4)), {"transpose_a": False, "transpose_b": False}),
        Sample((real(2, 1, 2, 3), real(5, 4, 3)), {"transpose_a": False, "transpose_b": True}),
        Sample((real(2, 0), real(0, 4)), {"transpose_a": False, "transpose_b": False}),
    ],
}
