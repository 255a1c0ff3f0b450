"""`stop_gradient`, `custom_gradient`, `recompute_grad`, `grad_pass_through`."""


def _gradient(tf, f, *inputs):
    xs = [tf.constant(value) for value in inputs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return y, tape.gradient(y, xs)


def stop_gradient(tf):
    return _gradient(tf, lambda x: x * tf.stop_gradient(x), 3.0)


def stop_gradient_of_everything(tf):
    return _gradient(tf, lambda x: tf.stop_gradient(x * x), 3.0)


def stop_gradient_of_a_variable(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(v) * v
    return tape.gradient(y, v)


def stop_gradient_of_a_list(tf):
    return tf.stop_gradient([1.0, 2.0])


def stop_gradient_result_as_source(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        s = tf.stop_gradient(x * x)
        tape.watch(s)
        y = s * s
    return tape.gradient(y, [x, s])


def replaces_the_gradient(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 100.0

    return _gradient(tf, f, 3.0)


def clips_the_gradient(tf):
    @tf.custom_gradient
    def clip(x):
        return tf.identity(x), lambda dy: tf.clip_by_norm(dy, 0.5)

    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = clip(v * v)
    return tape.gradient(y, v)


def log1pexp(tf):
    @tf.custom_gradient
    def f(x):
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    return _gradient(tf, f, [100.0, 0.0])


def two_inputs(tf):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: (dy * 10.0, dy * 20.0)

    return _gradient(tf, f, 2.0, 3.0)


def none_for_one_input(tf):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: (dy * 10.0, None)

    return _gradient(tf, f, 2.0, 3.0)


def two_outputs(tf):
    @tf.custom_gradient
    def f(x):
        return (x * 2.0, x * 3.0), lambda da, db: da * 5.0 + db * 7.0

    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = f(x)
    return a, b, tape.gradient([a, b], x), tape.gradient(a, x), tape.gradient(b, x)


def list_of_outputs(tf):
    @tf.custom_gradient
    def f(x):
        return [x * 2.0, x * 3.0], lambda *dys: sum(dys)

    return f(tf.constant(1.0))


def dict_of_outputs(tf):
    @tf.custom_gradient
    def f(x):
        return {"b": x * 2.0, "a": x * 3.0}, lambda *dys: dys[0] * 10.0 + dys[1]

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y["b"], x)


def keyword_arguments(tf):
    @tf.custom_gradient
    def f(x, *, scale=1.0):
        return x * scale, lambda dy: dy * scale * 10.0

    return _gradient(tf, lambda x: f(x, scale=3.0), 2.0)


def python_number_argument(tf):
    @tf.custom_gradient
    def f(x, n):
        return x**n, lambda dy: (dy * 2.0, None)

    return _gradient(tf, lambda x: f(x, 3), 2.0)


def nested_argument(tf):
    @tf.custom_gradient
    def f(pair):
        return pair["a"] * pair["b"], lambda dy: {"a": dy * 10.0, "b": dy * 20.0}

    return _gradient(tf, lambda a, b: f({"a": a, "b": b}), 2.0, 3.0)


def too_few_gradients(tf):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: dy

    return _gradient(tf, f, 2.0, 3.0)


def too_many_gradients(tf):
    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda dy: (dy, dy)

    return _gradient(tf, f, 2.0)


def gradient_of_a_wrong_shape(tf):
    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda dy: tf.constant([1.0, 2.0, 3.0])

    return _gradient(tf, f, [1.0, 2.0])


def without_a_gradient_function(tf):
    @tf.custom_gradient
    def f(x):
        return x * 2.0

    return f(tf.constant(1.0))


def with_variables(tf):
    v = tf.Variable(5.0, name="v")

    @tf.custom_gradient
    def f(x):
        def grad(dy, variables=None):
            return dy * 10.0, [dy * 100.0 for _ in variables]

        return x * v, grad

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, v])


def with_variables_not_accepted(tf):
    v = tf.Variable(5.0)

    @tf.custom_gradient
    def f(x):
        return x * v, lambda dy: dy * 10.0

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, [x, v])


def with_a_non_trainable_variable(tf):
    v = tf.Variable(5.0, trainable=False)

    @tf.custom_gradient
    def f(x):
        return x * v, lambda dy: dy * 10.0

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, [x, v])


def variable_as_argument(tf):
    v = tf.Variable(5.0)

    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 7.0

    with tf.GradientTape() as tape:
        y = f(v)
    return tape.gradient(y, v)


def numpy_argument(tf):
    import numpy as np

    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda dy: dy

    return f(np.array([1.0, 2.0], np.float32))


def second_order_of_a_custom_gradient(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * x * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


def custom_gradient_of_a_custom_gradient(tf):
    @tf.custom_gradient
    def square(x):
        @tf.custom_gradient
        def first(dy):
            return dy * 10.0, lambda ddy: ddy * 1000.0

        return x * x, first

    x = tf.constant(2.0)
    seed = tf.constant(1.0)
    with tf.GradientTape() as outer:
        outer.watch(seed)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = square(x)
        g = inner.gradient(y, x, output_gradients=seed)
    return g, outer.gradient(g, seed)


def nested_custom_gradients(tf):
    @tf.custom_gradient
    def inner(x):
        return x * 2.0, lambda dy: dy * 1000.0

    @tf.custom_gradient
    def outer(x):
        return inner(x) * 3.0, lambda dy: dy * 7.0

    return _gradient(tf, lambda x: outer(x) + inner(x), 1.0)


def _hidden_operation(tf):
    x = tf.constant(2.0)
    kept = []

    @tf.custom_gradient
    def f(x):
        hidden = x * 3.0
        kept.append(hidden)
        return hidden * 2.0, lambda dy: dy * 5.0

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    return tape, x, kept[0], y


def output_does_not_depend_on_what_is_inside(tf):
    tape, x, hidden, y = _hidden_operation(tf)
    return tape.gradient(y, x), tape.gradient(y, hidden)


def what_is_inside_depends_on_the_input(tf):
    tape, x, hidden, _ = _hidden_operation(tf)
    return tape.gradient(hidden, x)


def returns_its_input(tf):
    @tf.custom_gradient
    def f(x):
        return x, lambda dy: dy * 5.0

    return _gradient(tf, lambda x: f(x) * 2.0, 3.0)


def recompute_grad(tf):
    return _gradient(tf, tf.recompute_grad(lambda x: tf.sin(x) * x), [0.5, 1.0])


def recompute_grad_with_a_variable(tf):
    v = tf.Variable(3.0)
    f = tf.recompute_grad(lambda x: tf.sin(x * v))
    x = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, v])


def recompute_grad_of_two_arguments(tf):
    return _gradient(tf, tf.recompute_grad(lambda x, y: x * x * y), 2.0, 3.0)


def recompute_grad_calls_again(tf):
    calls = []

    @tf.recompute_grad
    def f(x):
        calls.append(1)
        return x * x

    _gradient(tf, f, 2.0)
    return len(calls)


def grad_pass_through(tf):
    return _gradient(tf, tf.grad_pass_through(lambda x: x**3), [1.0, 2.0])


def grad_pass_through_rounding(tf):
    return _gradient(tf, lambda x: tf.grad_pass_through(tf.round)(x) * 3.0, [1.4, 2.6])


def grad_pass_through_a_variable(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.grad_pass_through(lambda x: x * v)(v * 2.0)
    return y, tape.gradient(y, v)
