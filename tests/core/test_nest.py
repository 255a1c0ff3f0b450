"""What `tf.nest` promises; the values and the types of the exceptions are TensorFlow's."""

import collections
import types
import typing
from collections import OrderedDict, defaultdict

import numpy as np
import pytest

from tapeflow._src.core import nest

Point = collections.namedtuple("Point", "x y")
OtherPoint = collections.namedtuple("OtherPoint", "x y")
SamePoint = collections.namedtuple("Point", "x y")


class TypedPoint(typing.NamedTuple):
    x: object
    y: object


class MyList(list):
    pass


class MyTuple(tuple):
    pass


class MyDict(dict):
    pass


class MyOrderedDict(OrderedDict):
    pass


class MyDefaultDict(defaultdict):
    pass


class MyMapping(collections.abc.Mapping):
    def __init__(self, pairs):
        self._data = dict(pairs)

    def __getitem__(self, key):
        return self._data[key]

    def __iter__(self):
        return iter(self._data)

    def __len__(self):
        return len(self._data)


class MySequence(collections.abc.Sequence):
    def __init__(self, items):
        self.items = list(items)

    def __getitem__(self, index):
        return self.items[index]

    def __len__(self):
        return len(self.items)


LEAVES = [1, 2.5, None, "abc", b"abc", {1, 2}, frozenset([1]), object(), np.ones(2), iter([1])]


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: type(leaf).__name__)
def test_leaves(leaf):
    assert not nest.is_nested(leaf)
    assert nest.flatten(leaf)[0] is leaf
    assert nest.flatten([[leaf]])[0] is leaf
    assert nest.pack_sequence_as(leaf, [7]) == 7
    assert nest.map_structure(lambda x: [x], leaf)[0] is leaf


STRUCTURES = [
    ([], []),
    ((), []),
    ({}, []),
    ([1, [2, (3,)]], [1, 2, 3]),
    ([None, "x"], [None, "x"]),
    ({"b": 1, "a": 2}, [2, 1]),
    ({2: "two", 1: "one"}, ["one", "two"]),
    (OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
    (defaultdict(int, {"b": 1, "a": 2}), [2, 1]),
    (Point(1, [2, 3]), [1, 2, 3]),
    (TypedPoint(1, {"b": 2, "a": 3}), [1, 3, 2]),
    (MyList([1, 2]), [1, 2]),
    (MyTuple([1, [2]]), [1, 2]),
    (MyDict(b=1, a=[2]), [2, 1]),
    (MyOrderedDict(b=1, a=2), [2, 1]),
    (MyDefaultDict(int, {"b": 1, "a": 2}), [2, 1]),
    (MyMapping({"b": 1, "a": 2}), [2, 1]),
    (MySequence([1, [2]]), [1, 2]),
    (collections.deque([1, 2]), [1, 2]),
    (collections.Counter("baa"), [2, 1]),
    (collections.UserDict({"b": 1, "a": 2}), [2, 1]),
    (collections.UserList([1, 2]), [1, 2]),
    (collections.ChainMap({"b": 1}, {"a": 2}), [2, 1]),
    ([OrderedDict(b=[1], a=MyDict(d=2, c=3)), {"z": (4,)}], [3, 2, 1, 4]),
    (OrderedDict(b={"y": 1, "x": OrderedDict(q=2, p=3)}, a=4), [4, 3, 2, 1]),
]


@pytest.mark.parametrize(("structure", "leaves"), STRUCTURES, ids=lambda x: type(x).__name__)
def test_flatten_and_back(structure, leaves):
    assert nest.is_nested(structure)
    assert nest.flatten(structure) == nest.flatten(structure, expand_composites=True) == leaves

    packed = nest.pack_sequence_as(structure, leaves)
    assert packed is not structure or structure == ()
    assert type(packed) is type(structure)
    assert nest.flatten(packed) == leaves
    nest.assert_same_structure(structure, packed)

    marked = nest.map_structure(lambda leaf: ("leaf", leaf), structure)
    assert type(marked) is type(structure)
    assert nest.flatten(marked) == [item for leaf in leaves for item in ("leaf", leaf)]
    assert nest.flatten(structure) == leaves


@pytest.mark.parametrize(
    ("structure", "leaves"),
    [
        (range(3), [0, 1, 2]),
        ({"b": 1, "a": 2}.values(), [1, 2]),
        ({"b": 1, "a": 2}.keys(), ["b", "a"]),
        ({"b": 1}.items(), ["b", 1]),
        (bytearray(b"a"), [97]),
        (types.MappingProxyType({"b": 1, "a": 2}), [2, 1]),
    ],
    ids=lambda x: type(x).__name__,
)
def test_other_sequences_and_mappings(structure, leaves):
    assert nest.is_nested(structure)
    assert nest.flatten(structure) == leaves


def test_what_cannot_hold_other_values_becomes_a_list():
    assert nest.map_structure(lambda x: x + 1, range(3)) == [1, 2, 3]
    assert nest.map_structure(lambda x: x + 1, {"b": 1, "a": 2}.values()) == [2, 3]


def test_flatten_makes_a_new_list():
    structure = [1, 2]
    assert nest.flatten(structure) is not structure


@pytest.mark.parametrize("kind", [dict, OrderedDict, MyDict, MyMapping])
def test_packing_keeps_the_order_of_the_keys(kind):
    packed = nest.pack_sequence_as(kind([("b", 0), ("a", 0)]), [10, 20])
    assert list(packed.items()) == [("b", 20), ("a", 10)]


@pytest.mark.parametrize("kind", [defaultdict, MyDefaultDict])
def test_packing_keeps_the_default(kind):
    packed = nest.pack_sequence_as(kind(list, {"a": 0}), [5])
    assert packed["a"] == 5 and packed["new"] == []


def test_packing_leaves_that_are_structures():
    assert nest.pack_sequence_as([1, [2]], [[1], [2]]) == [[1], [[2]]]
    assert nest.pack_sequence_as(1, [[3]]) == [3]
    assert nest.pack_sequence_as([1], (3,)) == [3]
    assert nest.pack_sequence_as([{}, 1], [5]) == [{}, 5]


@pytest.mark.parametrize(
    ("structure", "flat"), [([1, (2,)], [3]), ([1], [3, 4]), ([], [1]), (1, [3, 4]), (1, [])]
)
def test_packing_the_wrong_number(structure, flat):
    with pytest.raises(ValueError, match=rf"leaves, but `flat_sequence` has {len(flat)} items"):
        nest.pack_sequence_as(structure, flat)


@pytest.mark.parametrize("flat", [3, "a", np.array([1]), iter([3]), None, {"a": 1}])
def test_packing_what_is_no_sequence(flat):
    with pytest.raises(TypeError, match="must be a sequence"):
        nest.pack_sequence_as([1], flat)


def test_map_structure_over_several():
    def add(x, y):
        return x + y

    assert nest.map_structure(add, 1, 2) == 3
    assert nest.map_structure(add, [1, (2,)], [3, (4,)]) == [4, (6,)]
    ordered = OrderedDict([("b", 10), ("a", 20)])
    assert nest.map_structure(add, {"a": 1, "b": 2}, ordered) == {"a": 21, "b": 12}
    assert nest.map_structure(add, ordered, {"a": 1, "b": 2}) == OrderedDict(b=12, a=21)
    mapped = nest.map_structure(add, Point(1, 2), SamePoint(3, 4))
    assert mapped == Point(4, 6) and type(mapped) is Point
    assert nest.map_structure(add, Point(1, 2), (3, 4), check_types=False) == Point(4, 6)
    assert nest.map_structure(add, [1], [1], expand_composites=True) == [2]


def test_map_structure_calls_in_the_order_of_the_leaves():
    seen = []
    nest.map_structure(seen.append, {"b": [1, 2], "a": 3})
    assert seen == [3, 1, 2]


def test_map_structure_misused():
    with pytest.raises(TypeError, match="callable"):
        nest.map_structure(3, [1])  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="at least one structure"):
        nest.map_structure(lambda: None)
    with pytest.raises(ValueError, match="`foo`"):
        nest.map_structure(lambda x: x, [1], foo=3)
    with pytest.raises(TypeError, match=r"list, but .* tuple"):
        nest.map_structure(lambda x, y: x, [1], (1,))
    with pytest.raises(ValueError, match=r"1 elements, but .* has 2"):
        nest.map_structure(lambda x, y: x, [1], [1, 2])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 2),
        (None, "a"),
        ([None], [1]),
        ([1, {"a": (2,)}], [3, {"a": (4,)}]),
        ({"a": 1}, OrderedDict(a=1)),
        (OrderedDict(a=1), defaultdict(int, a=1)),
        ({"a": 1}, MyMapping({"a": 1})),
        (MyMapping({"a": 1}), {"a": 1}),
        ({"a": 1}, MyDict(a=1)),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (Point(1, 2), SamePoint(1, 2)),
        ([1], MyList([1])),
        (MyList([1]), [1]),
        ([np.ones(2)], [np.ones(3)]),
    ],
)
def test_same_structure(a, b):
    nest.assert_same_structure(a, b)
    nest.assert_same_structure(a, b, check_types=False)
    nest.assert_same_structure(a, b, expand_composites=True)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, [2]),
        ([1], 2),
        ([], 1),
        ([[]], [1]),
        ([1, 2], [1]),
        ([1, [2]], [[1], 2]),
        ([1, [2, 3]], [1, [2]]),
        ([1, 2, 3], [1, [2, 3]]),
        ({"a": [1, 2]}, {"a": [1, [2]]}),
        ({"a": 1}, {"a": 1, "b": 2}),
    ],
)
def test_different_structures(a, b):
    for check_types in (True, False):
        with pytest.raises(ValueError, match="The two structures differ"):
            nest.assert_same_structure(a, b, check_types=check_types)


def test_different_keys_are_a_matter_of_types():
    with pytest.raises(ValueError, match=r"keys \['a'\], the other \['b'\]"):
        nest.assert_same_structure({"a": 1}, {"b": 1})
    nest.assert_same_structure({"a": 1}, {"b": 1}, check_types=False)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1], (1,)),
        ([], ()),
        ([], {}),
        ([1], {"a": 1}),
        ([[1], (2,)], [(1,), [2]]),
        ({"a": [1, 2]}, {"a": (1, 2)}),
        (Point(1, 2), OtherPoint(1, 2)),
        (Point(1, 2), TypedPoint(1, 2)),
        (Point(1, 2), (1, 2)),
        ((1, 2), Point(1, 2)),
        ((1,), MyTuple([1])),
        (MySequence([1]), [1]),
        (range(2), [1, 2]),
        (collections.UserList([1]), [1]),
    ],
)
def test_different_types(a, b):
    with pytest.raises(TypeError, match="The two structures differ"):
        nest.assert_same_structure(a, b)
    nest.assert_same_structure(a, b, check_types=False)


def test_the_message_says_where():
    with pytest.raises(TypeError, match=r"differ at \['w'\]\[1\]: \[2\] is a list, but \(2,\) is"):
        nest.assert_same_structure({"w": [1, [2]]}, {"w": [1, (2,)]})
