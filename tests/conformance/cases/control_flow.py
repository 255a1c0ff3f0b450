"""Branches, loops, maps and arrays of tensors, with their gradients."""

from case_helpers import second_gradients, value_and_gradients


def _power(tf, x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, tf.ones_like(x)))[1]


def cond_gradient(tf):
    def f(x):
        return tf.cond(x > 0.0, lambda: x * x, lambda: -x)

    return [value_and_gradients(tf, f, x) for x in (3.0, -3.0)]


def cond_of_variables(tf):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.cond(a < b, lambda: a * a, lambda: b * b)
    return tape.gradient(y, [a, b])


def while_gradient(tf):
    return value_and_gradients(tf, lambda x: _power(tf, x), [2.0, -1.5])


def while_second_gradient(tf):
    return second_gradients(tf, lambda x: _power(tf, x), [2.0, -1.5])


def while_with_structure(tf):
    state = {"a": tf.constant(1.0), "b": [tf.constant(2.0)]}

    def body(i, s):
        return (i + 1, {"a": s["a"] + s["b"][0], "b": [s["b"][0] * 2.0]})

    return tf.while_loop(lambda i, s: i < 3, body, (0, state))


def while_without_back_prop(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), (0, x))[1]
    return y, tape.gradient(y, x)


def while_fills_an_array(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(tf.float32, size=3)
        _, array = tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x[i] * x[i])), (0, array)
        )
        y = array.stack()
    return y, tape.gradient(y, x)


def map_gradient(tf):
    def f(x):
        return tf.map_fn(lambda row: tf.reduce_sum(row * row), x)

    return value_and_gradients(tf, f, [[1.0, 2.0], [3.0, 4.0]])


def map_second_gradient(tf):
    def f(x):
        return tf.map_fn(lambda row: tf.reduce_prod(row), x)

    return second_gradients(tf, f, [[1.0, 2.0], [3.0, 4.0]])


def scan_gradient(tf):
    return value_and_gradients(
        tf, lambda x: tf.scan(lambda a, b: a * b + b, x, initializer=1.0), [1.0, 2.0, 3.0]
    )


def scan_gradient_of_the_start(tf):
    return value_and_gradients(
        tf, lambda x: tf.scan(lambda a, b: a * b, tf.constant([2.0, 3.0]), initializer=x), 1.5
    )


def scan_second_gradient(tf):
    return second_gradients(tf, lambda x: tf.scan(lambda a, b: a * b, x), [1.0, 2.0, 3.0])


def fold_gradients(tf):
    return [
        value_and_gradients(tf, lambda x: fold(lambda a, b: a * a + b, x), [1.0, 2.0, 3.0])  # noqa: B023
        for fold in (tf.foldl, tf.foldr)
    ]


def array_of_rows(tf):
    a = tf.TensorArray(tf.float32, 2).unstack([[1.0, 2.0], [3.0, 4.0]])
    return a.read(1), a.gather([0]), a.size(), a.dtype, a.dynamic_size


def array_gradient(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        a = tf.TensorArray(tf.float32, 2).unstack(x)
        a = a.write(1, a.read(0) * 3.0)
        y = tf.reduce_sum(a.stack() ** 2)
    return tape.gradient(y, x)


def array_unwritten_is_zero(tf):
    return tf.TensorArray(tf.float32, 3).write(1, [1.0, 2.0]).stack()


def array_grows(tf):
    a = tf.TensorArray(tf.float32, 0, dynamic_size=True).write(2, 5.0)
    return a.stack(), a.size()


def array_read_twice(tf):
    a = tf.TensorArray(tf.float32, 1).write(0, 1.0)
    return a.read(0), a.read(0)


def array_kept_after_read(tf):
    a = tf.TensorArray(tf.float32, 1, clear_after_read=False).write(0, 1.0)
    return a.read(0), a.read(0)


def array_split_concat(tf):
    a = tf.TensorArray(tf.float32, 2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2])
    return a.concat(), a.read(1)


def array_concat_gradient(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        a = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x * x, [1, 2])
        y = a.concat() * [1.0, 10.0, 100.0]
    return tape.gradient(y, x)


def init_scope_is_outside_of_tapes(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape, tf.init_scope():
        y = x * 3.0
    return tape.gradient(y, x)


def control_dependencies_in_order(tf):
    v = tf.Variable(1.0)
    with tf.control_dependencies([v.assign(2.0)]):
        return v * 3.0


def _array(**how):
    return lambda tf: tf.TensorArray(tf.float32, **how)


CASES = {
    "cond": lambda tf: tf.cond(tf.constant(True), lambda: 1, lambda: 2),
    "cond_python": lambda tf: tf.cond(False, lambda: {"a": 1}, lambda: [2, None]),
    "cond_not_scalar": lambda tf: tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2),
    "cond_not_callable": lambda tf: tf.cond(tf.constant(True), 1, lambda: 2),
    "cond_one_branch": lambda tf: tf.cond(tf.constant(True), lambda: 1),
    "case": lambda tf: tf.case([(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)]),
    "case_default": lambda tf: tf.case([(tf.constant(False), lambda: 1)], default=lambda: 3),
    "case_none_true": lambda tf: tf.case([(tf.constant(False), lambda: 1)]),
    "case_first_wins": lambda tf: tf.case([(tf.constant(True), lambda i=i: i) for i in (7, 8)]),
    "case_python_bool": lambda tf: tf.case([(True, lambda: 1)]),
    "case_empty": lambda tf: tf.case([], default=lambda: 3),
    "case_dict": lambda tf: tf.case({tf.constant(True).ref(): lambda: 1}),
    "case_no_pair": lambda tf: tf.case((tf.constant(True), lambda: 1)),
    "switch": lambda tf: tf.switch_case(tf.constant(1), [lambda: 1, lambda: 2]),
    "switch_int64": lambda tf: tf.switch_case(tf.constant(0, tf.int64), [lambda: 1, lambda: 2]),
    "switch_past_the_end": lambda tf: tf.switch_case(tf.constant(5), [lambda: 1, lambda: 2]),
    "switch_negative": lambda tf: tf.switch_case(tf.constant(-1), [lambda: 1, lambda: 2]),
    "switch_default": lambda tf: tf.switch_case(tf.constant(9), [lambda: 1], default=lambda: 3),
    "switch_dict": lambda tf: tf.switch_case(tf.constant(1), {0: lambda: 1, 1: lambda: 2}),
    "switch_pairs": lambda tf: tf.switch_case(tf.constant(1), [(1, lambda: 1), (0, lambda: 2)]),
    "switch_gap": lambda tf: tf.switch_case(tf.constant(3), {0: lambda: 1, 3: lambda: 2}),
    "switch_python_int": lambda tf: tf.switch_case(1, [lambda: 1, lambda: 2]),
    "switch_float": lambda tf: tf.switch_case(tf.constant(1.0), [lambda: 1, lambda: 2]),
    "switch_empty": lambda tf: tf.switch_case(tf.constant(1), []),
    "switch_float_key": lambda tf: tf.switch_case(tf.constant(1), {0.5: lambda: 1}),
    "switch_not_callable": lambda tf: tf.switch_case(tf.constant(0), [1]),
    "while": lambda tf: tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0]),
    "while_tuple": lambda tf: tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), (0,)),
    "while_never": lambda tf: tf.while_loop(lambda i: i < 0, lambda i: (i + 1,), (0,)),
    "while_limit": lambda tf: tf.while_loop(
        lambda i: True, lambda i: [i + 1], [0], maximum_iterations=4
    ),
    "while_limit_tensor": lambda tf: tf.while_loop(
        lambda i: i < 2, lambda i: [i + 1], [0], maximum_iterations=tf.constant(7)
    ),
    "while_limit_vector": lambda tf: tf.while_loop(
        lambda i: True, lambda i: [i + 1], [0], maximum_iterations=tf.constant([1, 2])
    ),
    "while_shape_changes": lambda tf: tf.while_loop(
        lambda x: tf.size(x) < 3,
        lambda x: [tf.concat([x, x], 0)],
        [tf.constant([1])],
        shape_invariants=[tf.TensorShape([None])],
    ),
    "while_no_variables": lambda tf: tf.while_loop(lambda: True, lambda: (), []),
    "while_tensor_variable": lambda tf: tf.while_loop(
        lambda i: i < 3, lambda i: i + 1, tf.constant(0)
    ),
    "while_cond_not_callable": lambda tf: tf.while_loop(1, lambda i: [i], [0]),
    "while_body_not_callable": lambda tf: tf.while_loop(lambda i: i < 3, 1, [0]),
    "while_too_many": lambda tf: tf.while_loop(lambda i: i < 3, lambda i: (i + 1, i), [0]),
    "while_too_few": lambda tf: tf.while_loop(lambda i, j: i < 3, lambda i, j: i + 1, [0, 1]),
    "map": lambda tf: tf.map_fn(lambda x: x * 2, tf.constant([1, 2, 3])),
    "map_dtype": lambda tf: tf.map_fn(
        lambda x: tf.cast(x, tf.float32), tf.constant([1, 2]), dtype=tf.float32
    ),
    "map_signature": lambda tf: tf.map_fn(
        lambda x: (x, x * 0.5), tf.constant([1.0, 2.0]), fn_output_signature=(tf.float32,) * 2
    ),
    "map_spec": lambda tf: tf.map_fn(
        lambda x: 1.5, tf.constant([1, 2]), fn_output_signature=tf.TensorSpec([], tf.float64)
    ),
    "map_wrong_spec": lambda tf: tf.map_fn(
        lambda x: x, tf.constant([1, 2]), fn_output_signature=tf.TensorSpec([2], tf.int32)
    ),
    "map_pair": lambda tf: tf.map_fn(
        lambda x: x[0] * x[1], (tf.range(3), tf.range(3)), fn_output_signature=tf.int32
    ),
    "map_structure": lambda tf: tf.map_fn(lambda x: x, {"a": tf.range(2), "b": [tf.zeros([2])]}),
    "map_wrong_dtype": lambda tf: tf.map_fn(lambda x: tf.cast(x, tf.float32), tf.range(2)),
    "map_wrong_structure": lambda tf: tf.map_fn(lambda x: (x, x), tf.range(2)),
    "map_uneven": lambda tf: tf.map_fn(lambda x: x, (tf.range(3), tf.range(2))),
    "map_shapes_differ": lambda tf: tf.map_fn(lambda x: tf.range(x), tf.constant([1, 2])),
    "map_scalar": lambda tf: tf.map_fn(lambda x: x, tf.constant(1)),
    "map_nothing": lambda tf: tf.map_fn(lambda x: x, []),
    "map_empty": lambda tf: tf.map_fn(lambda x: x, tf.zeros([0, 2])),
    "map_strings": lambda tf: tf.map_fn(lambda x: x, tf.constant(["a", "b"])),
    "scan": lambda tf: tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])),
    "scan_start": lambda tf: tf.scan(lambda a, x: a - x, tf.constant([1, 2, 3]), initializer=10),
    "scan_reverse": lambda tf: tf.scan(lambda a, x: a - x, tf.constant([1, 2, 3]), reverse=True),
    "scan_reverse_start": lambda tf: tf.scan(
        lambda a, x: a - x, tf.constant([1, 2, 3]), initializer=1, reverse=True
    ),
    "scan_structure": lambda tf: tf.scan(
        lambda a, x: (a[1], a[0] + a[1]), tf.range(5), initializer=(0, 1)
    ),
    "scan_pairs": lambda tf: tf.scan(
        lambda a, x: (a[0] + x[0], a[1] * x[1]), (tf.range(3), tf.range(1, 4))
    ),
    "scan_empty": lambda tf: tf.scan(lambda a, x: a + x, tf.zeros([0])),
    "scan_empty_start": lambda tf: tf.scan(lambda a, x: a + x, tf.zeros([0]), initializer=1.0),
    "scan_scalar": lambda tf: tf.scan(lambda a, x: a + x, tf.constant(1.0)),
    "scan_uneven": lambda tf: tf.scan(lambda a, x: a, (tf.range(3), tf.range(2))),
    "scan_wrong_structure": lambda tf: tf.scan(lambda a, x: (a, a), tf.range(3)),
    "scan_shape_changes": lambda tf: tf.scan(
        lambda a, x: tf.concat([a, [x]], 0), tf.range(3), initializer=[7]
    ),
    "scan_wrong_dtype": lambda tf: tf.scan(lambda a, x: tf.cast(a, tf.float32), tf.range(3)),
    "foldl": lambda tf: tf.foldl(lambda a, x: a - x, tf.constant([1, 2, 3])),
    "foldr": lambda tf: tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3])),
    "foldl_start": lambda tf: tf.foldl(lambda a, x: a * 2 - x, tf.range(3), initializer=10),
    "foldr_start": lambda tf: tf.foldr(lambda a, x: a * 2 - x, tf.range(3), initializer=10),
    "foldl_empty": lambda tf: tf.foldl(lambda a, x: a - x, tf.constant([], tf.int32)),
    "foldl_empty_start": lambda tf: tf.foldl(
        lambda a, x: a - x, tf.constant([], tf.int32), initializer=10
    ),
    "foldl_pairs": lambda tf: tf.foldl(
        lambda a, x: a + x[0] * x[1], (tf.range(3), tf.range(3)), initializer=0
    ),
    "foldr_structure": lambda tf: tf.foldr(
        lambda a, x: (a[0] + x, a[1] * 2), tf.range(3), initializer=(0, 1)
    ),
    "foldl_wrong_structure": lambda tf: tf.foldl(
        lambda a, x: (a[0] + x, a[1]), tf.range(3), initializer=[0, 1]
    ),
    "foldl_grows": lambda tf: tf.foldl(
        lambda a, x: tf.concat([a, [x]], 0), tf.range(3), initializer=[9]
    ),
    "array_past_the_end": lambda tf: _array(size=2)(tf).write(5, 1.0),
    "array_negative_write": lambda tf: _array(size=2)(tf).write(-1, 1.0),
    "array_negative_read": lambda tf: _array(size=2)(tf).read(-1),
    "array_read_past_the_end": lambda tf: _array(size=2)(tf).read(2),
    "array_read_unknown": lambda tf: _array(size=2)(tf).read(0),
    "array_read_zero": lambda tf: _array(size=2, element_shape=[2])(tf).read(0),
    "array_wrong_dtype": lambda tf: _array(size=2)(tf).write(0, tf.constant(1)),
    "array_python_int": lambda tf: _array(size=1)(tf).write(0, 1).read(0),
    "array_wrong_shape": lambda tf: _array(size=2)(tf).write(0, 1.0).write(1, [1.0, 2.0]),
    "array_wrong_element_shape": lambda tf: _array(size=2, element_shape=[2])(tf).write(0, 1.0),
    "array_no_size": lambda tf: _array()(tf),
    "array_empty": lambda tf: _array(size=0)(tf).stack(),
    "array_empty_concat": lambda tf: _array(size=0)(tf).concat(),
    "array_scatter": lambda tf: _array(size=3)(tf).scatter([2, 0], [1.0, 2.0]).stack(),
    "array_scatter_grows": lambda tf: (
        _array(size=1, dynamic_size=True)(tf).scatter([2, 0], [1.0, 2.0]).stack()
    ),
    "array_scatter_too_far": lambda tf: _array(size=1)(tf).scatter([2, 0], [1.0, 2.0]),
    "array_unstack_too_many": lambda tf: _array(size=2)(tf).unstack([1.0, 2.0, 3.0]),
    "array_unstack_scalar": lambda tf: _array(size=2)(tf).unstack(1.0),
    "array_split_wrong_sum": lambda tf: _array(size=2)(tf).split([1.0, 2.0, 3.0], [1, 1]),
    "array_concat_scalars": lambda tf: _array(size=2)(tf).unstack([1.0, 2.0]).concat(),
    "array_write_twice": lambda tf: _array(size=1)(tf).write(0, 1.0).write(0, 2.0).read(0),
    "array_float_index": lambda tf: _array(size=2)(tf).write(0.5, 1.0),
    "array_tensor_index": lambda tf: _array(size=1)(tf).write(tf.constant(0), 1.0).read(0),
    "array_strings": lambda tf: tf.TensorArray(tf.string, 2).write(0, "x").stack(),
    "array_gather_too_far": lambda tf: _array(size=2)(tf).unstack([1.0, 2.0]).gather([5]),
    "device_nonsense": lambda tf: tf.device("nonsense").__enter__(),
    "device_number": lambda tf: tf.device(3).__enter__(),
    "device_function": lambda tf: tf.device(lambda op: "cpu").__enter__(),
    "control_dependencies_number": lambda tf: tf.control_dependencies(5),
}
