"""Tapes and threads: recording belongs to the thread that entered the tape."""

import threading


def _in_thread(f):
    result = []

    def run():
        try:
            result.append(f())
        except Exception as error:
            result.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(result[0], Exception):
        raise result[0]
    return result[0]


def other_thread_is_not_recorded(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = _in_thread(lambda: x * x)
    return y, tape.gradient(y, x)


def variables_of_another_thread_are_not_watched(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        _in_thread(lambda: v * v)
    return len(tape.watched_variables())


def tape_inside_a_thread(tf):
    def work():
        v = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = v * v
        return tape.gradient(y, v)

    return _in_thread(work)


def gradient_asked_by_another_thread(tf):
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    return _in_thread(lambda: tape.gradient(y, v))


def many_threads_at_once(tf):
    results = {}
    barrier = threading.Barrier(4)

    def work(i):
        x = tf.constant(float(i))
        with tf.GradientTape() as tape:
            tape.watch(x)
            barrier.wait()
            y = x
            for _ in range(20):
                y = y * 1.0
            y = y * x
            barrier.wait()
        results[i] = float(tape.gradient(y, x))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [results[i] for i in range(4)]


def stop_recording_in_one_thread_only(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():

            def work():
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = x * x
                return inner.gradient(y, x)

            g = _in_thread(work)
        y = x * x
    return g, tape.gradient(y, x)


def name_scope_stays_in_its_thread(tf):
    with tf.name_scope("here"):
        return _in_thread(lambda: tf.Variable(1.0, name="v").name)
