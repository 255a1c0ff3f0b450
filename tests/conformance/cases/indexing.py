"""`__getitem__` and its relatives: slices, steps, masks, tensors, what is out of range."""

import numpy as np


def _cube(tf):
    return tf.reshape(tf.range(24), [2, 3, 4])


def _vector(tf):
    return tf.constant([10, 20, 30, 40, 50])


def _at(key):
    return lambda tf: _cube(tf)[key]


def _vector_at(key):
    return lambda tf: _vector(tf)[key]


def tensor_index(tf):
    return _vector(tf)[tf.constant(2)]


def tensor_in_a_slice(tf):
    return _vector(tf)[tf.constant(1) : tf.constant(4)]


def int64_tensor_index(tf):
    return _vector(tf)[tf.constant(2, tf.int64)]


def vector_of_indices(tf):
    return _vector(tf)[tf.constant([0, 2])]


def list_index(tf):
    return _vector(tf)[[0, 2]]


def numpy_array_index(tf):
    return _vector(tf)[np.array([0, 2])]


def bool_tensor_index(tf):
    return _vector(tf)[tf.constant([True, False, True, False, False])]


def bool_list_index(tf):
    return _vector(tf)[[True, False, True, False, False]]


def comparison_index(tf):
    v = _vector(tf)
    return v[v > 20]


def matrix_mask_index(tf):
    c = _cube(tf)
    return c[c % 5 == 0]


def variable_index(tf):
    return tf.Variable([1.0, 2.0, 3.0])[1:]


def variable_index_with_variable(tf):
    return tf.constant([1.0, 2.0, 3.0])[tf.Variable(1)]


def assignment_to_an_item(tf):
    t = tf.constant([1.0, 2.0])
    t[0] = 5.0
    return t


def nested_getitem(tf):
    return _cube(tf)[0][1][2]


def of_a_string_tensor(tf):
    return tf.constant(["a", "b", "c"])[1:]


def of_a_scalar(tf):
    return tf.constant(1.0)[0]


def of_a_scalar_with_ellipsis(tf):
    return tf.constant(1.0)[...]


def of_a_scalar_with_new_axis(tf):
    return tf.constant(1.0)[tf.newaxis]


def mask_of_a_wrong_length(tf):
    return tf.boolean_mask([1, 2, 3], [True, False])


def variable_slice_assign(tf):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    v[1:3].assign([20.0, 30.0])
    return v


def variable_slice_assign_broadcast(tf):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    v[::2].assign(tf.constant([0.0, 0.0]))
    return v


def variable_slice_assign_scalar(tf):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    v[1:3].assign(0.0)
    return v


def variable_slice_assign_wrong_shape(tf):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    v[1:3].assign([1.0, 2.0, 3.0])
    return v


def variable_item_assign(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[1, 0].assign(9.0)
    return v


def variable_row_assign(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[:, 1].assign([8.0, 9.0])
    return v


def variable_slice_assign_returns(tf):
    return tf.Variable([1.0, 2.0, 3.0])[1:].assign([5.0, 6.0])


def variable_setitem(tf):
    v = tf.Variable([1.0, 2.0])
    v[0] = 5.0
    return v


CASES = {
    "int": _at(1),
    "negative_int": _at(-1),
    "two_ints": _at((1, 2)),
    "three_ints": _at((1, 2, 3)),
    "too_many_ints": _at((0, 0, 0, 0)),
    "int_out_of_range": _at(2),
    "negative_int_out_of_range": _at(-3),
    "second_int_out_of_range": _at((0, 3)),
    "numpy_int": _at(np.int64(1)),
    "slice": _at(slice(0, 1)),
    "full_slice": _vector_at(slice(None)),
    "slice_stop_beyond": _vector_at(slice(1, 100)),
    "slice_start_beyond": _vector_at(slice(100, 200)),
    "slice_empty": _vector_at(slice(3, 1)),
    "slice_negative_bounds": _vector_at(slice(-3, -1)),
    "slice_step": _vector_at(slice(None, None, 2)),
    "slice_negative_step": _vector_at(slice(None, None, -1)),
    "slice_negative_step_bounds": _vector_at(slice(4, 1, -2)),
    "slice_zero_step": _vector_at(slice(None, None, 0)),
    "slice_float": _vector_at(slice(0.0, 2.0)),
    "float_index": _vector_at(1.0),
    "str_index": _vector_at("a"),
    "none_index": _vector_at(None),
    "bool_index": _vector_at(True),
    "ellipsis": _at((..., 0)),
    "ellipsis_in_the_middle": _at((0, ..., 1)),
    "two_ellipses": _at((..., ..., 0)),
    "new_axis": _at((slice(None), None, 0, None)),
    "mixed": _at((1, slice(None, None, -1), slice(1, 3))),
    "empty_tuple": _at(()),
    "boolean_mask": lambda tf: tf.boolean_mask([[1, 2], [3, 4]], [True, False]),
    "boolean_mask_matrix": lambda tf: tf.boolean_mask([[1, 2], [3, 4]], [[True, False]] * 2),
    "boolean_mask_axis": lambda tf: tf.boolean_mask([[1, 2], [3, 4]], [False, True], axis=1),
    "boolean_mask_scalar": lambda tf: tf.boolean_mask([1, 2], True),
    "gather": lambda tf: tf.gather([10, 20, 30], [2, 0]),
    "gather_scalar": lambda tf: tf.gather([[1, 2], [3, 4]], 1),
    "gather_axis": lambda tf: tf.gather([[1, 2], [3, 4]], [1], axis=1),
    "gather_out_of_range": lambda tf: tf.gather([1, 2], [5]),
    "gather_negative": lambda tf: tf.gather([1, 2], [-1]),
    "gather_float_indices": lambda tf: tf.gather([1, 2], [0.0]),
    "gather_bad_axis": lambda tf: tf.gather([1, 2], [0], axis=2),
    "gather_batch_dims": lambda tf: tf.gather([[1, 2], [3, 4]], [[1], [0]], batch_dims=1),
    "gather_empty": lambda tf: tf.gather([1, 2], tf.constant([], tf.int32)),
    "gather_nd": lambda tf: tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]),
    "gather_nd_rows": lambda tf: tf.gather_nd([[1, 2], [3, 4]], [[1]]),
    "gather_nd_out_of_range": lambda tf: tf.gather_nd([[1, 2], [3, 4]], [[2, 0]]),
    "gather_nd_too_deep": lambda tf: tf.gather_nd([1, 2], [[0, 0]]),
    "tf_slice": lambda tf: tf.slice(_cube(tf), [0, 1, 1], [1, 2, -1]),
    "tf_slice_out_of_range": lambda tf: tf.slice([1, 2, 3], [1], [5]),
    "strided_slice": lambda tf: tf.strided_slice(_vector(tf), [0], [4], [2]),
    "where_indices": lambda tf: tf.where([True, False, True]),
    "where_indices_matrix": lambda tf: tf.where([[1, 0], [0, 1]]),
    "where_select": lambda tf: tf.where([True, False], [1, 2], [3, 4]),
    "where_broadcast": lambda tf: tf.where([[True], [False]], [1.0, 2.0], 0.0),
    "where_mixed_dtypes": lambda tf: tf.where([True], [1], [2.0]),
    "where_only_x": lambda tf: tf.where([True], [1]),
    "where_float_condition": lambda tf: tf.where([1.0], [1.0], [2.0]),
    "where_bad_shapes": lambda tf: tf.where([True, False], [1, 2, 3], 0),
    "rows": lambda tf: list(tf.constant([[1, 2], [3, 4]])),
}
