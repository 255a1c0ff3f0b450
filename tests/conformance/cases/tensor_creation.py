"""`tf.constant` and `tf.convert_to_tensor`: default dtypes, shapes, what is refused."""

import numpy as np


def constant_of_a_variable(tf):
    return tf.constant(tf.Variable([1.0, 2.0]))


def convert_a_variable(tf):
    v = tf.Variable([1.0, 2.0])
    t = tf.convert_to_tensor(v)
    v.assign([3.0, 4.0])
    return t


def convert_a_tensor_is_the_same_object(tf):
    t = tf.constant(1.0)
    return tf.convert_to_tensor(t) is t, tf.constant(t) is t


def convert_does_not_share_memory(tf):
    a = np.array([1.0, 2.0])
    t = tf.constant(a)
    a[0] = 9.0
    return t


def convert_shares_nothing_either(tf):
    a = np.array([1.0, 2.0])
    t = tf.convert_to_tensor(a)
    a[0] = 9.0
    return t


def list_of_tensors(tf):
    return tf.convert_to_tensor([tf.constant(1.0), tf.constant(2.0)])


def list_of_tensor_and_number(tf):
    return tf.convert_to_tensor([tf.constant(1.0), 2])


def list_of_number_and_tensor(tf):
    return tf.convert_to_tensor([2, tf.constant(1.0)])


def list_of_tensors_of_two_dtypes(tf):
    return tf.convert_to_tensor([tf.constant(1.0), tf.constant(2)])


def list_of_arrays(tf):
    return tf.constant([np.array([1.0, 2.0]), np.array([3.0, 4.0])])


def list_of_numpy_scalars(tf):
    return tf.constant([np.float32(1.0), np.float32(2.0)])


def list_of_float64_scalars(tf):
    return tf.constant([np.float64(1.0), np.float64(2.0)])


def list_of_int64_scalars(tf):
    return tf.constant([np.int64(1), np.int64(2)])


def generator(tf):
    return tf.constant(i for i in range(3))


def object_array(tf):
    return tf.constant(np.array([1, "a"], dtype=object))


def dtype_by_numpy_type(tf):
    return tf.constant([1, 2], dtype=np.float64)


def dtype_by_name(tf):
    return tf.constant([1, 2], dtype="int64")


def dtype_by_python_type(tf):
    return tf.constant([1, 2], dtype=float), tf.constant([1, 2], dtype=int)


def dtype_unknown(tf):
    return tf.constant(1, dtype="float31")


def dtype_hint(tf):
    return tf.convert_to_tensor(3, dtype_hint=tf.float32)


def dtype_hint_that_does_not_fit(tf):
    return tf.convert_to_tensor(3.5, dtype_hint=tf.int32)


def convert_tensor_to_another_dtype(tf):
    return tf.convert_to_tensor(tf.constant(1.0), dtype=tf.float64)


def constant_tensor_with_another_dtype(tf):
    return tf.constant(tf.constant(1.0), dtype=tf.float64)


CASES = {
    "python_int": lambda tf: tf.constant(3),
    "python_float": lambda tf: tf.constant(3.0),
    "python_bool": lambda tf: tf.constant(True),
    "python_complex": lambda tf: tf.constant(1 + 2j),
    "python_str": lambda tf: tf.constant("hello"),
    "python_bytes": lambda tf: tf.constant(b"hello"),
    "list_of_str": lambda tf: tf.constant(["a", "bc"]),
    "none": lambda tf: tf.constant(None),
    "list_with_none": lambda tf: tf.constant([1.0, None]),
    "empty_list": lambda tf: tf.constant([]),
    "empty_nested_list": lambda tf: tf.constant([[], []]),
    "empty_list_as_int": lambda tf: tf.constant([], tf.int32),
    "nested_list": lambda tf: tf.constant([[1, 2], [3, 4]]),
    "nested_tuple": lambda tf: tf.constant(((1.0, 2.0), (3.0, 4.0))),
    "ragged_list": lambda tf: tf.constant([[1, 2], [3]]),
    "ragged_depth": lambda tf: tf.constant([[1, 2], 3]),
    "mixed_int_float": lambda tf: tf.constant([1, 2.5]),
    "mixed_float_int": lambda tf: tf.constant([2.5, 1]),
    "mixed_bool_int": lambda tf: tf.constant([True, 2]),
    "mixed_int_bool": lambda tf: tf.constant([2, True]),
    "mixed_float_bool": lambda tf: tf.constant([2.0, True]),
    "mixed_str_int": lambda tf: tf.constant(["a", 1]),
    "mixed_int_str": lambda tf: tf.constant([1, "a"]),
    "mixed_float_complex": lambda tf: tf.constant([1.0, 2j]),
    "large_int": lambda tf: tf.constant(2**40),
    "large_int_in_a_list": lambda tf: tf.constant([1, 2**40]),
    "huge_int": lambda tf: tf.constant(2**70),
    "int_limit": lambda tf: tf.constant(2**31),
    "int_below_limit": lambda tf: tf.constant(2**31 - 1),
    "negative_int_limit": lambda tf: tf.constant(-(2**31)),
    "large_float": lambda tf: tf.constant(1e300),
    "range_object": lambda tf: tf.constant(range(3)),
    "dict": lambda tf: tf.constant({"a": 1}),
    "set": lambda tf: tf.constant({1}),
    "object": lambda tf: tf.constant(object()),
    "numpy_float64": lambda tf: tf.constant(np.array([1.0])),
    "numpy_float32": lambda tf: tf.constant(np.array([1.0], np.float32)),
    "numpy_float16": lambda tf: tf.constant(np.array([1.0], np.float16)),
    "numpy_int64": lambda tf: tf.constant(np.array([1])),
    "numpy_int8": lambda tf: tf.constant(np.array([1], np.int8)),
    "numpy_uint8": lambda tf: tf.constant(np.array([255], np.uint8)),
    "numpy_uint64": lambda tf: tf.constant(np.array([2**63], np.uint64)),
    "numpy_bool": lambda tf: tf.constant(np.array([True])),
    "numpy_complex64": lambda tf: tf.constant(np.array([1j], np.complex64)),
    "numpy_str": lambda tf: tf.constant(np.array(["a", "b"])),
    "numpy_scalar_float64": lambda tf: tf.constant(np.float64(1.5)),
    "numpy_scalar_int64": lambda tf: tf.constant(np.int64(1)),
    "numpy_scalar_float32": lambda tf: tf.constant(np.float32(1.5)),
    "numpy_transposed": lambda tf: tf.constant(np.arange(6).reshape(2, 3).T),
    "numpy_zero_size": lambda tf: tf.constant(np.zeros((0, 3), np.float32)),
    "numpy_datetime": lambda tf: tf.constant(np.array(["2020-01-01"], "datetime64[D]")),
    "int_as_float": lambda tf: tf.constant(3, tf.float32),
    "float_as_int": lambda tf: tf.constant(3.5, tf.int32),
    "whole_float_as_int": lambda tf: tf.constant(3.0, tf.int32),
    "float_list_as_int": lambda tf: tf.constant([1.0, 2.0], tf.int32),
    "numpy_float_as_int": lambda tf: tf.constant(np.array([1.5]), tf.int32),
    "numpy_float_as_float32": lambda tf: tf.constant(np.array([1.5]), tf.float32),
    "numpy_int_as_float": lambda tf: tf.constant(np.array([1]), tf.float32),
    "convert_numpy_float_as_int": lambda tf: tf.convert_to_tensor(np.array([1.5]), tf.int32),
    "bool_as_int": lambda tf: tf.constant(True, tf.int32),
    "bool_as_float": lambda tf: tf.constant(True, tf.float32),
    "int_as_bool": lambda tf: tf.constant(1, tf.bool),
    "str_as_float": lambda tf: tf.constant("1.0", tf.float32),
    "int_as_str": lambda tf: tf.constant(1, tf.string),
    "complex_as_float": lambda tf: tf.constant(1j, tf.float32),
    "float_as_complex": lambda tf: tf.constant(1.5, tf.complex64),
    "int_out_of_range": lambda tf: tf.constant(300, tf.uint8),
    "negative_as_unsigned": lambda tf: tf.constant(-1, tf.uint8),
    "int_out_of_int32": lambda tf: tf.constant(2**40, tf.int32),
    "float_as_half": lambda tf: tf.constant(1.1, tf.float16),
    "float_as_bfloat16": lambda tf: tf.constant(1.1, tf.bfloat16),
    "half_overflow": lambda tf: tf.constant(1e6, tf.float16),
    "shape_of_scalar": lambda tf: tf.constant(7, shape=[2, 3]),
    "shape_of_list": lambda tf: tf.constant([1, 2, 3, 4], shape=[2, 2]),
    "shape_of_one_element": lambda tf: tf.constant([5.0], shape=(2, 2)),
    "shape_too_large": lambda tf: tf.constant([1, 2, 3], shape=[2, 2]),
    "shape_too_small": lambda tf: tf.constant([1, 2, 3], shape=[2]),
    "shape_empty": lambda tf: tf.constant(1.0, shape=[0]),
    "shape_int": lambda tf: tf.constant(1.0, shape=3),
    "zeros": lambda tf: tf.zeros([2, 3]),
    "zeros_int_shape": lambda tf: tf.zeros(3),
    "zeros_scalar": lambda tf: tf.zeros([]),
    "zeros_int": lambda tf: tf.zeros([2], tf.int32),
    "zeros_bool": lambda tf: tf.zeros([2], tf.bool),
    "zeros_string": lambda tf: tf.zeros([2], tf.string),
    "zeros_tensor_shape": lambda tf: tf.zeros(tf.constant([2, 1])),
    "zeros_negative": lambda tf: tf.zeros([-1]),
    "zeros_float_shape": lambda tf: tf.zeros([2.0]),
    "ones": lambda tf: tf.ones([2], tf.float64),
    "ones_string": lambda tf: tf.ones([2], tf.string),
    "zeros_like": lambda tf: tf.zeros_like([[1, 2]]),
    "zeros_like_dtype": lambda tf: tf.zeros_like(tf.constant([1, 2]), tf.float32),
    "ones_like": lambda tf: tf.ones_like(np.array([1.5, 2.5])),
    "ones_like_bool": lambda tf: tf.ones_like(tf.constant([False])),
    "fill": lambda tf: tf.fill([2, 2], 7),
    "fill_float": lambda tf: tf.fill([2], 7.5),
    "fill_non_scalar": lambda tf: tf.fill([2], [1.0]),
    "fill_negative": lambda tf: tf.fill([-2], 1.0),
    "eye": lambda tf: tf.eye(2),
    "eye_rectangular": lambda tf: tf.eye(2, 3, dtype=tf.int32),
    "eye_batch": lambda tf: tf.eye(2, batch_shape=[2]),
    "range_stop": lambda tf: tf.range(4),
    "range_start_stop_step": lambda tf: tf.range(1, 10, 3),
    "range_negative_step": lambda tf: tf.range(3, 0, -1),
    "range_float": lambda tf: tf.range(0.0, 1.0, 0.25),
    "range_mixed": lambda tf: tf.range(0, 1, 0.5),
    "range_dtype": lambda tf: tf.range(3, dtype=tf.float32),
    "range_empty": lambda tf: tf.range(3, 3),
    "range_wrong_direction": lambda tf: tf.range(5, 0),
    "range_zero_step": lambda tf: tf.range(0, 5, 0),
    "range_int64": lambda tf: tf.range(tf.constant(3, tf.int64)),
    "linspace": lambda tf: tf.linspace(0.0, 1.0, 5),
    "linspace_one": lambda tf: tf.linspace(2.0, 5.0, 1),
    "linspace_int": lambda tf: tf.linspace(0, 10, 3),
    "linspace_vectors": lambda tf: tf.linspace([0.0, 1.0], [1.0, 3.0], 3),
    "linspace_zero": lambda tf: tf.linspace(0.0, 1.0, 0),
    "one_hot": lambda tf: tf.one_hot([0, 2, -1, 3], 3),
    "one_hot_int": lambda tf: tf.one_hot([0, 1], 2, dtype=tf.int32),
    "one_hot_values": lambda tf: tf.one_hot([0, 1], 2, on_value=5, off_value=-5),
    "one_hot_axis": lambda tf: tf.one_hot([0, 1, 1], 2, axis=0),
    "one_hot_matrix": lambda tf: tf.one_hot([[0], [1]], 2),
    "one_hot_float_indices": lambda tf: tf.one_hot([0.0, 1.0], 2),
    "one_hot_bool": lambda tf: tf.one_hot([1], 2, on_value=True, off_value=False),
}
