"""Names of their own: names of devices, scopes, creators of variables, sound, queues, regression."""

import numpy as np
from case_helpers import everywhere

_rng = np.random.default_rng(5)
ROWS = _rng.uniform(-2.0, 2.0, (3, 5)).astype(np.float32)
SOUND = np.array([[0.0, 0.5], [1.0, -1.0], [-0.25, 2.0], [0.1, -0.7]], np.float32)


def _regression(x, **options):
    def f(tf, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, segments = tf.nn.isotonic_regression(x, **options)
            total = tf.reduce_sum(
                y * tf.cast(tf.reshape(tf.range(1, 1 + ROWS.size), y.shape), y.dtype)
            )
        return y, segments, tape.gradient(total, x)

    return lambda tf: everywhere(tf, lambda x: f(tf, x), x)


def _spec(*texts):
    return lambda tf: [
        [s.job, s.replica, s.task, s.device_type, s.device_index, s.to_string()]
        for s in (tf.DeviceSpec.from_string(text) for text in texts)
    ]


def merged_specs(tf):
    spec = tf.DeviceSpec(job="a", task=3).make_merged_spec(
        tf.DeviceSpec.from_string("/task:4/GPU:1")
    )
    return [
        spec.to_string(),
        spec.replace(task=2).to_string(),
        repr(spec),
        spec == spec.replace(job="a"),
    ]


def creators(tf):
    seen = []

    def outer(next_creator, **arguments):
        seen.append(("outer", arguments["name"], arguments["trainable"]))
        arguments["trainable"] = False
        return next_creator(**arguments)

    def inner(next_creator, **arguments):
        seen.append(("inner", arguments["name"], arguments["trainable"]))
        return next_creator(**arguments)

    with tf.variable_creator_scope(outer), tf.variable_creator_scope(inner):
        v = tf.Variable(1.0, name="v")
    w = tf.Variable(2.0)
    return seen, v.trainable, w.trainable


def creators_know_kinds_of_variables(tf):
    seen = []

    def creator(next_creator, **arguments):
        seen.append([arguments[name].name for name in ("synchronization", "aggregation")])
        return next_creator(**arguments)

    with tf.variable_creator_scope(creator):
        tf.Variable(1.0)
        tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
    return seen


def functions_of_modules_have_what_they_have(tf):
    class Scaled(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(2.0)
            self.unit = "m"

        def __call__(self, x):
            return x * self.scale

    function = tf.function(Scaled())
    return function(tf.constant(3.0)), function.scale, function.unit


def references_have_an_order(tf):
    references = [tf.Variable(1.0).ref(), tf.constant(1.0).ref()]
    first, second = sorted(references)
    return first < second, second < first


def conversion(tf):
    class Point:
        def __init__(self, x):
            self.x = x

    tf.register_tensor_conversion_function(
        Point, lambda value, dtype=None, name=None, as_ref=False: tf.constant(value.x, dtype)
    )
    return (
        tf.constant([1.0, 2.0]) + Point(3.0),
        tf.reduce_sum(Point([1.0, 2.0])),
        tf.stack([Point(1.0)]),
    )


def decorators(tf):
    @tf.py_function(Tout=tf.float32)
    def twice(x):
        return x * 2.0

    @tf.numpy_function(Tout=tf.float32)
    def thrice(x):
        return np.float32(x * 3.0)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = twice(x)
    return y, tape.gradient(y, x), thrice(x), tf.function(lambda x: twice(x))(x)


def scopes(tf):
    with tf.name_scope("a"), tf.name_scope("b"):
        inside = tf.get_current_name_scope()
    return inside, tf.get_current_name_scope()


def queue_in_order(tf):
    q = tf.queue.FIFOQueue(5, [tf.float32, tf.int32], shapes=[[2], []])
    q.enqueue(([1.0, 2.0], 3))
    q.enqueue_many(([[3.0, 4.0], [5.0, 6.0]], [4, 5]))
    first = q.dequeue()
    return first, q.size(), q.dequeue_many(2), q.is_closed(), [str(s) for s in q.shapes]


def queue_in_function(tf):
    q = tf.queue.FIFOQueue(5, tf.float32, shapes=[[]])

    @tf.function
    def f(x):
        q.enqueue(x)
        q.enqueue(x * 2.0)
        return q.dequeue() + 1.0

    return f(tf.constant(1.0)), f(tf.constant(5.0)), q.size()


def queue_closed(tf):
    q = tf.queue.FIFOQueue(5, tf.float32, shapes=[[]])
    q.enqueue(1.0)
    q.close()
    return q.dequeue_up_to(3), q.is_closed()


def queue_empty_and_closed(tf):
    q = tf.queue.FIFOQueue(5, tf.float32)
    q.close()
    return q.dequeue()


def queue_put_in_closed(tf):
    q = tf.queue.FIFOQueue(5, tf.float32)
    q.close()
    q.enqueue(1.0)


def queue_wrong_shape(tf):
    tf.queue.FIFOQueue(5, tf.float32, shapes=[[2]]).enqueue([1.0])


def queue_unknown_shapes(tf):
    q = tf.queue.FIFOQueue(5, tf.float32)
    q.enqueue(1.0)
    return q.dequeue_many(1)


def queue_named(tf):
    q = tf.queue.FIFOQueue(5, [tf.float32, tf.int32], names=["a", "b"])
    q.enqueue({"a": 1.0, "b": 2})
    return q.dequeue()


def queue_padded(tf):
    q = tf.queue.PaddingFIFOQueue(5, [tf.int32], shapes=[[None]])
    q.enqueue_many([[[1, 2], [3, 4]]])
    q.enqueue([[5]])
    return q.dequeue_many(3)


def queue_by_priority(tf):
    q = tf.queue.PriorityQueue(5, [tf.string], shapes=[[]])
    for number, text in ((3, "c"), (1, "a"), (2, "b")):
        q.enqueue((number, text))
    return q.dequeue(), q.dequeue_many(2), [d.name for d in q.dtypes]


CASES = {
    "falling": _regression(ROWS),
    "rising": _regression(ROWS, decreasing=False),
    "falling_columns": _regression(ROWS, axis=0),
    "falling_with_ties": _regression(np.round(ROWS)),
    "falling_nothing": lambda tf: [
        tuple(tf.nn.isotonic_regression(tf.zeros(shape), axis=axis))
        for shape, axis in (([0], 0), ([0, 1], 0), ([2, 0], 1))
    ],
    "falling_ints": lambda tf: tf.nn.isotonic_regression(tf.constant([3, 1, 2, 5])),
    "approx_max": lambda tf: everywhere(tf, lambda x: tuple(tf.math.approx_max_k(x, 3)), ROWS),
    "devices": _spec(
        "/job:worker/task:1/GPU:0", "GPU:0", "/CPU:*", "/device:CPU:1", "", "/job:a/replica:2"
    ),
    "devices_nonsense": _spec("/nonsense"),
    "wav": lambda tf: list(tf.audio.encode_wav(SOUND, 16000).numpy()),
    "wav_and_back": lambda tf: tf.audio.decode_wav(tf.audio.encode_wav(SOUND, 44100)),
    "wav_shorter": lambda tf: tf.audio.decode_wav(tf.audio.encode_wav(SOUND, 8000), 1, 2),
    "wav_longer": lambda tf: tf.audio.decode_wav(tf.audio.encode_wav(SOUND, 8000), 3, 6),
    "wav_damaged": lambda tf: tf.audio.decode_wav(b"abc"),
}
