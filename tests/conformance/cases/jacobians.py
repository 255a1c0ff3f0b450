"""`tape.jacobian` and `tape.batch_jacobian`."""


def _record(tf, f, *inputs, persistent=False):
    xs = [tf.constant(value) for value in inputs]
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape, y, xs


def scalar_source(tf):
    tape, y, (x,) = _record(tf, lambda x: tf.sigmoid(x * [0.0, 1.0, 2.0]), 0.5)
    return tape.jacobian(y, x)


def scalar_target_and_source(tf):
    tape, y, (x,) = _record(tf, lambda x: x * x, 3.0)
    return tape.jacobian(y, x)


def vector_to_vector(tf):
    tape, y, (x,) = _record(tf, lambda x: x**2, [1.0, 2.0, 3.0])
    return tape.jacobian(y, x)


def matrix_to_matrix(tf):
    tape, y, (x,) = _record(tf, lambda x: x @ [[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0]])
    return tape.jacobian(y, x)


def several_sources(tf):
    tape, y, xs = _record(tf, lambda x, w: tf.linalg.matvec(w, x), [1.0, 2.0], [[1.0, 2.0]])
    return tape.jacobian(y, xs)


def sources_in_a_dict(tf):
    tape, y, (x, z) = _record(tf, lambda x, z: x * z, [1.0, 2.0], [3.0, 4.0])
    return tape.jacobian(y, {"x": x, "z": z})


def without_pfor(tf):
    tape, y, (x,) = _record(tf, lambda x: x**2, [1.0, 2.0], persistent=True)
    return tape.jacobian(y, x, experimental_use_pfor=False)


def without_pfor_on_a_tape_used_once(tf):
    tape, y, (x,) = _record(tf, lambda x: x**2, [1.0, 2.0])
    return tape.jacobian(y, x, experimental_use_pfor=False)


def list_of_targets(tf):
    tape, y, (x,) = _record(tf, lambda x: x**2, [1.0, 2.0])
    return tape.jacobian([y], x)


def unconnected(tf):
    tape, y, (x, z) = _record(tf, lambda x, z: x**2, [1.0, 2.0], 3.0)
    return tape.jacobian(y, [x, z])


def unconnected_zero(tf):
    tape, y, (x, z) = _record(tf, lambda x, z: x**2, [1.0, 2.0], [3.0, 4.0, 5.0])
    return tape.jacobian(y, [x, z], unconnected_gradients=tf.UnconnectedGradients.ZERO)


def called_twice(tf):
    tape, y, (x,) = _record(tf, lambda x: x**2, [1.0, 2.0])
    tape.jacobian(y, x)
    return tape.jacobian(y, x)


def persistent_twice(tf):
    tape, y, (x,) = _record(tf, lambda x: x**2, [1.0, 2.0], persistent=True)
    return tape.jacobian(y, x), tape.gradient(y, x)


def of_a_variable(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w, axis=0)
    return tape.jacobian(y, w)


def of_gather(tf):
    tape, y, (x,) = _record(tf, lambda x: tf.gather(x, [2, 0]), [1.0, 2.0, 3.0])
    return tape.jacobian(y, x)


def hessian(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x**3) + x[0] * x[1]
        g = inner.gradient(y, x)
    return outer.jacobian(g, x)


def batch(tf):
    tape, y, (x,) = _record(tf, lambda x: x**2 * x[:, ::-1], [[1.0, 2.0], [3.0, 4.0]])
    return tape.batch_jacobian(y, x)


def batch_of_matrices(tf):
    tape, y, (x,) = _record(tf, lambda x: tf.reduce_sum(x**2, 2), [[[1.0, 2.0]], [[3.0, 4.0]]])
    return tape.batch_jacobian(y, x)


def batch_without_pfor(tf):
    tape, y, (x,) = _record(tf, lambda x: x**2, [[1.0, 2.0], [3.0, 4.0]], persistent=True)
    return tape.batch_jacobian(y, x, experimental_use_pfor=False)


def batch_of_different_sizes(tf):
    tape, y, (x,) = _record(tf, lambda x: x[:1] ** 2, [[1.0, 2.0], [3.0, 4.0]])
    return tape.batch_jacobian(y, x)


def batch_of_a_vector(tf):
    tape, y, (x,) = _record(tf, lambda x: x**2, [1.0, 2.0])
    return tape.batch_jacobian(y, x)


def batch_of_a_scalar(tf):
    tape, y, (x,) = _record(tf, lambda x: x**2, 1.0)
    return tape.batch_jacobian(y, x)


def batch_unconnected(tf):
    tape, y, (_, z) = _record(tf, lambda x, z: x**2, [[1.0, 2.0]], [[3.0]])
    return tape.batch_jacobian(y, z)


def batch_unconnected_zero(tf):
    tape, y, (_, z) = _record(tf, lambda x, z: x**2, [[1.0, 2.0]], [[3.0]])
    return tape.batch_jacobian(y, z, unconnected_gradients=tf.UnconnectedGradients.ZERO)


def batch_called_twice(tf):
    tape, y, (x,) = _record(tf, lambda x: x**2, [[1.0, 2.0]])
    tape.batch_jacobian(y, x)
    return tape.batch_jacobian(y, x)
