"""What `tf.TensorSpec` promises; the values are TensorFlow's."""

import copy
import operator
import pickle

import numpy as np
import pytest

from tapeflow._src.core import dtypes
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec


class FakeTensor:
    """The two attributes by which a spec knows a tensor."""

    def __init__(self, shape, dtype=dtypes.float32):
        self.shape = TensorShape(shape)
        self.dtype = dtype


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (TensorSpec([None, 3]), "TensorSpec(shape=(None, 3), dtype=tf.float32, name=None)"),
        (TensorSpec(None), "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"),
        (TensorSpec([]), "TensorSpec(shape=(), dtype=tf.float32, name=None)"),
        (TensorSpec(3, "int32", "x"), "TensorSpec(shape=(3,), dtype=tf.int32, name='x')"),
        (TensorSpec([2], np.float64), "TensorSpec(shape=(2,), dtype=tf.float64, name=None)"),
    ],
)
def test_repr(spec, expected):
    assert repr(spec) == str(spec) == expected


def test_attributes():
    spec = TensorSpec([2, None], dtypes.int8, name="x")
    assert spec.shape == TensorShape([2, None]) and isinstance(spec.shape, TensorShape)
    assert spec.dtype is dtypes.int8
    assert spec.name == "x"
    with pytest.raises(AttributeError):
        spec.name = "y"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(("shape", "dtype"), [("a", "float32"), ([2], "foo"), ([2], None)])
def test_wrong_arguments(shape, dtype):
    with pytest.raises(TypeError):
        TensorSpec(shape, dtype)


def test_equality_and_hash():
    spec = TensorSpec([2])
    assert operator.eq(spec, TensorSpec((2,), "float32"))
    assert not operator.ne(spec, TensorSpec([2]))
    for other in (TensorSpec([2], name="a"), TensorSpec([3]), TensorSpec([2], "int32"), 3, None):
        assert spec != other
    assert hash(spec) == hash(TensorSpec([2])) == hash(TensorSpec([2], name="a"))


def test_copies():
    spec = TensorSpec([1, None], dtypes.int8, "a")
    assert pickle.loads(pickle.dumps(spec)) == copy.copy(spec) == copy.deepcopy(spec) == spec


@pytest.mark.parametrize(
    ("other", "compatible"),
    [
        (TensorSpec([None]), True),
        (TensorSpec(None), True),
        (TensorSpec([2], name="x"), True),
        (TensorSpec([3]), False),
        (TensorSpec([2], "int32"), False),
        (FakeTensor([2]), True),
        (FakeTensor([3]), False),
        (FakeTensor([2], dtypes.float64), False),
        (np.ones(2, np.float32), False),
        ([1.0, 2.0], False),
        (object(), False),
    ],
)
def test_compatibility(other, compatible):
    assert TensorSpec([2]).is_compatible_with(other) is compatible


def test_from_spec():
    spec = TensorSpec([2], "int32", "a")
    assert TensorSpec.from_spec(spec) == spec
    assert TensorSpec.from_spec(spec, "b") == TensorSpec([2], "int32", "b")


def test_from_tensor():
    tensor = FakeTensor([2], dtypes.int32)
    assert TensorSpec.from_tensor(tensor) == TensorSpec([2], "int32")
    assert TensorSpec.from_tensor(tensor, "n") == TensorSpec([2], "int32", "n")
    for other in ([1.0], np.ones(2), 1.0):
        with pytest.raises(ValueError, match=f"type {type(other).__name__}"):
            TensorSpec.from_tensor(other)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (TensorSpec([2, 3]), TensorSpec([2, 4]), TensorSpec([2, None])),
        (TensorSpec([2, 3]), TensorSpec([2]), TensorSpec(None)),
        (TensorSpec([2], name="a"), TensorSpec([3], name="a"), TensorSpec([None], name="a")),
        (TensorSpec([2], name="a"), TensorSpec([2], name="b"), None),
        (TensorSpec([2]), TensorSpec([2], "int32"), None),
        (TensorSpec([2]), 3, None),
    ],
)
def test_what_covers_both(a, b, expected):
    assert a.most_specific_common_supertype([b]) == expected
    if expected is None:
        with pytest.raises(ValueError, match="No TensorSpec covers both"):
            a.most_specific_compatible_type(b)
    else:
        assert a.most_specific_compatible_type(b) == expected


def test_subtypes():
    assert TensorSpec([2]).is_subtype_of(TensorSpec([None]))
    assert TensorSpec([2]).is_subtype_of(TensorSpec([None], name="a"))
    assert not TensorSpec([2], name="a").is_subtype_of(TensorSpec([None]))
    assert not TensorSpec([None]).is_subtype_of(TensorSpec([2]))
    assert not TensorSpec([2], "int32").is_subtype_of(TensorSpec([2]))
