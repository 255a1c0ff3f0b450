"""`tf.random.Generator`, distributions with parameters, seeds of seeds, initializers. Never the values."""


def _same(tf, a, b):
    return bool(tf.reduce_all(a == b))


def _generator(tf):
    return tf.random.Generator.from_seed(1)


def _gradients(tf, f, *inputs):
    xs = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return y, tape.gradient(y, xs)


def generator_repeats(tf):
    a, b = _generator(tf), _generator(tf)
    return [_same(tf, a.normal([4]), b.normal([4])) for _ in range(3)]


def generator_moves_on(tf):
    g = _generator(tf)
    return _same(tf, g.normal([4]), g.normal([4]))


def generator_state_moves(tf):
    g = _generator(tf)
    states = [g.state.numpy().tolist()]
    for draw in (
        lambda: g.normal([2]),
        lambda: g.uniform([3]),
        lambda: g.uniform([], 0, 5, dtype=tf.int32),
        lambda: g.truncated_normal([2, 2]),
        lambda: g.uniform_full_int([2]),
        lambda: g.skip(5),
    ):
        draw()
        states.append(g.state.numpy().tolist())
    return states


def generator_skip_returns_the_state_before(tf):
    g = tf.random.Generator.from_state([-1, 0, 7], "philox")
    return g.skip(1), g.state


def generator_resets(tf):
    g = _generator(tf)
    a = g.normal([3])
    g.reset_from_seed(1)
    b = g.normal([3])
    g.reset([1, 2, 3])
    state = g.state.numpy().tolist()
    g.reset_from_key_counter(7, [1, 2])
    return _same(tf, a, b), state, g.state.numpy().tolist(), g.key


def generator_restored_from_its_state(tf):
    g = _generator(tf)
    g.normal([3])
    h = tf.random.Generator.from_state(g.state.read_value(), "philox")
    return _same(tf, g.normal([3]), h.normal([3]))


def generator_shares_a_variable(tf):
    v = tf.Variable([1, 2, 3], dtype=tf.int64)
    g = tf.random.Generator.from_state(v, "philox")
    g.skip(1)
    return v


def generator_copies(tf):
    g = _generator(tf)
    h = tf.random.Generator(copy_from=g)
    g.normal([1])
    return h.state


def generator_splits(tf):
    a, b = _generator(tf).split(2)
    return _same(tf, a.normal([4]), b.normal([4])), a.state.shape, a.algorithm


def generator_seeds(tf):
    seeds = _generator(tf).make_seeds(3)
    return seeds.shape, seeds.dtype, seeds[1]


def generator_gradient(tf):
    _, (mean, _) = _gradients(tf, lambda m, s: _generator(tf).normal([3], m, s), 1.0, 2.0)
    return mean


def global_generator(tf):
    g = _generator(tf)
    tf.random.set_global_generator(g)
    return tf.random.get_global_generator() is g


def gamma_gradient_of_the_scale(tf):
    y, (_, beta) = _gradients(
        tf, lambda a, b: tf.random.stateless_gamma([5], [1, 2], a, b), 2.0, 3.0
    )
    return bool(tf.abs(beta + tf.reduce_sum(y) / 3.0) < 1e-4)


def gamma_gradient_of_the_shape(tf):
    # The mean of Gamma(a) is a, so the derivative of a sample by a is 1 on average.
    out = []
    for alpha in (0.3, 1.0, 5.0, 50.0):
        _, (g,) = _gradients(
            tf, lambda a: tf.reduce_mean(tf.random.stateless_gamma([20000], [1, 2], a)), alpha
        )
        out.append(abs(float(g) - 1.0) < 0.05)
    return out


def gamma_moments(tf):
    out = []
    for alpha in (0.2, 1.0, 3.0, 100.0):
        x = tf.random.stateless_gamma([50000], [3, 4], alpha, dtype=tf.float64)
        mean, variance = float(tf.reduce_mean(x)), float(tf.math.reduce_variance(x))
        out.append([abs(mean / alpha - 1) < 0.05, abs(variance / alpha - 1) < 0.1])
    return out


def poisson_moments(tf):
    out = []
    for lam in (0.5, 5.0, 20.0, 1000.0):
        x = tf.random.stateless_poisson([50000], [3, 4], lam, dtype=tf.float64)
        mean, variance = float(tf.reduce_mean(x)), float(tf.math.reduce_variance(x))
        out.append([abs(mean / lam - 1) < 0.03, abs(variance / lam - 1) < 0.05])
    return out


def binomial_moments(tf):
    out = []
    for n, p in ((5.0, 0.3), (40.0, 0.5), (100.0, 0.9), (1000.0, 0.02)):
        x = tf.random.stateless_binomial([50000], [3, 4], n, p, output_dtype=tf.float64)
        mean, variance = float(tf.reduce_mean(x)), float(tf.math.reduce_variance(x))
        out.append([abs(mean / (n * p) - 1) < 0.02, abs(variance / (n * p * (1 - p)) - 1) < 0.05])
    return out


def bounded_normal_moments(tf):
    f = tf.random.stateless_parameterized_truncated_normal
    out = []
    for low, high, mean in (
        (-1.0, 1.0, 0.0),
        (0.0, 3.0, 0.7894),
        (2.0, 9.0, 2.3732),
        (-7.0, -6.0, -6.153),
    ):
        x = f([50000], [1, 2], minvals=low, maxvals=high)
        inside = bool(tf.reduce_all((x >= low) & (x <= high)))
        out.append([inside, abs(float(tf.reduce_mean(x)) - mean) < 0.02])
    return out


def bounded_normal_gradients_of_the_bounds(tf):
    f = tf.random.stateless_parameterized_truncated_normal
    low, high = tf.constant(-1.0), tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch([low, high])
        y = tf.reduce_mean(f([20000], [1, 2], 0.0, 1.0, low, high))
    # The mean of the distribution is (pdf(low) - pdf(high)) / mass, whose derivatives these are.
    return [abs(float(g) - 0.3544) < 0.01 for g in tape.gradient(y, [low, high])]


def initializer_seed_repeats(tf):
    f = tf.random_normal_initializer(seed=1)
    g = tf.random_normal_initializer(seed=1)
    u = tf.random_uniform_initializer(seed=1)
    return _same(tf, f([3]), f([3])), _same(tf, f([3]), g([3])), _same(tf, u([3]), u([3]))


def fold_in_differs(tf):
    f = tf.random.fold_in
    return _same(tf, f([1, 2], 3), f([1, 2], 3)), _same(tf, f([1, 2], 3), f([1, 2], 4))


def split_differs(tf):
    a, b = tf.unstack(tf.random.split([1, 2]))
    return _same(tf, a, b)


def _made(method, *args):
    return lambda tf: getattr(tf.random.Generator, method)(*args).state


CASES = {
    "from_seed": _made("from_seed", 1),
    "from_negative_seed": _made("from_seed", -1),
    "from_big_seed": _made("from_seed", 2**70 + 3),
    "from_seeds": _made("from_seed", [1, 2]),
    "from_many_seeds": _made("from_seed", [1, 2, 3, 4, 5]),
    "from_seed_threefry": _made("from_seed", 1, "threefry"),
    "from_seed_number": _made("from_seed", 1, 2),
    "from_seed_unknown": _made("from_seed", 1, "foo"),
    "from_key_counter": _made("from_key_counter", 5, [1, 2], "philox"),
    "from_key_counter_threefry": _made("from_key_counter", 5, [1], "threefry"),
    "from_key_counter_vector": _made("from_key_counter", [5], [1, 2], "philox"),
    "from_state": _made("from_state", [1, 2, 3], "philox"),
    "from_short_state": _made("from_state", [1, 2], "philox"),
    "from_nothing": lambda tf: tf.random.Generator.from_non_deterministic_state().state.shape,
    "algorithms": lambda tf: [
        tf.random.Generator.from_seed(1, alg).algorithm for alg in ("philox", "threefry", 1, 2)
    ],
    "algorithm_enum": lambda tf: [(a.name, a.value) for a in tf.random.Algorithm],
    "key": lambda tf: tf.random.Generator.from_seed([1, 2, 3]).key,
    "state_is_not_trainable": lambda tf: (
        _generator(tf).state.trainable,
        _generator(tf).state.name,
    ),
    "reset_short": lambda tf: _generator(tf).reset([1, 2]),
    "normal": lambda tf: _generator(tf).normal([2, 3], dtype=tf.float64).dtype,
    "normal_shape": lambda tf: _generator(tf).normal(tf.constant([2, 3])).shape,
    "normal_no_deviation": lambda tf: _generator(tf).normal([2], 3.0, 0.0),
    "truncated_no_deviation": lambda tf: _generator(tf).truncated_normal([2], 3.0, 0.0),
    "uniform_int_no_maximum": lambda tf: _generator(tf).uniform([2], dtype=tf.int32),
    "uniform_int_one_bound": lambda tf: _generator(tf).uniform([2], None, 5, dtype=tf.int32),
    "uniform_int_all": lambda tf: _generator(tf).uniform([2], None, None, dtype=tf.int32).dtype,
    "uniform_bool": lambda tf: _generator(tf).uniform([2], dtype=tf.bool),
    "full_int": lambda tf: [
        _generator(tf).uniform_full_int([2], dtype=d).dtype
        for d in (tf.uint64, tf.uint32, tf.int64, tf.int32)
    ],
    "full_int_float": lambda tf: _generator(tf).uniform_full_int([2], dtype=tf.float32),
    "binomial": lambda tf: _generator(tf).binomial([3, 2], counts=[9.0, 9.0], probs=[0.0, 1.0]),
    "binomial_shape": lambda tf: _generator(tf).binomial([3], counts=[9.0, 9.0], probs=[0.0, 1.0]),
    **{
        f"create_state_{i}": lambda tf, s=s, a=a: tf.random.create_rng_state(s, a)
        for i, (s, a) in enumerate(
            [(1, "philox"), (1, "threefry"), ([1, 2], "philox"), (-1, 1), ([1, 2, 3, 4], 2)]
        )
    },
    "gamma_shape": lambda tf: tf.random.gamma([5], [[1.0], [2.0]], [1.0, 2.0, 3.0]).shape,
    "gamma_scalar_shape": lambda tf: tf.random.gamma([2], 1.0).shape,
    "gamma_float64": lambda tf: tf.random.gamma([2], 1.0, dtype=tf.float64).dtype,
    "gamma_int": lambda tf: tf.random.gamma([2], 1.0, dtype=tf.int32),
    "gamma_negative": lambda tf: tf.random.gamma([2], -1.0),
    "gamma_zero": lambda tf: tf.random.gamma([2], 0.0) < 1e-30,
    "gamma_never_zero": lambda tf: tf.random.stateless_gamma([100], [1, 2], 1e-10) > 0.0,
    "stateless_gamma_shape": lambda tf: tf.random.stateless_gamma([4, 2], [1, 2], [1.0, 2.0]).shape,
    "stateless_gamma_wrong_shape": lambda tf: tf.random.stateless_gamma([3], [1, 2], [1.0, 2.0]),
    "stateless_gamma_beta_shape": lambda tf: tf.random.stateless_gamma(
        [2], [1, 2], [1.0, 2.0], [[1.0], [2.0]]
    ),
    "stateless_gamma_repeats": lambda tf: _same(
        tf, *(tf.random.stateless_gamma([9], [1, 2], 0.5) for _ in range(2))
    ),
    "poisson_shape": lambda tf: tf.random.poisson([5], [1.0, 2.0]).shape,
    "poisson_dtype": lambda tf: [
        tf.random.poisson([1], 1.0, dtype=d).dtype for d in (tf.float32, tf.int32, tf.int64)
    ],
    "poisson_zero": lambda tf: tf.random.poisson([2], [0.0, -1.0]),
    "poisson_infinite": lambda tf: tf.random.poisson([2], float("inf")),
    "poisson_int_mean": lambda tf: tf.random.poisson([2], 3, dtype=tf.int32).dtype,
    "stateless_poisson_wrong_shape": lambda tf: tf.random.stateless_poisson(
        [3], [1, 2], [1.0, 2.0]
    ),
    "stateless_poisson_dtype": lambda tf: tf.random.stateless_poisson([2], [1, 2], 3.0).dtype,
    "stateless_binomial_edges": lambda tf: tf.random.stateless_binomial(
        [4], [1, 2], [10.0, 10.0, 10.0, -10.0], [0.0, 1.0, 1.5, 0.5]
    ),
    "stateless_binomial_shape": lambda tf: (
        tf.random.stateless_binomial([3, 2], [1, 2], [[10.0], [20.0], [30.0]], [0.5, 0.1]).shape
    ),
    "stateless_binomial_wrong_shape": lambda tf: tf.random.stateless_binomial(
        [3], [1, 2], [10.0, 20.0], 0.5
    ),
    "bounded_empty": lambda tf: tf.random.stateless_parameterized_truncated_normal(
        [2], [1, 2], minvals=3.0, maxvals=2.0
    ),
    "bounded_negative_deviation": lambda tf: tf.random.stateless_parameterized_truncated_normal(
        [2], [1, 2], stddevs=-1.0
    ),
    "bounded_wrong_shape": lambda tf: tf.random.stateless_parameterized_truncated_normal(
        [3], [1, 2], means=[1.0, 2.0]
    ),
    "split_shape": lambda tf: [
        (x.shape, x.dtype)
        for x in (tf.random.split([1, 2], 3), tf.random.split(tf.constant([1, 2], tf.int64)))
    ],
    "split_wrong_seed": lambda tf: tf.random.split([1, 2, 3]),
    "fold_in_dtype": lambda tf: [
        tf.random.fold_in([1, 2], 3).dtype,
        tf.random.fold_in([1, 2], tf.constant(3, tf.int64)).dtype,
    ],
    "fold_in_vector": lambda tf: tf.random.fold_in([1, 2], [3, 4]),
    "shuffle": lambda tf: tf.sort(tf.random.experimental.stateless_shuffle(tf.range(9), [1, 2])),
    "shuffle_scalar": lambda tf: tf.random.experimental.stateless_shuffle(1, [1, 2]),
    "zeros_initializer": lambda tf: tf.zeros_initializer()([2, 3]),
    "zeros_initializer_int": lambda tf: tf.zeros_initializer()([2], dtype=tf.int32),
    "zeros_initializer_string": lambda tf: tf.zeros_initializer()([2], dtype=tf.string),
    "zeros_initializer_part": lambda tf: tf.zeros_initializer()(
        [4, 3], partition_shape=(1, 3), partition_offset=(0, 0)
    ),
    "ones_initializer": lambda tf: tf.ones_initializer()([2], dtype=tf.bool),
    "ones_initializer_string": lambda tf: tf.ones_initializer()([2], dtype=tf.string),
    "constant_initializer": lambda tf: tf.constant_initializer(3)([2]),
    "constant_initializer_dtype": lambda tf: tf.constant_initializer(3)([2], dtype=tf.float64),
    "constant_initializer_list": lambda tf: tf.constant_initializer([1, 2, 3, 4])([2, 2]),
    "constant_initializer_too_few": lambda tf: tf.constant_initializer([1, 2])([3]),
    "constant_initializer_text": lambda tf: tf.constant_initializer("a")([2]),
    "constant_initializer_dict": lambda tf: tf.constant_initializer({}),
    "initializer_keyword": lambda tf: tf.zeros_initializer()([2], dtype=tf.float32, foo=1),
    "normal_initializer": lambda tf: tf.random_normal_initializer(1.0, 0.0)([2]),
    "normal_initializer_int": lambda tf: tf.random_normal_initializer()([2], dtype=tf.int32),
    "uniform_initializer_int": lambda tf: tf.random_uniform_initializer(3, 4)([2], dtype=tf.int32),
    "uniform_initializer_bool": lambda tf: tf.random_uniform_initializer()([2], dtype=tf.bool),
    "initializer_configs": lambda tf: [
        tf.zeros_initializer().get_config(),
        tf.constant_initializer(3).get_config(),
        tf.random_normal_initializer(seed=1).get_config(),
        tf.random_uniform_initializer.from_config(
            {"minval": 0.0, "maxval": 1.0, "seed": None}
        ).get_config(),
    ],
}
