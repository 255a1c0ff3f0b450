"""`experimental_enable_numpy_behavior` is for a whole process, so it is tried in processes of their own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf

SETUP = """
import numpy as np, tapeflow as tf
tf.experimental.numpy.experimental_enable_numpy_behavior({arguments})
x = tf.constant([[1, 2, 3], [4, 5, 6]])
a = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
"""


def run(code: str, arguments: str = "") -> str:
    text = SETUP.format(arguments=arguments) + code
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_operators_promote():
    code = """
for f in (lambda x: x + 1.5, lambda x: 2.5 - x, lambda x: x / 2, lambda x: x ** 2.0, lambda x: x // 2,
          lambda x: x * np.float32(2), lambda x: x < 2.5):
    ours, theirs = f(x), f(a)
    assert np.array_equal(ours.numpy(), theirs), (ours, theirs)
    assert ours.dtype.name in (theirs.dtype.name, "float64"), (ours.dtype, theirs.dtype)
print((x + tf.constant(1.0)).dtype.name, (tf.constant(1.0) * 2).dtype.name, (x + 1).dtype.name)
"""
    assert run(code) == "float64 float32 int32"


def test_indices_are_numpys():
    code = """
keys = ["[0, 1]", "[[1, 0], [0, 0]]", "(slice(None), [0, 2])", "([0, 1], [2, 0])", "(1, [0, 2])", "a > 2",
        "(slice(None), np.array([True, False, True]))", "([-1], slice(1, None))", "(Ellipsis, [1])",
        "(None, [0])", "0", "slice(0, 1)", "([[0], [1]], [0, 2])"]
for key in map(eval, keys):
    assert np.array_equal(x[key].numpy(), a[key]), (key, x[key], a[key])
big, other = np.arange(24).reshape(2, 3, 4), tf.constant(np.arange(24).reshape(2, 3, 4))
for key in [([0, 1], slice(None), [1, 2]), (slice(None), [0, 2], [1, 3]), (0, slice(None), [1])]:
    assert np.array_equal(other[key].numpy(), big[key]), key
print("same")
"""
    assert run(code) == "same"


def test_methods_are_there():
    code = """
print(x.T.shape, x.astype(np.float32).dtype.name, x.reshape(3, 2).shape, x.mean().numpy(), x.ravel().shape,
      x.max().numpy(), x.min().numpy(), x.size, x.tolist(), x.transpose().shape, x.flatten().shape,
      x.clip(2, 3)[0].numpy())
"""
    expected = "(3, 2) float32 (3, 2) 3.5 (6,) 6 1 6 [[1, 2, 3], [4, 5, 6]] (3, 2) (6,) [2 2 3]"
    assert run(code) == expected


def test_gradients_and_functions_know_it():
    code = """
v = tf.Variable([1.0, 2.0])
@tf.function(autograph=False)
def f(i):
    with tf.GradientTape() as tape:
        y = (v * i).max() + (i + 0.5).mean()
    return tape.gradient(y, v)
print(f(tf.constant([3, 4])).numpy())
"""
    assert run(code) == "[0. 4.]"


def test_floats_of_python_may_be_narrow():
    code = "print((x + 1.5).dtype.name, tf.experimental.numpy.array([1.5]).dtype.name)"
    assert run(code, "prefer_float32=True") == "float32 float32"


def test_modes_that_are_not_there_are_named():
    import tapeflow as tf

    with pytest.raises(ValueError, match="legacy"):
        tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode="every")


def test_nothing_changes_unless_it_is_asked_for():
    import tapeflow as tf

    assert tf.experimental.numpy.add(1, 2.5).dtype is tf.float64
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        tf.constant([1]) + tf.constant([1.0])
    assert isinstance(np.zeros(1), np.ndarray)


@pytest.mark.parametrize("dtype", [tf.float64, tf.int32, tf.bfloat16])
def test_dtypes_of_tensorflow_make_matrices(dtype):
    assert tf.experimental.numpy.eye(2, dtype=dtype).dtype == dtype
    assert tf.experimental.numpy.tri(2, dtype=dtype).dtype == dtype


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.rot90(1.0),
        lambda np: np.rot90([1.0]),
        lambda np: np.diff([1.0, 2.0], axis=3),
        lambda np: np.take_along_axis(1.0, 0, 0),
    ],
)
def test_an_axis_that_is_not_there(call):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="axis"):
        call(tf.experimental.numpy)
