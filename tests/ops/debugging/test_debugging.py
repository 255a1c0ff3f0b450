"""Assertions say what did not hold, where, and with which values."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

NAN = float("nan")


def _message(call, error: type[Exception] = tf.errors.InvalidArgumentError):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_a_comparison_shows_places_and_values():
    text = _message(lambda: tf.debugging.assert_equal([[1, 2], [3, 4]], [[1, 5], [3, 6]], "sizes"))
    assert text.splitlines() == [
        "sizes",
        "assert_equal: Condition x == y did not hold for 2 of 4 elements",
        "  at [0, 1]: x = 2, y = 5",
        "  at [1, 1]: x = 4, y = 6",
        "x (shape=(2, 2) dtype=int32) = [[1 2]",
        " [3 4]]",
        "y (shape=(2, 2) dtype=int32) = [[1 5]",
        " [3 6]]",
    ]


def test_a_long_comparison_is_cut():
    text = _message(lambda: tf.debugging.assert_less(tf.range(100), 0, summarize=2))
    assert "for 100 of 100 elements" in text
    assert text.count("  at ") == 2
    assert "x (shape=(100,) dtype=int32) = [0 1 ... 98 99]" in text


def test_nan_is_never_near():
    tf.debugging.assert_near([1.0], [1.0])
    assert "at [0]: x = nan" in _message(lambda: tf.debugging.assert_near([NAN], [NAN]))


def test_signs_speak_of_zero():
    text = _message(lambda: tf.debugging.assert_positive([1.0, -2.0]))
    assert "Condition x > 0 did not hold for 1 of 2" in text


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_near_means_ten_times_the_precision(dtype):
    epsilon = {2: 2.0**-10, 4: 2.0**-23, 8: 2.0**-52}[dtype.size]
    epsilon = 2.0**-7 if dtype is tf.bfloat16 else epsilon
    one = tf.constant(1.0, dtype)
    tf.debugging.assert_near(one, tf.constant(1.0 + 8 * epsilon, dtype))
    # Both tolerances are ten times the precision, and their sum about twenty times.
    _message(lambda: tf.debugging.assert_near(one, tf.constant(1.0 + 32 * epsilon, dtype)))


def test_shapes_say_where_a_name_got_its_size():
    text = _message(
        lambda: tf.debugging.assert_shapes([(tf.ones([8, 3]), "NM"), (tf.ones([7]), ("N",))]),
        ValueError,
    )
    assert "dimension 0 of tensor 1 (shape=(7,) dtype=float32) must be 8 ('N', from" in text


def test_assert_shows_its_data():
    text = _message(lambda: tf.debugging.Assert(tf.constant(False), ["loss:", tf.range(9)]))
    assert text.endswith("loss:\n[0 1 2 ... 6 7 8]")


def test_check_numerics_looks_at_gradients():
    x = tf.Variable([4.0, 0.0])
    with tf.GradientTape() as tape:
        y = tf.sqrt(tf.debugging.check_numerics(x, "weights"))
    assert "in the gradient of check_numerics: weights" in _message(lambda: tape.gradient(y, x))


def test_switches_remember():
    tf.debugging.set_log_device_placement(True)
    assert tf.debugging.get_log_device_placement()
    tf.debugging.set_log_device_placement(False)
    tf.debugging.disable_traceback_filtering()
    assert not tf.debugging.is_traceback_filtering_enabled()
    tf.debugging.enable_traceback_filtering()
    assert tf.debugging.is_traceback_filtering_enabled()


def test_scalars_of_numpy_are_compared():
    tf.debugging.assert_equal(np.float32(2.0), tf.constant(2.0))


@pytest.mark.parametrize("name", ["equal", "none_equal", "less", "less_equal", "greater"])
@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.float64([1.0]), np.float32([1.0])),
        (tf.constant([1.0]), np.float64([1.0])),
        (tf.constant(1.0), 1),
        (1, 1.0),
    ],
)
def test_an_assertion_does_not_convert(name, x, y):
    text = _message(lambda: getattr(tf.debugging, f"assert_{name}")(x, y))
    assert "same dtype" in text


def test_near_converts_numbers_but_no_tensors():
    tf.debugging.assert_near(tf.constant([1.0]), np.float64([1.0]))
    tf.debugging.assert_near(tf.constant(1.0), 1)
    with pytest.raises(ValueError, match="float64"):
        tf.debugging.assert_near(np.float64([1.0]), tf.constant([1.0]))


def test_inside_a_function_an_assertion_waits_for_the_values():
    @tf.function(autograph=False)
    def checked(x):
        tf.debugging.assert_positive(x, "sizes")
        tf.debugging.Assert(tf.reduce_all(x < 5.0), [x])
        return x + 1.0

    assert checked(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 3.0]
    assert "sizes" in _message(lambda: checked(tf.constant([1.0, -2.0])))
    assert "Assertion failed" in _message(lambda: checked(tf.constant([1.0, 6.0])))


@pytest.mark.parametrize("shape", [[0], [1], [2], [1, 1]])
def test_inside_a_function_a_condition_is_a_scalar_bool(shape):
    def checked(x):
        tf.debugging.Assert(x, ["all"])

    for size in (shape, [None] * len(shape)):
        f = tf.function(checked, input_signature=[tf.TensorSpec(size, tf.bool)])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Assert.*scalar, got shape \("):
            f(tf.fill(shape, True))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Assert.*scalar, got shape \("):
        tf.function(lambda: checked(tf.fill(shape, True).numpy().tolist()))()
    with pytest.raises(TypeError, match=r"Assert.*bool, got int32"):
        tf.function(checked)(tf.constant(1))


def test_a_condition_is_true_as_a_tensor_is():
    tf.debugging.Assert([[True]], ["one"])
    tf.debugging.Assert(tf.constant([1]), ["one"])
    assert "none" in _message(lambda: tf.debugging.Assert(tf.constant([]), ["none"]))
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        tf.debugging.Assert(tf.constant([True, True]), ["two"])


def test_a_rank_that_is_known_only_when_the_function_runs():
    @tf.function(autograph=False)
    def checked(x, rank):
        tf.debugging.assert_rank(x, rank, message="first")
        tf.debugging.assert_rank_at_least(x, rank)
        tf.debugging.assert_rank_in(x, [rank, 5])
        return x

    x = tf.constant([1.0])
    assert checked(x, tf.constant(1)).shape == (1,)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"first. Tensor must have rank 2"):
        checked(x, tf.constant(2))
    with pytest.raises(TypeError, match="must be an integer"):
        checked(x, tf.constant(2.0))
