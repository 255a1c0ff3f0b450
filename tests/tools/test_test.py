"""`tf.test`: its comparisons fail when they should."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
import tapeflow._src.tools.test_case

case = tapeflow.test.TestCase()


def _raise(error):
    if error is not None:
        raise error


def _within(manager, error):
    with manager:
        _raise(error)


PASSING = [
    lambda: case.assertAllClose(tf.constant([1.0, 2.0]), [1.0, 2.0 + 1e-7]),
    lambda: case.assertAllClose({"a": [1.0, tf.constant(2.0)], "b": 3}, {"a": [1.0, 2.0], "b": 3}),
    lambda: case.assertAllClose([np.ones(2), np.ones((3, 1))], [[1, 1], [[1], [1], [1]]]),
    lambda: case.assertAllClose(np.nan, np.nan),
    lambda: case.assertAllEqual(tf.constant([[1, 2]]), [[1, 2]]),
    lambda: case.assertAllEqual(tf.constant(["a", "b"]), ["a", "b"]),
    lambda: case.assertNotAllClose([1.0], [1.1]),
    lambda: case.assertNotAllEqual([1, 2], [1, 3]),
    lambda: case.assertAllCloseAccordingToType(tf.constant(1.0, tf.bfloat16), 1.005),
    lambda: case.assertAllGreater([1, 2], 0),
    lambda: case.assertAllGreaterEqual([0, 2], 0),
    lambda: case.assertAllLess(tf.constant([1.0]), 2.0),
    lambda: case.assertAllLessEqual([1.0], 1.0),
    lambda: case.assertAllInRange([0.0, 1.0], 0.0, 1.0),
    lambda: case.assertAllInSet(tf.constant([1, 2, 1]), {1, 2}),
    lambda: case.assertNear(1.0, 1.05, 0.1),
    lambda: case.assertArrayNear([1.0, 2.0], [1.01, 2.0], 0.1),
    lambda: case.assertShapeEqual(np.ones((2, 3)), tf.zeros([2, 3])),
    lambda: case.assertDTypeEqual(tf.constant(1.0), np.float32),
    lambda: case.assertAllEqual([min, max], (min, max)),
    lambda: case.assertAllClose((tf.constant(1.0), tf.ones([2])), (1.0, [1.0, 1.0])),
    lambda: case.assertRaisesIncompatibleShapesError(
        tf.errors.InvalidArgumentError, tf.add, [1, 2], [1, 2, 3]
    ),
    lambda: case.assertEmpty([]),
    lambda: case.assertNotEmpty("a"),
    lambda: case.assertLen((1, 2), 2),
    lambda: case.assertBetween(1, 1, 2),
    lambda: case.assertStartsWith("name", "na"),
    lambda: case.assertEndsWith("name", "me"),
    lambda: case.assertSameElements([1, 2, 2], [2, 1]),
    lambda: case.assertContainsSubset([1], [1, 2]),
    lambda: case.assertSequenceAlmostEqual([1.0, 2.0], [1.0, 2.1], delta=0.2),
    lambda: case.assertRaisesWithLiteralMatch(ValueError, "a?", _raise, ValueError("a?")),
    lambda: _within(case.assertRaisesOpError("size"), tf.errors.AbortedError(None, None, "size 3")),
    lambda: _within(
        case.assertRaisesWithPredicateMatch(ValueError, lambda e: "b" in str(e)), ValueError("b")
    ),
]
FAILING = [
    lambda: case.assertAllClose(tf.constant([1.0, 2.0]), [1.0, 2.1]),
    lambda: case.assertAllClose([1.0, 1.0], 1.0),
    lambda: case.assertAllClose({"a": 1.0}, {"b": 1.0}),
    lambda: case.assertAllClose([np.ones(2), np.ones(3)], [np.ones(2)]),
    lambda: case.assertAllEqual([1, 2], [1, 3]),
    lambda: case.assertAllEqual([1], [[1]]),
    lambda: case.assertAllEqual(["a"], ["b"]),
    lambda: case.assertNotAllClose([1.0], [1.0]),
    lambda: case.assertNotAllEqual([1], [1]),
    lambda: case.assertAllCloseAccordingToType(tf.constant(1.0), 1.005),
    lambda: case.assertAllGreater([1, 0], 0),
    lambda: case.assertAllGreaterEqual([-1, 0], 0),
    lambda: case.assertAllLess([2.0], 2.0),
    lambda: case.assertAllLessEqual([1.5], 1.0),
    lambda: case.assertAllInRange([0.0, 1.0], 0.0, 1.0, open_upper_bound=True),
    lambda: case.assertAllInSet([3], {1, 2}),
    lambda: case.assertNear(1.0, 1.2, 0.1),
    lambda: case.assertArrayNear([1.0], [1.0, 2.0], 0.1),
    lambda: case.assertShapeEqual(np.ones((2, 3)), tf.zeros([3, 2])),
    lambda: case.assertDTypeEqual(tf.constant(1.0), np.float64),
    lambda: case.assertAllEqual([min, max], [max, min]),
    lambda: case.assertEmpty([0]),
    lambda: case.assertNotEmpty(""),
    lambda: case.assertLen((1, 2), 3),
    lambda: case.assertBetween(0, 1, 2),
    lambda: case.assertStartsWith("name", "me"),
    lambda: case.assertEndsWith("name", "na"),
    lambda: case.assertSameElements([1, 2], [1]),
    lambda: case.assertContainsSubset([3], [1, 2]),
    lambda: case.assertSequenceAlmostEqual([1.0, 2.0], [1.0, 2.1]),
    lambda: case.assertRaisesWithLiteralMatch(ValueError, "a?", _raise, ValueError("a? b")),
    lambda: _within(case.assertRaisesOpError("size"), tf.errors.AbortedError(None, None, "shape")),
    lambda: _within(
        case.assertRaisesWithPredicateMatch(ValueError, lambda e: "b" in str(e)), ValueError("c")
    ),
    lambda: _within(case.assertRaisesWithPredicateMatch(ValueError, lambda e: True), None),
]


@pytest.mark.parametrize("check", PASSING)
def test_what_is_so_passes(check):
    check()


@pytest.mark.parametrize("check", FAILING)
def test_what_is_not_so_fails(check):
    with pytest.raises(AssertionError):
        check()


def test_a_failure_says_where():
    with pytest.raises(AssertionError, match=r"\['b'\]: losses"):
        case.assertAllClose({"a": [1.0], "b": [1.0]}, {"a": [1.0], "b": [2.0]}, msg="losses")
    with pytest.raises(AssertionError, match=r"1 of 2 elements are not greater than 0.*\(1,\)"):
        case.assertAllGreater([1, -5], 0)


def test_a_case_runs_and_has_a_folder():
    import os

    folders = []

    class Some(tapeflow.test.TestCase):
        def test_it(self):
            folders.append(self.get_temp_dir())
            assert os.path.isdir(folders[-1])
            self.numbers = tf.random.normal([2]).numpy()

    first, second = Some("test_it"), Some("test_it")
    assert first.run().wasSuccessful() and second.run().wasSuccessful()
    np.testing.assert_array_equal(first.numbers, second.numbers)  # the seeds are set
    assert not any(map(os.path.exists, folders))


def test_gradients_by_tape_and_by_differences():
    x, w = tf.constant([1.0, 2.0]), tf.constant([[1.0], [3.0]])
    by_tape, by_differences = tapeflow.test.compute_gradient(
        lambda x, w: tf.linalg.matvec(w, x, transpose_a=True), [x, w]
    )
    np.testing.assert_allclose(by_tape[0], [[1.0, 3.0]])
    np.testing.assert_allclose(by_tape[1], [[1.0, 2.0]])
    for a, b in zip(by_tape, by_differences, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3)


def test_there_is_a_gpu_where_there_is_one():
    assert tapeflow.test.is_gpu_available() == bool(tf.config.list_physical_devices("GPU"))
    assert bool(tapeflow.test.gpu_device_name()) == tapeflow.test.is_gpu_available()


def test_a_session_of_a_test_runs_what_has_run():
    case = tf.test.TestCase()
    for scope in (case.session(use_gpu=False), case.cached_session()):
        with scope as session:
            assert session.run([tf.constant(3), {"a": tf.constant(4)}]) == [3, {"a": 4}]
            assert session.run(lambda: tf.constant(5)) == 5
            with pytest.raises(RuntimeError, match="placeholders"):
                session.run(tf.constant(1), {"x": 1})
            with pytest.raises(AttributeError, match=r"self\.evaluate"):
                session.graph
