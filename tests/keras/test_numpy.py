"""Functions of the Keras backend's `numpy`: their gradients, and what they give for sizes that are not known.

Values and dtypes are proved by Keras's own tests.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import keras
import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf
from tapeflow._src.keras.backend import core, numpy as knp

rng = np.random.default_rng(0)
VECTOR, MATRIX, CUBE = rng.normal(size=5), rng.normal(size=(3, 4)), rng.normal(size=(2, 3, 4))
SQUARE = rng.normal(size=(3, 3))
HOLES = MATRIX.copy()
HOLES[0, 1] = HOLES[2, 0] = np.nan
INTS = rng.integers(0, 3, size=(3, 4)).astype(np.int32)

Case = tuple[Any, ...]
"""A function, and the arrays that it is called with."""

REDUCTIONS = {
    f"{name} {label}": (partial(getattr(knp, name), **options), MATRIX)
    for name in ("sum", "prod", "mean", "var", "std", "max", "min", "ptp", "median")
    for label, options in {
        "all": {},
        "last": {"axis": -1},
        "kept": {"axis": (0, 1), "keepdims": True},
    }.items()
}
SHAPES: dict[str, Case] = {
    "reshape": (lambda x: knp.reshape(x, (-1, 2)), MATRIX),
    "reshape to sizes": (lambda x: knp.reshape(x, core.shape(x)[::-1]), MATRIX),
    "ravel": (knp.ravel, MATRIX),
    "transpose": (lambda x: knp.transpose(x, (1, 2, 0)), CUBE),
    "moveaxis": (lambda x: knp.moveaxis(x, (0, 1), (-1, 0)), CUBE),
    "swapaxes": (lambda x: knp.swapaxes(x, 0, -1), CUBE),
    "expand_dims": (lambda x: knp.expand_dims(x, (0, -1)), MATRIX),
    "squeeze": (lambda x: knp.squeeze(x[:, None], 1), MATRIX),
    "broadcast_to": (lambda x: knp.broadcast_to(x, (2, *core.shape(x))), MATRIX),
    "flip": (knp.flip, MATRIX),
    **{f"rot90 {k}": (lambda x, k=k: knp.rot90(x, k), MATRIX) for k in range(4)},
    "roll": (lambda x: knp.roll(x, 2), MATRIX),
    "roll along": (lambda x: knp.roll(x, 1, 1), MATRIX),
    "repeat": (lambda x: knp.repeat(x, 2, axis=1), MATRIX),
    "tile": (lambda x: knp.tile(x, (2, 1, 3)), MATRIX),
    **{
        f"pad {mode}": (lambda x, mode=mode: knp.pad(x, ((1, 2), (2, 0)), mode=mode), MATRIX)
        for mode in ("constant", "edge", "wrap", "reflect", "symmetric")
    },
    "pad reflect further": (lambda x: knp.pad(x, ((7, 9),), mode="reflect"), VECTOR),
    "concatenate": (lambda x, y: knp.concatenate([x, y], axis=1), MATRIX, MATRIX[:, :2]),
    "append": (knp.append, MATRIX, VECTOR),
    "stack": (lambda x, y: knp.stack([x, y], axis=-1), MATRIX, MATRIX),
    "dstack": (lambda x, y: knp.dstack([x, y]), MATRIX, MATRIX),
    "split": (lambda x: knp.split(x, 2, axis=1), MATRIX),
    "split at": (lambda x: knp.split(x, [1, 3], axis=1), MATRIX),
    "array_split": (lambda x: knp.array_split(x, 3, axis=1), MATRIX),
    "take": (lambda x: knp.take(x, [1, -1, 1], axis=1), MATRIX),
    "take_along_axis": (lambda x: knp.take_along_axis(x, INTS, axis=0), MATRIX),
    "take_along_axis, one row": (lambda x: knp.take_along_axis(x, INTS[:1], axis=1), MATRIX),
    "diag": (lambda x: knp.diag(x, 1), VECTOR),
    "diagflat": (knp.diagflat, MATRIX),
    "diagonal": (lambda x: knp.diagonal(x, 1, 2, 1), CUBE),
    "trace": (knp.trace, MATRIX),
    "tril": (knp.tril, CUBE),
    "triu": (lambda x: knp.triu(x, 1), CUBE),
    "diff": (lambda x: knp.diff(x, 2), MATRIX),
    "sort": (knp.sort, MATRIX),
    "cumsum": (knp.cumsum, MATRIX),
    "cumprod": (lambda x: knp.cumprod(x, axis=1), MATRIX),
}
PRODUCTS: dict[str, Case] = {
    "matmul": (knp.matmul, CUBE, np.swapaxes(CUBE, 1, 2)),
    "matmul by a vector": (knp.matmul, MATRIX, VECTOR[:4]),
    "matmul of vectors": (knp.matmul, VECTOR, VECTOR),
    "dot": (knp.dot, MATRIX, np.swapaxes(CUBE, 1, 2)),
    "vdot": (knp.vdot, MATRIX, MATRIX),
    "inner": (knp.inner, MATRIX, CUBE),
    "outer": (knp.outer, MATRIX, VECTOR),
    "tensordot": (lambda x, y: knp.tensordot(x, y, axes=([0, 1], [1, 2])), MATRIX, CUBE),
    "einsum": (lambda x, y: knp.einsum("...j,kj->...k", x, y), CUBE, MATRIX),
    "kron": (knp.kron, MATRIX, VECTOR),
    "cross": (knp.cross, SQUARE, SQUARE[::-1]),
    "cross of two and three": (knp.cross, SQUARE[:, :2], SQUARE),
    "slogdet": (lambda x: knp.slogdet(x)[1], SQUARE),
    "vectorize": (knp.vectorize(lambda x, y: x * y + 1.0), MATRIX, MATRIX),
}
STATISTICS: dict[str, Case] = {
    **{
        f"quantile {method}": (
            lambda x, method=method: knp.quantile(x, [0.1, 0.6], axis=1, method=method),
            MATRIX,
        )
        for method in ("linear", "lower", "higher", "midpoint", "nearest")
    },
    "percentile": (lambda x: knp.percentile(x, 30.0, axis=0, keepdims=True), MATRIX),
    "average": (lambda x, w: knp.average(x, axis=1, weights=w), MATRIX, np.exp(VECTOR[:4])),
    "trapezoid": (lambda x: knp.trapezoid(x, axis=0), MATRIX),
    "trapezoid over": (lambda y, x: knp.trapezoid(y, x), MATRIX, VECTOR[:4]),
    "corrcoef": (knp.corrcoef, MATRIX),
    **{
        f"correlate {mode}": (lambda x, y, mode=mode: knp.correlate(x, y, mode), VECTOR, VECTOR[:2])
        for mode in ("valid", "same", "full")
    },
    "correlate with more": (lambda x, y: knp.correlate(x, y, "same"), VECTOR[:2], VECTOR),
}
SMOOTH = {**REDUCTIONS, **SHAPES, **PRODUCTS, **STATISTICS}
WITH_NAN: dict[str, Case] = {
    f"{name} {axis}": (partial(getattr(knp, name), axis=axis), HOLES)
    for name in (
        *("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian"),
        *("nanargmax", "nanargmin", "nancumsum", "nancumprod"),
    )
    for axis in (None, 1)
} | {"nanquantile": (lambda x: knp.nanquantile(x, [0.1, 0.6], axis=1), HOLES)}
DISCRETE: dict[str, Case] = {
    "argmax": (lambda x: knp.argmax(x, axis=1, keepdims=True), MATRIX),
    "argsort": (lambda x: knp.argsort(x, axis=None), MATRIX),
    "searchsorted": (knp.searchsorted, np.sort(VECTOR), MATRIX),
    "count_nonzero": (lambda x: knp.count_nonzero(x, axis=0), INTS),
    "all": (knp.all, INTS),
    "nonzero": (knp.nonzero, INTS),
    "unique": (lambda x: knp.unique(x, return_index=True, return_counts=True), INTS),
    "unique rows": (lambda x: knp.unique(x, axis=1, return_inverse=True), INTS),
    "unique, so many": (lambda x: knp.unique(x, size=5, fill_value=-1, return_index=True), INTS),
    "bincount": (lambda x: knp.bincount(x, minlength=7), INTS),
    "histogram": (lambda x: knp.histogram(x, 4), VECTOR),
    "unravel_index": (lambda x: knp.unravel_index(x, (2, 7)), INTS),
    "matmul of bytes": (
        lambda x: knp.matmul(core.cast(x, "int8"), knp.transpose(core.cast(x, "int8"))),
        INTS,
    ),
    "size": (lambda x: core.convert_to_tensor(knp.size(x)), INTS),
}
EVERYTHING = {**SMOOTH, **WITH_NAN, **DISCRETE}


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name: str):
    f, *arrays = SMOOTH[name]
    check_gradients(f, *arrays)


@pytest.mark.parametrize("name", ["nansum", "nanmean", "nanvar", "nanstd", "nanmax", "nanmedian"])
def test_what_is_not_a_number_has_no_gradient(name: str):
    x = tf.constant(HOLES)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = getattr(knp, name)(x, axis=1)
    gradient = np.asarray(tape.gradient(y, x))
    assert np.isfinite(gradient).all()
    assert not gradient[np.isnan(HOLES)].any()


def agree(found: Any, wanted: Any) -> None:
    for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
        assert a.dtype is b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def traced(f: Callable[..., Any], arrays: list[np.ndarray], **options: Any) -> Any:
    """What a function gives if it is traced."""
    return tf.function(f, **options)(*[tf.constant(x) for x in arrays])


@pytest.mark.parametrize("name", EVERYTHING)
@pytest.mark.sample(4)
def test_sizes_may_be_unknown(name: str):
    f, *arrays = EVERYTHING[name]
    unknown = [tf.TensorSpec([None] * x.ndim, x.dtype) for x in arrays]
    agree(traced(f, arrays, input_signature=unknown), f(*[tf.constant(x) for x in arrays]))


@pytest.mark.parametrize(
    "name",
    sorted(EVERYTHING.keys() - {"nonzero", "unique", "unique rows", "unique, so many", "bincount"}),
)
@pytest.mark.sample(12)
def test_compiled(name: str):
    pytest.importorskip("jax")
    f, *arrays = EVERYTHING[name]
    agree(traced(f, arrays, jit_compile=True), f(*[tf.constant(x) for x in arrays]))


@pytest.mark.parametrize("name", [name for name, case in SHAPES.items() if len(case) == 2])
def test_specs(name: str):
    """For an unknown batch the other sizes are known before anything is computed."""
    f, array = SHAPES[name]
    spec = core.compute_output_spec(f, keras.KerasTensor((None, *array.shape[1:]), "float64"))
    for s, y in zip(tf.nest.flatten(spec), tf.nest.flatten(f(tf.constant(array))), strict=True):
        assert len(s.shape) == y.ndim
        assert all(n is None or n == m for n, m in zip(s.shape, y.shape, strict=True))


def test_split_of_an_unknown_batch():
    parts = core.compute_output_spec(lambda x: knp.split(x, 3), keras.KerasTensor((None, 4)))
    assert [part.shape for part in parts] == [(None, 4)] * 3


def test_vectorize_leaves_out_arguments():
    scaled = knp.vectorize(lambda x, w: knp.sum(w) * x, excluded={1})
    np.testing.assert_allclose(scaled([1.0, 2.0], np.ones(3, np.float32)), [3.0, 6.0])


def test_modes_that_are_not_there_are_named():
    with pytest.raises(ValueError, match="linear_ramp"):
        knp.pad(MATRIX, 1, mode="linear_ramp")
    with pytest.raises(ValueError, match="hazen"):
        knp.quantile(MATRIX, 0.5, method="hazen")
