"""`tf.io.parse_example` and its like: dense features, defaults, damaged and unusual messages."""

from __future__ import annotations

from typing import Any


def _example(tf: Any, **features: Any) -> bytes:
    example = tf.train.Example()
    for name, values in features.items():
        feature = example.features.feature[name]
        if values and isinstance(values[0], bytes):
            feature.bytes_list.value.extend(values)
        elif values and isinstance(values[0], int):
            feature.int64_list.value.extend(values)
        elif values:
            feature.float_list.value.extend(values)
    return example.SerializeToString(deterministic=True)


def _three(tf: Any) -> list[bytes]:
    return [
        _example(tf, a=[1], b=[1.0, 2.0], c=[b"x", b"yy"], i=[3, 1], v=[0.5, 0.25], o=[]),
        _example(tf, a=[-7], b=[3.0, 4.0], c=[b"z"], i=[0], v=[9.0]),
        _example(tf, b=[5.0, 6.0], i=[200, 2**40, -1, 5]),
    ]


def _batch(count: int | None = None, **features: Any) -> Any:
    """A case that reads features, each said as the name of a class and its arguments, of the first examples."""

    def case(tf: Any) -> Any:
        return tf.io.parse_example(_three(tf)[:count], _wanted(tf, features))

    return case


def _single(number: int, **features: Any) -> Any:
    return lambda tf: tf.io.parse_single_example(_three(tf)[number], _wanted(tf, features))


def _wanted(tf: Any, features: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, (kind, *arguments) in features.items():
        given = [
            getattr(tf, a[3:]) if isinstance(a, str) and a[:3] == "tf." else a for a in arguments
        ]
        found[name] = getattr(tf.io, kind)(*given)
    return found


def _fixed(*arguments: Any) -> tuple[Any, ...]:
    return ("FixedLenFeature", *arguments)


def _sequence(*arguments: Any) -> tuple[Any, ...]:
    return ("FixedLenSequenceFeature", *arguments)


INT, FLOAT, TEXT = "tf.int64", "tf.float32", "tf.string"


def many_examples_in_step(tf: Any) -> Any:
    features = [_example(tf, n=[i * i * 37], f=[i / 2], t=[b"x" * (i * 9)]) for i in range(40)]
    wanted = {"n": _fixed([], INT), "f": _fixed([1], FLOAT), "t": _fixed([], TEXT)}
    return tf.io.parse_example(features, _wanted(tf, wanted))


def many_examples_with_negative_and_large_integers(tf: Any) -> Any:
    features = [_example(tf, n=[(-1) ** i * 3**i], m=[i, 127 + i]) for i in range(39)]
    return tf.io.parse_example(features, _wanted(tf, {"n": _fixed([], INT), "m": _fixed([2], INT)}))


def many_examples_one_of_which_is_otherwise(tf: Any) -> Any:
    features = [_example(tf, a=[i], b=[0.5]) for i in range(30)]
    features[17] = _example(tf, b=[2.5])
    return tf.io.parse_example(
        features, _wanted(tf, {"a": _fixed([], INT, -1), "b": _fixed([], FLOAT)})
    )


def many_examples_with_a_damaged_one(tf: Any) -> Any:
    features = [_example(tf, a=[i]) for i in range(30)]
    features[17] = features[17][:-2]
    return tf.io.parse_example(features, _wanted(tf, {"a": _fixed([], INT)}))


def long_lists_of_integers(tf: Any) -> Any:
    values = [(-3) ** i % 2**62 for i in range(100)]
    return tf.io.parse_single_example(
        _example(tf, a=values, b=list(range(120))),
        _wanted(tf, {"a": _fixed([100], INT), "b": _fixed([2, 60], INT)}),
    )


def lists_that_are_not_packed(tf: Any) -> Any:
    def feature(kind: int, content: bytes) -> bytes:
        inner = bytes([kind, len(content)]) + content
        entry = b"\x0a\x01a\x12" + bytes([len(inner)]) + inner
        features = b"\x0a" + bytes([len(entry)]) + entry
        return b"\x0a" + bytes([len(features)]) + features

    integers = feature(0x1A, b"\x08\x01\x08\xac\x02")
    floats = feature(0x12, b"\x0d\x00\x00\x80\x3f\x0d\x00\x00\x00\x40")
    return [
        tf.io.parse_single_example(integers, {"a": tf.io.FixedLenFeature([2], tf.int64)}),
        tf.io.parse_single_example(floats, {"a": tf.io.FixedLenFeature([2], tf.float32)}),
    ]


def messages_one_after_the_other(tf: Any) -> Any:
    first, second, _ = _three(tf)
    return tf.io.parse_single_example(first + second, _wanted(tf, {"a": _fixed([], INT)}))


def in_a_function(tf: Any) -> Any:
    wanted = _wanted(tf, {"b": _fixed([2], FLOAT), "i": _sequence([], INT, True)})

    @tf.function
    def read(serialized: Any) -> Any:
        parsed = tf.io.parse_example(serialized, wanted)
        return parsed["b"] * 2, tf.reduce_sum(parsed["i"])

    return read(tf.constant(_three(tf)))


def in_a_dataset(tf: Any) -> Any:
    wanted = _wanted(tf, {"b": _fixed([2], FLOAT), "a": _fixed([], INT, 4)})
    data = tf.data.Dataset.from_tensor_slices(_three(tf))
    single = data.map(lambda x: tf.io.parse_single_example(x, wanted))
    batches = data.batch(2).map(lambda x: tf.io.parse_example(x, wanted))
    specs = [single.element_spec, batches.element_spec]
    return [str(specs), list(single.as_numpy_iterator()), list(batches.as_numpy_iterator())]


def a_batch_of_none(tf: Any) -> Any:
    wanted = _wanted(tf, {"a": _fixed([2], INT), "i": _sequence([], INT, True)})
    return tf.io.parse_example(tf.constant([], tf.string), wanted)


def _sequences(tf: Any) -> list[bytes]:
    first, second = tf.train.SequenceExample(), tf.train.SequenceExample()
    first.context.feature["n"].int64_list.value.append(2)
    second.context.feature["n"].int64_list.value.append(9)
    for row in ([1, 2], [3, 4], [5, 600]):
        first.feature_lists.feature_list["t"].feature.add().int64_list.value.extend(row)
    for row in ([b"a"], [], [b"b", b"c"]):
        first.feature_lists.feature_list["w"].feature.add().bytes_list.value.extend(row)
    second.feature_lists.feature_list["t"].feature.add().int64_list.value.extend([7, 8])
    return [m.SerializeToString(deterministic=True) for m in (first, second)]


def _of_sequence(number: int, context: Any, **features: Any) -> Any:
    def case(tf: Any) -> Any:
        given = None if context is None else _wanted(tf, context)
        wanted = _wanted(tf, features) or None
        return tf.io.parse_single_sequence_example(_sequences(tf)[number], given, wanted)

    return case


def _of_sequences(context: Any, **features: Any) -> Any:
    def case(tf: Any) -> Any:
        given = None if context is None else _wanted(tf, context)
        return tf.io.parse_sequence_example(_sequences(tf), given, _wanted(tf, features))

    return case


def _told(value: Any) -> Any:
    """A ragged tensor in plain words, and whatever else as it is."""
    if isinstance(value, dict):
        return {name: _told(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_told(part) for part in value)
    if hasattr(value, "dense_shape"):
        return [value.indices, value.values, value.dense_shape, str(value.shape)]
    if not hasattr(value, "row_splits"):
        return value
    return [value.to_list(), str(value.shape), value.row_splits.dtype.name, value.dtype.name]


def _rows(tf: Any) -> list[bytes]:
    return [
        _example(
            tf,
            v=[1.0, 2.0, 3.0],
            s=[0, 2, 3],
            l=[2, 1],
            b=[0, 2],
            e=[2, 3],
            d=[0, 0, 1],
            o=[0, 1, 2],
        ),
        _example(tf, v=[], s=[0], l=[], b=[], e=[], d=[], o=[0]),
        _example(
            tf,
            v=[4.0, 5.0, 6.0, 7.0],
            s=[0, 0, 4],
            l=[0, 4],
            b=[0, 0],
            e=[0, 4],
            d=[1, 1, 1, 1],
            o=[0, 0, 2],
        ),
    ]


def _ragged(*partitions: Any, single: bool = False, **options: Any) -> Any:
    def case(tf: Any) -> Any:
        kinds = [getattr(tf.io.RaggedFeature, kind)(given) for kind, given in partitions]
        wanted = {"r": tf.io.RaggedFeature(tf.float32, "v", kinds, **options)}
        if single:
            return [_told(tf.io.parse_single_example(data, wanted)) for data in _rows(tf)]
        return _told(tf.io.parse_example(_rows(tf), wanted))

    return case


def _sparse(*numbers: int, single: bool = False, **features: Any) -> Any:
    def case(tf: Any) -> Any:
        wanted, data = _wanted(tf, features), _three(tf)
        if single:
            return [_told(tf.io.parse_single_example(data[n], wanted)) for n in numbers]
        return _told(tf.io.parse_example([data[n] for n in numbers], wanted))

    return case


def sparse_in_a_function(tf: Any) -> Any:
    wanted = {"c": tf.io.VarLenFeature(tf.string), "i": tf.io.VarLenFeature(tf.int64)}

    @tf.function
    def read(serialized: Any) -> Any:
        parsed = tf.io.parse_example(serialized, wanted)
        return parsed["c"].values, tf.sparse.to_dense(parsed["i"])

    return read(tf.constant(_three(tf)))


def sparse_steps(tf: Any) -> Any:
    wanted = {"t": tf.io.VarLenFeature(tf.int64), "w": tf.io.VarLenFeature(tf.string)}
    first, second = _sequences(tf)
    return [
        _told(
            tf.io.parse_single_sequence_example(first, {"n": tf.io.VarLenFeature(tf.int64)}, wanted)
        ),
        _told(tf.io.parse_sequence_example([first, second], None, wanted)),
    ]


def ragged_in_a_function(tf: Any) -> Any:
    wanted = {"v": tf.io.RaggedFeature(tf.float32)}

    @tf.function
    def read(serialized: Any) -> Any:
        return tf.io.parse_example(serialized, wanted)["v"]

    return _told(read(tf.constant(_rows(tf))))


def ragged_steps(tf: Any) -> Any:
    wanted = {
        "t": tf.io.RaggedFeature(tf.int64),
        "w": tf.io.RaggedFeature(tf.string, row_splits_dtype=tf.int64),
    }
    first, second = _sequences(tf)
    return [
        _told(tf.io.parse_single_sequence_example(first, None, wanted)),
        _told(tf.io.parse_sequence_example([first, second], None, wanted)),
        _told(tf.io.parse_single_sequence_example(first, {"n": tf.io.RaggedFeature(tf.int64)})),
    ]


CASES = {
    "sparse": _sparse(0, 1, 2, c=("VarLenFeature", TEXT), i=("VarLenFeature", INT)),
    "sparse_of_one": _sparse(
        0, 2, single=True, c=("VarLenFeature", TEXT), v=("VarLenFeature", FLOAT)
    ),
    "sparse_of_another_dtype": _sparse(0, 1, c=("VarLenFeature", INT)),
    "sparse_of_nothing": _sparse(2, c=("VarLenFeature", TEXT)),
    "sparse_by_places": _sparse(0, 1, s=("SparseFeature", "i", "v", FLOAT, 4)),
    "sparse_by_places_of_one": _sparse(0, 1, single=True, s=("SparseFeature", "i", "v", FLOAT, 4)),
    "sparse_by_places_in_order": _sparse(0, 1, s=("SparseFeature", "i", "v", FLOAT, 4, True)),
    "sparse_as_shown": lambda tf: str(
        [tf.io.VarLenFeature(tf.string), tf.io.SparseFeature("i", "v", tf.float32, 4)]
    ),
    "ragged": _ragged(),
    "ragged_of_one": _ragged(single=True),
    "ragged_by_splits": _ragged(("RowSplits", "s")),
    "ragged_by_splits_of_one": _ragged(("RowSplits", "s"), single=True),
    "ragged_by_lengths": _ragged(("RowLengths", "l"), row_splits_dtype="int64"),
    "ragged_by_starts": _ragged(("RowStarts", "b")),
    "ragged_by_limits": _ragged(("RowLimits", "e")),
    "ragged_by_row_ids": _ragged(("ValueRowIds", "d")),
    "ragged_by_two": _ragged(("RowSplits", "o"), ("RowLengths", "l")),
    "ragged_by_two_of_one": _ragged(("RowSplits", "o"), ("RowLengths", "l"), single=True),
    "ragged_of_another_dtype": lambda tf: tf.io.parse_example(
        _rows(tf), {"v": tf.io.RaggedFeature(tf.int64)}
    ),
    "ragged_as_shown": lambda tf: str(
        tf.io.RaggedFeature(tf.float32, "v", [tf.io.RaggedFeature.RowLengths("i")])
    ),
    "dense": _batch(a=_fixed([], INT, -1), b=_fixed([2], FLOAT)),
    "dense_with_another_shape": _batch(b=_fixed([2, 1], FLOAT)),
    "dense_with_a_tuple": _batch(b=_fixed((1, 2), FLOAT)),
    "dense_that_is_missing": _batch(a=_fixed([], INT)),
    "dense_that_is_empty": _batch(1, o=_fixed([], INT)),
    "dense_that_is_empty_with_a_default": _batch(1, o=_fixed([], INT, 3)),
    "dense_with_too_many": _batch(b=_fixed([1], FLOAT)),
    "dense_of_another_dtype": _batch(b=_fixed([2], INT)),
    "dense_that_is_no_dtype_of_features": _batch(a=_fixed([], "tf.int32")),
    "dense_texts": _batch(2, c=_fixed([], TEXT)),
    "dense_texts_of_one": _single(1, c=_fixed([1], TEXT)),
    "dense_text": _single(1, c=_fixed([], TEXT)),
    "dense_texts_with_a_default": _single(2, c=_fixed([2], TEXT, ["p", "q"])),
    "dense_of_unknown_length": _batch(a=_fixed([None], INT)),
    "dense_without_a_shape": _batch(a=_fixed(None, INT)),
    "dense_without_a_dtype": _batch(a=_fixed([], None)),
    "a_default_of_a_shape": _single(2, z=_fixed([2], FLOAT, [1.0, 2.0])),
    "a_default_of_another_shape": _single(2, z=_fixed([2], FLOAT, [1.0, 2.0, 3.0])),
    "a_default_of_integers": _single(2, z=_fixed([], FLOAT, 1)),
    "large_integers": _single(2, i=_fixed([4], INT)),
    "filled_up": _batch(i=_sequence([], INT, True)),
    "filled_up_with_a_default": _batch(i=_sequence([], INT, True, -5)),
    "filled_up_texts": _batch(c=_sequence([], TEXT, True, "none")),
    "filled_up_with_a_shape": _batch(b=_sequence([2], FLOAT, True)),
    "filled_up_with_a_shape_that_does_not_fit": _batch(i=_sequence([2], INT, True)),
    "filled_up_without_permission": _batch(i=_sequence([], INT)),
    "one_of_any_length": _single(0, i=_sequence([], INT, True), v=_sequence([1], FLOAT, True)),
    "one_that_is_missing": _single(2, c=_sequence([], TEXT, True)),
    "no_features": lambda tf: tf.io.parse_example(_three(tf), {}),
    "nothing_for_features": lambda tf: tf.io.parse_example(_three(tf), None),
    "something_else_for_features": lambda tf: tf.io.parse_example(_three(tf), {"a": 5}),
    "a_scalar": lambda tf: tf.io.parse_example(
        _three(tf)[0], {"a": tf.io.FixedLenFeature([], tf.int64)}
    ),
    "a_matrix": lambda tf: tf.io.parse_example(
        [_three(tf)], {"b": tf.io.FixedLenFeature([2], tf.float32)}
    ),
    "a_vector_for_one": lambda tf: tf.io.parse_single_example(
        _three(tf), {"b": tf.io.FixedLenFeature([2], tf.float32)}
    ),
    "damaged": lambda tf: tf.io.parse_example(
        [b"\x0a"], {"a": tf.io.FixedLenFeature([], tf.int64, 3)}
    ),
    "damaged_too": lambda tf: tf.io.parse_single_example(
        b"\x0a\x05abc", {"a": tf.io.FixedLenFeature([], tf.int64, 3)}
    ),
    "nothing_in_it": lambda tf: tf.io.parse_single_example(
        b"", {"a": tf.io.FixedLenFeature([], tf.int64, 3)}
    ),
    "fields_that_are_not_known": lambda tf: tf.io.parse_single_example(
        _three(tf)[0] + b"\x12\x01z", {"a": tf.io.FixedLenFeature([], tf.int64)}
    ),
    "names_of_examples": lambda tf: tf.io.parse_example(
        _three(tf)[:2], {"a": tf.io.FixedLenFeature([], tf.int64)}, example_names=["one", "two"]
    ),
    "what_features_are_shown_as": lambda tf: str(
        [
            tf.io.FixedLenFeature([], tf.int64),
            tf.io.FixedLenSequenceFeature([2], tf.string, True, "x"),
        ]
    ),
    "a_sequence": _of_sequence(0, {"n": _fixed([], INT)}, t=_sequence([2], INT)),
    "a_sequence_without_a_context": _of_sequence(0, None, t=_sequence([2, 1], INT)),
    "a_sequence_of_nothing": _of_sequence(0, None),
    "a_sequence_with_another_shape": _of_sequence(0, None, t=_sequence([1], INT)),
    "a_sequence_of_another_dtype": _of_sequence(0, None, t=_sequence([2], FLOAT)),
    "a_sequence_that_is_missing": _of_sequence(1, None, w=_sequence([], TEXT)),
    "a_sequence_that_may_be_missing": _of_sequence(1, None, w=_sequence([3], TEXT, True)),
    "a_sequence_with_gaps": _of_sequence(0, None, w=_sequence([], TEXT)),
    "sequences": _of_sequences({"n": _fixed([], INT)}, t=_sequence([2], INT)),
    "sequences_that_are_missing": _of_sequences(None, z=_sequence([2], INT)),
    "sequences_that_may_be_missing": _of_sequences(None, z=_sequence([2], INT, True)),
}
