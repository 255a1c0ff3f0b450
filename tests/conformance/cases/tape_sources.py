"""What may be a source or a target, and in which structure the gradients come back."""

import collections

import numpy as np

Pair = collections.namedtuple("Pair", ["left", "right"])


def _three(tf):
    return tf.Variable(2.0), tf.Variable(3.0), tf.Variable(4.0)


def _gradient(tf, target, sources, **options):
    """Builds `a * b + c`, and asks for the gradient of what `target` picks."""
    a, b, c = _three(tf)
    with tf.GradientTape() as tape:
        y = a * b + c
        wanted = target(a, b, c, y)
    return tape.gradient(wanted, sources(a, b, c, y), **options)


def list_of_sources(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: [a, b, c])


def tuple_of_sources(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: (a, b))


def dict_of_sources(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: {"z": a, "b": b})


def order_of_a_dict_of_gradients(tf):
    return list(_gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: {"z": a, "b": b}))


def ordered_dict_of_sources(tf):
    def sources(a, b, c, y):
        return collections.OrderedDict([("z", a), ("b", b)])

    result = _gradient(tf, lambda a, b, c, y: y, sources)
    return type(result).__name__, list(result), list(result.values())


def named_tuple_of_sources(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: Pair(a, [b, c]))


def nested_sources(tf):
    def sources(a, b, c, y):
        return {"weights": [a, (b,)], "bias": {"c": c}}

    return _gradient(tf, lambda a, b, c, y: y, sources)


def same_variable_twice(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: [a, a, b])


def empty_list_of_sources(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: [])


def empty_tuple_of_sources(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: ())


def empty_dict_of_sources(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: {})


def none_as_source(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: None)


def none_among_sources(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: [a, None])


def none_as_target(tf):
    return _gradient(tf, lambda a, b, c, y: None, lambda a, b, c, y: a)


def none_among_targets(tf):
    return _gradient(tf, lambda a, b, c, y: [y, None], lambda a, b, c, y: a)


def empty_list_of_targets(tf):
    return _gradient(tf, lambda a, b, c, y: [], lambda a, b, c, y: a)


def python_float_as_source(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: 3.0)


def python_int_as_source(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: [a, 3])


def numpy_array_as_source(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: np.ones(2, np.float32))


def python_float_as_target(tf):
    return _gradient(tf, lambda a, b, c, y: 3.0, lambda a, b, c, y: a)


def string_as_source(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: "a")


def list_of_targets_is_summed(tf):
    return _gradient(tf, lambda a, b, c, y: [y, a * a], lambda a, b, c, y: [a, b])


def dict_of_targets_is_summed(tf):
    def targets(a, b, c, y):
        return {"loss": y, "penalty": (a * a, b)}

    return _gradient(tf, targets, lambda a, b, c, y: [a, b])


def same_target_twice(tf):
    return _gradient(tf, lambda a, b, c, y: [y, y], lambda a, b, c, y: [a, c])


def target_that_is_its_own_source(tf):
    return _gradient(tf, lambda a, b, c, y: y, lambda a, b, c, y: y)


def variable_as_target(tf):
    return _gradient(tf, lambda a, b, c, y: a, lambda a, b, c, y: a)


def variable_as_target_of_another(tf):
    return _gradient(tf, lambda a, b, c, y: a, lambda a, b, c, y: b)


def target_among_targets_and_sources(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return tape.gradient([y, z], [x, y, z])


def watched_tensor_as_its_own_target(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.gradient(x, x)


def unwatched_tensor_as_its_own_target(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(x, x)


def intermediate_source(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return tape.gradient(z, y)


def intermediate_and_leaf_sources(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * x
    return tape.gradient(z, [x, y])


def non_scalar_target_is_summed(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * [3.0, 4.0]
    return tape.gradient(y, x)


def targets_of_different_shapes(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
        z = x * 3.0
    return tape.gradient([y, z], x)


def output_gradients_weigh_the_target(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, output_gradients=tf.constant([10.0, 100.0]))


def output_gradients_as_python_list(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, output_gradients=[10.0, 100.0])


def output_gradients_for_two_targets(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y, z = x * x, x * 3.0
    return tape.gradient([y, z], x, output_gradients=[tf.constant(1.0), tf.constant(10.0)])


def output_gradients_with_a_none(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y, z = x * x, x * 3.0
    return tape.gradient([y, z], x, output_gradients=[tf.constant(2.0), None])


def output_gradients_of_another_length(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y, z = x * x, x * 3.0
    return tape.gradient([y, z], x, output_gradients=[tf.constant(2.0)])


def output_gradients_of_a_wrong_shape(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0, 3.0]))


def output_gradients_that_broadcast(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, output_gradients=tf.constant(3.0))


def output_gradients_of_a_wrong_dtype(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0], tf.float64))


def output_gradients_as_python_number(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, output_gradients=5.0)
