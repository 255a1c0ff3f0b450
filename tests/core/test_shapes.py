"""What `tf.TensorShape` promises; the values are TensorFlow's."""

import copy
import operator
import pickle

import numpy as np
import pytest

from tapeflow._src.core.shapes import TensorShape, broadcast_shapes, broadcast_static_shape

UNKNOWN = TensorShape(None)


class Three:
    def __index__(self):
        return 3


@pytest.mark.parametrize(
    ("dims", "expected"),
    [
        ([2, None], (2, None)),
        ((3,), (3,)),
        (3, (3,)),
        (np.int32(3), (3,)),
        (np.array(3), (3,)),
        (Three(), (3,)),
        ([Three(), np.int64(4)], (3, 4)),
        ([], ()),
        (np.array([1, 2]), (1, 2)),
        (range(3), (0, 1, 2)),
        ((size for size in [1, 2]), (1, 2)),
        (TensorShape([2]), (2,)),
        (None, None),
        (TensorShape(None), None),
    ],
)
def test_construction(dims, expected):
    shape = TensorShape(dims)
    assert shape._dims == expected
    assert all(size is None or type(size) is int for size in shape.dims or [])


@pytest.mark.parametrize("dims", [["a"], "ab", [1.0], 3.0, [[1]], {"a": 1}, object()])
def test_sizes_must_be_integers(dims):
    with pytest.raises(TypeError, match="must be an integer or None"):
        TensorShape(dims)


@pytest.mark.parametrize("dims", [[-1], [2, -2], -1])
def test_sizes_must_not_be_negative(dims):
    with pytest.raises(ValueError, match=r">= 0.*contains -"):
        TensorShape(dims)


def test_repr_and_str():
    assert repr(TensorShape([3, None])) == "TensorShape([3, None])"
    assert repr(UNKNOWN) == "TensorShape(None)"
    assert [str(TensorShape(dims)) for dims in ([3, None], [3], [], None)] == [
        "(3, None)",
        "(3,)",
        "()",
        "<unknown>",
    ]


def test_what_is_known():
    shape = TensorShape([2, None])
    assert (shape.rank, shape.ndims, shape.dims, shape.as_list()) == (2, 2, [2, None], [2, None])
    assert (UNKNOWN.rank, UNKNOWN.ndims, UNKNOWN.dims) == (None, None, None)
    with pytest.raises(ValueError, match="unknown rank"):
        UNKNOWN.as_list()
    assert TensorShape([2, 3]).is_fully_defined() and TensorShape([]).is_fully_defined()
    assert not shape.is_fully_defined() and not UNKNOWN.is_fully_defined()
    TensorShape([2]).assert_is_fully_defined()
    with pytest.raises(ValueError, match=r"\(2, None\) is not fully defined"):
        shape.assert_is_fully_defined()
    with pytest.raises(ValueError, match="<unknown> is not fully defined"):
        UNKNOWN.assert_is_fully_defined()


@pytest.mark.parametrize(
    ("dims", "count"), [([2, 3], 6), ([], 1), ([0, 2], 0), ([2, None], None), (None, None)]
)
def test_num_elements(dims, count):
    assert TensorShape(dims).num_elements() == count


def test_as_a_sequence():
    shape = TensorShape([2, None, 4])
    assert (shape[0], shape[1], shape[-1]) == (2, None, 4)
    assert shape[1:] == TensorShape([None, 4]) and isinstance(shape[1:], TensorShape)
    assert shape[::-1] == TensorShape([4, None, 2])
    assert list(shape) == [2, None, 4] and tuple(shape) == (2, None, 4)
    assert len(shape) == 3 and 4 in shape and 3 not in shape
    with pytest.raises(IndexError):
        shape[3]
    assert not isinstance(shape, tuple)


def test_truth_is_whether_the_rank_is_known():
    assert TensorShape([]) and TensorShape([0])
    assert not UNKNOWN


def test_unknown_rank_as_a_sequence():
    assert UNKNOWN[0] is None
    assert UNKNOWN[1:3] == TensorShape([None, None])
    assert UNKNOWN[:2] == TensorShape([None, None])
    assert UNKNOWN[3:1] == TensorShape([])
    for part in (UNKNOWN[1:], UNKNOWN[-2:], UNKNOWN[:-1], UNKNOWN[:]):
        assert part == UNKNOWN
    with pytest.raises(ValueError, match="step 2"):
        UNKNOWN[0:4:2]
    with pytest.raises(ValueError, match="unknown rank"):
        len(UNKNOWN)
    with pytest.raises(ValueError, match="unknown rank"):
        iter(UNKNOWN)


def test_numpy_takes_it_as_a_shape():
    assert np.zeros(TensorShape([2, 3])).shape == (2, 3)
    assert np.zeros(6).reshape(TensorShape([2, 3])).shape == (2, 3)
    assert np.broadcast_to(1.0, TensorShape([2])).shape == (2,)
    with pytest.raises(TypeError):
        np.zeros(TensorShape([2, None]))


@pytest.mark.parametrize("other", [(2, 3), [2, 3], TensorShape([2, 3]), np.array([2, 3])])
def test_equal(other):
    shape = TensorShape([2, 3])
    assert operator.eq(shape, other) and not operator.ne(shape, other)


@pytest.mark.parametrize("other", [(2,), [3, 2], None, UNKNOWN, 2, "ab", object(), [-1], (2, None)])
def test_not_equal(other):
    shape = TensorShape([2, 3])
    assert operator.ne(shape, other) and not operator.eq(shape, other)


def test_more_equalities():
    assert operator.eq((2, 3), TensorShape([2, 3]))
    assert TensorShape([2]) == 2
    assert TensorShape([2, None]) == TensorShape([2, None]) == [2, None]
    assert operator.eq(UNKNOWN, TensorShape(None)) and operator.eq(UNKNOWN, None)
    assert hash(TensorShape([2, 3])) == hash((2, 3))
    assert {TensorShape([2, None]): 1}[TensorShape([2, None])] == 1
    with pytest.raises(TypeError):
        operator.lt(TensorShape([2]), TensorShape([3]))


@pytest.mark.parametrize(
    ("a", "b", "compatible", "merged", "common"),
    [
        ([2, None], [None, 3], True, [2, 3], [None, None]),
        ([2, 3], [2, 3], True, [2, 3], [2, 3]),
        ([2, 3], [2, None], True, [2, 3], [2, None]),
        ([2, 3], [2, 4], False, None, [2, None]),
        ([2], [2, 3], False, None, None),
        ([2], None, True, [2], None),
        (None, [2], True, [2], None),
        (None, None, True, None, None),
    ],
)
def test_two_shapes(a, b, compatible, merged, common):
    shape = TensorShape(a)
    assert shape.is_compatible_with(b) is compatible
    assert shape.most_specific_compatible_shape(b) == TensorShape(common)
    assert shape.most_specific_common_supertype([TensorShape(b)]) == TensorShape(common)
    if compatible:
        shape.assert_is_compatible_with(b)
        assert shape.merge_with(b) == TensorShape(merged)
    else:
        with pytest.raises(ValueError, match="are incompatible"):
            shape.assert_is_compatible_with(b)
        with pytest.raises(ValueError, match="are not compatible"):
            shape.merge_with(b)


def test_subtypes():
    assert TensorShape([2, 3]).is_subtype_of(TensorShape([2, None]))
    assert TensorShape([2, 3]).is_subtype_of(UNKNOWN)
    assert not TensorShape([2, None]).is_subtype_of(TensorShape([2, 3]))
    assert not UNKNOWN.is_subtype_of(TensorShape([2]))
    assert not TensorShape([2]).is_subtype_of(TensorShape([2, 3]))


def test_concatenation():
    expected = TensorShape([2, 3])
    assert TensorShape([2]).concatenate([3]) == expected
    for other in ([3], (3,), TensorShape([3]), 3):
        assert (TensorShape([2]) + other)._dims == (2, 3)
        assert (other + TensorShape([2]))._dims == (3, 2)
    assert TensorShape([2]) + None == UNKNOWN
    assert UNKNOWN + TensorShape([2]) == UNKNOWN


def test_ranks():
    shape = TensorShape([2])
    assert shape.with_rank(1) is shape.with_rank_at_least(1) is shape.with_rank_at_most(1) is shape
    assert UNKNOWN.with_rank(2) == TensorShape([None, None])
    assert UNKNOWN.with_rank_at_least(2) == UNKNOWN.with_rank_at_most(2) == UNKNOWN
    shape.assert_has_rank(1)
    shape.assert_same_rank([5])
    shape.assert_same_rank(None)
    UNKNOWN.assert_has_rank(4)
    for check, words in [
        (lambda: shape.with_rank(2), r"\(2,\) must have rank 2"),
        (lambda: shape.assert_has_rank(2), r"\(2,\) must have rank 2"),
        (lambda: shape.with_rank_at_least(2), "rank at least 2"),
        (lambda: shape.with_rank_at_most(0), "rank at most 0"),
        (lambda: shape.assert_same_rank([2, 3]), r"\(2,\) and \(2, 3\) must have the same rank"),
    ]:
        with pytest.raises(ValueError, match=words):
            check()


@pytest.mark.parametrize("dims", [[2, None], [], None])
def test_copies(dims):
    shape = TensorShape(dims)
    for made in (pickle.loads(pickle.dumps(shape)), copy.copy(shape), copy.deepcopy(shape)):
        assert made == shape and isinstance(made, TensorShape)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((2, 1), (3,), (2, 3)),
        ((), (3,), (3,)),
        ((4, 1, 3), (5, 1), (4, 5, 3)),
        ((2, None), (1,), (2, None)),
        ((2, None), (4,), (2, 4)),
        ((None,), (None,), (None,)),
        ((None, 2), (None, 1), (None, 2)),
        ((1, None), (2, 1), (2, None)),
        ((0,), (1,), (0,)),
        ((0,), (None,), (None,)),
    ],
)
def test_broadcasting(a, b, expected):
    assert broadcast_shapes(a, b) == broadcast_shapes(b, a) == expected
    assert broadcast_static_shape(TensorShape(a), TensorShape(b)) == TensorShape(expected)


def test_broadcasting_that_cannot_be():
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(4, 3\) cannot.* 2 and 4 at dimension -2"):
        broadcast_shapes((2, 3), (4, 3))
    with pytest.raises(ValueError, match="sizes 3 and 0"):
        broadcast_static_shape(TensorShape([3]), TensorShape([0]))


def test_broadcasting_an_unknown_rank():
    assert broadcast_static_shape(UNKNOWN, TensorShape([2])) == UNKNOWN
