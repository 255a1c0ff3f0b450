"""What a tape watches: by itself, when asked, and what it says it watched."""


def unwatched_constant(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x)


def watched_constant(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


def watch_returns_nothing(tf):
    with tf.GradientTape() as tape:
        return tape.watch(tf.constant(1.0))


def watch_on_a_tape_never_entered(tf):
    return tf.GradientTape().watch(tf.constant(1.0))


def watch_after_the_context(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.watch(x)
    return tape.gradient(y, x)


def watch_after_use(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
        z = x * 4.0
    return tape.gradient([y, z], x)


def watch_a_list(tf):
    xs = [tf.constant(1.0), tf.constant(2.0)]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = xs[0] * xs[1]
    return tape.gradient(y, xs)


def watch_a_dict(tf):
    xs = {"b": tf.constant(1.0), "a": tf.constant(2.0)}
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = xs["a"] * xs["a"] * xs["b"]
    return tape.gradient(y, xs)


def watch_python_float(tf):
    with tf.GradientTape() as tape:
        tape.watch(3.0)
    return "watched"


def watch_none(tf):
    with tf.GradientTape() as tape:
        tape.watch(None)
    return "watched"


def watch_numpy_array(tf):
    import numpy as np

    with tf.GradientTape() as tape:
        tape.watch(np.ones(2, np.float32))
    return "watched"


def watch_int_tensor(tf):
    x = tf.constant(3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


def watch_bool_tensor(tf):
    with tf.GradientTape() as tape:
        tape.watch(tf.constant(True))
    return None


def watch_string_tensor(tf):
    with tf.GradientTape() as tape:
        tape.watch(tf.constant("a"))
    return None


def watch_complex_tensor(tf):
    x = tf.constant(1 + 2j)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


def watch_variable_by_hand(tf):
    x = tf.Variable(3.0)
    y = tf.Variable(4.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        z = x * y
    return tape.gradient(z, [x, y])


def watch_non_trainable_variable_by_hand(tf):
    x = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


def no_accessed_variables(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = x * x
    return tape.gradient(y, x), len(tape.watched_variables())


def non_trainable_variable(tf):
    x = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x)


def variable_plus_number_is_a_tensor(tf):
    x = tf.Variable(3.0) + 1.0
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x)


def watched_variables_in_order_of_creation(tf):
    a, b, c = (tf.Variable(float(i), name=n) for i, n in enumerate("abc"))
    with tf.GradientTape() as tape:
        y = c * a
    y = y * b
    return [v.name for v in tape.watched_variables()]


def watched_variables_once_each(tf):
    a = tf.Variable(2.0, name="a")
    with tf.GradientTape() as tape:
        a * a * a
    return [v.name for v in tape.watched_variables()]


def watched_variables_type(tf):
    a = tf.Variable(2.0, name="a")
    with tf.GradientTape() as tape:
        a.read_value()
    return type(tape.watched_variables()).__name__


def watched_variables_after_gradient(tf):
    a = tf.Variable(2.0, name="a")
    with tf.GradientTape() as tape:
        y = a * a
    tape.gradient(y, a)
    return [v.name for v in tape.watched_variables()]


def watched_variables_do_not_hold_constants(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
    return len(tape.watched_variables())


def watched_variables_before_entering(tf):
    return len(tf.GradientTape().watched_variables())
