"""Checkpoints that TensorFlow wrote are restored, and those written for it are as its own."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tensorflow_files import models

import tapeflow as tf

FORMAT = tf.train.CheckpointOptions(format="tensorflow")


@pytest.mark.parametrize("name", models.MODELS)
def test_training_goes_on_from_a_checkpoint_of_tensorflow(recorded, name):
    files = recorded(name)
    model = models.compiled(name, tf.keras)
    status = tf.train.Checkpoint(model=model).read(files.checkpoint)
    status.assert_consumed()
    x, y = models.batch(name)
    np.testing.assert_allclose(model(x), files.expected["outputs"], atol=1e-5)
    losses = models.trained(model, x, y, models.STEPS_AFTER)
    np.testing.assert_allclose(losses, files.expected["losses"], atol=1e-5)


@pytest.mark.parametrize("name", models.MODELS)
def test_what_is_written_for_tensorflow_has_its_keys(recorded, tmp_path, name):
    files = recorded(name)
    model = models.compiled(name, tf.keras)
    checkpoint = tf.train.Checkpoint(model=model)
    checkpoint.read(files.checkpoint).assert_consumed()
    written = checkpoint.write(tmp_path / "again", FORMAT)
    assert tf.train.list_variables(written) == tf.train.list_variables(files.checkpoint)
    there, here = tf.train.load_checkpoint(files.checkpoint), tf.train.load_checkpoint(written)
    assert here.get_variable_to_dtype_map() == there.get_variable_to_dtype_map()
    for key, _ in tf.train.list_variables(written):
        if "GRAPH" not in key:
            np.testing.assert_array_equal(here.get_tensor(key), there.get_tensor(key))


def test_a_model_that_is_not_built_yet_gets_its_weights_later(recorded):
    files = recorded("mlp")
    dense = tf.keras.layers.Dense
    model = tf.keras.Sequential(
        [dense(8, activation="relu"), dense(6, activation="gelu"), dense(2)]
    )
    model.compile(tf.keras.optimizers.Adam(0.01), "mse")
    status = tf.train.Checkpoint(model=model).read(files.checkpoint)
    x, y = models.batch("mlp")
    losses = models.trained(model, x, y, models.STEPS_AFTER)
    np.testing.assert_allclose(losses, files.expected["losses"], atol=1e-5)
    status.assert_consumed()


def values():
    module = tf.Module()
    module.rows = [tf.Variable([0.0, 0.0]), tf.Variable([[0]])]
    module.named = {"a": tf.Variable(0.0), "b/c.d": tf.Variable(False)}
    module.pair = (tf.Variable(0, dtype=tf.int64), tf.Variable(b""))
    module.words = tf.Variable(["", "", ""])
    module.none = tf.Variable(tf.zeros([0, 3]))
    for dtype in models.DTYPES:
        setattr(module, dtype, tf.Variable(tf.zeros([3], dtype)))
    return module


def test_values_of_every_kind_are_restored_from_tensorflow(recorded):
    module, generator = values(), tf.random.Generator.from_seed(0)
    checkpoint = tf.train.Checkpoint(module=module, generator=generator)
    folder = recorded("values").folder
    checkpoint.restore(tf.train.latest_checkpoint(folder)).assert_consumed()
    assert int(checkpoint.save_counter) == 1
    assert module.rows[0].numpy().tolist() == [1, 2]
    assert module.rows[1].numpy().tolist() == [[3]]
    assert (module.named["a"].numpy(), module.named["b/c.d"].numpy()) == (4.0, True)
    assert (module.pair[0].numpy(), module.pair[1].numpy()) == (5, b"\xff\x00")
    assert module.words.numpy().tolist() == [b"", b"one", b"three" * 60]
    for dtype in models.DTYPES:
        assert tf.cast(getattr(module, dtype), tf.int32).numpy().tolist() == [0, 1, 3]
    other = tf.random.Generator.from_seed(5)
    other.normal([3])
    np.testing.assert_array_equal(generator.normal([4]), other.normal([4]))


def test_values_of_every_kind_are_written_for_tensorflow(recorded, tmp_path):
    module = values()
    there = str(recorded("values").folder / "ckpt-1")
    status = tf.train.Checkpoint(module=module).restore(there)
    status.expect_partial().assert_existing_objects_matched()
    path = tf.train.Checkpoint(module=module).save(tmp_path / "new", FORMAT)
    assert tf.train.latest_checkpoint(tmp_path) == path
    for key, _ in tf.train.list_variables(path):
        if key.startswith("module"):
            was = tf.train.load_variable(there, key)
            np.testing.assert_array_equal(tf.train.load_variable(path, key), was)


def test_a_tensor_that_was_saved_in_parts_is_put_together(recorded):
    reader = tf.train.load_checkpoint(recorded("values").folder / "sliced")
    assert reader.get_variable_to_shape_map() == {"long": [300], "w": [4, 3]}
    np.testing.assert_array_equal(reader.get_tensor("w"), np.arange(12).reshape(4, 3))
    np.testing.assert_array_equal(reader.get_tensor("long"), [*range(100), *range(200)])


def test_a_checkpoint_without_objects_says_how_to_read_it(recorded):
    path = recorded("values").folder / "sliced"
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tf\.train\.load_variable"):
        tf.train.Checkpoint(w=tf.Variable(tf.zeros([4, 3]))).read(path)


def test_what_replaces_a_checkpoint_for_tensorflow_leaves_nothing_behind(tmp_path):
    variable = tf.Variable(0.0)
    checkpoint = tf.train.Checkpoint(v=variable)
    checkpoint.write(tmp_path / "ckpt")
    for value in (1.0, 2.0, 3.0):
        variable.assign(value)
        checkpoint.write(tmp_path / "ckpt", FORMAT)
        assert len(list(tmp_path.iterdir())) == 2
        variable.assign(0.0)
        checkpoint.read(tmp_path / "ckpt").assert_consumed()
        assert variable.numpy() == value


def test_a_manager_keeps_the_newest_of_both_formats(tmp_path):
    variable = tf.Variable(0.0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=variable), tmp_path, max_to_keep=2)
    for number in range(5):
        variable.assign(float(number))
        manager.save(options=FORMAT if number % 2 else None)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        *("checkpoint", "ckpt-4.data-00000-of-00001", "ckpt-4.index", "ckpt-5.safetensors")
    ]
    again = tf.train.CheckpointManager(tf.train.Checkpoint(v=variable), tmp_path, max_to_keep=2)
    (tmp_path / "ckpt-5.safetensors").write_bytes(b"damaged")
    again.restore_or_initialize()
    assert variable.numpy() == 3.0


def test_an_iterator_is_not_written_for_tensorflow(tmp_path):
    checkpoint = tf.train.Checkpoint(it=iter(tf.data.Dataset.range(3)))
    with pytest.raises(ValueError, match=r"the dataset iterator at \(root\)\.it"):
        checkpoint.write(tmp_path / "ckpt", FORMAT)
    with pytest.raises(ValueError, match="format must be 'safetensors' or 'tensorflow', got 'h5'"):
        tf.train.CheckpointOptions(format="h5")


def tables() -> tf.Module:
    module = tf.Module()
    kinds = tf.lookup.experimental
    module.words = kinds.MutableHashTable(tf.string, tf.int64, -1)
    module.dense = kinds.DenseHashTable(
        tf.int64, tf.float32, [0.0, 0.0], empty_key=-1, deleted_key=-2
    )
    module.v = tf.Variable(0.0)
    return module


def test_tables_of_tensorflow_are_restored(recorded, caplog):
    module = tables()
    module.it = iter(tf.data.Dataset.range(5))
    module.words.insert(["old"], tf.constant([9], tf.int64))
    tf.train.Checkpoint(module=module).read(recorded("tables").checkpoint).assert_consumed()
    assert module.v.numpy() == 7.0
    assert module.words.lookup(["a", "b", "c", "old"]).numpy().tolist() == [1, 2, -1, -1]
    assert int(module.words.size()) == int(module.dense.size()) == 2
    found = module.dense.lookup(tf.constant([3, 4, 5], tf.int64))
    assert found.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]
    assert next(module.it).numpy() == 0
    assert "the dataset iterator at (root).module.it is left as it is" in caplog.text


def test_a_table_of_another_kind_is_refused(recorded):
    module = tables()
    module.words = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    with pytest.raises(tf.errors.DataLossError, match="is no table of this kind"):
        tf.train.Checkpoint(module=module).read(recorded("tables").checkpoint)


def test_tables_are_written_for_tensorflow(tmp_path):
    module = tf.Module()
    kinds = tf.lookup.experimental
    module.words = kinds.MutableHashTable(tf.string, tf.float32, [0.0, 0.0])
    module.words.insert(["x", "y"], [[1.0, 2.0], [3.0, 4.0]])
    module.not_saved = kinds.MutableHashTable(tf.string, tf.int64, -1, checkpoint=False)
    path = tf.train.Checkpoint(module=module).write(tmp_path / "ck", FORMAT)
    keys = [key for key, _ in tf.train.list_variables(path) if "GRAPH" not in key]
    table = "module/words/.ATTRIBUTES/table"
    assert keys == [f"{table}-keys", f"{table}-values"]
    new = tf.Module()
    new.words = kinds.MutableHashTable(tf.string, tf.float32, [0.0, 0.0])
    tf.train.Checkpoint(module=new).read(path).assert_consumed()
    assert new.words.lookup(["y", "z"]).numpy().tolist() == [[3.0, 4.0], [0.0, 0.0]]
    module.dense = tables().dense
    with pytest.raises(ValueError, match=r"DenseHashTable at \(root\)\.module\.dense"):
        tf.train.Checkpoint(module=module).write(tmp_path / "other", FORMAT)
