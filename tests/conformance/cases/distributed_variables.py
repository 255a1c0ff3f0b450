"""Variables under `tf.distribute`: mirrored ones and those that are synchronised on reading."""

import copy

_AGGREGATIONS = ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA")


def _mirrored(tf):
    # TensorFlow's collective ops fail where there are several strategies for the same devices.
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], tf.distribute.ReductionToOneDevice())


def _made(tf, synchronization, aggregation, value: object = 1.0):
    strategy = _mirrored(tf)
    with strategy.scope():
        v = tf.Variable(
            value,
            synchronization=tf.VariableSynchronization[synchronization],
            aggregation=tf.VariableAggregation[aggregation],
        )
    return strategy, v


def _number(tf, dtype):
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group + 2, dtype)


def _copies(strategy, v):
    return [x.numpy() for x in strategy.experimental_local_results(v)]


def _read(v):
    try:
        return v.numpy()
    except ValueError:
        return "ValueError"


def _replica_update(synchronization, aggregation, method, traced, value=1.0):
    def case(tf):
        strategy, v = _made(tf, synchronization, aggregation, value)
        result = []

        def step():
            strategy.run(lambda: getattr(v, method)(_number(tf, v.dtype)))

        run = tf.function(step) if traced else step
        for _ in range(2):
            run()
            result.append((_copies(strategy, v), _read(v)))
        inside = strategy.run(lambda: v + tf.constant(1, v.dtype))
        return [result, list(strategy.experimental_local_results(inside))]

    return case


def _across_update(synchronization, aggregation, method, traced, value=1.0):
    def case(tf):
        strategy, v = _made(tf, synchronization, aggregation, value)

        def step():
            getattr(v, method)(9)

        (tf.function(step) if traced else step)()
        found = [_copies(strategy, v), v.numpy(), v + tf.constant(1, v.dtype), v.read_value()]
        with strategy.scope():
            v.assign(5)
        return [*found, _copies(strategy, v)]

    return case


def _described(synchronization, aggregation):
    def case(tf):
        strategy, v = _made(tf, synchronization, aggregation)
        return [
            v.trainable,
            v.name,
            v.shape,
            v.dtype,
            v.aggregation.name,
            v.synchronization.name,
            isinstance(v, tf.Variable),
            [x.name for x in strategy.experimental_local_results(v)],
            strategy.extended.variable_created_in_scope(v),
        ]

    return case


CASES = {}
for _sync in ("AUTO", "ON_WRITE", "ON_READ"):
    for _agg in _AGGREGATIONS:
        CASES[f"described_{_sync}_{_agg}"] = _described(_sync, _agg)
        if _sync == "AUTO":
            continue
        for _method in ("assign", "assign_add", "assign_sub"):
            for _traced in (False, True):
                _name = f"{_method}_{_sync}_{_agg}_{_traced}"
                CASES[f"replica_{_name}"] = _replica_update(_sync, _agg, _method, _traced)
                CASES[f"across_{_name}"] = _across_update(_sync, _agg, _method, _traced)
CASES["sum_of_ints"] = _replica_update("ON_READ", "SUM", "assign_add", False, 1)
CASES["assign_sum_of_ints"] = _across_update("ON_READ", "SUM", "assign", False, 1)


def synchronization_none(tf):
    return _made(tf, "NONE", "NONE")


def wrong_synchronization(tf):
    return tf.Variable(1.0, synchronization="ON_READ")


def wrong_aggregation(tf):
    return tf.Variable(1.0, aggregation="SUM")


def wrong_aggregation_in_scope(tf):
    with _mirrored(tf).scope():
        return tf.Variable(1.0, aggregation="SUM")


def plain(tf):
    v = tf.Variable(1.0)
    w = tf.Variable(
        1.0,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )
    return [v.aggregation.name, v.synchronization.name, w.aggregation.name, w.trainable]


def text(tf):
    return [repr(_made(tf, "AUTO", "NONE")[1]), repr(_made(tf, "ON_READ", "SUM")[1])]


def initial_value_once(tf):
    seen = []

    def value():
        seen.append(1)
        return tf.random.uniform([2])

    strategy = _mirrored(tf)
    with strategy.scope():
        v = tf.Variable(value, name="v")
    a, b = _copies(strategy, v)
    return [len(seen), bool((a == b).all()), v.name]


def made_in_a_replica(tf):
    strategy = _mirrored(tf)
    made = []

    def replica():
        made.append(tf.Variable(_number(tf, tf.float32), name="zz"))
        return made[-1] + 1.0

    result = strategy.run(replica)
    return [
        [x.name for x in made],
        made[0] is made[1],
        _copies(strategy, made[0]),
        list(strategy.experimental_local_results(result)),
    ]


def sum_of_one_python_number(tf):
    strategy, v = _made(tf, "AUTO", "SUM")
    strategy.run(lambda: v.assign_add(1.0))


def mean_of_one_python_number(tf):
    strategy, v = _made(tf, "AUTO", "MEAN")
    strategy.run(lambda: v.assign_add(1.0))
    return _copies(strategy, v)


def passed_to_run(tf):
    strategy, v = _made(tf, "ON_READ", "SUM")
    strategy.run(lambda x: x.assign_add(_number(tf, tf.float32)), args=(v,))
    return _copies(strategy, v)


def passed_to_a_function(tf):
    _, v = _made(tf, "ON_READ", "SUM")
    _, w = _made(tf, "ON_READ", "MEAN")

    @tf.function
    def read(x):
        return x * 2.0

    return [read(v), read(w)]


def reduced(tf):
    strategy, v = _made(tf, "ON_READ", "MEAN", 3.0)
    return [strategy.reduce("SUM", v, axis=None), strategy.reduce("MEAN", v, axis=None)]


def of_another_strategy(tf):
    _, v = _made(tf, "AUTO", "SUM")
    other = tf.distribute.MirroredStrategy(["CPU:0", "CPU:2"])
    other.run(lambda: v.assign(tf.constant(1.0)))


def from_outside(tf):
    strategy = _mirrored(tf)
    v = tf.Variable(1.0)
    return list(strategy.experimental_local_results(strategy.run(lambda: v + 1.0)))


def tape_across_replicas(tf):
    _, v = _made(tf, "AUTO", "NONE", 3.0)
    with tf.GradientTape() as tape:
        y = v * v
    return [tape.gradient(y, v), [x.name for x in tape.watched_variables()]]


def scatter_across_replicas(tf):
    strategy, v = _made(tf, "AUTO", "SUM", [1.0, 2.0])
    v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
    return _copies(strategy, v)


def scatter_in_replicas(tf):
    strategy, v = _made(tf, "AUTO", "NONE", [1.0, 2.0])
    strategy.run(lambda: v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))))
    return _copies(strategy, v)


def scatter_update_of_sums(tf):
    strategy, v = _made(tf, "AUTO", "SUM", [1.0, 2.0])
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    strategy.run(lambda: v.scatter_update(slices))


def extended_update(tf):
    strategy, v = _made(tf, "AUTO", "NONE")
    strategy.extended.update(v, lambda x, y: x.assign_add(y), args=(2.0,))
    return _copies(strategy, v)


def reduced_to_a_variable(tf):
    strategy, v = _made(tf, "AUTO", "NONE")
    each = strategy.run(lambda: _number(tf, tf.float32))
    total = strategy.extended.reduce_to("SUM", each, v)
    (same,) = strategy.extended.batch_reduce_to("SUM", [(each, v)])
    v.assign(total)
    return [list(total.values), list(same.values), _copies(strategy, v)]


def copied(tf):
    strategy, v = _made(tf, "AUTO", "MEAN", 3.0)
    other = copy.deepcopy(v)
    v.assign(4.0)
    return [other.numpy(), _copies(strategy, other), other.aggregation.name]
