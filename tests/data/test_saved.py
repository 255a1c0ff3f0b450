"""Datasets that are saved in folders: structures, shards, damage, snapshots that are not complete."""

import json

import numpy as np
import pytest

import tapeflow as tf


def values(dataset):
    return list(dataset.as_numpy_iterator())


def test_structures_and_dtypes_come_back(tmp_path):
    elements = {
        "a": (np.arange(3), np.array([[True], [False], [True]])),
        "b": np.array([b"x", b"", b"zz"], object),
        "c": tf.constant([[1.5], [2.5], [3.5]], tf.bfloat16),
    }
    data = tf.data.Dataset.from_tensor_slices(elements)
    data.save(tmp_path / "some")
    loaded = tf.data.Dataset.load(tmp_path / "some")
    assert loaded.element_spec == data.element_spec
    assert len(loaded) == 3
    assert str(values(loaded)) == str(values(data))


def test_elements_of_different_shapes(tmp_path):
    data = tf.data.Dataset.range(4).map(lambda n: tf.fill([n], n))
    data.save(str(tmp_path))
    assert [x.tolist() for x in values(tf.data.Dataset.load(str(tmp_path)))] == [
        [],
        [1],
        [2, 2],
        [3, 3, 3],
    ]


def test_shards(tmp_path):
    data = tf.data.Dataset.range(6)
    data.save(tmp_path, shard_func=lambda x: 2 * (x % 2))
    in_order = tf.data.Dataset.load(
        tmp_path, reader_func=lambda shards: shards.flat_map(lambda s: s)
    )
    assert values(in_order) == [0, 2, 4, 1, 3, 5]
    assert sorted(values(tf.data.Dataset.load(tmp_path))) == list(range(6))
    with pytest.raises(TypeError, match="shard_func must return a scalar integer"):
        data.save(tmp_path / "other", shard_func=lambda x: tf.cast(x, tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="numbers from 0 to"):
        data.save(tmp_path / "other", shard_func=lambda x: x - 1)
    with pytest.raises(TypeError, match="`reader_func` must return"):
        tf.data.Dataset.load(tmp_path, reader_func=lambda shards: 5)  # pyright: ignore[reportArgumentType]


def test_what_is_saved_again_takes_the_place_of_the_old(tmp_path):
    tf.data.Dataset.range(6).save(tmp_path, shard_func=lambda x: x % 3)
    tf.data.Dataset.range(2).save(tmp_path)
    assert values(tf.data.Dataset.load(tmp_path)) == [0, 1]


def test_a_failure_while_saving_leaves_nothing_that_counts(tmp_path):
    tf.data.Dataset.range(3).save(tmp_path)
    broken = tf.data.Dataset.range(3).map(
        lambda x: tf.debugging.check_numerics(1.0 / tf.cast(2 - x, tf.float32), "")
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        broken.save(tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="Could not find a dataset"):
        tf.data.Dataset.load(tmp_path)


def test_damage_is_a_loss_of_data(tmp_path):
    tf.data.Dataset.range(3).save(tmp_path)
    shard = tmp_path / "00000.shard"
    content = bytearray(shard.read_bytes())
    content[-30] ^= 1
    shard.write_bytes(content)
    with pytest.raises(tf.errors.DataLossError):
        values(tf.data.Dataset.load(tmp_path))
    for text in (
        "junk",
        "[]",
        json.dumps({"tapeflow dataset": 99}),
        json.dumps({"tapeflow dataset": 1, "spec": 3, "counts": []}),
    ):
        (tmp_path / "dataset.json").write_text(text)
        with pytest.raises(tf.errors.DataLossError, match="is damaged"):
            tf.data.Dataset.load(tmp_path)


def test_an_element_spec_must_fit(tmp_path):
    tf.data.Dataset.range(3).save(tmp_path)
    spec = tf.TensorSpec([], tf.int64)
    assert values(tf.data.Dataset.load(tmp_path, spec)) == [0, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="element_spec is"):
        tf.data.Dataset.load(tmp_path, (spec, spec))


def test_saving_is_eager(tmp_path):
    @tf.function
    def save():
        tf.data.Dataset.range(3).save(str(tmp_path))

    with pytest.raises(Exception, match="only works eagerly"):
        save()


def test_a_snapshot_counts_when_it_is_complete(tmp_path):
    data = tf.data.Dataset.range(3).snapshot(str(tmp_path / "some"))
    assert next(iter(data)).numpy() == 0
    assert not (tmp_path / "some" / "dataset.json").exists()
    assert values(data) == values(data) == [0, 1, 2]
    other = tf.data.Dataset.range(10, 13).snapshot(str(tmp_path / "some"))
    assert values(other) == [0, 1, 2]


def test_a_list_of_files_inside_of_a_function(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(name * 3)

    @tf.function
    def read(pattern):
        total = 0
        for name in tf.data.Dataset.list_files(pattern):
            total += tf.size(tf.io.decode_raw(tf.io.read_file(name), tf.uint8))
        return total

    assert read(tf.constant(f"{tmp_path}/*")).numpy() == 6
