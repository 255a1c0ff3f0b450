"""Proofs of the elementwise primitives of one input."""

from __future__ import annotations

import numpy as np
import scipy.special
from tests.proofs.samples import (
    ABOVE_ONE,
    FLOAT,
    INEXACT,
    INSIDE,
    NUMERIC,
    POSITIVE,
    REAL,
    Mistake,
    Reference,
    Sample,
    bools,
    everywhere,
    ints,
    real,
    refused,
)


def complex_only(x: np.ndarray) -> list[Sample]:
    return [Sample((x[0],)), Sample((x,)), Sample((x.reshape(2, 2),)), Sample((x[:0],))]


CIRCLE = np.array([1.3 + 0.4j, -0.7 + 1.1j, -0.6 - 0.9j, 0.4 - 1.7j])

SAMPLES: dict[str, list[Sample]] = {
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
            "softsign",
            "relu",
            "abs",
            "conj",
            "real",
            "imag",
            "angle_of_real",
            "is_nan",
            "is_inf",
            "is_finite",
        ]
    },
    **{
        name: everywhere(real, **POSITIVE)
        for name in ["sqrt", "rsqrt", "reciprocal", "log", "log1p"]
    },
    "cbrt": [*everywhere(real, **POSITIVE), Sample((np.array([-8.0, -0.5, 3.0]),))],
    **{name: everywhere(real, **INSIDE) for name in ["tan", "asin", "acos", "atanh"]},
    "acosh": everywhere(real, **ABOVE_ONE),
    "angle": complex_only(CIRCLE),
    "invert": everywhere(ints),
    "logical_not": everywhere(bools),
}
for whole in ("negative", "square", "sign", "abs", "round", "relu", "conj"):
    SAMPLES[whole] = [*SAMPLES[whole], Sample((ints(2, 3, low=-4, high=5),))]
for question in ("is_nan", "is_inf", "is_finite"):
    SAMPLES[question] = [*SAMPLES[question], Sample((np.array([np.nan, np.inf, -np.inf, 1.0]),))]
# Close to 0 a careless formula loses all digits, and far out it overflows.
TINY, HUGE = np.array([1e-9, -3e-12, 2e-7]), np.array([-800.0, 750.0, -40.0])
for precise in ("expm1", "log1p", "sin", "tan", "atan", "asin", "tanh", "asinh", "atanh", "sinh"):
    SAMPLES[precise].append(Sample((TINY,), low_precision=False, also_complex=False))
for steady in ("sigmoid", "softplus", "softsign", "tanh"):
    SAMPLES[steady].append(
        Sample((HUGE,), low_precision=False, also_complex=False, first_order=False)
    )

REFERENCES: dict[str, Reference] = {
    "negative": lambda x: 0 - x,
    "square": lambda x: x * x,
    "sign": lambda x: x / np.abs(x) if x.dtype.kind in "fc" else np.sign(x),
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.round,
    "round": np.round,
    "cbrt": lambda x: np.sign(x) * np.abs(x) ** (1 / 3),
    "exp": np.exp,
    "expm1": scipy.special.expm1,
    "sin": np.sin,
    "cos": np.cos,
    "tan": lambda x: np.sin(x) / np.cos(x),
    "atan": np.arctan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "sinh": lambda x: -1j * np.sin(1j * x) if x.dtype.kind == "c" else np.sinh(x),
    "cosh": lambda x: (np.exp(x) + np.exp(-x)) / 2,
    "tanh": np.tanh,
    "asinh": lambda x: np.log(x + np.sqrt(x * x + 1)) if x.dtype.kind == "c" else np.arcsinh(x),
    "acosh": lambda x: np.log(x + np.sqrt(x - 1) * np.sqrt(x + 1)),
    "atanh": lambda x: (
        (np.log(1 + x) - np.log(1 - x)) / 2
        if x.dtype.kind == "c"
        else (scipy.special.log1p(x) - scipy.special.log1p(-x)) / 2
    ),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)) if x.dtype.kind == "c" else scipy.special.expit(x),
    "softplus": lambda x: np.logaddexp(0.0, x),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "relu": lambda x: np.where(x > 0, x, np.zeros_like(x)),
    "abs": lambda x: np.hypot(x.real, x.imag) if x.dtype.kind in "fc" else np.abs(x),
    "conj": np.conj,
    "real": np.real,
    "imag": np.imag,
    "angle": lambda x: np.arctan2(x.imag, x.real),
    "angle_of_real": np.angle,
    "is_nan": np.isnan,
    "is_inf": np.isinf,
    "is_finite": np.isfinite,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: x**-0.5,
    "reciprocal": lambda x: x**-1.0,
    "log": np.log,
    "log1p": scipy.special.log1p,
    "invert": lambda x: -x - 1,
    "logical_not": lambda x: ~x,
}

_TAKES = {
    NUMERIC: "negative square sign abs conj real imag angle",
    REAL: "round relu",
    FLOAT: "floor ceil rint softplus softsign angle_of_real is_nan is_inf is_finite",
    ("int",): "invert",
    ("bool",): "logical_not",
}

MISTAKES: dict[str, list[Mistake]] = {
    name: refused(accepts) for accepts, names in _TAKES.items() for name in names.split()
}
for name in [name for name in SAMPLES if name not in MISTAKES]:
    MISTAKES[name] = refused(INEXACT)
MISTAKES["negative"].append(Mistake((np.array([1, 2], np.uint8),), says=("uint8",), shapes=()))
