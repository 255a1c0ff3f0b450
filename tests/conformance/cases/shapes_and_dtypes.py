# ruff: noqa: SIM905, RUF005 - names in a line, and `+` is what is tested
"""`tf.DType`, `tf.TensorShape`, `tf.TensorSpec`, `tf.errors`."""

import numpy as np

DTYPES = (
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "bool complex64 complex128 string"
).split()


def _flags(name):
    def case(tf):
        d = getattr(tf, name)
        return [d.name, d.is_floating, d.is_integer, d.is_complex, d.is_bool, d.is_unsigned, d.size]

    return case


def _limits(name):
    return lambda tf: [float(getattr(tf, name).min), float(getattr(tf, name).max)]


def aliases(tf):
    return tf.half is tf.float16, tf.double is tf.float64, tf.half == tf.float16


def equal_to_names_and_numpy(tf):
    d = tf.float32
    return [d == "float32", d == np.float32, d == np.dtype("float32"), d == tf.float64, d != "int8"]


def equal_to_something_else(tf):
    return tf.float32 == 3, tf.float32 == None, tf.float32 == "nonsense"  # noqa: E711


def as_dict_keys(tf):
    return {tf.float32: 1}[tf.constant(1.0).dtype]


def as_numpy_dtype(tf):
    return [tf.float32.as_numpy_dtype is np.float32, tf.bool.as_numpy_dtype is np.bool_]


def numpy_takes_it(tf):
    return np.zeros(2, dtype=tf.float32.as_numpy_dtype)


def as_dtype(tf):
    return [tf.as_dtype(x) for x in ("float32", np.int64, np.dtype("bool"), tf.half, float, bool)]


def as_dtype_int(tf):
    return tf.as_dtype(int)


def as_dtype_str(tf):
    return tf.as_dtype(str)


def as_dtype_unknown(tf):
    return tf.as_dtype("floaty")


def as_dtype_none(tf):
    return tf.as_dtype(None)


def real_dtype_and_base(tf):
    return tf.complex64.real_dtype, tf.complex128.real_dtype, tf.float32.base_dtype


def is_compatible_with(tf):
    return tf.float32.is_compatible_with(tf.float32), tf.float32.is_compatible_with(tf.float64)


def module_names(tf):
    return [tf.dtypes.float32, tf.dtypes.as_dtype("int8"), tf.dtypes.cast([1], tf.float32)]


def iterate_shape(tf):
    return list(tf.TensorShape([2, None, 3]))


def shape_hash(tf):
    return {tf.TensorShape([2, 3]): "a"}[tf.TensorShape([2, 3])]


def shape_unpack(tf):
    rows, columns = tf.zeros([2, 3]).shape
    return rows, columns


def shape_comparisons(tf):
    s = tf.TensorShape([2, 3])
    return [s == [2, 3], s == (2, 3), s == tf.TensorShape([2, 4]), s != [2], s == None]  # noqa: E711


def shape_assertions(tf):
    return tf.TensorShape([2, 3]).assert_is_compatible_with([2, 4])


def shape_compatible(tf):
    s = tf.TensorShape([2, None])
    return s.is_compatible_with([2, 5]), s.is_compatible_with([3, 5]), s.is_compatible_with([2])


def spec_from_tensor(tf):
    return tf.TensorSpec.from_tensor(tf.constant([[1, 2]])), tf.TensorSpec.from_spec(
        tf.TensorSpec([2], tf.int32), name="x"
    )


def spec_compatible(tf):
    s = tf.TensorSpec([None, 2], tf.float32)
    return (
        s.is_compatible_with(tf.ones([3, 2])),
        s.is_compatible_with(tf.ones([2])),
        s.is_compatible_with(tf.ones([3, 2], tf.int32)),
    )


def spec_equality(tf):
    a, b = tf.TensorSpec([2], tf.int32), tf.TensorSpec([2], tf.int32)
    return a == b, hash(a) == hash(b), a == tf.TensorSpec([2], tf.int64), a == 3


def spec_defaults(tf):
    s = tf.TensorSpec([2])
    return s.shape, s.dtype, s.name


def errors_are_exceptions(tf):
    e = tf.errors
    names = (
        "InvalidArgumentError NotFoundError OutOfRangeError UnimplementedError InternalError "
        "FailedPreconditionError AlreadyExistsError PermissionDeniedError ResourceExhaustedError "
        "CancelledError UnknownError DeadlineExceededError AbortedError DataLossError "
        "UnavailableError UnauthenticatedError"
    )
    return [issubclass(getattr(e, name), e.OpError) for name in names.split()]


def error_message(tf):
    try:
        tf.reshape([1, 2], [3])
    except tf.errors.InvalidArgumentError as error:
        return isinstance(error.message, str), isinstance(error, Exception), error.error_code
    return None


def invalid_argument_is_no_value_error(tf):
    return issubclass(tf.errors.InvalidArgumentError, ValueError)


CASES = {
    **{f"dtype_{name}": _flags(name) for name in DTYPES},
    **{
        f"limits_{name}": _limits(name)
        for name in DTYPES
        if name not in ("bool", "complex64", "complex128", "string")
    },
    "shape_of_tensor": lambda tf: tf.zeros([2, 3]).shape,
    "shape_rank": lambda tf: [tf.TensorShape(s).rank for s in ([], [2], [2, None], None)],
    "shape_ndims": lambda tf: tf.TensorShape([1, 2]).ndims,
    "shape_len": lambda tf: len(tf.TensorShape([1, 2])),
    "shape_len_unknown": lambda tf: len(tf.TensorShape(None)),
    "shape_index": lambda tf: (tf.TensorShape([1, None])[0], tf.TensorShape([1, None])[1]),
    "shape_index_negative": lambda tf: tf.TensorShape([1, 2])[-1],
    "shape_index_out_of_range": lambda tf: tf.TensorShape([1, 2])[2],
    "shape_slice": lambda tf: tf.TensorShape([1, 2, 3])[1:],
    "shape_slice_unknown": lambda tf: tf.TensorShape(None)[1:],
    "shape_as_list": lambda tf: tf.TensorShape([1, None]).as_list(),
    "shape_as_list_unknown": lambda tf: tf.TensorShape(None).as_list(),
    "shape_num_elements": lambda tf: [
        tf.TensorShape(s).num_elements() for s in ([], [2, 3], [2, None], None, [0])
    ],
    "shape_fully_defined": lambda tf: [
        tf.TensorShape(s).is_fully_defined() for s in ([], [2], [None], None)
    ],
    "shape_concatenate": lambda tf: tf.TensorShape([1]).concatenate([2, 3]),
    "shape_plus": lambda tf: tf.TensorShape([1]) + [2],
    "shape_reflected_plus": lambda tf: [2] + tf.TensorShape([1]),
    "shape_plus_unknown": lambda tf: tf.TensorShape([1]) + tf.TensorShape(None),
    "shape_merge": lambda tf: tf.TensorShape([None, 2]).merge_with([1, None]),
    "shape_merge_wrong": lambda tf: tf.TensorShape([3, 2]).merge_with([1, None]),
    "shape_with_rank": lambda tf: tf.TensorShape(None).with_rank(2),
    "shape_with_wrong_rank": lambda tf: tf.TensorShape([1]).with_rank(2),
    "shape_negative": lambda tf: tf.TensorShape([-1]),
    "shape_float": lambda tf: tf.TensorShape([1.5]),
    "shape_of_str": lambda tf: tf.TensorShape(["a"]),
    "shape_from_int": lambda tf: tf.TensorShape(3),
    "shape_from_shape": lambda tf: tf.TensorShape(tf.TensorShape([2])),
    "shape_bool": lambda tf: [bool(tf.TensorShape(s)) for s in ([], [2], None)],
    "shape_tuple": lambda tf: tuple(tf.TensorShape([2, 3])),
    "shape_most_general": lambda tf: tf.TensorShape([2, 3]).most_specific_compatible_shape([2, 4]),
    "shape_numpy_product": lambda tf: int(np.prod(tf.zeros([2, 3]).shape)),
    "as_string": lambda tf: (str(tf.float32), tf.float32.name),
}
