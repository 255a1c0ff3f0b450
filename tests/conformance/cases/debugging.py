"""Assertions, checks, `tf.print` and Python functions."""

import functools
import os
import tempfile

from case_helpers import value_and_gradients

NAN, INF = float("nan"), float("inf")


def _printed(tf, *inputs, **how):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.txt")
        tf.print(*inputs, output_stream=f"file://{path}", **how)
        with open(path, encoding="utf-8") as file:
            return file.read()


def _checked(tf, f):
    tf.debugging.enable_check_numerics()
    try:
        return f()
    finally:
        tf.debugging.disable_check_numerics()


def _gradient(tf, f, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def _asserts(tf, name, *args, **kwargs):
    return getattr(tf.debugging, name)(*args, **kwargs)


def check_numerics_gradient(tf):
    return value_and_gradients(tf, lambda x: tf.debugging.check_numerics(x, "m") * 2.0, [1.0, 2.0])


def check_numerics_of_a_gradient(tf):
    return _gradient(tf, lambda x: tf.sqrt(tf.debugging.check_numerics(x, "m")), 0.0)


def checks_stop_at_nan(tf):
    return _checked(tf, lambda: tf.math.log(tf.constant(-1.0)))


def checks_stop_at_inf(tf):
    return _checked(tf, lambda: tf.constant(1.0) / tf.constant(0.0))


def checks_stop_in_the_backward_pass(tf):
    return _checked(tf, lambda: _gradient(tf, tf.sqrt, 0.0))


def checks_let_values_pass(tf):
    return _checked(tf, lambda: _gradient(tf, lambda x: tf.exp(x) * x, [1.0, 2.0]))


def checks_let_moves_pass(tf):
    return _checked(tf, lambda: tf.reshape(tf.identity(tf.constant([NAN])), [1, 1]))


def checks_can_be_turned_off(tf):
    _checked(tf, lambda: None)
    return tf.math.log(tf.constant(-1.0))


def py_function_gradient(tf):
    def f(x, y):
        return tf.py_function(lambda a, b: a * a * b, [x, y], tf.float32)

    return value_and_gradients(tf, f, 3.0, 4.0)


def py_function_several(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda a: (a * a, a + 1.0), [x], [tf.float32, tf.float32])
    return y, tape.gradient(y, x)


def _kinds_of_arguments(tf, where):
    def kinds(*values):
        return [type(value).__name__ for value in values]

    def call(*values):
        return tf.stack(tf.numpy_function(kinds, values, [tf.string] * len(values)))

    values = [tf.constant(v) for v in (1.5, 3, True, "text", ["a", "b"], [1.0], [[1]])]
    if where == "functions":
        return tf.function(call)(*values)
    return next(iter(tf.data.Dataset.from_tensors(tuple(values)).map(call)))


def numpy_function_has_no_gradient(tf):
    return _gradient(tf, lambda x: tf.numpy_function(lambda a: a * a, [x], tf.float32), 3.0)


def py_function_raises(tf):
    def bad():
        raise KeyError("x")

    return tf.py_function(bad, [], tf.float32)


COMPARISONS = {
    "assert_equal": ([1, 2], [1, 2]),
    "assert_none_equal": ([1, 2], [2, 1]),
    "assert_less": ([1.0, 2.0], [2.0, 3.0]),
    "assert_less_equal": ([1, 2], [1, 3]),
    "assert_greater": ([1, 2], [0, 1]),
    "assert_greater_equal": ([1, 2], [1, 1]),
    "assert_near": ([1.0, 2.0], [1.0, 2.0 + 1e-7]),
}
SIGNS = {
    "assert_negative": ([-1, -2.0], [-1, 0.0]),
    "assert_positive": ([1, 2.0], [1, 0.0]),
    "assert_non_negative": ([0, 2.0], [1, -1.0]),
    "assert_non_positive": ([0, -2.0], [1, -1.0]),
}

CASES = {
    **{f"{n}_holds": lambda tf, n=n, a=a: _asserts(tf, n, *a) for n, a in COMPARISONS.items()},
    **{
        f"{n}_message": lambda tf, n=n: _asserts(tf, n, [1.0], [NAN], message="m")
        for n in COMPARISONS
        if n != "assert_none_equal"
    },
    **{
        f"{n}_shapes": lambda tf, n=n: _asserts(tf, n, [1.0, 2.0], [1.0, 2.0, 3.0])
        for n in COMPARISONS
    },
    **{f"{n}_holds": lambda tf, n=n, a=a: _asserts(tf, n, a[0]) for n, a in SIGNS.items()},
    **{f"{n}_fails": lambda tf, n=n, a=a: _asserts(tf, n, a[1]) for n, a in SIGNS.items()},
    **{f"{n}_empty": lambda tf, n=n: _asserts(tf, n, []) for n in SIGNS},
    "assert_equal_fails": lambda tf: tf.debugging.assert_equal([1, 2], [1, 3]),
    "assert_equal_dtypes": lambda tf: tf.debugging.assert_equal(tf.constant(1), tf.constant(1.0)),
    "assert_equal_broadcast": lambda tf: tf.debugging.assert_equal([3, 3], 3),
    "assert_equal_variable": lambda tf: tf.debugging.assert_equal(tf.Variable(1.0), 2.0),
    "assert_less_fails": lambda tf: tf.debugging.assert_less([1, 2], [2, 2]),
    "assert_none_equal_fails": lambda tf: tf.debugging.assert_none_equal([1, 2], [0, 2]),
    "assert_near_fails": lambda tf: tf.debugging.assert_near(1.0, 1.1),
    "assert_near_wide": lambda tf: tf.debugging.assert_near(1.0, 1.1, rtol=0.2),
    "assert_near_float64": lambda tf: tf.debugging.assert_near(
        tf.constant(1.0, tf.float64), 1.0 + 1e-10
    ),
    "assert_near_half": lambda tf: tf.debugging.assert_near(tf.constant(1.0, tf.float16), 1.005),
    "assert_near_ints": lambda tf: tf.debugging.assert_near(1, 2),
    "assert_rank": lambda tf: tf.debugging.assert_rank([[1]], 2),
    "assert_rank_fails": lambda tf: tf.debugging.assert_rank([[1]], 1),
    "assert_rank_float": lambda tf: tf.debugging.assert_rank([[1]], 1.5),
    "assert_rank_vector": lambda tf: tf.debugging.assert_rank([[1]], [1]),
    "assert_rank_at_least": lambda tf: tf.debugging.assert_rank_at_least([1], 1),
    "assert_rank_at_least_fails": lambda tf: tf.debugging.assert_rank_at_least([1], 2),
    "assert_rank_in": lambda tf: tf.debugging.assert_rank_in([1], (1, tf.constant(3))),
    "assert_rank_in_fails": lambda tf: tf.debugging.assert_rank_in([1], [2, 3]),
    "assert_scalar": lambda tf: tf.debugging.assert_scalar(1),
    "assert_scalar_fails": lambda tf: tf.debugging.assert_scalar([1]),
    "assert_type": lambda tf: tf.debugging.assert_type(tf.constant(1), tf.int32),
    "assert_type_variable": lambda tf: tf.debugging.assert_type(tf.Variable(1), tf.int32),
    "assert_type_fails": lambda tf: tf.debugging.assert_type(tf.constant(1), tf.float32),
    "assert_integer": lambda tf: tf.debugging.assert_integer(1),
    "assert_integer_fails": lambda tf: tf.debugging.assert_integer(1.0),
    "assert_all_finite": lambda tf: tf.debugging.assert_all_finite([1.0], "m"),
    "assert_all_finite_fails": lambda tf: tf.debugging.assert_all_finite([NAN], "m"),
    "check_numerics": lambda tf: tf.debugging.check_numerics([1.0], "m"),
    "check_numerics_nan": lambda tf: tf.debugging.check_numerics([1.0, NAN], "m"),
    "check_numerics_inf": lambda tf: tf.debugging.check_numerics([1.0, INF], "m"),
    "check_numerics_int": lambda tf: tf.debugging.check_numerics([1], "m"),
    "assert_proper_iterable": lambda tf: tf.debugging.assert_proper_iterable([1]),
    "assert_proper_iterable_tensor": lambda tf: tf.debugging.assert_proper_iterable(tf.range(2)),
    "assert_proper_iterable_text": lambda tf: tf.debugging.assert_proper_iterable("abc"),
    "assert_proper_iterable_number": lambda tf: tf.debugging.assert_proper_iterable(1),
    "same_float_dtype": lambda tf: tf.debugging.assert_same_float_dtype([tf.zeros([]), None]),
    "same_float_dtype_none": lambda tf: tf.debugging.assert_same_float_dtype(),
    "same_float_dtype_mixed": lambda tf: tf.debugging.assert_same_float_dtype(
        [tf.zeros([]), tf.zeros([], tf.float64)]
    ),
    "same_float_dtype_int": lambda tf: tf.debugging.assert_same_float_dtype([tf.constant(1)]),
    "same_float_dtype_other": lambda tf: tf.debugging.assert_same_float_dtype(
        [tf.zeros([])], tf.float64
    ),
    "is_numeric": lambda tf: [
        tf.debugging.is_numeric_tensor(x)
        for x in (tf.constant(1), tf.constant(1j), tf.constant("a"), tf.constant(True), 1)
    ],
    **{
        f"shapes_{name}": lambda tf, s=shapes: tf.debugging.assert_shapes(
            [(tf.zeros(dims), symbols) for dims, symbols in s]
        )
        for name, shapes in {
            "agree": [([2, 3], ("N", "M")), ([3], ("M",))],
            "disagree": [([2, 3], ("N", "M")), ([2], ("M",))],
            "number": [([2, 3], ("N", 4))],
            "number_agrees": [([2, 3], ("N", 3))],
            "rank": [([2, 3], ("N",))],
            "scalar": [([], ())],
            "any": [([2, 3], (None, "M"))],
            "dots": [([2, 3, 4], (".", ".", "Q"))],
            "text": [([2, 3], "NM")],
            "front": [([2, 3], (Ellipsis, "M")), ([5, 4, 3], ("*", "M"))],
            "front_number": [([2, 3], (Ellipsis, 3, 7))],
            "front_elsewhere": [([2, 3, 4], ("N", Ellipsis))],
            "repeated": [([2, 3], ("N", "N"))],
            "not_iterable": [([1], 1)],
        }.items()
    },
    "assert_op": lambda tf: tf.debugging.Assert(True, [1, "a"]),
    "assert_op_fails": lambda tf: tf.debugging.Assert(tf.constant(False), [1, "a"]),
    "assert_op_vector": lambda tf: tf.debugging.Assert(tf.constant([True, False]), ["x"]),
    **{
        f"print_{name}": lambda tf, f=f: _printed(tf, *f(tf))
        for name, f in {
            "text": lambda tf: ["hello", "{}", "%s"],
            "ints": lambda tf: [tf.range(6), tf.range(7)],
            "matrix": lambda tf: [tf.reshape(tf.range(100), [10, 10])],
            "small_matrix": lambda tf: [tf.constant([[1.5, 2.0], [3.0, 4.0]])],
            "scalar": lambda tf: [tf.constant(1.5), tf.constant(7)],
            "python": lambda tf: [1.5, 1, True, None, b"bytes", [0.1, 1 / 3]],
            "floats": lambda tf: [
                *([x] for x in tf.unstack(tf.constant([1.0, 2.5, 1e-10, 1e10, 1 / 3, 0.1]))),
                tf.constant([NAN, INF, -INF, 123456789.0, 1e5, 1e6]),
            ],
            "doubles": lambda tf: [tf.constant([1 / 3, 123456789.0, 1e16, 1e17, 0.1], tf.float64)],
            "half": lambda tf: [tf.constant(1 / 3, tf.float16), tf.constant(1 / 3, tf.bfloat16)],
            "bools": lambda tf: [tf.constant([True, False])],
            "strings": lambda tf: [tf.constant("abc"), tf.constant([["a"], ["b"]])],
            "list": lambda tf: [[tf.constant(1), tf.constant([1, 2]), "x"]],
            "dict": lambda tf: [{"a": tf.constant(1), "b": (1, [tf.constant("s")])}],
            "variable": lambda tf: [tf.Variable([1.0, 2.0])],
            "empty": lambda tf: [tf.zeros([0]), [], {}, ()],
            "bytes": lambda tf: [tf.constant(200, tf.uint8), tf.constant([-3], tf.int8)],
            "nothing": lambda tf: [],
        }.items()
    },
    "print_sep_end": lambda tf: _printed(tf, "a", tf.constant(1), sep=",", end="!"),
    "print_summarize": lambda tf: _printed(
        tf, tf.reshape(tf.range(1000), [10, 10, 10]), summarize=1
    ),
    "print_all": lambda tf: _printed(tf, tf.range(30), summarize=-1),
    "print_unknown_stream": lambda tf: tf.print("a", output_stream="foo"),
    "py_function": lambda tf: tf.py_function(lambda x: x + 1, [1], tf.int32),
    "py_function_list": lambda tf: tf.py_function(lambda x: x + 1, [1], [tf.int32]),
    "py_function_mixed": lambda tf: tf.py_function(lambda: (1.0, 2), [], (tf.float32, tf.int32)),
    "py_function_nothing": lambda tf: tf.py_function(lambda: None, [], []),
    "py_function_text": lambda tf: tf.py_function(lambda: "abc", [], tf.string),
    "py_function_spec": lambda tf: tf.py_function(lambda x: x, [1], tf.TensorSpec([], tf.int32)),
    "py_function_wrong_dtype": lambda tf: tf.py_function(lambda x: x, [1], tf.float32),
    "py_function_wrong_number": lambda tf: tf.py_function(lambda: 1.0, [], [tf.float32] * 2),
    "py_function_not_callable": lambda tf: tf.py_function(3, [1], tf.int32),
    "py_function_not_a_list": lambda tf: tf.py_function(lambda x: x, 1, tf.int32),
    "numpy_function": lambda tf: tf.numpy_function(lambda x: x * 2, [tf.range(3)], tf.int32),
    "numpy_function_several": lambda tf: tf.numpy_function(
        lambda x: (x, x * 1.5), [tf.constant(1)], [tf.int32, tf.float64]
    ),
    "numpy_function_none": lambda tf: tf.numpy_function(lambda: None, [], []),
    "numpy_function_argument": lambda tf: tf.numpy_function(
        lambda x: f"{type(x).__name__} {x.dtype}", [tf.constant(1.5)], tf.string
    ),
    **{
        f"numpy_function_arguments_in_{where}": functools.partial(_kinds_of_arguments, where=where)
        for where in ("functions", "datasets")
    },
}
