"""`tf.train.Example` and its parts: bytes, texts, presence, checks."""

from __future__ import annotations

from typing import Any

import numpy as np


def _int(tf: Any, *values: Any) -> Any:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _float(tf: Any, *values: Any) -> Any:
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def _bytes(tf: Any, *values: Any) -> Any:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def _example(tf: Any) -> Any:
    features = {
        "ints": _int(tf, 1, -2, 300, 2**40),
        "floats": _float(tf, 0.5, 1e10, 1 / 3),
        "texts": _bytes(tf, b'x"\n\xff\x00', "é".encode()),
        "none": tf.train.Feature(),
        "empty": tf.train.Feature(int64_list=tf.train.Int64List()),
    }
    return tf.train.Example(features=tf.train.Features(feature=features))


def _sequence(tf: Any) -> Any:
    steps = tf.train.FeatureList(feature=[_int(tf, 1, 2), _float(tf, 3.0), _bytes(tf, b"q")])
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={"n": _int(tf, 2)}),
        feature_lists=tf.train.FeatureLists(feature_list={"t": steps}),
    )


def bytes_of_an_example(tf: Any) -> Any:
    example = _example(tf)
    data = example.SerializeToString(deterministic=True)
    return [data, example.ByteSize(), tf.train.Example.FromString(data) == example]


def bytes_of_a_sequence(tf: Any) -> Any:
    sequence = _sequence(tf)
    data = sequence.SerializeToString(deterministic=True)
    return [data, str(sequence), tf.train.SequenceExample.FromString(data) == sequence]


def merging_makes_lists_longer(tf: Any) -> Any:
    steps, more = tf.train.Int64List(value=[1]), tf.train.Int64List(value=[2, 3])
    steps.MergeFrom(more)
    count = steps.MergeFromString(more.SerializeToString())
    return [list(steps.value), count, list(more.value)]


def merging_replaces_entries_of_maps(tf: Any) -> Any:
    example = tf.train.Example()
    example.features.feature["a"].int64_list.value.extend([1, 2])
    other = tf.train.Example()
    other.features.feature["a"].int64_list.value.append(3)
    example.MergeFrom(other)
    return list(example.features.feature["a"].int64_list.value)


def setting_a_kind_clears_the_other(tf: Any) -> Any:
    feature = _int(tf, 1)
    before = feature.WhichOneof("kind")
    feature.float_list.value.append(2.0)
    return [before, feature.WhichOneof("kind"), list(feature.int64_list.value), str(feature)]


def reading_does_not_set(tf: Any) -> Any:
    feature, example = tf.train.Feature(), tf.train.Example()
    asked = list(feature.bytes_list.value), len(example.features.feature)
    return [*asked, feature.HasField("bytes_list"), example.HasField("features"), str(example)]


def asking_a_map_adds_the_key(tf: Any) -> Any:
    features = tf.train.Features()
    before = "a" in features.feature, features.feature.get("a") is None
    _ = features.feature["a"]
    return [*before, "a" in features.feature, len(features.feature), features.SerializeToString()]


def lists_are_changed_in_place(tf: Any) -> Any:
    value = tf.train.FloatList(value=[1, 2, 3]).value
    value[:] = [4, 5]
    value[0] = 6
    value.append(7)
    del value[1]
    value.insert(0, 9)
    return [list(value), value[-1], value[:2], len(value), value == [9, 6, 7]]


def adding_to_a_list_of_features(tf: Any) -> Any:
    steps = tf.train.FeatureList()
    steps.feature.add().bytes_list.value.append(b"a")
    steps.feature.append(_int(tf, 7))
    steps.feature.extend([_int(tf, 8)])
    return [len(steps.feature), str(steps), [list(f.int64_list.value) for f in steps.feature]]


def clearing(tf: Any) -> Any:
    example = _example(tf)
    del example.features.feature["ints"]
    left = sorted(example.features.feature)
    example.ClearField("features")
    cleared = str(example), example == tf.train.Example()
    example.CopyFrom(_example(tf))
    example.Clear()
    return [left, *cleared, example.SerializeToString()]


def floats_as_text(tf: Any) -> Any:
    values = [float("nan"), float("inf"), -0.0, 3, 1e-7, 123456789.0, 0.1, 1e20, 1 / 3]
    return [
        str(tf.train.FloatList(value=values)),
        list(tf.train.FloatList(value=[0.1, 1e-50]).value),
    ]


def _of(name: str, values: Any) -> Any:
    return lambda tf: str(getattr(tf.train, name)(value=values))


CASES = {
    "an_array_of_integers": _of("Int64List", np.arange(3)),
    "an_array_of_floats": _of("FloatList", np.arange(3.0)),
    "integers_of_numpy": _of("Int64List", [np.int32(4), np.int64(5)]),
    "integers_of_a_range": _of("Int64List", range(3)),
    "an_integer_that_is_a_float": _of("Int64List", [2.0]),
    "an_integer_that_is_a_bool": _of("Int64List", [True]),
    "an_integer_that_is_a_text": _of("Int64List", ["a"]),
    "an_integer_that_is_too_large": _of("Int64List", [2**63]),
    "a_float_that_is_a_text": _of("FloatList", ["a"]),
    "bytes_that_are_a_text": _of("BytesList", ["a"]),
    "bytes_that_are_a_number": _of("BytesList", [1]),
    "bytes_that_are_no_list": _of("BytesList", b"ab"),
    "a_number_that_is_no_list": _of("Int64List", 5),
    "a_field_that_does_not_exist": lambda tf: tf.train.Int64List(values=[1]),
    "an_argument_without_a_name": lambda tf: tf.train.Int64List([1]),
    "a_message_of_another_kind": lambda tf: tf.train.Feature(int64_list=tf.train.FloatList()),
    "a_dict_for_a_message": lambda tf: str(tf.train.Feature(int64_list={"value": [5]})),
    "nothing_for_a_message": lambda tf: str(tf.train.Example(features=None)),
    "bytes_that_end_too_early": lambda tf: tf.train.Example.FromString(b"\x0a\xff"),
    "bytes_with_a_field_that_ends_too_early": lambda tf: tf.train.Example.FromString(b"\x12\x01"),
    "a_text_for_bytes": lambda tf: tf.train.Example.FromString("abc"),
    "fields_that_are_not_known": lambda tf: str(tf.train.Example.FromString(b"\x12\x01z")),
    "asking_for_presence_of_nothing": lambda tf: tf.train.Feature().HasField("foo"),
    "reading_what_does_not_exist": lambda tf: tf.train.Feature().foo,
    "assigning_a_message": lambda tf: setattr(tf.train.Example(), "features", tf.train.Features()),
    "assigning_in_a_map": lambda tf: tf.train.Features().feature.__setitem__("a", _int(tf, 1)),
    "assigning_what_does_not_exist": lambda tf: setattr(tf.train.Example(), "foo", 1),
    "a_message_is_not_hashable": lambda tf: hash(tf.train.Example()),
    "escapes": lambda tf: str(_bytes(tf, bytes(range(256)))),
    "fields_that_are_set": lambda tf: [f.name for f, _ in _example(tf).ListFields()],
}
