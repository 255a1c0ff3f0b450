"""Tables in functions, datasets, threads and saved models."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

import tapeflow as tf


def _table(default: int = -1) -> tf.lookup.StaticHashTable:
    init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    return tf.lookup.StaticHashTable(init, default)


def test_lists_of_keys_are_taken():
    assert _table().lookup(["b", "z"]).numpy().tolist() == [2, -1]


def test_a_table_made_in_a_function_is_made_once():
    tables = []

    @tf.function
    def f(x):
        if not tables:
            with tf.init_scope():
                tables.append(_table())
        return tables[0].lookup(x)

    assert f(tf.constant(["a"])).numpy().tolist() == [1]
    assert f(tf.constant(["b", "q"])).numpy().tolist() == [2, -1]
    assert len(tables) == 1


def test_a_saved_model_holds_its_tables(tmp_path):
    class Model(tf.Module):
        def __init__(self):
            self.table = _table()

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, x):
            return self.table.lookup(tf.strings.lower(x))

    tf.saved_model.save(Model(), str(tmp_path))
    code = (
        "import tapeflow as tf\n"
        f"found = tf.saved_model.load({str(tmp_path)!r})(tf.constant(['A', 'c', 'b']))\n"
        "assert found.numpy().tolist() == [1, -1, 2]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_threads_insert_together():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

    def insert(start: int) -> None:
        for i in range(start, start + 100):
            table.insert(tf.constant([i], tf.int64), tf.constant([2 * i], tf.int64))

    threads = [threading.Thread(target=insert, args=(100 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = tf.range(400, dtype=tf.int64)
    assert int(table.size()) == 400
    assert (table.lookup(keys).numpy() == 2 * np.arange(400)).all()


def test_places_of_removed_keys_are_used_again():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    for i in range(100):
        table.insert(["a", "b"], [i, -i])
        table.remove(tf.constant(["a"]))
    table.insert(["c"], [7])
    assert len(table._held) <= 8
    assert table.lookup(["a", "b", "c"]).numpy().tolist() == [-1, -99, 7]


def test_a_table_that_no_checkpoint_holds(tmp_path):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, checkpoint=False)
    table.insert(["a"], [1])
    path = tf.train.Checkpoint(table=table).save(str(tmp_path / "ckpt"))
    table.insert(["a"], [2])
    tf.train.Checkpoint(table=table).restore(path)
    assert table.lookup(["a"]).numpy().tolist() == [2]


def test_keys_that_cannot_be():
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32"):
        tf.lookup.experimental.MutableHashTable(tf.float32, tf.int64, 0)
    with pytest.raises(TypeError, match="as_string"):
        _table().lookup(tf.constant([1]))


def test_a_table_of_an_asset(tmp_path):
    class Words(tf.Module):
        def __init__(self):
            path = tmp_path / "words.txt"
            path.write_text("cat\ndog\n")
            self.file = tf.saved_model.Asset(path)
            self.table = tf.lookup.StaticVocabularyTable(
                tf.lookup.TextFileInitializer(
                    self.file,
                    tf.string,
                    tf.lookup.TextFileIndex.WHOLE_LINE,
                    tf.int64,
                    tf.lookup.TextFileIndex.LINE_NUMBER,
                ),
                1,
            )

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def numbers(self, words):
            return self.table.lookup(words)

    tf.saved_model.save(Words(), tmp_path / "model")
    (tmp_path / "words.txt").unlink()
    loaded = tf.saved_model.load(tmp_path / "model")
    assert loaded.numbers(tf.constant(["dog", "cat", "cow"])).numpy().tolist() == [1, 0, 2]
