"""What tensors and variables do not have is an error that names the op to use."""

import re

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.ops.absent import ABSENT, ABSENT_OF_TENSORS

SYMBOLIC = tf.function(lambda x, name: getattr(x, name), autograph=False)


@pytest.mark.parametrize("name", ABSENT)
def test_a_method_of_other_libraries_names_the_op(name):
    for x, kind in ((tf.constant([1.0]), "Tensor"), (tf.Variable([1.0]), "Variable")):
        message = re.escape(f"'{kind}' object has no attribute '{name}'. {ABSENT[name]}")
        with pytest.raises(AttributeError, match=message):
            getattr(x, name)
        assert not hasattr(x, name)
        assert not hasattr(type(x), name)
        assert name not in dir(x)
    with pytest.raises(AttributeError, match=re.escape(ABSENT[name])):
        SYMBOLIC(tf.constant([1.0]), name)


@pytest.mark.parametrize("advice", sorted({*ABSENT.values()}))
def test_what_is_advised_is_there(advice):
    for name in re.findall(r"tf\.([\w.]+)", advice):
        value = tf
        for part in name.rstrip(".").split("."):
            value = getattr(value, part)


def test_a_tensor_is_not_assigned_to():
    for name in ABSENT_OF_TENSORS:
        with pytest.raises(AttributeError, match=r"never changes: make it a tf\.Variable"):
            getattr(tf.constant(1.0), name)
        assert callable(getattr(tf.Variable(1.0), name))
        assert name in dir(tf.Variable(1.0))


def test_a_program_may_hang_such_a_name_on_a_tensor():
    x = tf.constant(1.0)
    x.grad = "mine"
    assert x.grad == "mine"
    assert "grad" in dir(x)


def test_numpy_is_not_misled():
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    assert np.sum(x) == 11
    assert np.mean(x, axis=0).tolist() == [2.0, 3.5]
    assert np.reshape(x, [4]).tolist() == [1, 2, 3, 5]
    assert np.size(x) == 4


def test_items_are_not_assigned_to():
    x, v = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])
    with pytest.raises(
        TypeError,
        match=r"'Tensor' object does not support item assignment.*tensor_scatter_nd_update",
    ):
        x[0] = 3.0
    with pytest.raises(
        TypeError, match=r"'Variable' object does not support item.*v\[i\]\.assign_add\(y\)"
    ):
        v[0] += 3.0

    @tf.function
    def inside(x):
        for i in tf.range(2):
            x[i] = 5.0
        return x

    with pytest.raises(TypeError, match="'SymbolicTensor' object does not support item assignment"):
        inside(x)
    assert v.numpy().tolist() == [1.0, 2.0]
    v[0].assign(3.0)
    assert v.numpy().tolist() == [3.0, 2.0]
