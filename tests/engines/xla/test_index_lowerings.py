"""What lowerings do with indices, labels and segments where the NumPy kernels raise, and with rare arrays.

On a GPU TensorFlow gives zeros for a row that does not exist, leaves out an update to one, and gives NaN for the loss
of a label that names no class.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.primitives.all_rows import TABLE

jax = pytest.importorskip("jax")

import tapeflow._src.engines.xla.subjects  # noqa: E402
from tapeflow._src.engines.xla.lowerings import LOWERINGS  # noqa: E402

BEYOND = np.array([1, -1, 3, 2**31 - 1])  # of 3 rows, only the first index names one
ROWS = np.arange(6.0).reshape(3, 2)


def on_xla(name: str, *inputs: Any, **attrs: Any) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(jax.jit(lambda *xs: LOWERINGS[name](*xs, **attrs))(*inputs))


def assert_agrees(name: str, *inputs: Any, **attrs: Any) -> None:
    expected = np.asarray(TABLE[name].kernel(*inputs, **attrs))
    found = on_xla(name, *inputs, **attrs)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)


# Out of range.


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_that_do_not_exist_are_zeros(dtype: Any):
    expected = np.array([[2, 3], [0, 0], [0, 0], [0, 0]])
    indices = BEYOND.astype(dtype)
    gathered = on_xla("gather", ROWS, indices, axis=0, batch_dims=0)
    np.testing.assert_array_equal(gathered, expected)
    np.testing.assert_array_equal(
        on_xla("gather", ROWS.T, indices, axis=1, batch_dims=0), expected.T
    )
    np.testing.assert_array_equal(
        on_xla("gather", ROWS[None], indices[None], axis=1, batch_dims=1), expected[None]
    )
    np.testing.assert_array_equal(
        on_xla("gather_nd", ROWS, indices[:, None], batch_dims=0), expected
    )
    np.testing.assert_array_equal(on_xla("segment_pick", ROWS, indices), expected)


def test_an_element_that_does_not_exist_is_zero_though_its_row_number_would():
    # Laid flat, (0, 2) would be the place of (1, 0).
    np.testing.assert_array_equal(
        on_xla("gather_nd", ROWS + 1, np.array([[0, 2], [0, 1]]), batch_dims=0), [0, 2]
    )


def test_updates_of_rows_that_do_not_exist_are_left_out():
    updates = np.array([[10.0, 20], [1, 1], [1, 1], [1, 1]])
    at = BEYOND[:, None]
    added = np.array([[0.0, 0], [10, 20], [0, 0]])
    scattered = on_xla("scatter_rows", updates, BEYOND, shape=(3, 2), axis=0, batch_dims=0)
    np.testing.assert_array_equal(scattered, added)
    np.testing.assert_array_equal(
        on_xla("scatter_nd", at, updates, shape=(3, 2), batch_dims=0), added
    )
    replaced = np.array([[0.0, 1], [10, 20], [4, 5]])
    for name in ("scatter_update", "scatter_max"):
        np.testing.assert_array_equal(on_xla(name, ROWS, at, updates), replaced)
    np.testing.assert_array_equal(on_xla("scatter_min", ROWS, at, -updates)[1], [-10, -20])


def test_rows_of_segments_that_do_not_exist_are_left_out():
    x = np.array([5.0, 7, 7, 7])
    np.testing.assert_array_equal(on_xla("segment_sum", x, BEYOND, size=3), [0, 5, 0])
    np.testing.assert_array_equal(on_xla("segment_prod", x, BEYOND, size=3), [1, 5, 1])
    least, greatest = tf.float64.min, tf.float64.max
    np.testing.assert_array_equal(on_xla("segment_max", x, BEYOND, size=3), [least, 5, least])
    np.testing.assert_array_equal(on_xla("segment_min", x, BEYOND, size=3), [greatest, 5, greatest])


@pytest.mark.parametrize("binary", [False, True])
def test_negative_numbers_are_not_counted(binary: bool):
    x = np.array([-1, 0, 2, 3, 2])
    counts = on_xla("bincount", x, np.ones(5), minlength=3, maxlength=3, binary=binary)
    np.testing.assert_array_equal(counts, [1, 0, 1 if binary else 2])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_the_loss_of_a_label_that_names_no_class_is_nan(dtype: Any):
    x = np.zeros((3, 2), dtype)
    labels = np.array([1, 2, -1])
    loss = on_xla("sparse_softmax_cross_entropy", x, labels).astype(np.float64)
    np.testing.assert_allclose(loss, [np.log(2), np.nan, np.nan], 1e-2)
    slope = on_xla("sparse_softmax_cross_entropy_gradient", np.ones(3, dtype), x, labels)
    np.testing.assert_allclose(
        slope.astype(np.float64), [[0.5, -0.5], [np.nan, np.nan], [np.nan, np.nan]], 1e-2
    )


# Rare arrays.


def test_segments_of_infinities_keep_them():
    x = np.array([-np.inf, -np.inf, np.inf, np.nan, 1])
    ids = np.array([0, 0, 1, 2, 2])
    assert_agrees("segment_max", x, ids, size=4)
    assert_agrees("segment_min", x, ids, size=4)


def test_two_byte_floats_are_added_up_in_float32():
    many = np.full(5000, 0.1, np.float16)
    assert_agrees("segment_sum", many, np.zeros(5000, np.int32), size=1)
    np.testing.assert_allclose(
        on_xla("einsum", many, subscripts=("i",), output="", stretch=""), 500, 1e-3
    )


@pytest.mark.parametrize("descending", [False, True])
def test_nan_is_the_largest_and_equal_elements_keep_their_order(descending: bool):
    x = np.array([3, np.nan, 1, 3, -np.inf, np.inf, np.nan, 0, -0.0, 1])
    assert_agrees("sort", x, axis=0, descending=descending)
    assert_agrees("argsort", x, axis=0, descending=descending)


@pytest.mark.parametrize("size", [5, 100])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searching_finds_the_place_of_nan_and_infinity(side: str, size: int):
    x = np.sort(np.random.default_rng(0).integers(0, 9, (2, size)), 1).astype(np.float32)
    x[:, -2:] = np.inf, np.nan
    values = np.array([[np.nan, np.inf, -np.inf, 3]] * 2, np.float32)
    assert_agrees("searchsorted", x, values, side=side, dtype=tf.int64)


@pytest.mark.parametrize(
    "index",
    [
        (slice(None, None, -1),),
        (slice(3, 0, -2), ..., slice(1, None, 2)),
        (None, ..., None, 2),
        (slice(2, 2),),
        (1, -2, 3),
        (slice(None), slice(-1, None, -3), slice(4, 1)),
        (),
    ],
)
def test_slices(index: Any):
    x = np.arange(120.0).reshape(4, 5, 6)
    assert_agrees("getitem", x, index=index)
    assert_agrees("put", np.asarray(x[index]), shape=x.shape, index=index)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64])
def test_one_hot_has_room_for_more_classes_than_its_indices_can_name(dtype: Any):
    indices = np.array([0, 100], dtype)
    assert_agrees("one_hot", indices, np.float32(1), np.float32(0), depth=300, axis=1)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("complex64", "float32"),
        ("complex64", "uint8"),
        ("complex128", "complex64"),
        ("float64", "complex64"),
        ("uint8", "complex64"),
    ],
)
def test_complex_numbers_are_cast_by_their_bits(source: str, target: str):
    have, want = tf.as_dtype(source), tf.as_dtype(target)
    last = max(1, want.size // have.size)
    raw = np.arange(3 * last * have.size, dtype=np.uint8) % (2 if target == "bool" else 60)
    x = np.frombuffer(raw.tobytes(), have.np_dtype).reshape((3, last) if last > 1 else (3,))
    assert_agrees("bitcast", x, dtype=want)
