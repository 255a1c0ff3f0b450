"""`tf.distribute`: replicas, what they return, reduce and gather, and what variables they share."""

_NAMES = ("CPU:0", "CPU:1", "CPU:2", "CPU:3")


def _mirrored(tf, count=2):
    # TensorFlow's collective ops fail where there are several strategies for the same devices.
    return tf.distribute.MirroredStrategy(_NAMES[:count], tf.distribute.ReductionToOneDevice())


def _number(tf):
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def _float(tf):
    return tf.cast(_number(tf), tf.float32)


def _local(tf, strategy, value):
    return list(strategy.experimental_local_results(value))


def _run(tf, function, count=2):
    """What a function of each replica gives, eagerly and in a traced function."""
    strategy = _mirrored(tf, count)
    found = _local(tf, strategy, strategy.run(function))
    traced = tf.function(lambda: strategy.experimental_local_results(strategy.run(function)))
    return [found, list(traced())]


# Where the program is.


def outside(tf):
    d = tf.distribute
    replica = d.get_replica_context()
    return [
        d.has_strategy(),
        d.in_cross_replica_context(),
        replica.num_replicas_in_sync,
        d.get_strategy().num_replicas_in_sync,
    ]


def in_scope(tf):
    d, strategy = tf.distribute, _mirrored(tf)
    with strategy.scope() as given:
        return [
            d.has_strategy(),
            d.in_cross_replica_context(),
            d.get_replica_context(),
            d.get_strategy() is strategy,
            given is strategy,
        ]


def in_replica(tf):
    d, strategy = tf.distribute, _mirrored(tf)

    def replica():
        context = d.get_replica_context()
        found = [
            d.has_strategy(),
            d.in_cross_replica_context(),
            context.num_replicas_in_sync,
            context.strategy is strategy,
            d.get_strategy() is strategy,
        ]
        return tf.constant([int(x) for x in found])

    return _local(tf, strategy, strategy.run(replica))


def in_merge_call(tf):
    strategy = _mirrored(tf)

    def merge(given, x, y=2):
        d = tf.distribute
        return tf.constant(
            [
                int(given is strategy),
                int(d.in_cross_replica_context()),
                int(d.get_replica_context() is None),
                len(x.values),
                y,
            ]
        )

    def replica():
        context = tf.distribute.get_replica_context()
        return context.merge_call(merge, args=(_float(tf),), kwargs={"y": 4})

    return _local(tf, strategy, strategy.run(replica))


def scopes_of_two_strategies(tf):
    with _mirrored(tf).scope(), _mirrored(tf, 1).scope():
        pass


def scope_in_itself(tf):
    strategy = _mirrored(tf)
    with strategy.scope(), strategy.scope():
        return tf.distribute.get_strategy() is strategy


def default_scope_in_another(tf):
    with _mirrored(tf).scope(), tf.distribute.get_strategy().scope():
        pass


def default_strategy(tf):
    default = tf.distribute.get_strategy()

    def function(x):
        d = tf.distribute
        return x, d.get_replica_context().replica_id_in_sync_group, d.in_cross_replica_context()

    with default.scope():
        inside = tf.distribute.has_strategy()
    return [
        inside,
        default.run(function, args=(3,)),
        default.reduce("SUM", tf.constant([1.0, 2.0]), axis=0),
        default.experimental_local_results(3),
        default.gather(tf.ones([2, 1]), axis=0),
    ]


def default_replica(tf):
    context = tf.distribute.get_replica_context()
    return [
        context.all_reduce("SUM", tf.constant([1.0])),
        context.merge_call(lambda s, x: (x, tf.distribute.in_cross_replica_context()), args=(1,)),
    ]


def one_device(tf):
    strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    with strategy.scope():
        v = tf.Variable(1.0)
    result = strategy.run(lambda x: (v + x, _number(tf)), args=(tf.constant(2.0),))
    return [result, strategy.num_replicas_in_sync, strategy.reduce("SUM", result[0], axis=None), v]


def one_mirrored_replica(tf):
    strategy = _mirrored(tf, 1)
    result = strategy.run(lambda: tf.constant([1.0, 2.0]))
    context = strategy.run(
        lambda: tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(3.0))
    )
    return [
        result,
        context,
        strategy.reduce("SUM", result, axis=None),
        strategy.reduce("MEAN", result, axis=0),
        strategy.experimental_local_results(result),
    ]


# Running.


def run_returns_structures(tf):
    strategy = _mirrored(tf)
    result = strategy.run(lambda: {"a": _float(tf), "b": None, "c": "x", "d": [_number(tf), 3]})
    return [_local(tf, strategy, result), result["b"], result["c"], result["d"][1]]


def run_takes_values_and_others(tf):
    strategy = _mirrored(tf)
    each = strategy.experimental_distribute_values_from_function(
        lambda c: tf.constant(c.replica_id_in_sync_group)
    )
    result = strategy.run(lambda x, y, z=0: x * 2 + y + z, args=(each, 3), kwargs={"z": each})
    return _local(tf, strategy, result)


def run_of_a_function(tf):
    strategy = _mirrored(tf)

    @tf.function
    def replica(x):
        return tf.distribute.get_replica_context().all_reduce("SUM", x * _float(tf))

    return [_local(tf, strategy, strategy.run(replica, args=(tf.constant(3.0),))) for _ in "ab"]


def run_in_a_function_converts(tf):
    strategy = _mirrored(tf)

    def replica(x):
        if x > 0.5:
            return x * 10.0
        return x

    @tf.function
    def step():
        return strategy.experimental_local_results(strategy.run(lambda: replica(_float(tf) + 0.0)))

    return list(step())


def values_from_a_function(tf):
    strategy = _mirrored(tf)
    values = strategy.experimental_distribute_values_from_function(
        lambda c: (tf.constant(c.replica_id_in_sync_group), c.num_replicas_in_sync)
    )
    return [_local(tf, strategy, values), list(values[0].values)]


def local_results_of_nothing_special(tf):
    return _mirrored(tf).experimental_local_results((3, 4))


def _of_values(tf):
    strategy = _mirrored(tf)
    return strategy, strategy.run(lambda: tf.constant(1.0) * _float(tf))


def per_replica_is_no_tensor(tf):
    return tf.convert_to_tensor(_of_values(tf)[1])


def per_replica_is_a_leaf(tf):
    value = _of_values(tf)[1]
    return [len(tf.nest.flatten(value)), isinstance(value, tf.distribute.DistributedValues)]


def per_replica_text(tf):
    strategy = _mirrored(tf)
    values = strategy.experimental_distribute_values_from_function(
        lambda c: c.replica_id_in_sync_group
    )
    return [repr(values), str(values)]


# Reductions.


def _reduce(op, make, axis):
    def case(tf):
        strategy = _mirrored(tf)
        found = strategy.reduce(op, strategy.run(lambda: make(tf)), axis=axis)
        traced = tf.function(lambda: strategy.reduce(op, strategy.run(lambda: make(tf)), axis=axis))
        return [found, traced()]

    return case


def _rows(tf):
    return tf.constant([1.0, 2.0]) * (_float(tf) + 1.0)


def _uneven(tf):
    return tf.ones([_number(tf) + 1, 2]) * (_float(tf) + 1.0)


def reduce_of_different_shapes(tf):
    strategy = _mirrored(tf)
    return strategy.reduce("SUM", strategy.run(lambda: tf.ones([_number(tf) + 1])), axis=None)


def gather_uneven(tf):
    strategy = _mirrored(tf)
    each = strategy.run(lambda: _uneven(tf))
    across = strategy.run(lambda: tf.transpose(_uneven(tf)))
    return [strategy.gather(each, axis=0), strategy.gather(across, axis=1)]


def gather_of_a_tensor(tf):
    return _mirrored(tf).gather(tf.ones([2, 2]), axis=0)


def gather_in_a_replica(tf):
    strategy = _mirrored(tf)
    return strategy.run(lambda: strategy.gather(tf.ones([2]), axis=0))


def all_reduce(tf):
    context = tf.distribute.get_replica_context
    return _run(
        tf,
        lambda: context().all_reduce("SUM", {"a": _float(tf), "b": [_float(tf) + 1.0]}),
    )


def all_reduce_mean(tf):
    return _run(tf, lambda: tf.distribute.get_replica_context().all_reduce("MEAN", _rows(tf)))


def all_reduce_of_three(tf):
    return _run(
        tf, lambda: tf.distribute.get_replica_context().all_reduce("MEAN", _rows(tf)), count=3
    )


def all_gather(tf):
    return _run(tf, lambda: tf.distribute.get_replica_context().all_gather(_rows(tf), 0))


def all_gather_uneven(tf):
    strategy = _mirrored(tf)
    result = strategy.run(
        lambda: tf.distribute.get_replica_context().all_gather(_uneven(tf), axis=0)
    )
    return _local(tf, strategy, result)


def all_gather_of_slices(tf):
    slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([3, 2]))
    strategy = _mirrored(tf)
    return strategy.run(lambda: tf.distribute.get_replica_context().all_gather(slices, 0))


def merge_call_gives_back(tf):
    def replica():
        context = tf.distribute.get_replica_context()
        return context.merge_call(lambda s, x: x, args=(_float(tf),))

    return _run(tf, replica)


def merge_call_reduces(tf):
    def replica():
        context = tf.distribute.get_replica_context()
        total = context.merge_call(lambda s, x: s.reduce("SUM", x, axis=None), args=(_float(tf),))
        return total + _float(tf)

    return _run(tf, replica)


# Gradients.


def _gradient(reduce):
    def case(tf):
        def replica():
            x = tf.constant([2.0, 3.0])
            with tf.GradientTape() as tape:
                tape.watch(x)
                context = tf.distribute.get_replica_context()
                y = reduce(context, x * (_float(tf) + 1.0)) * (_float(tf) + 2.0)
            return tape.gradient(y, x)

        return _run(tf, replica)

    return case


def gradients_of_a_variable(tf):
    strategy = _mirrored(tf)
    with strategy.scope():
        v = tf.Variable(3.0)

    def replica():
        with tf.GradientTape() as tape:
            y = v * v * (_float(tf) + 1.0)
        g = tape.gradient(y, v)
        return g, tf.distribute.get_replica_context().all_reduce("SUM", g)

    return [
        _local(tf, strategy, strategy.run(replica)),
        list(tf.function(lambda: _local(tf, strategy, strategy.run(replica)))()),
    ]


# Mistakes.


def _in_a_replica(act):
    def case(tf):
        strategy = _mirrored(tf)
        return strategy.run(lambda: act(tf, strategy))

    return case


def run_with_a_number_for_args(tf):
    return _mirrored(tf).run(lambda x: x, args=3)


def some_do_not_meet(tf):
    def replica():
        context = tf.distribute.get_replica_context()
        return context.all_reduce("SUM", tf.constant(1.0)) if _number(tf) == 0 else 0.0

    return _mirrored(tf).run(replica)


def one_fails(tf):
    def replica():
        if _number(tf) == 1:
            raise KeyError("boo")
        return tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0))

    return _mirrored(tf).run(replica)


def the_merge_fails(tf):
    def merge(strategy):
        raise KeyError("boo")

    return _mirrored(tf).run(lambda: tf.distribute.get_replica_context().merge_call(merge))


def meeting_in_a_function_inside(tf):
    @tf.function
    def inner():
        return tf.distribute.get_replica_context().merge_call(lambda s: 1)

    return _mirrored(tf).run(lambda: inner())


def meeting_in_a_branch(tf):
    def replica(x):
        if x > 0.0:
            x = tf.distribute.get_replica_context().all_reduce("SUM", x)
        return x

    strategy = _mirrored(tf)
    return tf.function(lambda x: strategy.run(replica, args=(x,)))(tf.constant(1.0))


# Losses.


def _loss(function):
    return lambda tf: _run(tf, lambda: function(tf.nn))


def loss_across_replicas(tf):
    with _mirrored(tf).scope():
        return tf.nn.compute_average_loss([1.0])


def regularization_across_replicas(tf):
    with _mirrored(tf).scope():
        return tf.nn.scale_regularization_loss([1.0])


# Generators.


def generator_in_scope(tf):
    strategy = _mirrored(tf)
    with strategy.scope():
        g = tf.random.Generator.from_seed(1)
    draws = [_local(tf, strategy, strategy.run(lambda: g.normal([2]))) for _ in "ab"]
    return [draws, g.state.numpy(), g.normal([2])]


def generator_in_a_replica(tf):
    return _run_eagerly(tf, lambda: tf.random.Generator.from_seed(1).uniform([2]))


def generator_in_a_function(tf):
    strategy = _mirrored(tf)
    with strategy.scope():
        g = tf.random.Generator.from_seed(3)
    step = tf.function(
        lambda: strategy.experimental_local_results(strategy.run(lambda: g.normal([2])))
    )
    return [list(step()), list(step())]


def _run_eagerly(tf, function):
    strategy = _mirrored(tf)
    return _local(tf, strategy, strategy.run(function))


def seeded_ops(tf):
    tf.random.set_seed(1)
    return [_run_eagerly(tf, lambda: tf.random.uniform([2])), tf.random.uniform([2])]


def reduce_ops(tf):
    op = tf.distribute.ReduceOp
    return [
        [x.name for x in op],
        op.from_variable_aggregation(tf.VariableAggregation.MEAN).name,
        [(x.name, x.value) for x in tf.VariableAggregation],
        [(x.name, x.value) for x in tf.VariableSynchronization],
    ]


def reduce_op_of_none(tf):
    return tf.distribute.ReduceOp.from_variable_aggregation(tf.VariableAggregation.NONE)


def devices(tf):
    extended = _mirrored(tf).extended
    return [list(extended.worker_devices), list(extended.parameter_devices)]


CASES = {
    "reduce_sum": _reduce("SUM", _rows, None),
    "reduce_mean": _reduce("MEAN", _rows, None),
    "reduce_lower_case": _reduce("sum", _rows, None),
    "reduce_sum_axis": _reduce("SUM", _rows, 0),
    "reduce_mean_axis": _reduce("MEAN", _rows, 0),
    "reduce_mean_uneven": _reduce("MEAN", _uneven, 0),
    "reduce_mean_axes": _reduce("MEAN", _uneven, (0, 1)),
    "reduce_mean_int": _reduce("MEAN", lambda tf: tf.cast(_uneven(tf), tf.int32), 0),
    "reduce_mean_ints": _reduce("MEAN", _number, None),
    "reduce_structure": _reduce("SUM", lambda tf: (_float(tf), [_rows(tf)]), None),
    "reduce_bad_op": lambda tf: _mirrored(tf).reduce("MAX", 3, axis=None),
    "reduce_plain_sum": lambda tf: _mirrored(tf).reduce("SUM", tf.constant(3.0), axis=None),
    "reduce_plain_mean": lambda tf: _mirrored(tf).reduce("MEAN", tf.constant(3.0), axis=None),
    "reduce_without_axis": lambda tf: _mirrored(tf).reduce("SUM", 3),
    "gradient_all_reduce": _gradient(lambda c, x: c.all_reduce("SUM", x)),
    "gradient_all_reduce_mean": _gradient(lambda c, x: c.all_reduce("MEAN", x)),
    "gradient_all_gather": _gradient(lambda c, x: c.all_gather(x, 0)),
    "run_in_a_replica": _in_a_replica(lambda tf, s: s.run(lambda: 1)),
    "scope_in_a_replica": _in_a_replica(lambda tf, s: s.scope().__enter__()),
    "reduce_in_a_replica": _in_a_replica(lambda tf, s: s.reduce("SUM", 1.0, axis=None)),
    "all_reduce_bad_op": _in_a_replica(
        lambda tf, s: tf.distribute.get_replica_context().all_reduce("MAX", tf.ones([1]))
    ),
    "run_of_a_number": lambda tf: _mirrored(tf).run(3),
    "average_loss": _loss(lambda nn: nn.compute_average_loss([1.0, 2.0])),
    "average_loss_weighted": _loss(
        lambda nn: nn.compute_average_loss([1.0, 2.0], sample_weight=[1.0, 0.5])
    ),
    "average_loss_given": _loss(
        lambda nn: nn.compute_average_loss([1.0, 2.0], global_batch_size=8)
    ),
    "average_loss_of_rows": _loss(lambda nn: nn.compute_average_loss([[1.0, 2.0]])),
    "regularization": _loss(lambda nn: nn.scale_regularization_loss([3.0, 4.0])),
    "average_loss_outside": lambda tf: tf.nn.compute_average_loss([1.0, 2.0]),
    "average_loss_scalar": lambda tf: tf.nn.compute_average_loss(3.0),
    "average_loss_ints": lambda tf: tf.nn.compute_average_loss([3, 4]),
    "average_loss_half": lambda tf: tf.nn.compute_average_loss(tf.constant([3, 4], tf.float16)),
    "average_loss_of_none": lambda tf: tf.nn.compute_average_loss([3.0], global_batch_size=0),
    "average_loss_vector_size": lambda tf: tf.nn.compute_average_loss([3.0], None, [3]),
    "average_loss_float_size": lambda tf: tf.nn.compute_average_loss([3.0], None, 2.5),
    "average_loss_negative_size": lambda tf: tf.nn.compute_average_loss([3.0], None, -2),
    "regularization_outside": lambda tf: tf.nn.scale_regularization_loss([3.0, 4.0]),
    "duplicate_devices": lambda tf: tf.distribute.MirroredStrategy(["CPU:0", "CPU:0"]),
}
