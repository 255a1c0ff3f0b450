"""A saved function computes sizes when it runs, and knows which sizes it was saved for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeflow as tf

MATRIX = tf.TensorSpec([None, None])


def saved(function: Any, path: Any) -> Any:
    module = tf.Module()
    module.run = function
    tf.saved_model.save(module, path, signatures=function.get_concrete_function(MATRIX))
    return tf.saved_model.load(path)


def test_sizes_that_depend_on_which_size_is_larger(tmp_path):
    function = tf.function(lambda t: tf.shape(tf.eye(tf.reduce_min(tf.shape(t)))))
    loaded = saved(function, tmp_path)
    serving = loaded.signatures["serving_default"]
    for shape in ([7, 4], [4, 7], [1, 1]):
        x = tf.ones(shape)
        assert loaded.run(x).numpy().tolist() == [min(shape)] * 2
        assert serving(x)["output_0"].numpy().tolist() == [min(shape)] * 2


def test_a_function_is_called_with_sizes_that_it_was_not_saved_for(tmp_path):
    loaded = saved(tf.function(lambda t: tf.squeeze(t)), tmp_path)
    assert loaded.run(tf.ones([2, 3])).shape == (2, 3)
    with pytest.raises(ValueError, match=r"saved for sizes with n0_0 != 1.*before saving"):
        loaded.run(tf.ones([1, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"saved for sizes with n0_1 != 1"):
        loaded.signatures["serving_default"](tf.ones([2, 1]))
    assert loaded.run(tf.ones([4, 5])).shape == (4, 5)


def test_all_traces_of_a_function_are_saved(tmp_path):
    function = tf.function(lambda t: tf.squeeze(t))
    concrete = function.get_concrete_function(MATRIX)
    concrete(tf.ones([2, 3]))
    concrete(tf.ones([1, 3]))
    loaded = saved(function, tmp_path)
    for run in (loaded.run, lambda x: loaded.signatures["serving_default"](x)["output_0"]):
        assert run(tf.ones([2, 3])).shape == (2, 3)
        assert run(tf.ones([1, 3])).shape == (3,)
        with pytest.raises(ValueError, match=r"n0_1 != 1 or n0_0 == 1.*\[3, 1\]"):
            run(tf.ones([3, 1]))


def test_a_loaded_function_can_be_saved_again(tmp_path):
    loaded = saved(tf.function(lambda t: tf.squeeze(t) * 2.0), tmp_path / "once")
    again = saved(loaded.run, tmp_path / "twice")
    np.testing.assert_array_equal(again.run(tf.ones([2, 3])), np.full([2, 3], 2.0))
    with pytest.raises(ValueError, match="n0_0 != 1"):
        again.run(tf.ones([1, 3]))


def test_what_may_fit_is_found_out_when_the_function_runs(tmp_path):
    module = tf.Module()
    module.run = tf.function(
        lambda a, b: tf.reduce_sum(a * b, 0),
        input_signature=[tf.TensorSpec([None, 3, 10]), tf.TensorSpec([None])],
    )
    tf.saved_model.save(module, tmp_path)
    run = tf.saved_model.load(tmp_path).run
    for size in (10, 1):
        np.testing.assert_array_equal(
            run(tf.ones([2, 3, 10]), tf.ones([size])), np.full([3, 10], 2.0)
        )
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"multiply.*Incompatible shapes"):
        run(tf.ones([2, 3, 10]), tf.ones([4]))


@pytest.mark.parametrize("form", ["tapeflow", "tensorflow"])
def test_a_shape_that_is_ensured_is_checked_by_the_saved_function(form, tmp_path):
    module = tf.Module()
    module.run = tf.function(
        lambda t: tf.ensure_shape(t, [None, 3]) * 2.0, input_signature=[MATRIX]
    )
    options = tf.saved_model.SaveOptions(format="tensorflow") if form == "tensorflow" else None
    tf.saved_model.save(module, tmp_path, options=options)
    loaded = tf.saved_model.load(tmp_path)
    assert loaded.run(tf.ones([2, 3])).numpy().tolist() == [[2.0] * 3] * 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"ensure_shape.*\(None, 3\)"):
        loaded.run(tf.ones([2, 4]))


def test_a_saved_function_that_lets_a_variable_grow(tmp_path):
    module = tf.Module()
    module.rows = tf.Variable(tf.zeros([0]), shape=[None])

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def push(x):
        module.rows.assign(tf.concat([module.rows, x], 0))
        return tf.size(module.rows)

    module.push = push
    module.push(tf.ones([2]))
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert [loaded.push(tf.ones([n])).numpy() for n in (1, 3)] == [3, 6]
