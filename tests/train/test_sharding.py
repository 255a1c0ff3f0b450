"""Checkpoints in TensorFlow's format whose tensors are in several files."""

import os

import numpy as np
import pytest

import tapeflow as tf

WEIGHTS = np.arange(60, dtype=np.float32).reshape(10, 6)


def _written(folder, callback, **more):
    v = {"w": tf.Variable(WEIGHTS), "n": tf.Variable(7), "s": tf.Variable(["ab", "cde"]), **more}
    options = tf.train.CheckpointOptions(
        format="tensorflow", experimental_sharding_callback=callback
    )
    return tf.train.Checkpoint(**v).write(os.path.join(folder, "ckpt"), options)


def _data(folder):
    return sorted(name for name in os.listdir(folder) if ".data-" in name)


@pytest.mark.parametrize("size, files", [(10**6, 1), (100, 3), (48, 6), (24, 11), (1, 14)])
def test_files_have_a_greatest_size(tmp_path, size, files):
    path = _written(tmp_path, tf.train.experimental.MaxShardSizePolicy(size))
    names = _data(tmp_path)
    assert len(names) == files and names[0].endswith(f"-of-{files:05d}")
    v = {"w": tf.Variable(WEIGHTS * 0), "n": tf.Variable(0), "s": tf.Variable(["", ""])}
    tf.train.Checkpoint(**v).read(path).assert_consumed()
    np.testing.assert_array_equal(v["w"], WEIGHTS)
    assert v["n"].numpy() == 7 and v["s"].numpy().tolist() == [b"ab", b"cde"]


def test_a_checkpoint_is_replaced_by_another(tmp_path):
    for size in (24, 24, 10**6, 100):
        path = _written(tmp_path, tf.train.experimental.MaxShardSizePolicy(size))
        reader = tf.train.load_checkpoint(path)
        np.testing.assert_array_equal(reader.get_tensor("w/.ATTRIBUTES/VARIABLE_VALUE"), WEIGHTS)
    assert len(_data(tmp_path)) in (3, 4)


def test_one_file_is_as_without_a_policy(tmp_path):
    path = _written(tmp_path, tf.train.experimental.ShardByTaskPolicy())
    assert len(_data(tmp_path)) == 1
    np.testing.assert_array_equal(
        tf.train.load_variable(path, "w/.ATTRIBUTES/VARIABLE_VALUE"), WEIGHTS
    )


def test_nothing_may_be_lost(tmp_path):
    class Bad(tf.train.experimental.ShardByTaskPolicy):
        def __init__(self, change):
            self.change = change

        def __call__(self, shardable_tensors):
            (shard,) = super().__call__(shardable_tensors)
            self.change(shard)
            return [shard]

    key = "w/.ATTRIBUTES/VARIABLE_VALUE"
    for change, says in (
        (lambda shard: shard.pop(key), "0 of the 60"),
        (lambda shard: shard.update({"other": {"": tf.ones([])}}), "no tensor"),
        (lambda shard: shard.update({key: {"nonsense": tf.ones([])}}), "no place"),
    ):
        with pytest.raises(ValueError, match=says):
            _written(tmp_path, Bad(change))
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="positive"):
        tf.train.experimental.MaxShardSizePolicy(0)
