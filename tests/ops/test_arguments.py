"""Axes and shapes in every packing a user may bring them in."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.ops.arguments import axes_of, axis_of

X = tf.zeros([2, 3, 4])


@pytest.mark.parametrize(
    "axis", [[0, 2], (-1, 0), np.array([2, 0]), tf.constant([0, -1]), [[0, 2]]]
)
def test_axes_come_in_order(axis):
    assert axes_of("op", axis, X) == (0, 2)


@pytest.mark.parametrize("axis", [1, -2, np.int64(1), tf.constant(1), tf.Variable(1), True])
def test_one_axis(axis):
    assert axes_of("op", axis, X) == (1,)


def test_none_is_all_and_an_empty_list_is_none():
    assert axes_of("op", None, X) == (0, 1, 2)
    assert axes_of("op", [], X) == ()


def test_mistakes_name_the_input():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"op: axis = 3.*\[-3, 3\).*float32\[2,3,4\]"
    ):
        axes_of("op", 3, X)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"float32\[2,3,4\] twice"):
        axes_of("op", [0, -3], X)
    with pytest.raises(TypeError, match="axis must be an int"):
        axes_of("op", 1.0, X)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"op: axis = -4.*\[-3, 3\)"):
        axis_of("op", -4, 3)


def test_squeeze_may_name_a_dimension_twice():
    assert tf.squeeze(tf.zeros([2, 1]), [1, -1]).shape == [2]
