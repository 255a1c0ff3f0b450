"""Datasets of records, lines and comma-separated values, names of files, resampling."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np


def _file(text: str) -> str:
    handle, path = tempfile.mkstemp(suffix=".csv")
    with os.fdopen(handle, "w", newline="") as file:
        file.write(text)
    return path


def _values(data: Any, most: int = 100) -> list[Any]:
    return list(data.take(most).as_numpy_iterator())


def _decoded(records: Any, defaults: Any, **options: Any) -> Any:
    return lambda tf: tf.io.decode_csv(records, defaults, **options)


def _csv(text: str, *defaults: Any, **options: Any) -> Any:
    def case(tf: Any) -> Any:
        given = [
            getattr(tf, d[3:]) if isinstance(d, str) and d[:3] == "tf." else d for d in defaults
        ]
        data = tf.data.experimental.CsvDataset(_file(text), given, **options)
        return [str(data.element_spec), _values(data)]

    return case


TABLE = "a,b,c,d\n" + "".join(f"{i},{i / 2},w{i % 3},{10**10 * i}\n" for i in range(10))


def _made(batches: int = 2, text: str = TABLE, **options: Any) -> Any:
    def case(tf: Any) -> Any:
        tf.random.set_seed(5)
        data = tf.data.experimental.make_csv_dataset(_file(text), **{"batch_size": 3, **options})
        found = list(data.take(batches))
        return [
            str(_plain(data.element_spec)),
            [list(f) if isinstance(f, dict) else None for f in found],
            found,
        ]

    return case


def _plain(spec: Any) -> Any:
    """A spec without ordered dictionaries, which versions of Python show in several ways."""
    if isinstance(spec, tuple):
        return tuple(map(_plain, spec))
    return dict(spec) if isinstance(spec, dict) else spec


def lines_of_several_files(tf: Any) -> Any:
    files = [_file("one\r\ntwo\rx\n\nlast"), _file("x\ny\n")]
    data, in_turn = (
        tf.data.TextLineDataset(files),
        tf.data.TextLineDataset(files, num_parallel_reads=2),
    )
    return [_values(data), _values(in_turn), str(data), int(data.cardinality())]


def pieces_of_a_file(tf: Any) -> Any:
    data = tf.data.FixedLengthRecordDataset(_file("HHabcdefFFF"), 2, 2, 3)
    return [_values(data), str(data)]


def pieces_that_do_not_fit(tf: Any) -> Any:
    return _values(tf.data.FixedLengthRecordDataset(_file("HHabcdefFFF"), 4, 2, 3))


def records_that_are_damaged(tf: Any) -> Any:
    path = _file("")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(3):
            writer.write(b"rec%d" % i)
    with open(path, "r+b") as file:
        file.seek(40 + 13)
        file.write(b"!")
    found: list[Any] = []
    elements = iter(tf.data.TFRecordDataset([path, path]))
    for _ in range(6):
        try:
            found.append(next(elements).numpy())
        except Exception as error:
            found.append(type(error).__name__)
    return found


def records_of_an_unknown_compression(tf: Any) -> Any:
    return _values(tf.data.TextLineDataset(_file("a"), compression_type="ZIP"))


def names_of_files(tf: Any) -> Any:
    tf.random.set_seed(5)
    folder = tempfile.mkdtemp()
    for i in range(6):
        tf.io.write_file(f"{folder}/{i}.txt", "")
    orders = [
        tf.data.Dataset.list_files(folder + "/*.txt", shuffle=False),
        tf.data.Dataset.list_files(folder + "/*.txt", seed=3),
        tf.data.Dataset.list_files([folder + "/1*", folder + "/[34].txt"], shuffle=False),
    ]
    return [[os.path.basename(name) for name in _values(order)] for order in (*orders, orders[1])]


def names_of_no_files(tf: Any) -> Any:
    return tf.data.Dataset.list_files(tempfile.mkdtemp() + "/*")


def a_saved_dataset(tf: Any) -> Any:
    path = tempfile.mkdtemp() + "/some"
    data = tf.data.Dataset.from_tensor_slices((np.arange(4), np.array([b"a", b"", b"ccc", b"d"])))
    data.save(path)
    loaded = tf.data.Dataset.load(path)
    return [str(loaded.element_spec), int(loaded.cardinality()), _values(loaded)]


def a_dataset_that_was_not_saved(tf: Any) -> Any:
    return tf.data.Dataset.load(tempfile.mkdtemp() + "/none")


def a_snapshot_is_read_again(tf: Any) -> Any:
    calls = []

    def noted(x: Any) -> Any:
        calls.append(1)
        return x * 2

    data = tf.data.Dataset.range(4).map(lambda x: tf.py_function(noted, [x], tf.int64))
    data = data.snapshot(tempfile.mkdtemp() + "/some")
    return [_values(data), _values(data), len(calls)]


def _resampled(initial: Any) -> Any:
    def case(tf: Any) -> Any:
        tf.random.set_seed(5)
        classes = (np.arange(1000) * 7919 % 10 == 3).astype(np.int32)
        data = tf.data.Dataset.from_tensor_slices(classes).enumerate()
        data = data.rejection_resample(lambda i, c: c, [0.5, 0.5], initial, seed=3)
        return [str(data.element_spec), _values(data, 40)]

    return case


def weights_from_a_dataset(tf: Any) -> Any:
    tf.random.set_seed(5)
    ones, others = tf.data.Dataset.range(9), tf.data.Dataset.range(100, 109)
    weights = tf.data.Dataset.from_tensors([0.2, 0.8]).repeat()
    return _values(tf.data.Dataset.sample_from_datasets([ones, others], weights, seed=1))


def csv_of_two_files_in_turn(tf: Any) -> Any:
    files = [_file("a\n" + "".join(f"{s * i}\n" for i in range(5))) for s in (1, -1)]
    order = sorted(files)
    make = tf.data.experimental.make_csv_dataset
    found = list(make(files, 4, shuffle=False, num_epochs=1, num_parallel_reads=2))
    sign = 1 if order == files else -1
    return [batch["a"] * sign for batch in found]


CASES = {
    "decoded": _decoded(["1,2.5,a", '-3,,"b,""c"""'], [[0], [9.5], [""]]),
    "decoded_scalar": _decoded("1,2", [[0], [0]]),
    "decoded_matrix": _decoded([["1,2"], ["3,4"]], [[0], [0]]),
    "decoded_with_too_few": _decoded(["1,2", "3"], [[0], [0]]),
    "decoded_with_too_many": _decoded(["1,2,3"], [[0], [0]]),
    "decoded_required": lambda tf: tf.io.decode_csv([",2"], [tf.constant([], tf.int32), [0]]),
    "decoded_no_integer": _decoded(["x,2"], [[0], [0]]),
    "decoded_fraction_for_an_integer": _decoded(["1.5"], [[0]]),
    "decoded_integer_that_is_too_large": _decoded(["99999999999"], [[0]]),
    "decoded_underscore": _decoded(["1_0"], [[0]]),
    "decoded_floats": _decoded(["1e3", "nan", "inf", " 4 ", "1.", "-.5"], [[0.0]]),
    "decoded_integers": _decoded([" 10", "+10", "-0", "007"], [[0]]),
    "decoded_with_another_delimiter": _decoded(["1;2"], [[0], [0]], field_delim=";"),
    "decoded_without_quotes": _decoded(
        ['1\t"2"'], [[0], [""]], field_delim="\t", use_quote_delim=False
    ),
    "decoded_missing": _decoded(["NA,2"], [[7], [0]], na_value="NA"),
    "decoded_some": _decoded(["1,2,3"], [["x"], ["y"]], select_cols=[0, 2]),
    "decoded_some_in_another_order": _decoded(["1,2,3"], [["x"], ["y"]], select_cols=[2, 0]),
    "decoded_some_without_defaults": _decoded(["1,2,3"], [["x"], ["y"]], select_cols=[0]),
    "decoded_some_that_are_not_there": _decoded(["1,2,3"], [["x"]], select_cols=[5]),
    "decoded_open_quote": _decoded(['"a'], [["x"]]),
    "decoded_quote_inside": _decoded(['a"b'], [["x"]]),
    "decoded_text_behind_a_quote": _decoded(['"a"b'], [["x"]]),
    "decoded_lines_in_quotes": _decoded(['"a\nb",2'], [["x"], [0]]),
    "decoded_end_of_line": _decoded(["a,b\n"], [["x"], ["y"]]),
    "decoded_nothing": _decoded([""], [["x"]]),
    "decoded_empty_quotes": _decoded(['""'], [["x"]]),
    "decoded_two_delimiters": _decoded(["1,2"], [[0], [0]], field_delim=",,"),
    "decoded_two_defaults": _decoded(["1,2"], [[0, 1], [0]]),
    "decoded_bool": _decoded(["1,2"], [True, 0]),
    "csv": _csv('x,y,z\n1,2.5,abc\n3,,"q\nr"\n', "tf.int32", [7.0], "tf.string", header=True),
    "csv_required": _csv("1,\n", "tf.int32", "tf.int32"),
    "csv_of_some": _csv("1,2,3\n4,5,6\n", 0, 0, select_cols=[0, 2]),
    "csv_without_some": _csv("1,2,3\n4,5,6\n", 0, 0, exclude_cols=[1]),
    "csv_with_too_many": _csv("1,2,3\n", 0, 0),
    "csv_with_too_few": _csv("1,2\n3\n", 0, 0),
    "csv_with_ends_of_windows": _csv("1,2\r\n3,4", 0, 0),
    "csv_with_ends_of_windows_and_quotes": _csv('"1",2\r\n3,"4"\r\n', 0, 0),
    "csv_with_an_empty_line": _csv("1,2\n\n3,4", 0, 0),
    "csv_of_nothing": _csv("", 0, 0),
    "csv_of_a_header": _csv("h\n", 0, header=True),
    "csv_of_an_empty_line": _csv("\n", 5),
    "csv_with_a_quote_inside": _csv('a"b,2\n', "", 0),
    "csv_with_an_open_quote": _csv('"ab', ""),
    "csv_with_spaces": _csv("1, 2, 3\n", 0, 0, ""),
    "csv_with_missing": _csv("NA,2\n", 0, "", na_value="NA"),
    "csv_in_another_order": _csv("1,2\n", 0, 0, select_cols=[1, 0]),
    "csv_of_doubles": _csv("0.1,9007199254740993\n", "tf.float64", "tf.int64"),
    "made": _made(shuffle=False),
    "made_once": _made(5, shuffle=False, num_epochs=1),
    "made_with_a_label": _made(5, shuffle=False, num_epochs=1, label_name="c"),
    "made_with_a_label_that_is_not_there": _made(label_name="zz"),
    "made_of_some": _made(1, shuffle=False, select_columns=["c", "a"], label_name="a"),
    "made_of_some_by_number": _made(1, shuffle=False, select_columns=[0, 3]),
    "made_with_names": _made(1, shuffle=False, column_names=list("pqrs")),
    "made_without_a_header": _made(1, shuffle=False, column_names=list("pqrs"), header=False),
    "made_with_the_same_name_twice": _made(1, column_names=list("pqrp")),
    "made_with_defaults": _made(1, shuffle=False, column_defaults=[[1], [1.0], [""], [""]]),
    "made_shuffled": _made(3, shuffle_seed=7, num_epochs=1),
    "made_shuffled_in_a_buffer": _made(3, shuffle_seed=7, shuffle_buffer_size=4),
    "made_of_lines_of_other_lengths": _made(1, "a,b\n1,2\n4\n"),
    "made_of_lines_that_are_wrong": _made(
        2,
        "a,b\n1,2\nx,3\n4\n5,6\n",
        column_defaults=[0, 0],
        ignore_errors=True,
        shuffle=False,
        num_epochs=1,
    ),
    "made_of_what_is_missing": _made(1, "a,b\n,x\n2.5,\n,\n", shuffle=False, num_epochs=1),
    "made_of_no_files": lambda tf: tf.data.experimental.make_csv_dataset(
        tempfile.mkdtemp() + "/*", 3
    ),
    "resampled": _resampled([0.9, 0.1]),
    "resampled_with_an_estimate": _resampled(None),
    "resampled_as_it_was": _resampled([0.5, 0.5]),
}
