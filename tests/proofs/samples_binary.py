"""Proofs of the elementwise primitives of two inputs, comparisons and logic."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np
from tests.proofs.samples import (
    FLOAT,
    INEXACT,
    NUMERIC,
    POSITIVE,
    REAL,
    Mistake,
    Reference,
    Sample,
    bools,
    cplx,
    ints,
    mismatched,
    pairs,
    real,
    refused,
    strings,
)

SAMPLES: dict[str, list[Sample]] = {
    **{
        name: pairs(real) + pairs(ints)[1:3]
        for name in [
            "add",
            "subtract",
            "multiply",
            "maximum",
            "minimum",
            "squared_difference",
            "equal",
            "not_equal",
            "less",
            "less_equal",
            "greater",
            "greater_equal",
            "relu_gradient",
        ]
    },
    **{name: pairs(real) for name in ["atan2", "complex"]},
    **{
        name: pairs(real, **POSITIVE)
        for name in [
            "divide",
            "power",
            "divide_no_nan",
            "multiply_no_nan",
            "xlogy",
            "xlog1py",
            "xdivy",
        ]
    },
    "floor_divide": pairs(real, low=0.6, high=0.9) + pairs(ints),
    "floor_mod": [
        Sample((np.array([2.3, -1.7]), np.array([0.9, 0.6]))),
        Sample((np.array(2.3), np.array([[0.9, -0.6]]))),
        *pairs(ints),
        Sample((np.array([-7, 7, -7], np.int32), np.array([3, -3, -3], np.int32))),
    ],
    **{name: pairs(bools) for name in ["logical_and", "logical_or", "logical_xor"]},
    **{
        name: pairs(ints)
        for name in ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "gcd"]
    },
    "add_n": [
        Sample((real(2, 3), real(2, 3), real(2, 3))),
        Sample((real(), real())),
        Sample((real(3),)),
        Sample((real(0, 2), real(0, 2))),
        Sample((ints(2), ints(2))),
    ],
}
SAMPLES["floor_divide"].append(
    Sample((np.array([-7, 7, -7], np.int32), np.array([3, -3, -3], np.int32)))
)
SAMPLES["power"].append(Sample((ints(2, 3), ints(3))))
SAMPLES["power"].append(Sample((np.array([-1.3, 0.7]), np.array(2.0)), first_order=False))
for name in ("xlogy", "xlog1py", "xdivy"):  # a factor of 0 wins over what is undefined
    SAMPLES[name].append(Sample((np.array([0.0, 0.0]), np.array([0.0, np.nan])), first_order=False))
# Of complex numbers it is real, in a complex dtype: as in TensorFlow, the imaginary part of its
# gradient is not told apart.
for row in SAMPLES["squared_difference"]:
    row.also_complex = False
SAMPLES["squared_difference"].append(Sample((cplx(2, 3), cplx(3)), first_order=False))
SAMPLES["xlog1py"].append(Sample((real(2), np.array([1e-9, -3e-12])), low_precision=False))
for name in ("divide_no_nan", "multiply_no_nan"):
    SAMPLES[name].append(Sample((np.array([1.5, np.nan]), np.zeros(2)), first_order=False))
for name in ("equal", "not_equal"):
    SAMPLES[name] += [Sample((bools(4), bools(4))), Sample((strings(2), strings(2)))]


def zero_where(zero: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.where(np.broadcast_to(zero, value.shape), 0.0, value)


REFERENCES: dict[str, Reference] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "divide_no_nan": lambda a, b: zero_where(b == 0, a * (1 / np.where(b == 0, 1, b))),
    "multiply_no_nan": lambda a, b: zero_where(b == 0, a * b),
    "xlogy": lambda a, b: zero_where(a == 0, a * np.log(b)),
    "xlog1py": lambda a, b: zero_where(a == 0, a * np.log1p(b)),
    "xdivy": lambda a, b: zero_where(a == 0, a / b),
    "maximum": lambda a, b: np.where(a > b, a, b),
    "minimum": lambda a, b: np.where(a < b, a, b),
    "squared_difference": lambda a, b: abs(a - b) ** 2,
    "atan2": lambda a, b: np.angle(b + 1j * a),
    "complex": lambda a, b: a + 1j * b,
    "power": lambda a, b: np.power(a, b),
    "floor_divide": lambda a, b: a // b,
    "floor_mod": lambda a, b: a - b * (a // b),
    "relu_gradient": lambda a, b: np.where(b > 0, a, np.zeros_like(a)),
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "logical_and": operator.and_,
    "logical_or": operator.or_,
    "logical_xor": operator.xor,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "left_shift": lambda a, b: a * 2**b,
    "right_shift": lambda a, b: a // 2**b,
    "gcd": np.vectorize(math.gcd, otypes=[np.int32]),
    "add_n": lambda *xs: functools.reduce(operator.add, xs),
}

_TAKES = {
    (*NUMERIC, "string"): "add",  # of strings by another row
    NUMERIC: "subtract multiply squared_difference power",
    INEXACT: "divide divide_no_nan multiply_no_nan xlogy xlog1py xdivy",
    REAL: "maximum minimum floor_divide floor_mod less less_equal greater greater_equal",
    FLOAT: "atan2 complex",
    ("bool",): "logical_and logical_or logical_xor",
    ("int",): "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd",
    ("float", "complex", "int", "bool", "string"): "equal not_equal",
}

MISTAKES: dict[str, list[Mistake]] = {
    name: refused(accepts, inputs=2)
    + mismatched(accepts[0], "bool" if accepts[0] == "int" else "int")
    for accepts, names in _TAKES.items()
    for name in names.split()
}
MISTAKES["add_n"] = [
    *refused(NUMERIC, inputs=2),
    Mistake((real(2), ints(2)), says=("float64", "int32")),
    Mistake((real(2), real(3))),
]
for name in ("floor_divide", "floor_mod"):
    MISTAKES[name].append(
        Mistake((ints(2), np.zeros(2, np.int32)), says=("division by zero",), shapes=())
    )
MISTAKES["power"].append(Mistake((ints(2), -ints(2)), says=("negative",), shapes=()))
