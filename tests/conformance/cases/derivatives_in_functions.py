"""Forward mode, Hessians and Jacobians inside and outside of functions, through branches and loops."""


def _tangent(tf, f, x, t=None):
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x) if t is None else t) as acc:
        y = f(x)
    return acc.jvp(y)


def _gradient(tf, f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def _ways(tf, derivative, f, x):
    """A derivative outside, inside and on both sides of a function."""
    traced = tf.function(f)
    return [
        derivative(tf, traced, x),
        tf.function(lambda x: derivative(tf, f, x))(x),
        tf.function(lambda x: derivative(tf, traced, x))(x),
    ]


def _counted(tf, turns):
    def f(x):
        return tf.while_loop(
            lambda i, y: i < turns, lambda i, y: (i + 1, y * x + tf.sin(y)), [tf.constant(0), x]
        )[1]

    return f


def _until_large(tf):
    def f(x):
        return tf.while_loop(lambda y: tf.reduce_sum(y) < 50.0, lambda y: [y * x + 1.0], [x])[0]

    return f


def tangent_through_while(tf):
    return _ways(tf, _tangent, _counted(tf, 4), tf.constant(1.5))


def tangent_through_while_with_turns_that_follow_from_values(tf):
    return _ways(tf, _tangent, _until_large(tf), tf.constant([1.5, 2.0]))


def tangent_through_a_loop_over_a_range(tf):
    @tf.function
    def inside(turns, y):
        with tf.autodiff.ForwardAccumulator(y, tf.constant(1.0)) as acc:
            total = tf.constant(0.0)
            for i in tf.range(turns):
                total += y * tf.cast(i, tf.float32)
        return acc.jvp(total)

    return [inside(tf.constant(n), tf.constant(2.0)) for n in (5, 1, 0)]


def tangent_through_cond(tf):
    def f(x):
        return tf.cond(tf.reduce_sum(x) > 1.0, lambda: x * x * tf.sin(x), lambda: x * 3.0)

    return [_ways(tf, _tangent, f, x) for x in (tf.constant(2.0), tf.constant([0.25, 0.5]))]


def _hessian_by_rows(tf, f, x, vectorized):
    """Forward over backward, for one direction after the other."""

    def row(index):
        direction = tf.reshape(tf.one_hot(index, tf.size(x)), tf.shape(x))
        with tf.autodiff.ForwardAccumulator(x, direction) as acc:
            slope = _gradient(tf, f, x)
        return acc.jvp(slope)

    numbers = tf.range(tf.size(x))
    if vectorized:
        return tf.vectorized_map(row, numbers)
    return tf.map_fn(row, numbers, fn_output_signature=tf.float32)


def hessian_forward_over_backward(tf):
    matrix = tf.Variable([[1.0, 2.0, 0.5], [0.0, 3.0, 1.0], [2.0, 1.0, 4.0]])
    x = tf.constant([1.0, -2.0, 0.5])

    def f(x):
        return tf.reduce_sum(x[:, None] * matrix * x[None, :])

    return [
        _hessian_by_rows(tf, f, x, vectorized=False),
        tf.function(lambda x: _hessian_by_rows(tf, f, x, vectorized=False))(x),
        tf.function(lambda x: _hessian_by_rows(tf, f, x, vectorized=True))(x),
    ]


def second_tangent(tf):
    def second(tf, f, x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as outer:
            with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as inner:
                y = f(x)
        return outer.jvp(inner.jvp(y))

    return _ways(tf, second, lambda x: x**3.5, tf.constant(1.25))


# Jacobians.


def _jacobian(tf, f, x, vectorized=True):
    with tf.GradientTape(persistent=not vectorized) as tape:
        tape.watch(x)
        y = f(x) * x
    return tape.jacobian(y, x, experimental_use_pfor=vectorized)


def _branching(tf):
    def f(x):
        return tf.cond(x[0] > 0.0, lambda: tf.reduce_sum(tf.sin(x) * x), lambda: x[0] * 3.0)

    return f


def jacobian_of_a_function_with_a_conditional(tf):
    found = [
        _ways(tf, _jacobian, _branching(tf), tf.constant(x))
        for x in ([1.0, 2.0, 0.5], [-1.0, 2.0, 0.5])
    ]
    return [*found, _jacobian(tf, tf.function(_branching(tf)), tf.constant([1.0, 2.0]), False)]


def jacobian_of_a_function_with_a_loop(tf):
    def f(x):
        return tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * tf.sin(x)), [tf.constant(0), x]
        )[1]

    return _ways(tf, _jacobian, f, tf.constant([1.0, 2.0, 0.5]))


def batch_jacobian_of_a_function_with_a_conditional(tf):
    def f(x):
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * x * x[:, :1], lambda: x)

    def derivative(tf, f, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.batch_jacobian(y, x)

    return _ways(tf, derivative, f, tf.constant([[1.0, 2.0], [3.0, 4.0]]))


def jacobian_of_unknown_sizes(tf):
    spec = [tf.TensorSpec([None])]
    inner = tf.function(_branching(tf))
    return [
        tf.function(lambda x, v=v: _jacobian(tf, inner, x, v), input_signature=spec)(
            tf.constant([1.0, 2.0, 0.5])
        )
        for v in (True, False)
    ]


# Functions that change what they are given.


def _changing(tf, change, argument):
    @tf.function
    def f(given):
        change(given)
        return tf.constant(1.0)

    return f(argument)


def function_that_appends_to_its_argument(tf):
    return _changing(tf, lambda x: x.append(tf.constant(1.0)), [tf.constant(2.0)])


def function_that_replaces_an_element_of_its_argument(tf):
    def change(x):
        x[0] = x[0] * 3.0

    return _changing(tf, change, [tf.constant(2.0)])


def function_that_adds_to_a_dict(tf):
    def change(x):
        x["b"] = x["a"]

    return _changing(tf, change, {"a": tf.constant(2.0)})


def function_that_changes_a_list_in_a_list(tf):
    return _changing(tf, lambda x: x[0].append(1.0), [[tf.constant(2.0)]])


def function_that_changes_a_copy(tf):
    def change(x):
        copy = list(x)
        copy.append(tf.constant(1.0))

    return _changing(tf, change, [tf.constant(2.0)])


def gradients_of_a_constant(tf):
    outside = tf.constant([1.0, 2.0])

    @tf.function
    def slopes():
        x = tf.convert_to_tensor(outside, name="x")
        (first,) = tf.gradients(tf.reduce_sum(x**3), x)
        y = tf.convert_to_tensor(4.0, name="y")
        return first, tf.gradients(y * y, [y, x])[0], tf.convert_to_tensor([1], name="z")

    return slopes()
