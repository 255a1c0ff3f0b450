"""One of the workers of a job, started by `tapeflow launch`: `worker.py WHAT OUTPUT ...`.

Each writes what it has found to `OUTPUT.NUMBER`, as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import tapeflow as tf

REPLICAS = 2


def strategy_of(kind):
    """The strategy of the workers, or one of as many replicas in this process."""
    if kind == "workers":
        return tf.distribute.MultiWorkerMirroredStrategy()
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(REPLICAS)])


def rows(strategy, values):
    """Values of all replicas, as each worker sees them."""
    return [x.numpy().tolist() for x in strategy.experimental_local_results(values)]


def everything(strategy):
    """What replicas share, eagerly and in functions."""
    found: dict[str, Any] = {}
    aggregation, synchronization = tf.VariableAggregation, tf.VariableSynchronization
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], aggregation=aggregation.MEAN)
        count = tf.Variable(0, synchronization=synchronization.ON_READ, aggregation=aggregation.SUM)
        table = tf.Variable(tf.zeros([3, 2]))
        random = tf.random.Generator.from_seed(7)
    each = strategy.experimental_distribute_values_from_function(
        lambda c: tf.constant(float(c.replica_id_in_sync_group + 1))
    )

    def replica(x):
        context = tf.distribute.get_replica_context()
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = context.all_reduce("SUM", x**3) * x
            first = inner.gradient(y, x)
        second = outer.gradient(first, x)
        v.assign_add(tf.stack([x, -x]))
        count.assign_add(1)
        with tf.GradientTape() as tape:
            picked = tf.reduce_sum(tf.gather(table, [tf.cast(x, tf.int32)]) + 1.0)
        slices = context.all_reduce("SUM", tape.gradient(picked, table))
        parts = context.all_gather(tf.fill([tf.cast(x, tf.int32)], x), axis=0)
        mean, total = context.all_reduce("MEAN", [x, 2.0 * x])
        drawn = random.uniform_full_int([1], tf.uint64)
        return first, second, tf.convert_to_tensor(slices), parts, mean, total, drawn

    def run(x):
        return strategy.run(replica, args=(x,))

    for name, call in (("eager", run), ("function", tf.function(run))):
        results = call(each)
        first, second, slices, parts, mean, total, drawn = results
        found[name] = [
            strategy.gather(strategy.run(lambda x: x[None], args=(first,)), axis=0)
            .numpy()
            .tolist(),
            strategy.reduce("SUM", second, axis=None).numpy().tolist(),
            rows(strategy, slices)[0],
            rows(strategy, parts)[0],
            rows(strategy, mean)[0],
            strategy.reduce("MEAN", total, axis=None).numpy().tolist(),
            strategy.gather(drawn, axis=0).numpy().tolist(),
            v.numpy().tolist(),
            int(count.numpy()),
        ]
    return found


def training(strategy):
    """The losses and the report of a loop of one's own, in a function. The last batch does not divide."""
    random = np.random.default_rng(0)
    x = random.normal(size=(21, 4)).astype(np.float32)
    y = (x[:, :1] - x[:, 1:2]).astype(np.float32)
    with strategy.scope():
        weights = tf.Variable(np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32))
        last = tf.Variable(np.ones((3, 1), np.float32))
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(6).repeat(3)
    distributed = strategy.experimental_distribute_dataset(data)

    def replica(x, y):
        with tf.GradientTape() as tape:
            each = tf.reduce_sum((tf.tanh(x @ weights) @ last - y) ** 2, axis=1)
            loss = tf.nn.compute_average_loss(each, global_batch_size=6)
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce("SUM", tape.gradient(loss, [weights, last]))
        for v, g in zip([weights, last], gradients, strict=True):
            v.assign_sub(0.1 * g)
        return loss

    @tf.function
    def step(element):
        return strategy.reduce("SUM", strategy.run(replica, args=element), axis=None)

    losses = [float(step(element)) for element in distributed]
    return {"losses": losses, "report": step.report()}


def datasets(strategy, folder):
    """What this worker reads by each policy."""
    policies = tf.data.experimental.AutoShardPolicy

    def read(data, policy="AUTO"):
        options: Any = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = policies[policy]
        distributed = strategy.experimental_distribute_dataset(data.with_options(options))
        return [rows(strategy, x)[0] for x in distributed]

    files = sorted(str(path) for path in Path(folder).glob("*.tfrecord"))

    def numbers(data):
        return data.map(lambda x: tf.strings.to_number(x, tf.int32))

    def by_size(context):
        return tf.data.Dataset.range(4 + 3 * context.input_pipeline_id).batch(2)

    shuffled = read(tf.data.Dataset.range(20).shuffle(20).batch(8))
    touched: list[int] = []

    def touch(x):
        touched.append(int(x))
        return x

    seen = tf.data.Dataset.range(8).map(lambda x: tf.py_function(touch, [x], tf.int64)).batch(4)
    return {
        "data": read(tf.data.Dataset.range(10).batch(4), "DATA"),
        "auto": read(tf.data.Dataset.range(7).batch(3)),
        "small": read(tf.data.Dataset.range(3).batch(8)),
        "off": read(tf.data.Dataset.range(5).batch(4), "OFF"),
        "file": read(numbers(tf.data.TFRecordDataset(files)).batch(4)),
        "uneven": read(numbers(tf.data.TFRecordDataset(files)).batch(3), "FILE"),
        "records": read(numbers(tf.data.TFRecordDataset(files)).batch(4), "DATA"),
        "interleaved": read(
            numbers(
                tf.data.Dataset.from_tensor_slices(files).interleave(
                    tf.data.TFRecordDataset, cycle_length=1
                )
            ).batch(4)
        ),
        "function": [
            rows(strategy, x)[0] for x in strategy.distribute_datasets_from_function(by_size)
        ],
        "shuffled": sorted(np.concatenate(shuffled).tolist()),
        "read": [read(seen), sorted(touched)],
    }


def plain(x):
    """What is in an element, as lists."""
    if isinstance(x, dict):
        return {name: plain(value) for name, value in x.items()}
    if isinstance(x, tf.SparseTensor):
        return [tf.sparse.to_dense(x).numpy().tolist(), x.dense_shape.numpy().tolist()]
    if isinstance(x, tf.experimental.ExtensionType):
        return [plain(x.x), plain(x.y)]  # pyright: ignore[reportAttributeAccessIssue]
    return x.to_list() if isinstance(x, tf.RaggedTensor) else x.numpy().tolist()


def composites(strategy, folder):
    """What this worker reads of batches that are no tensors, by each policy, and a sum that both compute of them."""
    policies = tf.data.experimental.AutoShardPolicy

    class Point(tf.experimental.BatchableExtensionType):
        x: tf.Tensor
        y: tf.RaggedTensor

    def read(data, policy="AUTO"):
        options: Any = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = policies[policy]
        distributed = strategy.experimental_distribute_dataset(data.with_options(options))
        return [plain(strategy.experimental_local_results(x)[0]) for x in distributed]

    def ragged(n):
        return tf.ragged.constant([[i] * (i % 3) for i in range(n)], dtype=tf.int32)

    def slices(value):
        return tf.data.Dataset.from_tensor_slices(value)

    def by_size(context):
        return slices(ragged(4 + 3 * context.input_pipeline_id)).batch(2)

    sparse = tf.sparse.from_dense([[i, 0, -i] for i in range(10)])
    both = {"ragged": ragged(7), "dense": tf.range(7)}
    files = sorted(str(path) for path in Path(folder).glob("*.tfrecord"))
    letters = tf.data.TFRecordDataset(files).map(tf.strings.bytes_split).ragged_batch(4)

    def replica(element):
        return tf.reduce_sum(element["ragged"]) + tf.reduce_sum(element["dense"])

    @tf.function
    def step(element):
        return strategy.reduce("SUM", strategy.run(replica, args=(element,)), axis=None)

    summed = strategy.experimental_distribute_dataset(slices(both).batch(3))
    return {
        "ragged": read(slices(ragged(7)).batch(3)),
        "all": read(slices(ragged(7)).batch(3), "OFF"),
        "sparse": read(slices(sparse).batch(4), "DATA"),
        "both": read(slices(both).batch(3)),
        "one": read(slices(ragged(1)).batch(4)),
        "filtered": read(slices(ragged(7)).filter(lambda _: True).batch(3)),
        "points": read(slices(Point(tf.range(3), ragged(3))).batch(3)),
        "files": [[b"".join(row).decode() for row in element] for element in read(letters, "FILE")],
        "function": [
            plain(strategy.experimental_local_results(x)[0])
            for x in strategy.distribute_datasets_from_function(by_size)
        ],
        "sums": [int(step(element)) for element in summed],
    }


def short(output, folder):
    """A bit of everything."""
    strategy = strategy_of("workers")
    return {
        "everything": everything(strategy),
        "training": training(strategy),
        "datasets": datasets(strategy, folder),
        "composites": composites(strategy, folder),
        "replicas": strategy.num_replicas_in_sync,
        "task": [strategy.cluster_resolver.task_type, strategy.cluster_resolver.task_id],
    }


def keras_losses(output, devices, *runs):
    """What `fit`, `evaluate` and `predict` give to workers with some devices each."""
    from tests.distribute import keras_runs

    (cpu,) = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration()] * int(devices)
    tf.config.set_logical_device_configuration(cpu, parts)
    assert strategy_of("workers").num_replicas_in_sync == 2 * int(devices)
    return {run: keras_runs.losses(tf, run, "workers") for run in runs}


def class_weights(strategy):
    """The losses of `fit` on a dataset with weights for classes."""
    import keras

    keras.utils.set_random_seed(1)
    with strategy.scope():
        model: Any = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("sgd", loss)
    x = np.arange(60, dtype=np.float32).reshape(20, 3) / 60
    data = tf.data.Dataset.from_tensor_slices((x, np.arange(20) % 2)).batch(8)
    return model.fit(data, epochs=2, verbose=0, class_weight={0: 1.0, 1: 3.0}).history["loss"]


def weighted(output):
    """The same of two workers."""
    return class_weights(strategy_of("workers"))


def steps(output, folder, count, *what):
    """Trains with checkpoints, and does something at a step: `what` is its number, the worker and what to do."""
    strategy = strategy_of("workers")
    number = strategy.cluster_resolver.task_id
    attempt = int(os.environ["TAPEFLOW_ATTEMPT"])
    Path(f"{output}.{attempt}.{number}.pid").write_text(str(os.getpid()))
    with strategy.scope():
        weights = tf.Variable(tf.ones([4, 1]))
        step = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(weights=weights, step=step)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    manager.restore_or_initialize()

    def replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ weights) ** 2) / 4.0
        gradient = tf.distribute.get_replica_context().all_reduce(
            "SUM", tape.gradient(loss, weights)
        )
        weights.assign_sub(0.01 * gradient)
        return loss

    @tf.function
    def train(x):
        return strategy.reduce("SUM", strategy.run(replica, args=(x,)), axis=None)

    losses = {}
    at, who, action = (int(what[0]), int(what[1]), what[2]) if what else (-1, -1, "")
    while int(step.numpy()) < int(count):
        now = int(step.numpy())
        if now == at and action == "differ":
            strategy.reduce("SUM", tf.ones([3 + int(number or 0)]), axis=None)
        if now == at and number == who and not attempt:
            act(action)
        x = np.random.default_rng([now, int(number or 0)]).normal(size=(2, 4)).astype(np.float32)
        losses[now] = float(train(tf.constant(x)))
        with open(f"{output}.{number}.losses", "a") as file:
            file.write(f"{now} {losses[now]!r}\n")
        step.assign_add(1)
        manager.save()
    return {"losses": losses, "attempt": attempt}


def act(action):
    """Something that should not happen to a worker."""
    if action == "raise":
        raise ValueError("this worker has had enough")
    if action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if action == "loop":
        while True:
            time.sleep(0.01)
    if action == "leave":
        sys.exit(0)


def preempted(output, folder, count, when):
    """Trains with a handler of preemptions. The second worker is told to end when `when` steps were made."""
    strategy = strategy_of("workers")
    number = strategy.cluster_resolver.task_id
    with strategy.scope():
        total = tf.Variable(0.0)
    handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        strategy.cluster_resolver, tf.train.Checkpoint(total=total), folder
    )
    began = handler.total_run_calls

    def replica():
        total.assign_add(tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0)))

    step = tf.function(lambda: strategy.run(replica))
    while handler.total_run_calls < int(count):
        if not began and number == 1 and handler.total_run_calls == int(when):
            os.kill(os.getpid(), signal.SIGTERM)
        handler.run(step)
    return {"began": began, "ended": handler.total_run_calls, "total": float(total.numpy())}


def backed_up(output, folder, epoch):
    """`fit` with `BackupAndRestore`; the second worker is killed in an epoch."""
    import keras

    strategy = strategy_of("workers")
    number = strategy.cluster_resolver.task_id
    keras.utils.set_random_seed(3)
    with strategy.scope():
        layers = [keras.Input((3,)), keras.layers.Dense(4), keras.layers.BatchNormalization()]
        model: Any = keras.Sequential([*layers, keras.layers.Dense(1)])
        model.compile("adam", "mse")
    x = np.arange(60, dtype=np.float32).reshape(20, 3) / 60

    def begin(now, logs):
        if now == int(epoch) and number == 1 and os.environ["TAPEFLOW_ATTEMPT"] == "0":
            os.kill(os.getpid(), signal.SIGKILL)

    callbacks = [
        keras.callbacks.BackupAndRestore(folder),
        keras.callbacks.LambdaCallback(on_epoch_begin=begin),
    ]
    history = model.fit(
        x, x[:, :1], batch_size=8, epochs=4, verbose=0, shuffle=False, callbacks=callbacks
    )
    return {"loss": history.history["loss"]}


def saved(output, folder):
    """Both ways to save: the first worker alone, and all of them, each in a folder of its own."""
    strategy = strategy_of("workers")
    number = strategy.cluster_resolver.task_id
    with strategy.scope():
        v = tf.Variable(tf.random.normal([3]))
        total = tf.Variable(
            float(number or 0),
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    strategy.run(lambda: total.assign(tf.constant(float(number or 0) + 1.0)))
    if number == 0:
        tf.train.Checkpoint(v=v).write(f"{folder}/alone")
    mine = Path(folder) if number == 0 else Path(folder) / f"workertemp_{number}"
    tf.train.Checkpoint(v=v, total=total).write(str(mine / "together"))
    held = v.numpy().tolist()
    strategy.reduce("SUM", tf.constant(0.0), axis=None)  # now both have saved
    v.assign(tf.zeros([3]))
    tf.train.Checkpoint(v=v).read(f"{folder}/alone")
    alone = v.numpy().tolist()
    v.assign(tf.zeros([3]))
    tf.train.Checkpoint(v=v, total=total).read(f"{folder}/together")
    return {"held": held, "alone": alone, "all": [*v.numpy().tolist(), float(total.numpy())]}


if __name__ == "__main__":
    kind, output, *rest = sys.argv[1:]
    found = globals()[kind](output, *rest)
    number = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    Path(f"{output}.{number}").write_text(json.dumps(found))
