"""`tf.lookup`: tables, eagerly, in functions, and in datasets."""

import os
import tempfile
from typing import Any


def _text(lines):
    path = os.path.join(tempfile.mkdtemp(), "vocabulary.txt")
    with open(path, "w") as file:
        file.write(lines)
    return path


def _static(tf, keys: Any = ("a", "b"), values: Any = (1, 2), default: Any = -1):
    init = tf.lookup.KeyValueTensorInitializer(list(keys), list(values))
    return tf.lookup.StaticHashTable(init, default)


def _from_file(
    lines, key, value, default: Any = -1, key_dtype="string", value_dtype="int64", **options
):
    def case(tf):
        init = tf.lookup.TextFileInitializer(
            _text(lines), getattr(tf, key_dtype), key, getattr(tf, value_dtype), value, **options
        )
        table = tf.lookup.StaticHashTable(init, default)
        keys, values = table.export()
        pairs = sorted(zip(keys.numpy().tolist(), values.numpy().tolist(), strict=True))
        return [table.size(), [list(map(str, pair)) for pair in pairs]]

    return case


def _sorted(table):
    keys, values = table.export()
    pairs = zip(keys.numpy().tolist(), values.numpy().tolist(), strict=True)
    return [list(map(str, pair)) for pair in sorted(pairs)]


def _vocabulary(tf, **options):
    init = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    return tf.lookup.StaticVocabularyTable(init, 3, **options)


def static_in_a_function(tf):
    table = _static(tf)
    f = tf.function(table.lookup, input_signature=[tf.TensorSpec([None], tf.string)])
    return [f(tf.constant(["a", "z"])), f(tf.constant(["b"]))]


def static_in_a_dataset(tf):
    table = _static(tf)
    data = tf.data.Dataset.from_tensor_slices(["a", "q", "b"]).map(table.lookup)
    return [int(x) for x in data]


def static_ragged(tf):
    found = _static(tf).lookup(tf.ragged.constant([["a"], ["b", "z"]]))
    return [type(found).__name__, found.to_list()]


def static_sparse(tf):
    found = _static(tf).lookup(tf.sparse.from_dense([["a", ""], ["b", "z"]]))
    return [type(found).__name__, found.indices, found.values, found.dense_shape]


def vocabulary_ragged(tf):
    found = _vocabulary(tf).lookup(tf.ragged.constant([["a"], ["b", "z"]]))
    return [type(found).__name__, found.to_list()]


def mutable(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a", "b", "a"], [1, 2, 3])
    before = table.lookup(["a", "z"])
    table.remove(tf.constant(["a", "q"]))
    return [before, table.lookup(tf.constant([["a"], ["b"]])), table.size(), _sorted(table)]


def mutable_many(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    numbers = tf.range(1000, dtype=tf.int64)
    table.insert(numbers, numbers * 2)
    table.remove(numbers[:500])
    table.insert(numbers[:10], numbers[:10] * 3)
    return [table.size(), table.lookup(tf.constant([0, 9, 10, 500, 999, 1000], tf.int64))]


def mutable_vectors(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    table.insert(tf.constant([1, 2], tf.int64), [[1.0, 2.0], [3.0, 4.0]])
    return [table.lookup(tf.constant([[2, 9]], tf.int64)), _sorted(table)]


def mutable_in_a_function(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)

    @tf.function
    def counted(words):
        table.insert(words, table.lookup(words) + 1)
        return table.size()

    sizes = [counted(tf.constant(["a", "b"])), counted(tf.constant(["a", "c"]))]
    return [sizes, _sorted(table)]


def mutable_dynamic_default(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["b"], [2])
    default = tf.constant([7, 8], tf.int64)
    return table.lookup(tf.constant(["b", "zz"]), dynamic_default_values=default)


def mutable_checkpoint(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a", "b"], [1, 2])
    path = tf.train.Checkpoint(table=table).save(os.path.join(tempfile.mkdtemp(), "ckpt"))
    other = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    other.insert(["c"], [3])
    tf.train.Checkpoint(table=other).restore(path)
    return _sorted(other)


def dense(tf):
    table = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "$")
    table.insert(["a", "b"], tf.constant([1, 2], tf.int64))
    before = table.lookup(tf.constant(["a", "c"]))
    table.erase(tf.constant(["a"]))
    return [before, table.lookup(tf.constant(["a", "b"])), table.size()]


def dense_vectors(tf):
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, [0.0, 0.0], 0, -1)
    table.insert_or_assign(tf.constant([5], tf.int64), [[1.0, 2.0]])
    return table.lookup(tf.constant([5, 6], tf.int64))


def _dense(f):
    def case(tf):
        table = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "$")
        return f(tf, table)

    return case


CASES = {
    "static": lambda tf: _static(tf).lookup(tf.constant([["a"], ["z"]])),
    "static_scalar": lambda tf: _static(tf)[tf.constant("a")],
    "static_size": lambda tf: _static(tf).size(),
    "static_export": lambda tf: _sorted(_static(tf)),
    "static_dtypes": lambda tf: [_static(tf).key_dtype, _static(tf).value_dtype],
    "static_default": lambda tf: _static(tf).default_value,
    "static_name": lambda tf: _static(tf).name,
    "static_other_keys": lambda tf: _static(tf).lookup(tf.constant([1])),
    "static_repeated": lambda tf: _static(tf, ["a", "a"], [1, 1]).lookup(tf.constant(["a"])),
    "static_contradiction": lambda tf: _static(tf, ["a", "a"], [1, 2]),
    "static_lengths": lambda tf: _static(tf, ["a", "b"], [1]),
    "static_default_text": lambda tf: _static(tf, default="x"),
    "static_default_float": lambda tf: _static(tf, default=1.5),
    "static_default_vector": lambda tf: _static(tf, default=[1]),
    "static_int_keys": lambda tf: _static(tf, [1, 2], ["x", "y"], "?").lookup(tf.constant([1, 5])),
    "static_bools": lambda tf: _static(tf, ["a"], [True], False).lookup(tf.constant(["a", "b"])),
    "static_floats": lambda tf: _static(tf, ["a"], [1.5], 0.0).lookup(tf.constant(["a", "b"])),
    "static_matrices": lambda tf: _static(tf, [["a", "b"]], [[1, 2]]).lookup(tf.constant(["b"])),
    "key_value_dtypes": lambda tf: tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a"], [1], tf.string, tf.int64), -1
    ).lookup(tf.constant(["a"])),
    "vocabulary": lambda tf: _vocabulary(tf).lookup(tf.constant(["a", "b", "q", "r", "s", ""])),
    "vocabulary_item": lambda tf: _vocabulary(tf)[tf.constant(["a", "q"])],
    "vocabulary_size": lambda tf: _vocabulary(tf).size(),
    "vocabulary_no_buckets": lambda tf: tf.lookup.StaticVocabularyTable(None, 0),
    "vocabulary_int32": lambda tf: tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(["a"], [0]), 1
    ),
    "vocabulary_of_nothing": lambda tf: tf.lookup.StaticVocabularyTable(None, 3).lookup(
        tf.constant(["a", "b"])
    ),
    "vocabulary_of_ints": lambda tf: tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant([5, 6], tf.int64), tf.constant([0, 1], tf.int64)
        ),
        3,
    ).lookup(tf.constant([5, 7, 8, 6, -4], tf.int64)),
    "vocabulary_dtype": lambda tf: _vocabulary(tf, lookup_key_dtype=tf.int64),
    "file": _from_file("a\nb\nc\n", -2, -1),
    "file_without_end": _from_file("a\nb", -2, -1),
    "file_numbers": _from_file("a\nb\n", -1, -2, "?", "int64", "string"),
    "file_columns": _from_file("emerson 10\nlake 20\n", 0, 1, delimiter=" "),
    "file_part": _from_file("a\nb\nc\n", -2, -1, vocab_size=2),
    "file_too_short": _from_file("a\nb\nc\n", -2, -1, vocab_size=5),
    "file_few_columns": _from_file("a\nb\n", 0, 1),
    "file_offset": _from_file("a\nb\n", -2, -1, value_index_offset=2),
    "file_no_number": _from_file("a 1\nb x\n", 0, 1, delimiter=" "),
    "file_empty": _from_file("", -2, -1),
    "file_absent": lambda tf: tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer("/nowhere/x", tf.string, -2, tf.int64, -1), -1
    ),
    "file_key_dtype": lambda tf: tf.lookup.TextFileInitializer("x", tf.string, -1, tf.int64, -1),
    "file_key_index": lambda tf: tf.lookup.TextFileInitializer("x", tf.string, -3, tf.int64, -1),
    "file_no_name": lambda tf: tf.lookup.TextFileInitializer("", tf.string, 0, tf.int64, -1),
    "file_value_dtype": lambda tf: tf.lookup.TextFileInitializer("x", tf.string, -2, tf.int32, -1),
    "file_vocab_size": lambda tf: tf.lookup.TextFileInitializer(
        "x", tf.string, -2, tf.int64, -1, vocab_size=0
    ),
    "text_file_index": lambda tf: [
        tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.lookup.TextFileIndex.LINE_NUMBER,
    ],
    "mutable_int_keys": lambda tf: tf.lookup.experimental.MutableHashTable(
        tf.string, tf.int64, -1
    ).insert([1], [2]),
    "mutable_lengths": lambda tf: tf.lookup.experimental.MutableHashTable(
        tf.string, tf.int64, -1
    ).insert(["a"], [1, 2]),
    "mutable_other_keys": lambda tf: tf.lookup.experimental.MutableHashTable(
        tf.string, tf.int64, -1
    ).lookup(tf.constant([1])),
    "mutable_other_values": lambda tf: tf.lookup.experimental.MutableHashTable(
        tf.string, tf.int64, -1
    ).insert(["a"], tf.constant([1])),
    "dense_empty_key": _dense(lambda tf, t: t.insert([""], tf.constant([1], tf.int64))),
    "dense_deleted_key": _dense(lambda tf, t: t.insert(["$"], tf.constant([1], tf.int64))),
    "dense_lookup_empty_key": _dense(lambda tf, t: t.lookup(tf.constant([""]))),
    "dense_same_keys": lambda tf: tf.lookup.experimental.DenseHashTable(
        tf.string, tf.int64, -1, "$", "$"
    ),
    "dense_buckets": lambda tf: tf.lookup.experimental.DenseHashTable(
        tf.string, tf.int64, -1, "", "$", initial_num_buckets=3
    ),
}
