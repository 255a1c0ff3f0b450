"""Which sources a target is connected to: what gives `None`, zeros, or a gradient."""

import numpy as np


def unconnected_is_none(tf):
    x, y = tf.Variable(2.0), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        z = x * x
    return tape.gradient(z, [x, y])


def unconnected_zero(tf):
    x, y = tf.Variable(2.0), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        z = x * x
    return tape.gradient(z, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)


def unconnected_zero_by_name(tf):
    y = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        z = tf.constant(1.0) * 2.0
    return tape.gradient(z, y, unconnected_gradients="zero")


def unconnected_none_by_name(tf):
    y = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        z = tf.constant(1.0) * 2.0
    return tape.gradient(z, y, unconnected_gradients="none")


def unconnected_by_a_bad_name(tf):
    y = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        z = y * 2.0
    return tape.gradient(z, y, unconnected_gradients="zeros")


def unconnected_zero_of_int_source(tf):
    y = tf.constant([3, 4])
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        z = x * 2.0
    return tape.gradient(z, y, unconnected_gradients=tf.UnconnectedGradients.ZERO)


def unconnected_members(tf):
    return [member.value for member in tf.UnconnectedGradients]


def int_source_is_none(tf):
    x = tf.constant(3)
    with tf.GradientTape() as tape:
        y = tf.cast(x, tf.float32) * 2.0
    return tape.gradient(y, x)


def int_variable_source(tf):
    x = tf.Variable(3)
    with tf.GradientTape() as tape:
        y = tf.cast(x, tf.float32) * 2.0
    return tape.gradient(y, x)


def string_source_beside_a_variable(tf):
    x = tf.constant("label")
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = v * 2.0
    return tape.gradient(y, [v, x])


def bool_source_is_none(tf):
    x = tf.constant(True)
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = v * 2.0
    return tape.gradient(y, x)


def int_target_is_none(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.cast(x, tf.int32)
    return tape.gradient(y, x)


def bool_target_is_none(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x > 1.0
    return tape.gradient(y, x)


def cast_to_int_and_back_cuts(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.cast(tf.cast(x, tf.int32), tf.float32) * x
    return tape.gradient(y, x)


def cast_to_double_is_differentiable(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.cast(x, tf.float64) ** 2
    return tape.gradient(y, x)


def numpy_round_trip_cuts(tf):
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(np.mean((x**2).numpy(), axis=0), axis=0)
        z = y * 2.0
    return tape.gradient(z, x)


def numpy_function_on_a_tensor_cuts(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.constant(np.square(x))
    return tape.gradient(y, x)


def branch_not_taken(tf):
    x, v0, v1 = tf.constant(1.0), tf.Variable(2.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = v0 if x > 0.0 else v1**2
    return tape.gradient(result, [x, v0, v1])


def read_value_as_source(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        r = x.read_value()
        y = r * r
    return tape.gradient(y, [x, r])


def constant_target(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.constant(4.0)
    return tape.gradient(y, x)


def target_made_before_the_tape(tf):
    x = tf.Variable(3.0)
    y = x * x
    with tf.GradientTape() as tape:
        z = y * 2.0
    return tape.gradient(z, x)


def diamond(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        a, b = x * 2.0, x * x
        y = a * b + tf.sin(a) - b
    return tape.gradient(y, x)


def long_chain(tf):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x
        for _ in range(50):
            y = tf.sin(y) * 1.01
    return tape.gradient(y, x)
