"""Datasets under `tf.distribute`: how batches are divided, dealt and read, in functions too."""

import numpy as np

_NAMES = ("CPU:0", "CPU:1", "CPU:2", "CPU:3")


def _mirrored(tf, count=2):
    # TensorFlow's collective ops fail where there are several strategies for the same devices.
    return tf.distribute.MirroredStrategy(_NAMES[:count], tf.distribute.ReductionToOneDevice())


def _parts(strategy, element):
    return [np.asarray(x).tolist() for x in strategy.experimental_local_results(element)]


def _divided(replicas, size, batch, drop=False):
    def case(tf):
        strategy = _mirrored(tf, replicas)
        data = tf.data.Dataset.range(size).batch(batch, drop_remainder=drop)
        distributed = strategy.experimental_distribute_dataset(data)
        return [_parts(strategy, x) for x in distributed], int(distributed.cardinality)

    return case


CASES = {
    f"{replicas}_replicas_{size}_of_{batch}": _divided(replicas, size, batch)
    for replicas in (1, 2, 3, 4)
    for size, batch in ((10, 4), (5, 4), (9, 8), (7, 3), (4, 4), (3, 2), (12, 6), (2, 1), (0, 2))
}
CASES["dropped_remainder"] = _divided(2, 10, 4, True)
CASES["dropped_uneven"] = _divided(3, 10, 4, True)


def _made(make, replicas=2):
    def case(tf):
        strategy = _mirrored(tf, replicas)
        distributed = strategy.experimental_distribute_dataset(make(tf.data.Dataset))
        return [_parts(strategy, x) for x in distributed]

    return case


def _policy(name, size=6, batch=4):
    def case(tf):
        strategy = _mirrored(tf)
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy[
            name
        ]
        data = tf.data.Dataset.range(size).batch(batch).with_options(options)
        return [_parts(strategy, x) for x in strategy.experimental_distribute_dataset(data)]

    return case


CASES |= {
    "mapped": _made(lambda d: d.range(7).batch(4).map(lambda x: x * 2).prefetch(2)),
    "filtered": _made(lambda d: d.range(12).batch(4).filter(lambda x: x[0] > 0)),
    "batches_of_batches": _made(lambda d: d.range(12).batch(2).batch(3)),
    "repeated": _made(lambda d: d.range(3).batch(2).repeat(2)),
    "padded": _made(lambda d: d.from_tensors([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])),
    "policy_off": _policy("OFF"),
    "policy_file": _policy("FILE"),
    "policy_data": _policy("DATA"),
    "policy_auto": _policy("AUTO"),
    "policy_hint": _policy("HINT"),
    "policy_off_uneven": _policy("OFF", 13, 5),
}


def structures(tf):
    strategy = _mirrored(tf)
    data = tf.data.Dataset.from_tensor_slices(({"a": np.arange(3.0)}, np.arange(3))).batch(2)
    found = []
    for x, y in strategy.experimental_distribute_dataset(data):
        found.append([_parts(strategy, x["a"]), _parts(strategy, y)])
    return found


def iterator(tf):
    strategy = _mirrored(tf)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(6).batch(4))
    it = iter(data)
    first, second = next(it), it.get_next()
    optional = it.get_next_as_optional()
    again = iter(data).get_next_as_optional()
    return [
        _parts(strategy, first),
        _parts(strategy, second),
        optional.has_value(),
        again.has_value(),
        _parts(strategy, again.get_value()),
        isinstance(data, tf.distribute.DistributedDataset),
        isinstance(it, tf.distribute.DistributedIterator),
    ]


def iterator_at_its_end(tf):
    strategy = _mirrored(tf)
    it = iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(2).batch(2)))
    next(it)
    return it.get_next()


def from_a_function(tf):
    result = []
    for replicas in (1, 2, 4):
        strategy = _mirrored(tf, replicas)
        said = []

        def make(context, said=said):
            said.append(
                (
                    str(context),
                    context.num_input_pipelines,
                    context.input_pipeline_id,
                    context.num_replicas_in_sync,
                )
            )
            return tf.data.Dataset.range(5).batch(context.get_per_replica_batch_size(4))

        data = strategy.distribute_datasets_from_function(make)
        result.append((said, [_parts(strategy, x) for x in data]))
    return result


def from_a_function_for_each_replica(tf):
    strategy = _mirrored(tf)
    options = tf.distribute.InputOptions(
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA,
        experimental_place_dataset_on_device=True,
        experimental_fetch_to_device=False,
    )
    data = strategy.distribute_datasets_from_function(
        lambda context: tf.data.Dataset.range(3).batch(2), options
    )
    return [_parts(strategy, x) for x in data]


def per_replica_batch_that_does_not_divide(tf):
    return tf.distribute.InputContext(1, 0, 3).get_per_replica_batch_size(4)


def input_options(tf):
    options = tf.distribute.InputOptions()
    return [
        options.experimental_fetch_to_device,
        options.experimental_replication_mode.value,
        options.experimental_place_dataset_on_device,
        options.experimental_per_replica_buffer_size,
    ]


def policies(tf):
    policy = tf.data.experimental.AutoShardPolicy
    options = tf.data.Options().experimental_distribute
    return [[(x.name, x.value) for x in policy], options.auto_shard_policy is policy.AUTO]


def default_strategy(tf):
    strategy = tf.distribute.get_strategy()
    data = tf.data.Dataset.range(3).batch(2)
    made = strategy.distribute_datasets_from_function(lambda context: data)
    return [list(strategy.experimental_distribute_dataset(data)), list(made)]


# In functions.


def _sum(tf, strategy, x):
    return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(x,)), axis=None)


def loop_in_a_function(tf):
    strategy = _mirrored(tf)

    @tf.function
    def epoch(data):
        total = tf.constant(0, tf.int64)
        for x in data:
            total += _sum(tf, strategy, x)
        return total

    return [
        epoch(strategy.experimental_distribute_dataset(tf.data.Dataset.range(n).batch(4)))
        for n in (6, 7)
    ]


def iterator_in_a_function(tf):
    strategy = _mirrored(tf)
    it = iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(6).batch(4)))

    step = tf.function(lambda iterator: _sum(tf, strategy, next(iterator)))
    return [step(it), step(it), step.experimental_get_tracing_count()]


def element_in_a_function(tf):
    strategy = _mirrored(tf)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(6).batch(4))

    step = tf.function(lambda x: strategy.run(lambda y: y * 2, args=(x,)))
    found = [_parts(strategy, step(x)) for x in data]
    return [found, step.experimental_get_tracing_count()]


def custom_loop(tf):
    """The loop of TensorFlow's guide: a step of all replicas is a function of an element."""
    strategy = _mirrored(tf)
    rows = np.arange(12.0, dtype=np.float32).reshape(6, 2) / 10
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(4)
    distributed = strategy.experimental_distribute_dataset(data)
    with strategy.scope():
        w = tf.Variable([[0.5], [-0.5]], aggregation=tf.VariableAggregation.MEAN)

    def replica(x, y):
        with tf.GradientTape() as tape:
            each = tf.reduce_sum((x @ w - y) ** 2, axis=1)
            loss = tf.nn.compute_average_loss(each, global_batch_size=4)
        gradient = tape.gradient(loss, w)
        total = tf.distribute.get_replica_context().all_reduce("SUM", gradient)
        w.assign_sub(0.1 * total)
        return loss

    @tf.function
    def step(element):
        return strategy.reduce("SUM", strategy.run(replica, args=element), axis=None)

    return [[step(element) for element in distributed] for _ in range(3)], w.numpy()
