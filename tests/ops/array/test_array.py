"""Shapes, dtypes, joining, splitting, repeating and ordering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

Invalid = tf.errors.InvalidArgumentError
M = [[1, 2, 3], [4, 5, 6]]
STRINGS = [["a", "b"], ["c", "d"]]

VALUES: dict[str, tuple[Callable[[], Any], Any]] = {
    "reshape by variable": (lambda: tf.reshape(M, tf.Variable([3, 2])), [[1, 2], [3, 4], [5, 6]]),
    "reshape by mixed list": (lambda: tf.reshape(M, [tf.constant(1), -1]), [[1, 2, 3, 4, 5, 6]]),
    "reshape by number": (lambda: tf.reshape(M, 6), [1, 2, 3, 4, 5, 6]),
    "reshape strings": (lambda: tf.reshape(STRINGS, [4]), [b"a", b"b", b"c", b"d"]),
    "reshape to a scalar": (lambda: tf.reshape([7], []), 7),
    "transpose with negatives": (lambda: tf.transpose(M, [-1, 0]), [[1, 4], [2, 5], [3, 6]]),
    "transpose conjugated": (lambda: tf.transpose([[1 + 2j]], conjugate=True), [[1 - 2j]]),
    "squeeze of no axes is of all": (lambda: tf.squeeze([[[1, 2]]], axis=[]), [1, 2]),
    "broadcast strings": (lambda: tf.broadcast_to(["a"], [2]), [b"a", b"a"]),
    "concat strings": (lambda: tf.concat([STRINGS, STRINGS], -1)[0], [b"a", b"b", b"a", b"b"]),
    "concat numbers with a variable": (lambda: tf.concat([[2], tf.Variable([1.0])], 0), [2.0, 1.0]),
    "stack strings": (lambda: tf.stack(["a", "b"]), [b"a", b"b"]),
    "stack of int and float": (lambda: tf.stack([1, 2.5]), [1.0, 2.5]),
    "stack of nothing": (lambda: tf.stack([]), []),
    "unstack strings": (lambda: tf.unstack(["a", "b"])[1], b"b"),
    "split with a rest": (lambda: tf.split([1, 2, 3], [1, -1])[1], [2, 3]),
    "split to nothing left": (lambda: tf.split([1, 2, 3], [3, -1])[1], []),
    "tile a scalar": (lambda: tf.tile(1, []), 1),
    "repeat zero times": (lambda: tf.repeat(M, [1, 0, 2], axis=-1), [[1, 3, 3], [4, 6, 6]]),
    "pad strings": (lambda: tf.pad(["a"], [[1, 1]]), [b"", b"a", b""]),
    "pad bools": (lambda: tf.pad([True], [[1, 0]]), [False, True]),
    "pad reflect": (lambda: tf.pad([1, 2, 3], [[2, 1]], "reflect"), [3, 2, 1, 2, 3, 2]),
    "pad symmetric": (lambda: tf.pad([1, 2, 3], [[3, 1]], "SYMMETRIC"), [3, 2, 1, 1, 2, 3, 3]),
    "roll twice along one axis": (lambda: tf.roll([1, 2, 3], [1, 1], [0, 0]), [2, 3, 1]),
    "reverse strings": (lambda: tf.reverse(STRINGS, [0])[0], [b"c", b"d"]),
    "sort unsigned downwards": (
        lambda: tf.sort(tf.constant([3, 255, 0], tf.uint8), direction="DESCENDING"),
        [255, 3, 0],
    ),
    "argsort keeps ties in order": (lambda: tf.argsort([3, 1, 1, 3, 1]), [1, 2, 4, 0, 3]),
    "argsort downwards too": (lambda: tf.argsort([3, 1, 3], direction="DESCENDING"), [0, 2, 1]),
    "searchsorted on rows": (
        lambda: tf.searchsorted([[1, 3, 5], [2, 4, 6]], [[3], [3]], side="right"),
        [[2], [1]],
    ),
    "unique strings": (lambda: tf.unique(["b", "a", "b"]).y, [b"b", b"a"]),
    "unique tells NaNs apart": (lambda: tf.unique([np.nan, 1.0, np.nan]).idx, [0, 1, 2]),
    "unique of nothing": (lambda: tf.unique(tf.zeros([0])).idx, []),
    "cast cuts off": (lambda: tf.cast([-1.8, 1.8], tf.int32), [-1, 1]),
    "cast to bool": (lambda: tf.cast([0.0, 2.0], tf.bool), [False, True]),
    "cast half to int": (lambda: tf.cast(tf.cast([1.1, -2.9], tf.bfloat16), tf.int32), [1, -2]),
    "cast wraps": (lambda: tf.cast([300, -1], tf.uint8), [44, 255]),
    "saturate_cast": (lambda: tf.dtypes.saturate_cast([300, -3, 7], tf.int8), [127, -3, 7]),
    "saturate_cast to half": (lambda: tf.dtypes.saturate_cast([1e30], tf.float16), [65504.0]),
    "bitcast to smaller": (lambda: tf.bitcast([1.0], tf.uint8), [[0, 0, 128, 63]]),
    "broadcast_dynamic_shape": (lambda: tf.broadcast_dynamic_shape([2, 1], [3]), [2, 3]),
    "meshgrid lays flat": (lambda: tf.meshgrid(M, [7])[1], [[7, 7, 7, 7, 7, 7]]),
}


@pytest.mark.parametrize("name", list(VALUES))
def test_value(name: str) -> None:
    make, expected = VALUES[name]
    got = make().numpy()
    if isinstance(got, bytes):
        assert got == expected
    else:
        assert got.tolist() == expected


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "reshape": (lambda: tf.reshape(M, [4, 2]), Invalid, r"6 values.*8.*\[4, 2\]"),
    "reshape -1": (lambda: tf.reshape(M, [-1, 4]), Invalid, "requires a multiple of 4"),
    "reshape two -1": (lambda: tf.reshape(M, [-1, -1]), Invalid, "Only one dimension"),
    "reshape float": (lambda: tf.reshape(M, [3.0, 2.0]), Invalid, "int32 or int64"),
    "reshape None": (lambda: tf.reshape(M, [None, 2]), ValueError, "None"),
    "reshape matrix": (lambda: tf.reshape(M, [[3, 2]]), Invalid, "vector of integers"),
    "transpose": (lambda: tf.transpose(M, [0, 0]), Invalid, "permutation"),
    "expand_dims": (lambda: tf.expand_dims([1], 3), Invalid, r"axis = 3"),
    "squeeze": (lambda: tf.squeeze([[1, 2]], 1), Invalid, "got 2"),
    "squeeze tensor": (lambda: tf.squeeze([[1]], axis=tf.constant(0)), TypeError, "tensor"),
    "broadcast": (lambda: tf.broadcast_to([1, 2], [3, 3]), Invalid, "cannot be broadcast"),
    "concat shapes": (lambda: tf.concat([M, [[1, 2]]], 0), Invalid, r"\[2, 3\], \[1, 2\]"),
    "concat ranks": (lambda: tf.concat([M, [1]], 0), Invalid, "one rank"),
    "concat scalars": (lambda: tf.concat([1, 2], 0), Invalid, "tf.stack"),
    "concat axis": (lambda: tf.concat([M, M], -3), Invalid, "axis = -3"),
    "concat dtypes": (
        lambda: tf.concat([tf.constant([1]), tf.constant([1.0])], 0),
        Invalid,
        "int32 and float32",
    ),
    "stack": (lambda: tf.stack([tf.zeros([2]), tf.zeros([3])]), Invalid, "one shape"),
    "stack axis": (lambda: tf.stack([[1, 2]], axis=3), ValueError, "axis = 3"),
    "unstack": (lambda: tf.unstack(M, num=3), Invalid, "num = 3"),
    "unstack axis": (lambda: tf.unstack(M, axis=2), ValueError, "axis = 2"),
    "split": (lambda: tf.split([1, 2, 3], 2), Invalid, "2 equal pieces"),
    "split sizes": (lambda: tf.split([1, 2, 3], [1, 1]), Invalid, "add up to 2"),
    "split tensor": (lambda: tf.split(M, tf.constant(2)), ValueError, "Python int"),
    "tile": (lambda: tf.tile([1, 2], [1, 2]), Invalid, "multiples"),
    "repeat": (lambda: tf.repeat(M, [1, 2], axis=1), ValueError, "2 repeats"),
    "repeat negative": (lambda: tf.repeat([1], -1), Invalid, "negative"),
    "pad": (lambda: tf.pad([1], [[-1, 0]]), Invalid, "non-negative"),
    "pad shape": (lambda: tf.pad([1], [1, 1]), Invalid, r"\[rank, 2\]"),
    "pad mode": (lambda: tf.pad([1], [[1, 1]], "EDGE"), ValueError, "SYMMETRIC"),
    "pad too far": (lambda: tf.pad([1, 2], [[2, 0]], "REFLECT"), Invalid, "less 1"),
    "pad dtype": (lambda: tf.pad([1], [[1, 1]], constant_values=1.5), TypeError, "int32"),
    "reverse twice": (lambda: tf.reverse(M, [1, -1]), Invalid, "twice"),
    "roll": (lambda: tf.roll(M, [1], [0, 1]), Invalid, "one length"),
    "sort bools": (lambda: tf.sort([True, False]), Invalid, "bool"),
    "sort direction": (lambda: tf.sort([1], direction="up"), ValueError, "'up'"),
    "unique": (lambda: tf.unique(M), Invalid, "vector"),
    "cast": (lambda: tf.cast("1", tf.float32), tf.errors.UnimplementedError, "string"),
    "ensure_shape": (lambda: tf.ensure_shape(M, [None, 4]), Invalid, "not compatible"),
    "meshgrid": (lambda: tf.meshgrid([1], [1.0]), Invalid, "one dtype"),
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_mistakes_are_named(name: str) -> None:
    make, error, words = MISTAKES[name]
    with pytest.raises(error, match=words):
        make()


def test_cast_to_the_same_dtype_is_the_same_tensor() -> None:
    x = tf.constant(1.0)
    assert tf.cast(x, tf.float32) is x


def test_cast_of_slices_stays_slices() -> None:
    slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([3, 2]))
    assert isinstance(tf.cast(slices, tf.float64), tf.IndexedSlices)
    assert tf.cast(slices, tf.float64).dtype is tf.float64


def test_cast_to_integer_ends_differentiation() -> None:
    x = tf.Variable(1.5)
    with tf.GradientTape() as tape:
        y = tf.cast(tf.cast(x, tf.int32), tf.float32)
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.int8, tf.bool, tf.complex64])
def test_joining_keeps_the_dtype(dtype: Any) -> None:
    x = tf.cast([1, 0], dtype)
    for y in (tf.concat([x, x], 0), tf.stack([x, x]), tf.tile(x, [2]), tf.pad(x, [[1, 1]])):
        assert y.dtype is dtype


def test_a_small_part_does_not_keep_the_whole_alive() -> None:
    whole = tf.zeros([1000, 10])
    for part in (whole[3], tf.unstack(whole)[0], tf.split(whole, 10)[0], whole[:600][:200]):
        assert part._array.base is None or part._array.base.size <= 2 * part._array.size


def test_shape_rank_size() -> None:
    x = tf.Variable(tf.zeros([2, 0, 3]))
    assert tf.shape(x).numpy().tolist() == [2, 0, 3]
    assert tf.shape(x, tf.int64).dtype is tf.int64
    assert (tf.rank(x).numpy(), tf.size(x).numpy()) == (3, 0)
    assert tf.rank(x).dtype is tf.size(x).dtype is tf.int32


def test_sorting_matches_numpy() -> None:
    x = np.random.default_rng(0).normal(size=(4, 5, 6)).astype(np.float32)
    for axis in (0, 1, -1):
        np.testing.assert_array_equal(tf.sort(x, axis=axis), np.sort(x, axis))
        np.testing.assert_array_equal(tf.argsort(x, axis=axis), np.argsort(x, axis))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_sorting_beside_nan(dtype) -> None:
    nan = np.nan
    x = tf.constant([nan, 1, 2, nan, 5, 3, 1], dtype)

    def equal(found, expected):
        np.testing.assert_array_equal(tf.cast(found, tf.float64), expected)

    equal(tf.sort(x), [1, 1, 2, 3, 5, nan, nan])
    equal(tf.sort(x, direction="DESCENDING"), [nan, nan, 5, 3, 2, 1, 1])
    equal(tf.argsort(x), [1, 6, 2, 5, 4, 0, 3])
    equal(tf.unique(x).y, [nan, 1, 2, nan, 5, 3])
    equal(tf.searchsorted(tf.sort(x), tf.constant([5, 2, 4], dtype)), [4, 2, 4])
