"""Random ops: what repeats and what does not, shapes, dtypes and ranges. Never the values."""


def _draws(tf, n=3):
    return [tf.random.normal([4]) for _ in range(n)]


def _same(tf, a, b):
    return bool(tf.reduce_all(a == b))


def global_seed_repeats(tf):
    tf.random.set_seed(7)
    a = _draws(tf)
    tf.random.set_seed(7)
    b = _draws(tf)
    return [_same(tf, x, y) for x, y in zip(a, b, strict=True)]


def draws_differ_from_each_other(tf):
    tf.random.set_seed(7)
    a, b, c = _draws(tf)
    return _same(tf, a, b), _same(tf, b, c)


def another_seed_differs(tf):
    tf.random.set_seed(7)
    a = tf.random.uniform([4])
    tf.random.set_seed(8)
    return _same(tf, a, tf.random.uniform([4]))


def op_seed_advances(tf):
    tf.random.set_seed(7)
    a = tf.random.uniform([4], seed=1)
    b = tf.random.uniform([4], seed=1)
    return _same(tf, a, b)


def op_seed_restarts_with_the_global_seed(tf):
    tf.random.set_seed(7)
    a = tf.random.uniform([4], seed=1)
    tf.random.set_seed(7)
    b = tf.random.uniform([4], seed=1)
    return _same(tf, a, b)


def stateless_repeats(tf):
    a = tf.random.stateless_normal([4], seed=[1, 2])
    b = tf.random.stateless_normal([4], seed=[1, 2])
    c = tf.random.stateless_normal([4], seed=[1, 3])
    return _same(tf, a, b), _same(tf, a, c)


def shuffle_is_a_permutation(tf):
    return tf.sort(tf.random.shuffle(tf.range(10)))


def uniform_range(tf):
    x = tf.random.uniform([1000], -1.0, 3.0)
    return bool(tf.reduce_all((x >= -1.0) & (x < 3.0))), x.dtype, x.shape


def uniform_int_range(tf):
    x = tf.random.uniform([1000], 0, 5, tf.int32)
    return tf.reduce_min(x), tf.reduce_max(x), x.dtype


def normal_moments(tf):
    x = tf.random.normal([10000], mean=5.0, stddev=2.0)
    mean, std = float(tf.reduce_mean(x)), float(tf.math.reduce_std(x))
    return abs(mean - 5.0) < 0.2, abs(std - 2.0) < 0.2


def truncated_normal_range(tf):
    x = tf.random.truncated_normal([10000])
    return bool(tf.reduce_all(tf.abs(x) <= 2.0)), x.shape, x.dtype


def categorical(tf):
    x = tf.random.categorical([[0.0, float("-inf")], [float("-inf"), 0.0]], 4)
    return x


def gradient_beside_a_random_factor(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * tf.random.normal([]) * 0.0
    return tape.gradient(y, v)


def reparametrisation_is_connected(tf):
    mean, std = tf.Variable(1.0), tf.Variable(2.0)
    tf.random.set_seed(3)
    with tf.GradientTape() as tape:
        z = tf.random.normal([8], mean, std)
    g_mean, g_std = tape.gradient(z, [mean, std])
    tf.random.set_seed(3)
    noise = tf.random.normal([8])
    return g_mean, bool(tf.abs(g_std - tf.reduce_sum(noise)) < 1e-4)


def uniform_gradient_of_bounds(tf):
    low = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        z = tf.random.uniform([8], low, 1.0)
    return tape.gradient(z, low) is None


CASES = {
    "normal": lambda tf: (tf.random.normal([2, 3]).shape, tf.random.normal([2]).dtype),
    "normal_float64": lambda tf: tf.random.normal([2], dtype=tf.float64).dtype,
    "normal_scalar": lambda tf: tf.random.normal([]).shape,
    "normal_int": lambda tf: tf.random.normal([2], dtype=tf.int32),
    "normal_tensor_shape": lambda tf: tf.random.normal(tf.constant([2, 1])).shape,
    "normal_broadcast_parameters": lambda tf: tf.random.normal([3, 2], [0.0, 1.0], 1.0).shape,
    "normal_negative_shape": lambda tf: tf.random.normal([-1]),
    "uniform_int_without_maxval": lambda tf: tf.random.uniform([2], dtype=tf.int32),
    "uniform_empty": lambda tf: tf.random.uniform([0, 2]).shape,
    "uniform_int_empty_range": lambda tf: tf.random.uniform([2], 5, 5, tf.int32),
    "shuffle_rows": lambda tf: tf.random.shuffle([[1, 2], [3, 4]]).shape,
    "set_seed_returns": lambda tf: tf.random.set_seed(1),
    "set_seed_str": lambda tf: tf.random.set_seed("a"),
    "stateless_bad_seed": lambda tf: tf.random.stateless_uniform([2], seed=[1]),
}
