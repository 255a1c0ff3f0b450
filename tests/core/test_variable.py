"""`tf.Variable`: assigning, updating parts, copies, messages."""

from __future__ import annotations

import copy
import functools
import operator
import pickle
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.variables import ownership


def test_a_tensor_read_before_keeps_its_value():
    v = tf.Variable([1.0, 2.0])
    before = v.read_value()
    same = v + 0.0
    v.assign([5.0, 6.0])
    v[0].assign(9.0)
    v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([1])))
    np.testing.assert_array_equal(before, [1.0, 2.0])
    np.testing.assert_array_equal(same, [1.0, 2.0])
    np.testing.assert_array_equal(v, [9.0, 7.0])


class TestReuseOfMemory:
    """A large update overwrites the old value if nobody else can see it, and only then."""

    SIZE = 40_000

    def variable(self):
        v = tf.Variable(np.ones(self.SIZE, np.float32))
        v.assign_add(tf.ones([self.SIZE]))
        return v

    def memory(self, v):
        return np.asarray(v).__array_interface__["data"][0]

    def test_nobody_looks(self):
        v = self.variable()
        before = self.memory(v)
        ones = tf.ones([self.SIZE])
        v.assign_sub(ones)
        assert self.memory(v) == before
        np.testing.assert_array_equal(v, np.ones(self.SIZE))
        np.testing.assert_array_equal(ones, np.ones(self.SIZE))

    def test_nobody_looks_at_the_operand(self):
        if not ownership.IF_PASSING:
            assert sys.version_info >= (3, 14)  # before, references say whether the caller keeps it
            return
        v, two = self.variable(), tf.fill([self.SIZE], 2.0)
        before, elsewhere = self.memory(v), np.asarray(v)
        v.assign_sub(0.5 * two)
        assert self.memory(v) != before
        np.testing.assert_array_equal(v, np.ones(self.SIZE))
        np.testing.assert_array_equal(elsewhere, np.full(self.SIZE, 2.0))
        np.testing.assert_array_equal(two, np.full(self.SIZE, 2.0))

    @pytest.mark.parametrize(
        "look",
        [
            lambda x: x,
            lambda x: x.numpy(),
            lambda x: np.asarray(x),
            lambda x: memoryview(np.asarray(x)),
            lambda x: tf.identity(x),
            lambda x: tf.reshape(x, [200, -1]),
            lambda x: x[1:],
            lambda x: tf.Variable(x),
            lambda x: next(iter(tf.data.Dataset.from_tensors(x))),
        ],
    )
    def test_somebody_looks_at_the_operand(self, look):
        v, given = self.variable(), [3.0 * tf.ones([self.SIZE])]
        seen = look(given[0])
        v.assign_sub(given.pop())
        np.testing.assert_array_equal(np.unique(np.asarray(seen)), [3.0])
        np.testing.assert_array_equal(v, np.full(self.SIZE, -1.0))

    @pytest.mark.parametrize(
        "call",
        [
            lambda v, x: v.assign_sub(x),
            lambda v, x: v.assign_sub(delta=x),
            lambda v, x: v.assign_sub(*[x]),
            lambda v, x: v.assign_sub(delta=x),
            lambda v, x: functools.partial(v.assign_sub, x)(),
            lambda v, x: operator.methodcaller("assign_sub", x)(v),
            lambda v, x: list(map(v.assign_sub, [x])),
            lambda v, x: list(map(v.assign_sub, iter((x,)))),
            lambda v, x: [v.assign_sub(each) for each in (x,)],
            lambda v, x: tf.Variable.assign_sub(v, x),
            lambda v, x: getattr(v, "assign_sub")(x),  # noqa: B009
            lambda v, x: v.assign_sub(y := x) is y,
            lambda v, x: max([x], key=lambda each: v.assign_sub(each) is None),
            lambda v, x: tf.nest.map_structure(v.assign_sub, x),
        ],
    )
    def test_operands_that_are_kept_are_left_alone_however_they_are_given(self, call):
        v, x = self.variable(), 3.0 * tf.ones([self.SIZE])
        call(v, x)
        np.testing.assert_array_equal(x, np.full(self.SIZE, 3.0))
        np.testing.assert_array_equal(v, np.full(self.SIZE, -1.0))

    def test_a_gradient_that_is_used_again(self):
        v, w = self.variable(), self.variable()
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(v)) / 2.0
        gradients = tape.gradient(loss, [v])
        for variable in (v, w):
            for gradient in gradients:
                variable.assign_sub(gradient)
        np.testing.assert_array_equal(gradients[0], np.full(self.SIZE, 2.0))
        np.testing.assert_array_equal(v, np.zeros(self.SIZE))
        np.testing.assert_array_equal(w, np.zeros(self.SIZE))

    @pytest.mark.parametrize(
        "look",
        [
            lambda v: v.value(),
            lambda v: v.read_value(),
            lambda v: tf.identity(v),
            lambda v: v[:],
            lambda v: v[2:],
            lambda v: tf.reshape(v, [100, -1]),
            lambda v: np.asarray(v),
            lambda v: memoryview(np.asarray(v)),
            lambda v: v.numpy(),
            lambda v: tf.Variable(v),
            lambda v: tf.transpose(tf.reshape(v, [100, -1])),
            lambda v: tf.stop_gradient(v),
        ],
    )
    def test_somebody_looks(self, look):
        v = self.variable()
        seen = look(v)
        copy = np.array(seen)
        v.assign_sub(tf.ones([self.SIZE]))
        v.assign_add(tf.fill([self.SIZE], 5.0))
        np.testing.assert_array_equal(np.asarray(seen), copy)
        np.testing.assert_array_equal(v, np.full(self.SIZE, 6.0))

    def test_a_tape_looks(self):
        v = self.variable()
        with tf.GradientTape() as tape:
            y = v * v
            v.assign_add(tf.ones([self.SIZE]))
        np.testing.assert_array_equal(tape.gradient(y, v), np.full(self.SIZE, 4.0))

    def test_the_update_is_the_variable_itself(self):
        v = self.variable()
        v.assign_add(v)
        np.testing.assert_array_equal(v, np.full(self.SIZE, 4.0))
        v.assign_sub(v[::-1])
        np.testing.assert_array_equal(v, np.zeros(self.SIZE))

    def test_what_was_given_at_first_is_not_touched(self):
        given = tf.ones([self.SIZE])
        v = tf.Variable(given)
        w = tf.Variable(v)
        v.assign_add(given)
        w.assign_sub(given)
        np.testing.assert_array_equal(given, np.ones(self.SIZE))
        np.testing.assert_array_equal(v, np.full(self.SIZE, 2.0))
        np.testing.assert_array_equal(w, np.zeros(self.SIZE))


def test_a_variable_does_not_share_memory_with_what_it_was_given():
    given = np.array([1.0, 2.0])
    v = tf.Variable(given)
    given[0] = 100.0
    v.numpy()[1] = 100.0
    np.testing.assert_array_equal(v, [1.0, 2.0])


class TestMismatches:
    """A value of the wrong shape or dtype is an error that names both."""

    def test_shape(self):
        v = tf.Variable([1.0, 2.0], name="weights")
        with pytest.raises(ValueError, match=r"weights:0.*\(2,\).*\(3,\)"):
            v.assign([1.0, 2.0, 3.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"assign_sub.*\(2,\).*\(\)"):
            v.assign_sub(1.0)
        np.testing.assert_array_equal(v, [1.0, 2.0])

    def test_dtype(self):
        v = tf.Variable([1.0, 2.0], name="weights")
        with pytest.raises(ValueError, match=r"weights:0.*float32.*int32.*tf\.cast"):
            v.assign(tf.constant([1, 2]))

    def test_python_values_take_the_dtype(self):
        v = tf.Variable([1.0, 2.0])
        v.assign([3, 4])
        assert v.dtype == tf.float32
        with pytest.raises(TypeError, match="int32"):
            tf.Variable(1).assign(2.5)

    def test_rows_out_of_range(self):
        v = tf.Variable([1.0, 2.0])
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match=r"scatter_sub: indices\[0\] = \[7\] is not in \[0, 2\)",
        ):
            v.scatter_sub(tf.IndexedSlices(tf.constant([1.0]), tf.constant([7])))
        np.testing.assert_array_equal(v, [1.0, 2.0])

    def test_slice_of_another_shape(self):
        v = tf.Variable(tf.zeros([4]))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[3\].*\[2\]"):
            v[1:3].assign([1.0, 2.0, 3.0])

    def test_in_place_operators_are_refused(self):
        v = tf.Variable(1.0)
        with pytest.raises(RuntimeError, match="assign_add"):
            v += 1.0


class TestUpdates:
    def test_rows(self):
        v = tf.Variable(tf.ones([3, 2]))
        rows = tf.IndexedSlices(tf.constant([[2.0, 3.0], [4.0, 5.0]]), tf.constant([0, 0]))
        np.testing.assert_array_equal(v.scatter_add(rows)[0], [7.0, 9.0])
        np.testing.assert_array_equal(v.scatter_max(rows)[0], [7.0, 9.0])
        np.testing.assert_array_equal(v.scatter_min(rows)[0], [2.0, 3.0])
        np.testing.assert_array_equal(v.scatter_mul(rows)[0], [16.0, 45.0])
        np.testing.assert_array_equal(v.scatter_div(rows)[0], [2.0, 3.0])
        np.testing.assert_array_equal(v.scatter_update(rows)[0], [4.0, 5.0])
        np.testing.assert_array_equal(v[1:], tf.ones([2, 2]))

    def test_elements(self):
        v = tf.Variable([1.0, 2.0, 3.0])
        v.scatter_nd_add([[0], [2]], [10.0, 20.0])
        v.scatter_nd_update([[1]], [5.0])
        np.testing.assert_array_equal(v, [11.0, 5.0, 23.0])

    def test_rows_of_a_transposed_value(self):
        v = tf.Variable(tf.transpose(tf.constant([[1.0, 2.0], [3.0, 4.0]])))
        v.scatter_add(tf.IndexedSlices(tf.constant([[10.0, 20.0]]), tf.constant([1])))
        np.testing.assert_array_equal(v, [[1.0, 3.0], [12.0, 24.0]])

    def test_one_number_for_all_rows(self):
        v = tf.Variable(tf.zeros([3, 2]))
        v.scatter_update(tf.IndexedSlices(5.0, tf.constant([0, 2])))
        np.testing.assert_array_equal(v, [[5, 5], [0, 0], [5, 5]])

    @pytest.mark.parametrize("values", [[1.0, 2.0], [[1.0, 2.0]]])
    def test_rows_do_not_broadcast(self, values):
        v = tf.Variable(tf.zeros([3, 2]), name="v")
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2, 2\].*v:0.*\[3, 2\]"):
            v.scatter_add(tf.IndexedSlices(tf.constant(values), tf.constant([0, 2])))

    def test_more_coordinates_than_dimensions(self):
        v = tf.Variable(tf.zeros([3, 2]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="counts coordinates"):
            v.scatter_nd_add([[0, 0, 0]], [1.0])

    def test_indices_that_are_no_integers(self):
        v = tf.Variable([1.0, 2.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="int32 or int64"):
            v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0.0])))

    def test_batches(self):
        v = tf.Variable(tf.zeros([2, 3]))
        v.batch_scatter_update(
            tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([[2], [0]]))
        )
        np.testing.assert_array_equal(v, [[0, 0, 1], [2, 0, 0]])

    def test_slices_that_are_subtracted(self):
        v = tf.Variable([1.0, 2.0])
        rows = tf.IndexedSlices(tf.constant([1.0, 1.0]), tf.constant([1, 1]))
        assert v.assign_sub(rows, read_value=False) is None
        np.testing.assert_array_equal(v, [1.0, 0.0])

    def test_an_element_takes_a_vector_of_one(self):
        v = tf.Variable([1.0, 2.0])
        v[1].assign([5.0])
        v[..., 0].assign([[4.0]])
        np.testing.assert_array_equal(v, [4.0, 5.0])

    def test_slices_with_steps(self):
        v = tf.Variable(tf.zeros([2, 4]))
        v[:, ::2].assign(tf.ones([2, 2]))
        np.testing.assert_array_equal(v, [[1, 0, 1, 0], [1, 0, 1, 0]])


class TestShape:
    def test_unknown_dimensions_allow_other_shapes(self):
        v = tf.Variable([1.0], shape=tf.TensorShape([None]))
        v.assign([1.0, 2.0])
        assert v.shape.as_list() == [None]
        np.testing.assert_array_equal(v, [1.0, 2.0])

    def test_unknown_rank(self):
        v = tf.Variable(1.0, shape=tf.TensorShape(None))
        assert "shape=<unknown>" in repr(v)
        v.assign([[1.0, 2.0]])
        np.testing.assert_array_equal(v, [[1.0, 2.0]])


class TestCopies:
    def test_deepcopy_is_a_variable_of_its_own(self):
        v = tf.Variable([1.0], name="v", trainable=False)
        twin = copy.deepcopy(v)
        twin.assign([2.0])
        assert (twin.name, twin.trainable) == ("v:0", False)
        assert float(v[0]) == 1.0

    def test_deepcopy_keeps_sharing_within_a_structure(self):
        v = tf.Variable([1.0])
        a, b = copy.deepcopy([v, v])
        assert a is b

    def test_pickle(self):
        v = tf.Variable([1.0, 2.0], name="v", trainable=False)
        twin = pickle.loads(pickle.dumps(v))
        assert (twin.name, twin.trainable, twin.dtype) == ("v:0", False, tf.float32)
        np.testing.assert_array_equal(twin, v)


def test_hash_by_reference():
    v = tf.Variable(1.0)
    with pytest.raises(TypeError, match=r"ref\(\)"):
        {v: 1}
    assert {v.ref(): 1}[v.ref()] == 1


def test_operators_ask_the_value_of_a_class_of_users():
    class Halved(tf.Variable):
        def value(self):
            return super().value() / 2.0

    v = Halved([2.0, 4.0])
    np.testing.assert_array_equal(v, [1, 2])
    np.testing.assert_array_equal(10.0 - v, [9, 8])
    with tf.GradientTape() as tape:
        y = v * v
    np.testing.assert_array_equal(tape.gradient(y, v), [1, 2])
