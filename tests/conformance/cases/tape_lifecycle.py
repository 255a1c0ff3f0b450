"""When a tape records, and what it lets go of."""


def gradient_of_square(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x**2
    return tape.gradient(y, x)


def second_gradient_call_raises(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    return tape.gradient(y, x)


def persistent_allows_several_calls(tf):
    x = tf.constant([1.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return tape.gradient(z, x), tape.gradient(y, x), tape.gradient(z, y)


def persistent_gradient_inside_context_warns(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        g = tape.gradient(y, x)
    return g


def gradient_inside_context(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        g = tape.gradient(y, x)
    return g


def gradient_inside_context_ends_it(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.gradient(y, x)
        z = x * x
    return tape.gradient(z, x)


def persistent_gradient_inside_context_is_recorded(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x * x
        g = tape.gradient(y, x)
    return tape.gradient(g, x)


def reenter_continues_recording(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    with tape:
        z = y * y
    return tape.gradient(z, x)


def reenter_after_gradient_starts_fresh(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    first = tape.gradient(y, x)
    with tape:
        z = x * 5.0
    return first, tape.gradient(z, x)


def entering_twice_raises(tf):
    with tf.GradientTape() as tape, tape:
        return 1


def ops_between_contexts_are_not_recorded(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    y = y * 2.0
    with tape:
        z = y * y
    return tape.gradient(z, x)


def gradient_of_a_tape_never_entered(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    y = x * x
    return tape.gradient(y, x)


def stop_recording(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = x * 10.0
        w = z + y
    return tape.gradient(w, x)


def stop_recording_cuts_the_path(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            y = x * x
    return tape.gradient(y, x)


def stop_recording_before_entering(tf):
    tape = tf.GradientTape()
    with tape.stop_recording():
        return 1


def gradient_inside_stop_recording(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        with tape.stop_recording():
            g = tape.gradient(y, x)
        z = g * x
    return g, tape.gradient(z, x)


def reset_forgets(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.reset()
        z = x * 5.0
    return tape.gradient([y, z], x)


def reset_forgets_watched_tensors(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.reset()
        y = x * x
    return tape.gradient(y, x)


def reset_outside_context(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    tape.reset()
    return tape.gradient(y, x)


def reset_clears_watched_variables(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        x * x
        tape.reset()
    return len(tape.watched_variables())


def variable_assigned_after_use(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        x.assign(10.0)
    return tape.gradient(y, x), x


def variable_assigned_between_uses(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        x.assign_add(1.0)
        z = x * x
    return tape.gradient([y, z], x)


def state_cuts_the_gradient(tf):
    x0 = tf.Variable(3.0)
    x1 = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        x1.assign_add(x0)
        y = x1**2
    return tape.gradient(y, x0)


def variable_replaced_by_tensor_in_a_loop(tf):
    x = tf.Variable(2.0)
    results = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = x + 1
        results.append(tape.gradient(y, x))
        x = x + 1
    return results


def exception_inside_the_context(tf):
    x = tf.Variable(2.0)
    tape, y = tf.GradientTape(), None
    try:
        with tape:
            y = x * x
            raise KeyError("stop")
    except KeyError:
        pass
    return tape.gradient(y, x)


def two_tapes_side_by_side(tf):
    x = tf.constant(2.0)
    y = tf.constant(3.0)
    with tf.GradientTape() as one, tf.GradientTape() as two:
        one.watch(x)
        two.watch(y)
        z = x * x * y
    return one.gradient(z, x), two.gradient(z, y)


def each_tape_sees_only_its_watched(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as one, tf.GradientTape() as two:
        one.watch(x)
        z = x * x
    return one.gradient(z, x), two.gradient(z, x)
