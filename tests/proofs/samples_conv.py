"""Proofs of convolution and pooling, against loops that follow the definition."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.proofs.samples import Mistake, Reference, Sample, bools, cplx, ints, real

from tapeflow._src.core import dtypes

Pairs = tuple[tuple[int, int], ...]


def where(rank: int, strides: Any = 1, dilations: Any = 1, padding: Any = 0) -> dict[str, Any]:
    """The attributes of a window; a number stands for all dimensions."""
    full = {"strides": strides, "dilations": dilations}
    full = {k: (v,) * rank if isinstance(v, int) else v for k, v in full.items()}
    return full | {"padding": ((padding, padding),) * rank if isinstance(padding, int) else padding}


def cells(
    size: Any, window: Any, strides: Any, dilations: Any, padding: Pairs
) -> Iterator[tuple[Any, Any, Any]]:
    """Each place of the window, each of its cells, and what that sees, if it is not padding."""
    extent = [
        (n + a + b - (k - 1) * d - 1) // s + 1
        for n, k, s, d, (a, b) in zip(size, window, strides, dilations, padding, strict=True)
    ]
    for place in np.ndindex(*extent):
        for cell in np.ndindex(*window):
            seen = tuple(
                p * s + c * d - a
                for p, s, c, d, (a, _) in zip(place, strides, cell, dilations, padding, strict=True)
            )
            if all(0 <= i < n for i, n in zip(seen, size, strict=True)):
                yield place, cell, seen


def extent(size: Any, window: Any, strides: Any, dilations: Any, padding: Pairs) -> list[int]:
    return [
        (n + a + b - (k - 1) * d - 1) // s + 1
        for n, k, s, d, (a, b) in zip(size, window, strides, dilations, padding, strict=True)
    ]


def conv_terms(x_shape: Any, w_shape: Any, groups: int, **at: Any) -> Iterator[tuple[Any, ...]]:
    """The indices of all products that a convolution adds up: of x, of w, of the result."""
    inside, outside = w_shape[-2], w_shape[-1] // groups
    for place, cell, seen in cells(x_shape[1:-1], w_shape[:-2], **at):
        for n, group in itertools.product(range(x_shape[0]), range(groups)):
            for i, o in itertools.product(range(inside), range(outside)):
                channel = group * outside + o
                yield (n, *seen, group * inside + i), (*cell, i, channel), (n, *place, channel)


def conv(x: Any, w: Any, *, groups: int, **at: Any) -> Any:
    y = np.zeros((x.shape[0], *extent(x.shape[1:-1], w.shape[:-2], **at), w.shape[-1]), x.dtype)
    for a, b, c in conv_terms(x.shape, w.shape, groups, **at):
        y[c] += x[a] * w[b]
    return y


def conv_input_gradient(g: Any, w: Any, *, shape: Any, groups: int, **at: Any) -> Any:
    x = np.zeros(shape, g.dtype)
    for a, b, c in conv_terms(shape, w.shape, groups, **at):
        x[a] += g[c] * w[b]
    return x


def conv_filter_gradient(x: Any, g: Any, *, shape: Any, groups: int, **at: Any) -> Any:
    w = np.zeros(shape, g.dtype)
    for a, b, c in conv_terms(x.shape, shape, groups, **at):
        w[b] += x[a] * g[c]
    return w


def first_maxima(x: Any, window: Any, **at: Any) -> dict[Any, Any]:
    """For the index of each result, the index of the maximum of its window."""
    found: dict[Any, Any] = {}
    for place, _, seen in cells(x.shape[1:-1], window, **at):
        for n, c in itertools.product(range(x.shape[0]), range(x.shape[-1])):
            result, index = (n, *place, c), (n, *seen, c)
            if result not in found or x[index] > x[found[result]]:
                found[result] = index
    return found


def pooled_shape(shape: Any, window: Any, **at: Any) -> tuple[int, ...]:
    return (shape[0], *extent(shape[1:-1], window, **at), shape[-1])


def max_pool(x: Any, **at: Any) -> Any:
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    y = np.full(pooled_shape(x.shape, **at), lowest, x.dtype)
    for result, index in first_maxima(x, **at).items():
        y[result] = x[index]
    return y


def max_pool_spread(g: Any, x: Any, maxima: Any, **at: Any) -> Any:
    out = np.zeros(x.shape, g.dtype)
    for result, index in first_maxima(x, **at).items():
        out[index] += g[result]
    return out


def max_pool_pick(v: Any, x: Any, maxima: Any, **at: Any) -> Any:
    out = np.zeros(maxima.shape, v.dtype)
    for result, index in first_maxima(x, **at).items():
        out[result] = v[index]
    return out


def max_pool_argmax(x: Any, *, with_batch: bool, dtype: Any, **at: Any) -> Any:
    out = np.zeros(pooled_shape(x.shape, **at), dtype.np_dtype)
    for result, index in first_maxima(x, **at).items():
        index = index if with_batch else (0, *index[1:])
        out[result] = np.ravel_multi_index(index, x.shape)
    return out


def shares(shape: Any, mean: bool, window: Any, **at: Any) -> dict[Any, dict[Any, float]]:
    """For each place of the window, what it sees, and with which weight."""
    found: dict[Any, dict[Any, float]] = {}
    for place, _, seen in cells(shape[1:-1], window, **at):
        found.setdefault(place, {})[seen] = 1.0
    if mean:
        found = {p: dict.fromkeys(seen, 1 / len(seen)) for p, seen in found.items()}
    return found


def sum_pool(x: Any, *, mean: bool, **at: Any) -> Any:
    y = np.zeros(pooled_shape(x.shape, **at))
    for place, seen in shares(x.shape, mean, **at).items():
        for index, share in seen.items():
            y[(slice(None), *place)] += x[(slice(None), *index)] * share
    return y


def sum_pool_spread(g: Any, *, shape: Any, mean: bool, **at: Any) -> Any:
    x = np.zeros(shape)
    for place, seen in shares(shape, mean, **at).items():
        for index, share in seen.items():
            x[(slice(None), *index)] += g[(slice(None), *place)] * share
    return x


# x shape, w shape, groups, where
CONVOLUTIONS: list[tuple[Any, Any, int, dict[str, Any]]] = [
    ((2, 4, 2), (3, 2, 3), 1, where(1, padding=1)),
    ((1, 6, 1), (2, 1, 2), 1, where(1, strides=2, dilations=3)),
    ((2, 3, 4, 2), (2, 3, 2, 2), 1, where(2, padding=((0, 1), (1, 1)))),
    ((1, 5, 4, 1), (3, 2, 1, 2), 1, where(2, strides=(2, 1), padding=((2, 0), (0, 3)))),
    ((1, 5, 5, 2), (2, 2, 2, 1), 1, where(2, strides=(1, 2), dilations=(2, 3))),
    ((2, 3, 2, 3), (1, 1, 3, 2), 1, where(2)),  # pointwise
    ((1, 4, 3, 2), (1, 1, 2, 2), 1, where(2, strides=2)),
    ((1, 2, 2, 1), (2, 2, 1, 1), 1, where(2, padding=3)),  # windows on padding alone
    ((1, 3, 3, 4), (2, 2, 2, 4), 2, where(2, padding=((1, 0), (0, 0)))),  # grouped
    ((1, 3, 4, 2), (2, 2, 1, 4), 2, where(2, strides=2, padding=1)),  # depthwise
    ((1, 5, 3, 3), (2, 1, 1, 3), 3, where(2, dilations=(2, 1))),
    ((1, 3, 2, 3, 1), (2, 2, 2, 1, 2), 1, where(3, padding=((1, 1), (0, 0), (0, 1)))),
    ((1, 4, 2, 3, 2), (2, 1, 2, 2, 1), 1, where(3, strides=(2, 1, 1))),
    ((0, 3, 3, 1), (2, 2, 1, 2), 1, where(2)),
    ((1, 2, 3, 1), (3, 3, 1, 2), 1, where(2)),  # no place for the window
]
POOLS: list[tuple[Any, dict[str, Any]]] = [
    ((2, 5, 2), {"window": (2,)} | where(1, strides=2)),
    ((1, 4, 5, 2), {"window": (2, 2)} | where(2, strides=2)),
    ((1, 4, 4, 1), {"window": (3, 2)} | where(2, padding=((1, 1), (0, 1)))),
    ((2, 5, 3, 1), {"window": (2, 3)} | where(2, strides=(2, 1), padding=((0, 1), (1, 1)))),
    ((1, 5, 4, 1), {"window": (2, 2)} | where(2, dilations=(3, 2))),
    ((1, 2, 3, 4, 1), {"window": (2, 2, 2)} | where(3, strides=(1, 2, 2), padding=1)),
    ((0, 4, 4, 2), {"window": (2, 2)} | where(2)),
]


def spread_out(*shape: int) -> np.ndarray:
    """No two alike or nearly so: a small step leaves the maximum where it is, in half precision too."""
    size = int(np.prod(shape))
    order = np.argsort(real(size)) if size else np.zeros(0)
    return (order / 8 - size / 16).reshape(shape)


def result_shape(x: Any, w: Any, at: dict[str, Any]) -> tuple[int, ...]:
    return (x[0], *extent(x[1:-1], w[:-2], **at), w[-1])


def maximum_rows() -> dict[str, list[Sample]]:
    rows: dict[str, list[Sample]] = {"max_pool_spread": [], "max_pool_pick": []}
    for shape, at in POOLS:
        for x in (spread_out(*shape), np.zeros(shape)):
            y = max_pool(x, **at)
            sample = {"low_precision": False, "first_order": True}
            rows["max_pool_spread"].append(Sample((real(*y.shape), x, y), at, **sample))
            rows["max_pool_pick"].append(Sample((real(*shape), x, y), at, **sample))
    return rows


TIED = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0]).reshape(1, 2, 4, 1)
SQUARE = {"window": (2, 2)} | where(2)

SAMPLES: dict[str, list[Sample]] = {
    "conv": [Sample((real(*x), real(*w)), {"groups": n} | at) for x, w, n, at in CONVOLUTIONS]
    + [Sample((ints(1, 3, 3, 2), ints(2, 2, 2, 1)), {"groups": 1} | where(2))],
    "conv_input_gradient": [
        Sample((real(*result_shape(x, w, at)), real(*w)), {"shape": x, "groups": n} | at)
        for x, w, n, at in CONVOLUTIONS
    ],
    "conv_filter_gradient": [
        Sample((real(*x), real(*result_shape(x, w, at))), {"shape": w, "groups": n} | at)
        for x, w, n, at in CONVOLUTIONS
    ],
    "max_pool": [Sample((spread_out(*shape),), at) for shape, at in POOLS]
    + [Sample((TIED,), SQUARE, first_order=False), Sample((ints(1, 3, 3, 1),), SQUARE)],
    "max_pool_argmax": [
        Sample((x,), {"with_batch": with_batch, "dtype": dtype} | at)
        for with_batch, dtype in ((False, dtypes.int64), (True, dtypes.int32))
        for x, at in [*((spread_out(*shape), at) for shape, at in POOLS), (TIED, SQUARE)]
    ],
    **maximum_rows(),
    "sum_pool": [
        Sample((real(*shape),), {"mean": mean} | at)
        for shape, at in POOLS
        for mean in (True, False)
    ],
    "sum_pool_spread": [
        Sample((real(*pooled_shape(shape, **at)),), {"shape": shape, "mean": mean} | at)
        for shape, at in POOLS
        for mean in (True, False)
    ],
}

REFERENCES: dict[str, Reference] = {
    "conv": conv,
    "conv_input_gradient": conv_input_gradient,
    "conv_filter_gradient": conv_filter_gradient,
    "max_pool": max_pool,
    "max_pool_spread": max_pool_spread,
    "max_pool_pick": max_pool_pick,
    "max_pool_argmax": max_pool_argmax,
    "sum_pool": sum_pool,
    "sum_pool_spread": sum_pool_spread,
}

_PLAIN = {"groups": 1} | where(2)
_NEGATIVE = ("negative",)

MISTAKES: dict[str, list[Mistake]] = {
    "conv": [
        Mistake((make(1, 3, 3, 1), make(2, 2, 1, 1)), _PLAIN, says=(name,), shapes=(0,))
        for make, name in ((bools, "bool"), (cplx, "complex128"))
    ]
    + [
        Mistake((ints(1, 3, 3, 1), real(2, 2, 1, 1)), _PLAIN, says=("int32", "float64")),
        Mistake((np.ones((1, 2, 2, 1), int), np.ones((1, 1, 1, 1), int)), _PLAIN, says=("int64",)),
        Mistake((real(1, 3, 3, 3), real(2, 2, 2, 1)), _PLAIN, says=("3 vs 2",)),
        Mistake((real(1, 3, 3, 4), real(2, 2, 2, 3)), _PLAIN | {"groups": 2}, says=("groups",)),
        Mistake((real(3, 3, 1), real(2, 2, 1, 1)), _PLAIN),
        Mistake((real(1, 3, 3, 1), real(2, 2, 1)), _PLAIN),
        Mistake((real(1, 1, 3, 1), real(3, 2, 1, 1)), _PLAIN, says=_NEGATIVE, shapes=()),
    ],
    "conv_input_gradient": [
        Mistake((real(1, 2, 2, 1), real(2, 2, 1, 1)), {"shape": (1, 4, 4, 1)} | _PLAIN, "conv"),
        Mistake((real(1, 3, 3, 1), real(2, 2, 1, 2)), {"shape": (1, 4, 4, 1)} | _PLAIN, "conv"),
    ],
    "conv_filter_gradient": [
        Mistake((real(1, 4, 4, 1), real(1, 2, 2, 1)), {"shape": (2, 2, 1, 1)} | _PLAIN, "conv"),
    ],
    "max_pool": [
        *[
            Mistake((make(1, 3, 3, 1),), SQUARE, says=(name,))
            for make, name in ((bools, "bool"), (cplx, "complex128"))
        ],
        Mistake((real(3, 3, 1),), SQUARE),
        Mistake((real(1, 3, 0, 1),), SQUARE | {"window": (2, 4)}, says=_NEGATIVE, shapes=()),
    ],
    "max_pool_argmax": [
        Mistake(
            (bools(1, 3, 3, 1),),
            SQUARE | {"with_batch": False, "dtype": dtypes.int64},
            "max_pool_with_argmax",
            ("bool",),
        ),
    ],
    "max_pool_spread": [
        Mistake((real(1, 2, 2, 1), real(1, 3, 3, 1), real(1, 3, 3, 1)), SQUARE, "max_pool"),
        Mistake((real(1, 1, 1, 1), real(1, 3, 3, 1), real(1, 2, 2, 1)), SQUARE, "max_pool"),
    ],
    "max_pool_pick": [
        Mistake((real(1, 3, 3, 1), real(1, 3, 3, 1), real(1, 3, 3, 1)), SQUARE, "max_pool"),
        Mistake((real(1, 1, 1, 1), real(1, 3, 3, 1), real(1, 2, 2, 1)), SQUARE, "max_pool"),
    ],
    "sum_pool": [
        Mistake((make(1, 3, 3, 1),), SQUARE | {"mean": True}, "avg_pool", (name,))
        for make, name in ((ints, "int32"), (bools, "bool"), (cplx, "complex128"))
    ]
    + [Mistake((real(3, 3, 1),), SQUARE | {"mean": True}, "avg_pool")],
    "sum_pool_spread": [
        Mistake((real(1, 3, 3, 1),), SQUARE | {"mean": True, "shape": (1, 3, 3, 1)}, "avg_pool"),
    ],
}
