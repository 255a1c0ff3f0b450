"""SavedModels that TensorFlow wrote are run, differentiated, trained, and saved again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.tensorflow_files import models, program, texts

import tapeflow as tf
from tapeflow._src.tensorflow_files import running, special_ops
from tapeflow._src.tensorflow_files.descriptions import descriptions
from tapeflow._src.tensorflow_files.graphs import Library
from tapeflow._src.tensorflow_files.messages import Damage

FORMAT = tf.saved_model.SaveOptions(format="tensorflow")


def exported(name, folder):
    """A model that is trained a little, and written for TensorFlow."""
    tf.keras.utils.set_random_seed(1)
    model = models.compiled(name, tf.keras)
    x, y = models.batch(name)
    models.trained(model, x, y, models.STEPS_BEFORE)
    archive = tf.keras.export.ExportArchive()
    spec = tf.TensorSpec([None, *x.shape[1:]], x.dtype, name="inputs")
    archive.track_and_add_endpoint("serve", model, [spec])
    archive.write_out(folder, options=FORMAT, verbose=False)
    return model


@pytest.mark.parametrize("name", models.MODELS)
def test_a_model_that_is_written_for_tensorflow_is_read_as_its_own(tmp_path, name):
    model = exported(name, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    x, _ = models.batch(name)
    np.testing.assert_allclose(loaded.serve(x[:3]), model(x[:3]), atol=1e-6)
    (output,) = loaded.signatures["serving_default"](inputs=tf.constant(x)).values()
    np.testing.assert_allclose(output, model(x), atol=1e-6)
    assert len(loaded.trainable_variables) == len(model.trainable_variables)


def test_a_module_that_is_written_for_tensorflow_answers_as_before(tmp_path):
    made = program.module(tf)
    tf.saved_model.save(made, tmp_path / "ours", signatures=made.shapes)
    tf.saved_model.save(made, tmp_path / "theirs", signatures=made.shapes, options=FORMAT)
    ours, theirs = (tf.saved_model.load(tmp_path / name) for name in ("ours", "theirs"))
    program.same(program.told(tf, theirs), program.told(tf, ours))


def test_ops_are_written_for_tensorflow(tmp_path):
    made = program.ops(tf)
    tf.saved_model.save(made, tmp_path, options=FORMAT)
    program.same(program.computed(tf, tf.saved_model.load(tmp_path)), program.computed(tf, made))


def test_strings_tables_and_random_numbers_are_written_for_tensorflow(tmp_path):
    made = texts.module(tf)
    tf.saved_model.save(made, tmp_path, options=FORMAT)
    found = texts.computed(tf, tf.saved_model.load(tmp_path))
    for name, expected in texts.computed(tf, made).items():
        program.same(found[name], expected)


def test_what_cannot_be_written_for_tensorflow_is_named(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: tf.linalg.cholesky(x), input_signature=[tf.TensorSpec([3, 3])])
    with pytest.raises(
        ValueError, match=r"cholesky \(at .*test_saved_models\.py:\d+\) has no counterpart"
    ):
        tf.saved_model.save(module, tmp_path, options=FORMAT)
    assert not list(tmp_path.iterdir())


def test_what_is_written_again_is_read_again(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(1.0)
    tf.saved_model.save(module, tmp_path)
    for value in (2.0, 3.0):
        module.v.assign(value)
        tf.saved_model.save(module, tmp_path, options=FORMAT)
        assert tf.saved_model.load(tmp_path).v.numpy() == value


@pytest.mark.parametrize("name", models.MODELS)
def test_an_exported_model_gives_its_outputs_and_is_trained(recorded, name):
    files = recorded(name)
    loaded = tf.saved_model.load(files.saved_model)
    x, y = models.batch(name)
    np.testing.assert_allclose(loaded.serve(x), files.expected["served"], atol=1e-5)
    (output,) = loaded.signatures["serving_default"](tf.constant(x)).values()
    np.testing.assert_allclose(output, files.expected["served"], atol=1e-5)
    losses = models.tuned(tf, loaded, x, y, models.STEPS_AFTER)
    np.testing.assert_allclose(losses, files.expected["tuned"], atol=1e-5)


def test_functions_of_every_kind_are_called(recorded):
    files = recorded("program")
    loaded = tf.saved_model.load(files.saved_model)
    answers = json.loads(json.dumps(program.told(tf, loaded)))
    for name, expected in files.expected.items():
        program.same(answers[name], expected)


def test_what_was_loaded_is_saved_here(recorded, tmp_path):
    loaded = tf.saved_model.load(recorded("program").saved_model)
    tf.saved_model.save(loaded, tmp_path / "again")
    again = tf.saved_model.load(tmp_path / "again")
    x = tf.constant(program.X[1])
    np.testing.assert_array_equal(again.branches(x), loaded.branches(x))
    assert again.parts[1].w.numpy() == 3.0


def test_objects_are_there_by_their_names(recorded):
    loaded = tf.saved_model.load(recorded("program").saved_model)
    assert isinstance(loaded.parts, list)
    assert [part.w.numpy() for part in loaded.parts] == [2.0, 3.0]
    assert loaded.named.keys() == {"one", "two"}
    assert isinstance(loaded.named["two"], tuple)
    assert not loaded.counter.trainable
    assert list(loaded.signatures) == ["serving_default"]
    assert tf.saved_model.contains_saved_model(recorded("program").saved_model)


def test_a_jit_compiled_function_may_call_a_loaded_one(recorded):
    files = recorded("mlp")
    loaded = tf.saved_model.load(files.saved_model)
    x, _ = models.batch("mlp")
    compiled = tf.function(lambda x: loaded.serve(x), jit_compile=True)
    np.testing.assert_allclose(compiled(x), files.expected["served"], atol=1e-5)


def test_an_op_that_is_missing_is_named_with_its_node(recorded, monkeypatch):
    loaded = tf.saved_model.load(recorded("mlp").saved_model)
    monkeypatch.delitem(running.OPS, "Relu")
    with pytest.raises(
        tf.errors.UnimplementedError, match=r"The op Relu is not there, .* 'sequential"
    ) as error:
        loaded.serve(models.batch("mlp")[0])
    assert "dense" in str(error.value)


def test_tags_choose_the_graph(recorded):
    folder = recorded("program").saved_model
    assert tf.saved_model.load(folder, tags=["serve"]).counter.numpy() == 0
    with pytest.raises(ValueError, match=r"no graph with the tags \['gpu'\]"):
        tf.saved_model.load(folder, tags=["gpu"])


def test_what_is_described_can_be_called():
    assert special_ops.SPECIAL is running.SPECIAL
    refused = {}
    for name in descriptions().keys() - running.SPECIAL.keys():
        op = running.OPS[name]
        newer = running.newer_names(op)
        taken = {newer.get(a.name, a.name) for a in descriptions()[name].inputs}
        if not taken <= op.parameters.keys():
            refused[name] = taken
    assert refused == {}


def test_a_table_is_filled_from_the_folder_of_its_model_only(tmp_path):
    runner = running.Runner(Library([]), str(tmp_path / "model"))
    (tmp_path / "secret.txt").write_text("a\n")
    table = special_ops.Table(tf.string, tf.int64)
    given = {"table_handle": table, "filename": tf.constant(str(tmp_path / "secret.txt"))}
    with pytest.raises(Damage, match="outside of the model's folder"):
        running.SPECIAL["InitializeTableFromTextFileV2"](runner, given, {})
