"""Fingerprints of saved models, and resources."""

import gc

import pytest

import tapeflow as tf

read = tf.saved_model.experimental.read_fingerprint
# What TensorFlow 2.21 writes: five numbers of 64 bits, and a version.
MESSAGE = bytes.fromhex("08d285d8ccfb9be7f0a901100118022003280432020801")


class Scale(tf.Module):
    def __init__(self, value, power=1):
        self.v, self.power = tf.Variable(value), power

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        return self.v * x**self.power


def _saved(folder, module):
    tf.saved_model.save(module, str(folder))
    return read(str(folder))


def test_what_differs_has_another_number(tmp_path):
    one, same, other, cubed = (
        _saved(tmp_path / str(i), module)
        for i, module in enumerate((Scale(1.0), Scale(1.0), Scale(2.0), Scale(1.0, 3)))
    )
    assert one.checkpoint_hash == same.checkpoint_hash == cubed.checkpoint_hash
    assert one.checkpoint_hash != other.checkpoint_hash
    assert one.graph_def_program_hash == other.graph_def_program_hash
    assert one.graph_def_program_hash != cubed.graph_def_program_hash
    assert one == same and one != other and one.singleprint() == same.singleprint()


def test_tensorflows_is_read(tmp_path):
    (tmp_path / "fingerprint.pb").write_bytes(MESSAGE)
    found = read(str(tmp_path))
    assert found.saved_model_checksum == 12241237746874974930
    assert found.singleprint() == "1/2/3/4" and found.version == 1
    assert found == tf.saved_model.experimental.Fingerprint.from_proto(MESSAGE)
    assert str(found).splitlines()[0] == "SavedModel Fingerprint"


def test_mistakes_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="fingerprint"):
        read(str(tmp_path))
    with pytest.raises(ValueError, match="deserialized"):
        tf.saved_model.experimental.Fingerprint.from_proto(b"\x0a\xff")
    with pytest.raises(ValueError, match="deserialized"):
        tf.saved_model.experimental.Fingerprint.from_proto(object())
    with pytest.raises(ValueError, match="singleprint"):
        tf.saved_model.experimental.Fingerprint(1).singleprint()


def test_a_resource_is_made_once_and_let_go():
    log = []

    class Some(tf.saved_model.experimental.TrackableResource):
        def _create_resource(self):
            log.append("made")
            return tf.Variable([1.0, 2.0])

        def _destroy_resource(self):
            log.append("gone")

    held = [Some()]
    assert log == []
    f = tf.function(lambda x: x + held[0].resource_handle)
    assert f(tf.ones([2])).numpy().tolist() == [2.0, 3.0]
    held[0].resource_handle.assign([5.0, 5.0])
    assert f(tf.ones([2])).numpy().tolist() == [6.0, 6.0]
    assert log == ["made"]
    held.clear()
    gc.collect()
    assert log == ["made", "gone"]
    with pytest.raises(NotImplementedError, match="_create_resource"):
        tf.saved_model.experimental.TrackableResource().resource_handle
