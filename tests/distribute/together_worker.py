"""One of the workers of a job, which shows that they run one program: `together_worker.py WHAT OUTPUT DEVICES ...`.

Each writes what it has found to `OUTPUT.NUMBER`, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

import tapeflow as tf

ROWS = 16


def program(step) -> Any:
    """The program of all replicas, if there is one."""
    (trace,) = step._traces
    (forward,) = trace._graph_function._forwards.values()
    return None if forward._replicas is None else forward._replicas._program


def noted(program):
    """What the program is called with from now on: arrays of jax's."""
    calls: list[Any] = []
    (one,) = program._programs.values()
    run = one._call.run

    def noting(values):
        given = [values[v] for v in one._inputs]
        before = [describe(x) for x in given]
        found = run(values)
        calls.append({"given": before, "made": [describe(values[v]) for v in one._outputs]})
        return found

    one._call.run = noting
    return calls


def describe(array):
    """How many devices an array lies on, its shape, and that of each part which this process holds."""
    parts = [list(shard.data.shape) for shard in array.addressable_shards]
    return [len(array.sharding.device_set), list(array.shape), parts]


def evidence(strategy):
    """What shows that devices work together, of a step that computes with a batch and a weight."""
    with strategy.scope():
        w = tf.Variable(tf.ones([3, 1]))

    def replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ w) ** 2)
        context = tf.distribute.get_replica_context()
        w.assign_sub(0.01 * context.all_reduce("SUM", tape.gradient(loss, w)))
        return x * 2.0

    step = tf.function(lambda x: strategy.run(replica, args=(x,)), jit_compile=True)
    data = tf.data.Dataset.from_tensors(np.ones([ROWS, 3], np.float32)).repeat(3)
    calls: list[Any] = []
    parts: Any = ()
    for i, x in enumerate(strategy.experimental_distribute_dataset(data)):
        if i == 2 and program(step) is not None:
            calls = noted(program(step))
        parts = strategy.experimental_local_results(step(x))
    texts = [] if program(step) is None else program(step).texts()
    return {
        "calls": calls,
        "rows": [int(part.shape[0]) for part in parts],
        "texts": texts,
        "weight": w.numpy().tolist(),
        "report": step.report(),
    }


def unlike(strategy):
    """Functions whose constants, shapes and ops differ between the workers, and what becomes of them."""
    number = strategy.cluster_resolver.task_id or 0

    def replica(x):
        context = tf.distribute.get_replica_context()
        mine = tf.cast(context.replica_id_in_sync_group, tf.float32)
        return context.all_reduce("SUM", x * 10.0**mine), context.all_gather(x[None] + mine, axis=0)

    constants = tf.function(lambda x: strategy.run(replica, args=(x,)))

    def summed(x):
        return tf.distribute.get_replica_context().all_reduce("SUM", tf.reduce_sum(x))

    shapes = tf.function(lambda x: strategy.run(summed, args=(x,)), reduce_retracing=True)

    def told(x):
        found = tf.distribute.get_replica_context().all_reduce("SUM", x)
        if number:  # XLA does not run it
            tf.print("told", found, output_stream=sys.stdout)
        return found

    ops = tf.function(lambda x: strategy.run(told, args=(x,)))
    with strategy.scope():
        table = tf.Variable(tf.ones([4, 2]))

    def picked(i):
        context = tf.distribute.get_replica_context()
        table.assign_add(context.all_reduce("SUM", tf.ones([4, 2])))
        return context.all_reduce("SUM", tf.gather(table, i)[0])

    index = tf.function(lambda i: strategy.run(picked, args=(i,)))

    def first(x):
        return np.asarray(strategy.experimental_local_results(x)[0]).tolist()

    found = {
        "constants": [[first(x) for x in constants(tf.constant(2.0))] for _ in range(3)],
        "shapes": [first(shapes(tf.ones([n + number * k]))) for n, k in ((2, 0), (2, 1), (3, 0))],
        "ops": [first(ops(tf.constant(1.0))) for _ in range(2)],
        "index": [first(index(tf.constant(i))) for i in (1, 3)],
    }
    try:
        index(tf.constant(4))
    except tf.errors.InvalidArgumentError:
        found["refused"] = True
    found["table"] = table.numpy().tolist()
    functions = {"constants": constants, "shapes": shapes, "ops": ops, "index": index}
    return {**found, "reports": {name: step.report() for name, step in functions.items()}}


def short(strategy):
    """Both of these."""
    return {"evidence": evidence(strategy), "unlike": unlike(strategy)}


def fifty_steps(strategy, *kinds):
    """The losses of models, each trained for 50 steps."""
    from tests.distribute import keras_models

    found = {}
    for kind in kinds:
        with strategy.scope():
            model = keras_models.build(kind)
        losses = keras_models.losses_of_batches(model, *keras_models.data(kind))
        found[kind] = {"losses": losses, "report": model.train_function.report()}
    return found


if __name__ == "__main__":
    kind, output, devices, *rest = sys.argv[1:]
    (cpu,) = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration()] * int(devices)
    tf.config.set_logical_device_configuration(cpu, parts)
    found = globals()[kind](tf.distribute.MultiWorkerMirroredStrategy(), *rest)
    number = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    Path(f"{output}.{number}").write_text(json.dumps(found))
