"""Gradients of gradients: nested tapes, their order, and second derivatives at edges."""

from case_helpers import second_gradients as second


def second_order(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        first = inner.gradient(y, x)
    return first, outer.gradient(first, x)


def third_order(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as t3:
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = x**4
            g1 = t1.gradient(y, x)
        g2 = t2.gradient(g1, x)
    return g1, g2, t3.gradient(g2, x)


def fourth_order_of_sin(tf):
    x = tf.Variable(0.5)

    def derive(f):
        def g():
            with tf.GradientTape() as tape:
                y = f()
            return tape.gradient(y, x)

        return g

    f = lambda: tf.sin(x)  # noqa: E731
    return derive(derive(derive(derive(f))))()


def persistent_tape_for_second_order(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x**3
        g = tape.gradient(y, x)
    return tape.gradient(g, x)


def gradient_outside_the_outer_tape_is_not_recorded(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
    first = inner.gradient(y, x)
    return first, outer.gradient(first, x)


def second_order_of_a_linear_function(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = 3.0 * x
        first = inner.gradient(y, x)
    return first, outer.gradient(first, x)


def second_order_of_a_sum(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x)
        first = inner.gradient(y, x)
    return first, outer.gradient(first, x)


def mixed_partials(tf):
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            z = x * x * y
        dx, dy = inner.gradient(z, [x, y])
        total = dx + dy
    return outer.gradient(total, [x, y])


def tape_inside_a_tape_watching_one_input(tf):
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(y)
        with tf.GradientTape() as inner:
            inner.watch(x)
            z = x * x * y
        dx = inner.gradient(z, x)
    return dx, outer.gradient(dx, y)


def outer_watches_what_inner_does_not(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            z = x * x
        dx = inner.gradient(z, x)
    return dx, outer.gradient(z, x)


def gradient_penalty(tf):
    w = tf.Variable([[1.0, -2.0], [0.5, 3.0]])
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.tanh(x @ w))
        g = inner.gradient(y, x)
        penalty = (tf.norm(g) - 1.0) ** 2
    return penalty, outer.gradient(penalty, w)


def hessian_vector_product(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    v = tf.constant([1.0, 0.0, -1.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_prod(x) + tf.reduce_sum(x**3)
        g = inner.gradient(y, x)
    return outer.gradient(g, x, output_gradients=v)


def inner_output_gradients_as_source(tf):
    x = tf.constant([1.0, 2.0])
    seed = tf.constant([1.0, 1.0])
    with tf.GradientTape() as outer:
        outer.watch(seed)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        g = inner.gradient(y, x, output_gradients=seed)
    return outer.gradient(g, seed)


def hessian_by_jacobian(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x[0] ** 2 * x[1] + tf.sin(x[1])
        g = inner.gradient(y, x)
    return outer.jacobian(g, x)


def second_order_through_indexed_slices(tf):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.gather(x, [0, 2, 2]) ** 3)
        g = tf.convert_to_tensor(inner.gradient(y, x))
    return g, outer.gradient(g, x)


def unconnected_zero_second_order(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = 3.0 * x
        first = inner.gradient(y, x)
    return outer.gradient(first, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)


M = [[1.0, 2.0], [3.0, 4.0]]

CASES = {
    "relu": lambda tf: second(tf, lambda x: tf.nn.relu(x) ** 2, [-1.0, 0.0, 2.0]),
    "abs": lambda tf: second(tf, lambda x: tf.abs(x) ** 3, [-1.0, 0.0, 2.0]),
    "sigmoid": lambda tf: second(tf, tf.sigmoid, [-1.0, 0.0, 2.0]),
    "tanh": lambda tf: second(tf, tf.tanh, [-1.0, 0.0, 2.0]),
    "exp": lambda tf: second(tf, tf.exp, [-1.0, 0.0]),
    "log": lambda tf: second(tf, tf.math.log, [1.0, 2.0]),
    "sqrt": lambda tf: second(tf, tf.sqrt, [1.0, 4.0]),
    "rsqrt": lambda tf: second(tf, tf.math.rsqrt, [1.0, 4.0]),
    "square": lambda tf: second(tf, tf.square, [0.0, 3.0]),
    "reciprocal": lambda tf: second(tf, tf.math.reciprocal, [1.0, 2.0]),
    "pow": lambda tf: second(tf, tf.pow, [1.0, 2.0], [3.0, 2.0]),
    "pow_python_two": lambda tf: second(tf, lambda x: x**2, [0.0, 2.0]),
    "pow_python_two_at_zero": lambda tf: second(tf, lambda x: x**2.0, [0.0]),
    "divide": lambda tf: second(tf, lambda x, y: x / y, [1.0, 2.0], [3.0, 4.0]),
    "multiply_broadcast": lambda tf: second(tf, lambda x, y: x * y * y, M, [1.0, 2.0]),
    "softplus": lambda tf: second(tf, tf.nn.softplus, [-1.0, 0.0, 2.0]),
    "elu": lambda tf: second(tf, tf.nn.elu, [-1.0, 0.0, 2.0]),
    "selu": lambda tf: second(tf, tf.nn.selu, [-1.0, 0.5, 2.0]),
    "gelu": lambda tf: second(tf, tf.nn.gelu, [-1.0, 0.0, 2.0]),
    "silu": lambda tf: second(tf, tf.nn.silu, [-1.0, 0.0, 2.0]),
    "matmul": lambda tf: second(tf, lambda x, y: (x @ y) ** 2, M, M),
    "einsum": lambda tf: second(tf, lambda x, y: tf.einsum("ij,jk->ik", x, y) ** 2, M, M),
    "reduce_max": lambda tf: second(tf, lambda x: tf.reduce_max(x) ** 2, [1.0, 3.0, 2.0]),
    "reduce_prod": lambda tf: second(tf, tf.reduce_prod, [1.0, 3.0, 2.0]),
    "reduce_logsumexp": lambda tf: second(tf, tf.reduce_logsumexp, [1.0, 3.0, 2.0]),
    "softmax": lambda tf: second(tf, lambda x: tf.nn.softmax(x)[0], [1.0, 3.0, 2.0]),
    "log_softmax": lambda tf: second(tf, lambda x: tf.nn.log_softmax(x)[0], [1.0, 3.0, 2.0]),
    "maximum": lambda tf: second(tf, lambda x, y: tf.maximum(x, y) ** 3, [1.0, 3.0], [2.0, 2.0]),
    "where": lambda tf: second(tf, lambda x: tf.where(x > 0.0, x**3, x**2), [-1.0, 2.0]),
    "norm": lambda tf: second(tf, tf.norm, [3.0, 4.0]),
    "cumsum": lambda tf: second(tf, lambda x: tf.cumsum(x) ** 2, [1.0, 2.0, 3.0]),
    "slice": lambda tf: second(tf, lambda x: x[1:] ** 3, [1.0, 2.0, 3.0]),
    "concat": lambda tf: second(tf, lambda x, y: tf.concat([x, y], 0) ** 3, [1.0], [2.0]),
    "l2_normalize": lambda tf: second(tf, lambda x: tf.nn.l2_normalize(x)[0], [3.0, 4.0]),
    "sigmoid_cross_entropy": lambda tf: second(
        tf, lambda x: tf.nn.sigmoid_cross_entropy_with_logits([0.0, 1.0], x), [1.0, -2.0]
    ),
    "softmax_cross_entropy": lambda tf: second(
        tf,
        lambda x: tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], x) ** 2,
        [[1.0, -2.0]],
    ),
    "sparse_cross_entropy": lambda tf: second(
        tf,
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([1], x) ** 2,
        [[1.0, -2.0, 0.5]],
    ),
}
