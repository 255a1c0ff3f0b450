"""`tf.Variable`: making, assigning, reading, naming, copying."""

import copy

import numpy as np


def from_a_tensor(tf):
    return tf.Variable(tf.constant([1.0, 2.0]))


def from_a_variable(tf):
    a = tf.Variable(1.0)
    b = tf.Variable(a)
    a.assign(5.0)
    return b


def from_a_callable(tf):
    return tf.Variable(lambda: tf.ones([2]))


def from_numpy(tf):
    a = np.ones(2)
    v = tf.Variable(a)
    a[0] = 7.0
    return v


def with_dtype(tf):
    return tf.Variable(1, dtype=tf.float32)


def with_wrong_dtype(tf):
    return tf.Variable(1.5, dtype=tf.int32)


def with_shape(tf):
    return tf.Variable([1.0, 2.0], shape=[2]).shape


def with_unknown_shape(tf):
    v = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))
    v.assign([1.0, 2.0, 3.0])
    return v.shape, v


def with_incompatible_shape(tf):
    return tf.Variable([1.0, 2.0], shape=[3])


def without_a_value(tf):
    return tf.Variable()


def from_none(tf):
    return tf.Variable(None)


def names(tf):
    return tf.Variable(1.0).name, tf.Variable(1.0, name="w").name, tf.Variable(2.0, name="w").name


def names_in_a_scope(tf):
    with tf.name_scope("layer"):
        return tf.Variable(1.0, name="w").name


def bad_name(tf):
    return tf.Variable(1.0, name="a b").name


def trainable(tf):
    return (
        tf.Variable(1.0).trainable,
        tf.Variable(1.0, trainable=False).trainable,
        tf.Variable(1).trainable,
        tf.Variable("a").trainable,
    )


def attributes(tf):
    v = tf.Variable([[1.0, 2.0]])
    return v.shape, v.dtype, v.get_shape(), v.shape.rank


def trainable_cannot_be_set(tf):
    v = tf.Variable(1.0)
    v.trainable = False
    return v.trainable


def assign(tf):
    v = tf.Variable([1.0, 2.0])
    v.assign([3.0, 4.0])
    return v


def assign_returns(tf):
    v = tf.Variable(1.0)
    r = v.assign(2.0)
    return r, isinstance(r, tf.Variable), r is v


def assign_returns_nothing_when_told(tf):
    return tf.Variable(1.0).assign(2.0, read_value=False)


def assign_add_returns(tf):
    return tf.Variable(1.0).assign_add(2.0)


def assign_chained(tf):
    v = tf.Variable(1.0)
    v.assign(2.0).assign_add(3.0).assign_sub(1.0)
    return v


def assign_scalar_to_vector(tf):
    v = tf.Variable([1.0, 2.0])
    v.assign(3.0)
    return v


def assign_wrong_shape(tf):
    v = tf.Variable([1.0, 2.0])
    v.assign([1.0, 2.0, 3.0])
    return v


def assign_add_wrong_shape(tf):
    v = tf.Variable([1.0, 2.0])
    v.assign_add([1.0, 2.0, 3.0])
    return v


def assign_add_scalar_to_vector(tf):
    v = tf.Variable([1.0, 2.0])
    v.assign_add(1.0)
    return v


def assign_wrong_dtype(tf):
    return tf.Variable(1.0).assign(tf.constant(1.0, tf.float64))


def assign_int_to_float(tf):
    return tf.Variable(1.0).assign(3)


def assign_float_to_int(tf):
    return tf.Variable(1).assign(3.5)


def assign_int_tensor_to_float(tf):
    return tf.Variable(1.0).assign(tf.constant(3))


def assign_numpy_float64(tf):
    return tf.Variable([1.0]).assign(np.array([2.0]))


def assign_a_variable(tf):
    v = tf.Variable(1.0)
    v.assign(tf.Variable(5.0))
    return v


def assign_str(tf):
    return tf.Variable(1.0).assign("a")


def assign_to_itself_plus_one(tf):
    v = tf.Variable(1.0)
    v.assign(v + 1.0)
    return v


def augmented_assignment_is_refused(tf):
    v = tf.Variable(1.0)
    w = v
    w += 1.0
    return isinstance(w, tf.Variable), w, v


def old_value_is_kept(tf):
    v = tf.Variable([1.0, 2.0])
    a, b, c = v.read_value(), tf.identity(v), tf.convert_to_tensor(v)
    v.assign([5.0, 6.0])
    return a, b, c


def old_numpy_is_kept(tf):
    v = tf.Variable([1.0, 2.0])
    a = v.numpy()
    v.assign([5.0, 6.0])
    return a


def old_value_is_kept_by_assign_add(tf):
    v = tf.Variable([1.0, 2.0])
    a = v.value()
    v.assign_add([1.0, 1.0])
    return a, v


def old_value_is_kept_by_scatter(tf):
    v = tf.Variable([1.0, 2.0])
    a = v.read_value()
    v.scatter_nd_update([[0]], [9.0])
    v[1].assign(7.0)
    return a, v


def reshaped_old_value_is_kept(tf):
    v = tf.Variable([[1.0, 2.0]])
    a = tf.reshape(v, [2])
    v.assign_add([[1.0, 1.0]])
    return a


def assigned_tensor_is_not_shared(tf):
    t = tf.constant([1.0, 2.0])
    v = tf.Variable(t)
    v.assign_add([1.0, 1.0])
    return t


def read_value_is_a_tensor(tf):
    v = tf.Variable(1.0)
    return isinstance(v.read_value(), tf.Variable), isinstance(v.value(), tf.Tensor)


def deep_copied(tf):
    v = tf.Variable([1.0], name="w", trainable=False)
    w = copy.deepcopy(v)
    v.assign([2.0])
    return w, w.trainable, w.name


def copied(tf):
    v = tf.Variable([1.0])
    w = copy.copy(v)
    v.assign([2.0])
    return w


def len_of_a_variable(tf):
    return len(tf.Variable([1.0, 2.0]))


def iterate(tf):
    return list(tf.Variable([1.0, 2.0]))


def bool_of_a_variable(tf):
    return bool(tf.Variable(True)), bool(tf.Variable(0))


def int_and_float(tf):
    return int(tf.Variable(3)), float(tf.Variable(2.5))


def equal_is_elementwise(tf):
    return tf.Variable([1.0, 2.0]) == tf.Variable([1.0, 3.0])


def ref_as_a_key(tf):
    v = tf.Variable(1.0)
    return {v.ref(): 1}[v.ref()], v.ref().deref() is v


def stack_of_variables(tf):
    return tf.stack([tf.Variable(1.0), tf.Variable(2.0)])


def unstack_a_variable(tf):
    return tf.unstack(tf.Variable([1.0, 2.0]))


def concat_of_variables(tf):
    return tf.concat([tf.Variable([1.0]), tf.Variable([2.0])], 0)


def reduce_a_variable(tf):
    return tf.reduce_sum(tf.Variable([1.0, 2.0]))


def numpy_function_on_a_variable(tf):
    return np.sum(tf.Variable([1.0, 2.0])), np.asarray(tf.Variable([1.0]))


def int_variable_assign_add(tf):
    v = tf.Variable(0, dtype=tf.int64)
    v.assign_add(1)
    return v


def bool_variable(tf):
    v = tf.Variable([True, False])
    v.assign(~v)
    return v


def device(tf):
    return "CPU" in tf.Variable(1.0).device


def batch_scatter_update(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v.batch_scatter_update(tf.IndexedSlices(tf.constant([[9.0], [8.0]]), tf.constant([[0], [1]])))
    return v


def gather_nd_method(tf):
    return tf.Variable([[1.0, 2.0], [3.0, 4.0]]).gather_nd([[0, 1]])


def constraint_is_kept(tf):
    v = tf.Variable(1.0, constraint=lambda x: x * 2.0)
    return v.constraint(tf.constant(3.0)), tf.Variable(1.0).constraint


def loop_of_updates(tf):
    w = tf.Variable([1.0, -1.0])
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
    return w
