"""`tf.nest`: the order of flattening, what counts as a structure, and its errors."""

import collections

import numpy as np

Point = collections.namedtuple("Point", ["x", "y"])


class _Attributes:
    def __init__(self):
        self.a = 1


def flatten_array_is_a_leaf(tf):
    return tf.nest.flatten([np.ones(2), (1,)])


def flatten_tensor_is_a_leaf(tf):
    return tf.nest.flatten({"a": tf.constant([1, 2]), "b": [3]})


def flatten_variable_is_a_leaf(tf):
    return tf.nest.flatten([tf.Variable(1.0)])


def flatten_indexed_slices(tf):
    s = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    flat = tf.nest.flatten([s])
    return len(flat), type(flat[0]).__name__


def flatten_indexed_slices_expanded(tf):
    s = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    return tf.nest.flatten([s], expand_composites=True)


def flatten_an_object_is_a_leaf(tf):
    return [type(x).__name__ for x in tf.nest.flatten([_Attributes()])]


def ordered_dict_is_sorted(tf):
    return tf.nest.flatten(collections.OrderedDict([("b", 1), ("a", 2)]))


def default_dict_is_a_structure(tf):
    d = collections.defaultdict(list, {"b": 1, "a": 2})
    return tf.nest.flatten(d), type(tf.nest.map_structure(lambda x: x, d)).__name__


def dict_with_mixed_keys(tf):
    return tf.nest.flatten({"a": 1, 2: 3})


def dict_with_int_keys(tf):
    return tf.nest.flatten({3: "c", 1: "a"})


def map_keeps_dict_order(tf):
    return list(tf.nest.map_structure(lambda x: x + 1, {"b": 1, "a": 2}))


def map_over_ordered_dict(tf):
    d = tf.nest.map_structure(lambda x: x, collections.OrderedDict([("b", 1), ("a", 2)]))
    return type(d).__name__, list(d.items())


def map_two_dicts_in_other_order(tf):
    return tf.nest.map_structure(lambda x, y: x + y, {"a": 1, "b": 2}, {"b": 10, "a": 20})


def map_list_and_tuple(tf):
    return tf.nest.map_structure(lambda x, y: x + y, [1, 2], (3, 4))


def map_list_and_tuple_unchecked(tf):
    return tf.nest.map_structure(lambda x, y: x + y, [1, 2], (3, 4), check_types=False)


def pack_keeps_named_tuples(tf):
    return tf.nest.pack_sequence_as(Point(0, [0, 0]), [1, 2, 3])


def pack_dict(tf):
    return tf.nest.pack_sequence_as({"b": 0, "a": 0}, [1, 2])


def pack_none(tf):
    return tf.nest.pack_sequence_as([None, 1], [5, 6])


def gradients_in_structure(tf):
    x = {"w": tf.Variable(2.0), "b": (tf.Variable(3.0),)}
    with tf.GradientTape() as tape:
        y = x["w"] * x["b"][0]
    return tf.nest.map_structure(lambda g: g * 10.0, tape.gradient(y, x))


CASES = {
    "flatten_leaf": lambda tf: tf.nest.flatten(3),
    "flatten_none": lambda tf: tf.nest.flatten(None),
    "flatten_list_with_none": lambda tf: tf.nest.flatten([1, None]),
    "flatten_empty": lambda tf: tf.nest.flatten([]),
    "flatten_empty_inside": lambda tf: tf.nest.flatten([1, [], {}, ()]),
    "flatten_str": lambda tf: tf.nest.flatten("abc"),
    "flatten_nested": lambda tf: tf.nest.flatten([1, (2, [3, {"a": 4}])]),
    "flatten_dict_sorted": lambda tf: tf.nest.flatten({"b": 1, "a": 2, "c": 0}),
    "flatten_namedtuple": lambda tf: tf.nest.flatten(Point(1, (2, 3))),
    "flatten_set": lambda tf: [type(x).__name__ for x in tf.nest.flatten({1})],
    "flatten_range": lambda tf: [type(x).__name__ for x in tf.nest.flatten(range(3))],
    "is_nested": lambda tf: [
        tf.nest.is_nested(x)
        for x in ([], (), {}, 1, "a", None, np.ones(2), Point(1, 2), {1}, range(2))
    ],
    "is_nested_tensor": lambda tf: tf.nest.is_nested(tf.constant([1, 2])),
    "map": lambda tf: tf.nest.map_structure(lambda x: x * 2, [1, (2, {"a": 3})]),
    "map_leaf": lambda tf: tf.nest.map_structure(lambda x: x * 2, 5),
    "map_two": lambda tf: tf.nest.map_structure(lambda x, y: x + y, [1, 2], [3, 4]),
    "map_none": lambda tf: tf.nest.map_structure(lambda x: x is None, [None, 1]),
    "map_namedtuple": lambda tf: tf.nest.map_structure(lambda x: x + 1, Point(1, 2)),
    "map_not_callable": lambda tf: tf.nest.map_structure(3, [1]),
    "map_no_structure": lambda tf: tf.nest.map_structure(lambda: 1),
    "map_different_lengths": lambda tf: tf.nest.map_structure(lambda x, y: x, [1, 2], [1]),
    "map_different_depth": lambda tf: tf.nest.map_structure(lambda x, y: x, [1, 2], [1, [2]]),
    "map_different_keys": lambda tf: tf.nest.map_structure(lambda x, y: x, {"a": 1}, {"b": 1}),
    "map_dict_and_list": lambda tf: tf.nest.map_structure(lambda x, y: x, {"a": 1}, [1]),
    "map_unknown_keyword": lambda tf: tf.nest.map_structure(lambda x: x, [1], other=1),
    "pack": lambda tf: tf.nest.pack_sequence_as([0, (0, {"a": 0})], [1, 2, 3]),
    "pack_leaf": lambda tf: tf.nest.pack_sequence_as(0, [7]),
    "pack_too_few": lambda tf: tf.nest.pack_sequence_as([0, 0], [1]),
    "pack_too_many": lambda tf: tf.nest.pack_sequence_as([0, 0], [1, 2, 3]),
    "pack_leaf_too_many": lambda tf: tf.nest.pack_sequence_as(0, [1, 2]),
    "pack_not_a_sequence": lambda tf: tf.nest.pack_sequence_as([0], 3),
    "pack_empty": lambda tf: tf.nest.pack_sequence_as([], []),
    "same": lambda tf: tf.nest.assert_same_structure([1, (2,)], [3, (4,)]),
    "same_list_tuple": lambda tf: tf.nest.assert_same_structure([1], (1,)),
    "same_list_tuple_unchecked": lambda tf: tf.nest.assert_same_structure(
        [1], (1,), check_types=False
    ),
    "same_lengths": lambda tf: tf.nest.assert_same_structure([1], [1, 2]),
    "same_leaf_and_list": lambda tf: tf.nest.assert_same_structure(1, [1]),
    "same_keys": lambda tf: tf.nest.assert_same_structure({"a": 1}, {"b": 1}),
    "same_leaves": lambda tf: tf.nest.assert_same_structure(1, "a"),
}
