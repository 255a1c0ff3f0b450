"""Proofs of the primitives of neural networks: activations, softmax, cross entropies, ranking."""

from __future__ import annotations

import numpy as np
import scipy.special
from tests.proofs.samples import (
    FLOAT,
    INEXACT,
    REAL,
    Mistake,
    Reference,
    Sample,
    bools,
    cplx,
    everywhere,
    ints,
    pairs,
    real,
    refused,
    strings,
)

from tapeflow._src.core import dtypes


def shares(*shape: int, axis: int = -1) -> np.ndarray:
    """Probabilities: they add up to 1 along the axis."""
    p = real(*shape, low=0.2, high=2.0)
    return p / p.sum(axis, keepdims=True)


SINGLE = np.array([[0.5, 2.0, 1.0], [3.0, 1.0, np.nan], [1.0, 1.0, 0.5]], np.float32)

SAMPLES: dict[str, list[Sample]] = {
    **{name: everywhere(real, low=-3.0, high=3.0) for name in ["elu", "selu", "silu", "gelu_tanh"]},
    "gelu_tanh_gradient": pairs(real, low=-3.0, high=3.0),
    "relu6": [*everywhere(real, low=-3.0, high=9.0), Sample((ints(3, low=-2, high=12),))],
    "leaky_relu": [
        Sample((real(*shape),), {"alpha": alpha})
        for shape in [(), (3,), (2, 3), (0, 2)]
        for alpha in (0.2, 0.0)
    ],
    "l2_loss": everywhere(real),
    "variance_about_mean": [
        Sample((real(2, 3), real(2, 1)), {"axis": (1,), "keepdims": keepdims})
        for keepdims in (False, True)
    ]
    + [Sample((real(2, 3, 2), real(1, 3, 1)), {"axis": (0, 2), "keepdims": False})],
    "dropout": [
        Sample((real(2, 3), bools(2, 3)), {"scale": 2.0}),
        Sample((real(2, 3), bools(2, 1)), {"scale": 1.25}),
        Sample((real(3), bools(2, 3)), {"scale": 1.25}),
        Sample((real(), np.array(True)), {"scale": 2.0}),
        Sample((real(0, 2), bools(0, 2)), {"scale": 2.0}),
    ],
    **{
        name: [Sample((real(2, 3, 2),), {"axis": axis}) for axis in (0, 1, 2)]
        + [Sample((real(4),), {"axis": 0}), Sample((real(0, 3),), {"axis": 1})]
        for name in ("softmax", "log_softmax")
    },
    "softmax_gradient": [
        Sample((real(2, 3), shares(2, 3, axis=axis)), {"axis": axis}) for axis in (0, 1)
    ],
    "sparse_softmax_cross_entropy": [
        Sample((real(2, 3), np.array([0, 2]))),
        Sample((real(2, 2, 3), np.array([[0, 2], [1, 1]], np.int32))),
        Sample((real(3), np.array(1))),
        Sample((real(0, 3), np.zeros(0, np.int32))),
    ],
    "sparse_softmax_cross_entropy_gradient": [
        Sample((real(2), real(2, 3), np.array([0, 2]))),
        Sample((real(2, 2), real(2, 2, 3), np.array([[0, 2], [1, 1]], np.int32))),
    ],
    "softmax_cross_entropy": [
        Sample((real(2, 3), shares(2, 3, axis=axis)), {"axis": axis}) for axis in (0, 1)
    ]
    + [Sample((real(4), shares(4)), {"axis": 0}), Sample((real(0, 3), real(0, 3)), {"axis": 1})],
    "softmax_cross_entropy_gradient": [
        Sample((real(2), real(2, 3), shares(2, 3)), {"axis": 1}),
        Sample((real(3), real(2, 3), shares(2, 3, axis=0)), {"axis": 0}),
    ],
    "sigmoid_cross_entropy": [
        Sample((real(*shape), real(*shape, low=0.1, high=0.9))) for shape in [(), (2, 3), (0, 2)]
    ],
    "top_k_indices": [Sample((real(2, 4),), {"k": k, "dtype": dtypes.int32}) for k in (0, 1, 3, 4)]
    + [
        Sample((np.array([1, 3, 3, 2, 3], np.int32),), {"k": 4, "dtype": dtypes.int64}),
        Sample((real(0, 3),), {"k": 2, "dtype": dtypes.int32}),
    ],
    "in_top_k": [
        Sample((np.array([1, 0, 1]), SINGLE), {"k": 1}),
        Sample((np.array([0, 0, 2], np.int32), SINGLE), {"k": 2}),
        Sample((np.array([7, 0, -1], np.int32), SINGLE), {"k": 3}),
        Sample((np.zeros(0, np.int32), SINGLE[:0]), {"k": 3}),
    ],
}
FAR = np.array([[1000.3, 999.6, -4.0], [-1000.2, -1001.7, -999.0]])
for name in ("softmax", "log_softmax"):
    SAMPLES[name].append(Sample((FAR,), {"axis": 1}, low_precision=False, first_order=False))
SAMPLES["softmax_cross_entropy"].append(
    Sample((FAR, shares(2, 3)), {"axis": 1}, low_precision=False, first_order=False)
)
SAMPLES["sparse_softmax_cross_entropy"].append(
    Sample((FAR, np.array([2, 0])), low_precision=False, first_order=False)
)
SAMPLES["sigmoid_cross_entropy"].append(
    Sample((FAR, shares(2, 3)), low_precision=False, first_order=False)
)
# What only gradients call is not asked for complex numbers.
for name in (
    "softmax_gradient",
    "softmax_cross_entropy_gradient",
    "sparse_softmax_cross_entropy_gradient",
):
    for row in SAMPLES[name]:
        row.also_complex = False
# The variance of complex numbers is real, in a complex dtype: as in TensorFlow, the imaginary part
# of its gradient is not told apart.
for row in SAMPLES["variance_about_mean"]:
    row.also_complex = False
SAMPLES["variance_about_mean"].append(
    Sample((cplx(2, 3), cplx(2, 1)), {"axis": (1,), "keepdims": True}, first_order=False)
)


def _variance(
    x: np.ndarray, mean: np.ndarray, *, axis: tuple[int, ...], keepdims: bool
) -> np.ndarray:
    return np.mean(np.abs(x - mean) ** 2, axis=axis, keepdims=keepdims)


def _sparse(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    hot = np.arange(x.shape[-1]) == labels[..., None]
    return -np.sum(np.where(hot, scipy.special.log_softmax(x, -1), 0.0), -1)


def _sparse_gradient(u: np.ndarray, x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    hot = np.arange(x.shape[-1]) == labels[..., None]
    return u[..., None] * (scipy.special.softmax(x, -1) - hot)


def _top_k(x: np.ndarray, *, k: int, dtype: dtypes.DType) -> np.ndarray:
    return np.argsort(-x, axis=-1, kind="stable")[..., :k]


def _in_top_k(targets: np.ndarray, predictions: np.ndarray, *, k: int) -> list[bool]:
    return [
        0 <= t < len(p) and bool(np.isfinite(p).all()) and sum(other > p[t] for other in p) < k
        for t, p in zip(targets, predictions, strict=True)
    ]


def _gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


REFERENCES: dict[str, Reference] = {
    "elu": lambda x: np.where(x > 0, x, np.exp(x) - 1),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu_tanh": _gelu_tanh,
    "gelu_tanh_gradient": lambda u, x: u * _gelu_tanh(x + 1e-30j).imag / 1e-30,
    "relu6": lambda x: np.clip(x, 0, 6),
    "leaky_relu": lambda x, alpha: np.maximum(x, alpha * x),
    "l2_loss": lambda x: np.sum(x**2) / 2,
    "variance_about_mean": _variance,
    "dropout": lambda x, keep, scale: x * keep * scale,
    "softmax": lambda x, axis: scipy.special.softmax(x, axis) if x.size else x,
    "log_softmax": lambda x, axis: scipy.special.log_softmax(x, axis) if x.size else x,
    "softmax_gradient": lambda u, p, axis: p * (u - np.sum(u * p, axis, keepdims=True)),
    "sparse_softmax_cross_entropy": _sparse,
    "sparse_softmax_cross_entropy_gradient": _sparse_gradient,
    "softmax_cross_entropy": lambda x, labels, axis: (
        -np.sum(labels * (scipy.special.log_softmax(x, axis) if x.size else x), axis)
    ),
    "softmax_cross_entropy_gradient": lambda u, x, labels, axis: (
        np.expand_dims(u, axis) * (scipy.special.softmax(x, axis) - labels)
    ),
    "sigmoid_cross_entropy": lambda x, labels: (
        -(labels * scipy.special.log_expit(x) + (1 - labels) * scipy.special.log_expit(-x))
    ),
    "top_k_indices": _top_k,
    "in_top_k": _in_top_k,
}

_DENSE = "softmax_cross_entropy_with_logits"
_SPARSE = "sparse_softmax_cross_entropy_with_logits"
_SIGMOID = "sigmoid_cross_entropy_with_logits"
_TOP = {"k": 2, "dtype": dtypes.int32}

MISTAKES: dict[str, list[Mistake]] = {
    **{name: refused(FLOAT) for name in ("elu", "selu", "gelu_tanh", "l2_loss")},
    "silu": refused(INEXACT),
    "relu6": refused(REAL),
    "leaky_relu": refused(FLOAT, alpha=0.2),
    "softmax": [
        *refused(FLOAT, axis=0),
        Mistake((real(),), {"axis": 0}, says=("scalar",), shapes=()),
    ],
    "log_softmax": [
        *refused(FLOAT, axis=0),
        Mistake((real(),), {"axis": 0}, says=("scalar",), shapes=()),
    ],
    "variance_about_mean": [
        Mistake((make(2, 3), make(2, 1)), {"axis": (1,), "keepdims": True}, "moments", shapes=(0,))
        for make in (bools, strings)
    ],
    "dropout": [
        Mistake((ints(2, 3), bools(2, 3)), {"scale": 2.0}, says=("int32",)),
        Mistake((cplx(2, 3), bools(2, 3)), {"scale": 2.0}, says=("complex128",)),
        Mistake((real(2, 3), real(2, 3)), {"scale": 2.0}, says=("float64",)),
        Mistake((real(2, 3), bools(2, 2)), {"scale": 2.0}),
    ],
    "softmax_cross_entropy": [
        *refused(FLOAT, inputs=2, op=_DENSE, axis=1),
        Mistake((real(2, 3), ints(2, 3)), {"axis": 1}, _DENSE, ("float64", "int32")),
        Mistake((real(2, 3), real(2, 2)), {"axis": 1}, _DENSE),
    ],
    "sparse_softmax_cross_entropy": [
        Mistake((ints(2, 3), np.array([0, 2])), {}, _SPARSE, ("int32",), shapes=(0,)),
        Mistake((real(2, 3), real(2)), {}, _SPARSE, ("float64",), shapes=(1,)),
        Mistake((real(2, 3), ints(3)), {}, _SPARSE, error=ValueError),
        Mistake((real(2, 3), ints(2, 3)), {}, _SPARSE, error=ValueError),
        Mistake((real(), ints()), {}, _SPARSE, ("scalar",), (0,), error=ValueError),
        Mistake((real(2, 0), ints(2)), {}, _SPARSE, shapes=(0,)),
        Mistake((real(2, 3), np.array([0, 3])), {}, _SPARSE, ("3", "[0, 3)"), shapes=()),
        Mistake((real(2, 3), np.array([0, -1])), {}, _SPARSE, ("-1",), shapes=()),
    ],
    "sigmoid_cross_entropy": [
        *refused(FLOAT, inputs=2, op=_SIGMOID),
        Mistake((real(2, 3), ints(2, 3)), {}, _SIGMOID, ("float64", "int32")),
        Mistake((real(2, 3), real(3)), {}, _SIGMOID, error=ValueError),
    ],
    "top_k_indices": [
        *refused(REAL, op="top_k", **_TOP),
        Mistake((real(2, 1),), _TOP, "top_k", ("1", "2"), shapes=()),
        Mistake((real(),), _TOP, "top_k", ("scalar",), shapes=()),
    ],
    "in_top_k": [
        Mistake((ints(2), real(2, 3)), {"k": 1}, says=("float64",)),
        Mistake((real(2), SINGLE[:2]), {"k": 1}, says=("float64",)),
        Mistake((ints(3), SINGLE[:2]), {"k": 1}),
        Mistake((ints(2), SINGLE[0]), {"k": 1}, shapes=(1,)),
    ],
}
