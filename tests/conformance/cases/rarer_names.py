"""Rarer names: row partitions, batch encoders, parts of checkpoints, clusters, types of traces, wrappers of cells."""

import os
import tempfile
from types import SimpleNamespace as Some

import numpy as np
from case_helpers import everywhere

NUMBERS = np.arange(9)


def _shuffled(rounds, seed, index=NUMBERS, most=8):
    return lambda tf: everywhere(
        tf, lambda i: tf.random_index_shuffle(i, seed, tf.cast(most, i.dtype), rounds=rounds), index
    )


# Row partitions.


def _asked(make):
    def about(rows):
        return (
            rows.row_splits(),
            rows.row_lengths(),
            rows.value_rowids(),
            rows.row_starts(),
            rows.row_limits(),
            rows.offsets_in_rows(),
            rows.nrows(),
            rows.nvals(),
        )

    def case(tf):
        rows = make(tf.experimental.RowPartition)
        length = rows.static_uniform_row_length
        static = [rows.static_nrows, None if length is None else int(length)]
        static += [rows.is_uniform(), rows.dtype.name, repr(rows)]
        return about(rows), static, tf.function(lambda: about(make(tf.experimental.RowPartition)))()

    return case


def partition_in_function(tf):
    f = tf.function(lambda rows: rows.row_lengths() * 2)
    rows = tf.experimental.RowPartition.from_row_lengths([2, 0, 1])
    return f(rows), f(rows.with_dtype(tf.int32)), rows.with_dtype(tf.int32).dtype.name


def shape_of_partitions(tf):
    rows = tf.experimental.RowPartition.from_row_lengths([2, 0, 1])
    shape = tf.experimental.DynamicRaggedShape([rows], [3])
    return tf.ones(shape), [p.row_splits() for p in shape.row_partitions]


# Extension types.


def batch_encoder(tf):
    class Late(tf.experimental.ExtensionTypeBatchEncoder):
        def encode(self, spec, value, minimum_rank=0):
            return value.x - 1

        def decode(self, spec, encoded_value):
            return Number(encoded_value + 1)

        def encoding_specs(self, spec):
            return spec.x

    class Number(tf.experimental.BatchableExtensionType):
        __batch_encoder__ = Late()
        x: tf.Tensor

    data = tf.data.Dataset.from_tensor_slices(Number([1, 2, 3])).batch(2)
    return [each.x for each in data]


def shapes_in_batches(tf):
    class Sized(tf.experimental.BatchableExtensionType):
        x: tf.Tensor
        size: tf.TensorShape

    one = Sized(tf.zeros([2, 3]), [2, 3])
    spec = Sized.Spec.from_value(one)
    encoder = tf.experimental.ExtensionTypeBatchEncoder()
    batch = encoder.batch(spec, 4)
    return [str(batch.x.shape), str(batch.size), str(encoder.unbatch(batch).size)]


# Checkpoints.


def _state(tf):
    class State(tf.train.experimental.PythonState):
        text = "first"

        def serialize(self):
            return self.text

        def deserialize(self, string_value):
            self.text = bytes(string_value).decode()

    return State()


def python_state(tf):
    state = _state(tf)
    path = tf.train.Checkpoint(state=state).write(os.path.join(tempfile.mkdtemp(), "ckpt"))
    state.text = "other"
    tf.train.Checkpoint(state=state).read(path).assert_consumed()
    names = sorted(name for name, _ in tf.train.list_variables(path))
    return state.text, names


def _module(tf, *names):
    module = tf.Module()
    for i, name in enumerate(names):
        setattr(module, name, tf.Variable(float(i)))
    return module


def checkpoint_view(tf):
    module = _module(tf, "a", "b")
    module.inside = _module(tf, "c")
    path = tf.train.Checkpoint(module).write(os.path.join(tempfile.mkdtemp(), "ckpt"))
    view = tf.train.CheckpointView(path)
    other = _module(tf, "a", "x")
    other.inside = _module(tf, "c", "y")
    matched, saved, there = view.diff(other)
    return (
        sorted(view.children(0).keys() & {"a", "b", "inside"}),
        view.descendants()[:3],
        list(view.children(view.children(0)["inside"])),
        sorted(matched)[:3],
        view.children(0)["b"] in saved,
        [x is y for x, y in zip(there, (other.x, other.inside.y), strict=True)],
        view.match(other)[view.children(0)["a"]] is other.a,
    )


def view_of_nothing(tf):
    return tf.train.CheckpointView(os.path.join(tempfile.mkdtemp(), "ckpt"))


def view_and_no_object(tf):
    module = _module(tf, "a")
    path = tf.train.Checkpoint(module).write(os.path.join(tempfile.mkdtemp(), "ckpt"))
    return tf.train.CheckpointView(path).match(3)


# Clusters.


def cluster_messages(tf):
    spec = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {1: "c:3", 4: "d:4"}})
    message = spec.as_cluster_def()
    again = tf.train.ClusterDef.FromString(message.SerializeToString())
    server = tf.train.ServerDef(job_name="ps", task_index=4, protocol="grpc", port=3)
    server.cluster.CopyFrom(message)
    return (
        sorted(message.SerializeToString()),  # maps have no order
        tf.train.ClusterSpec(again).as_dict(),
        [[job.name, dict(job.tasks)] for job in again.job],
        str(message),
        sorted(server.SerializeToString()),
        tf.train.JobDef(name="a", tasks={0: "x"}) == tf.train.JobDef(name="a", tasks={0: "x"}),
        tf.train.JobDef().name,
    )


def _pods(**phases):
    pods = [
        Some(metadata=Some(name=name), status=Some(phase=phase, host_ip=f"10.0.0.{i}"))
        for i, (name, phase) in enumerate(phases.items())
    ]
    return Some(list_pod_for_all_namespaces=lambda label_selector: Some(items=pods))


def _kubernetes(ask, **phases):
    return lambda tf: ask(
        tf.distribute.cluster_resolver.KubernetesClusterResolver(
            {"worker": ["x=y"]}, override_client=_pods(**phases)
        )
    )


def gce(tf):
    class Request:
        def __init__(self, answer):
            self.execute = lambda: answer

    class Service:
        def instanceGroups(self):
            return self

        instances = instanceGroups

        def listInstances(self, **given):
            names = [{"instance": "zone/b"}, {"instance": "zone/a"}]
            return Request({"items": names})

        def listInstances_next(self, previous_request, previous_response):
            return None

        def get(self, project, zone, instance):
            return Request({"networkInterfaces": [{"networkIP": f"10.0.0.{instance}"}]})

    resolver = tf.distribute.cluster_resolver.GCEClusterResolver(
        "p", "z", "g", 8470, task_id=1, credentials=None, service=Service()
    )
    found = [resolver.cluster_spec().as_dict(), resolver.master(), resolver.master("worker", 0)]
    resolver.task_id = 0
    found += [resolver.task_type, resolver.task_id, resolver.rpc_layer, resolver.master()]
    try:
        resolver.task_type = "chief"
    except RuntimeError:
        found.append("refused")
    return found


def _cut(name, shape, dtype, *given, axis=0, **options):
    def case(tf):
        kind = getattr(tf.distribute.experimental.partitioners, name)
        return kind(*given, **options)(tf.TensorShape(shape), getattr(tf, dtype), axis)

    return case


# Functions.


def tracing_types(tf):
    traced = []

    class Kind(tf.types.experimental.TraceType):
        def __init__(self, value):
            self.value = value

        def is_subtype_of(self, other):
            return isinstance(other, Kind) and other.value.size in (None, self.value.size)

        def most_specific_common_supertype(self, others):
            return self if all(self == other for other in others) else None

        def placeholder_value(self, placeholder_context=None):
            return self.value

        def cast(self, value, cast_context=None):
            return value

        def __eq__(self, other):
            return isinstance(other, Kind) and self.value.size == other.value.size

        def __hash__(self):
            return hash(self.value.size)

    class Sized:
        def __init__(self, size, by):
            self.size, self.by = size, by

        def __tf_tracing_type__(self, context):
            return Kind(self)

    @tf.function
    def f(x):
        traced.append(x.size)
        return tf.constant(1.0) * x.by

    found = [f(Sized(1, 2.0)), f(Sized(1, 3.0)), f(Sized(2, 5.0)), f(Sized(1, 7.0))]
    protocol = tf.types.experimental.SupportsTracingProtocol
    return (
        found,
        traced,
        isinstance(Sized(1, 1.0), protocol),
        isinstance(3, protocol),
        isinstance(tf.TensorSpec([], tf.float32), tf.types.experimental.TraceType),
    )


def function_types(tf):
    f = tf.function(lambda x, y=2.0: x * y)
    kind = tf.types.experimental.FunctionType
    concrete = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    return (
        isinstance(f.function_type, kind),
        list(f.function_type.parameters),
        isinstance(concrete.function_type, kind),
        list(concrete.function_type.parameters),
    )


def batched_calls(tf):
    @tf.nondifferentiable_batch_function(1, 4, 100, allowed_batch_sizes=[2, 4])
    def f(x):
        return x * 2.0, [x + 1.0]

    rows = tf.reshape(tf.range(6.0), [3, 2])
    inside = tf.function(lambda x: f(x))
    return f(rows), f(rows[:1]), inside(rows)


# Cells.


def _cell(tf, size=3):
    ones = {"kernel_initializer": "ones", "recurrent_initializer": "ones"}
    return tf.keras.layers.SimpleRNNCell(size, activation=None, **ones)


def residual(tf):
    cell = tf.nn.RNNCellResidualWrapper(_cell(tf))
    own = tf.nn.RNNCellResidualWrapper(_cell(tf), residual_fn=lambda i, o: i - o)
    x, h = tf.constant([[1.0, 2.0, 3.0]]), tf.constant([[0.5, 0.0, 0.25]])
    return cell(x, h), own(x, h), cell.state_size, cell.output_size


def on_device(tf):
    cell = tf.nn.RNNCellDeviceWrapper(_cell(tf), "CPU:0")
    return cell(tf.constant([[1.0, 2.0]]), tf.constant([[0.5, 0.0, 0.25]]))


def _dropped(**options):
    def case(tf):
        tf.random.set_seed(3)
        cell = tf.nn.RNNCellDropoutWrapper(_cell(tf, 4), seed=7, **options)
        return [cell(tf.ones([2, 4]), tf.ones([2, 4]))]

    return case


def keep_too_much(tf):
    return tf.nn.RNNCellDropoutWrapper(_cell(tf), input_keep_prob=1.5)


def same_without_dtype(tf):
    return tf.nn.RNNCellDropoutWrapper(_cell(tf), variational_recurrent=True)


# Other things.


def learned(tf):
    f = tf.random.learned_unigram_candidate_sampler
    first = f([[0], [3]], 1, 2, False, 4, seed=12)
    return first.true_expected_count, first.sampled_expected_count


def learned_in_function(tf):
    classes = tf.constant([[0], [3]], tf.int64)

    @tf.function
    def f(x):
        return tf.nn.learned_unigram_candidate_sampler(x, 1, 2, False, 4)

    return [f(classes).true_expected_count for _ in range(3)]


def handles(tf):
    return [
        [d.name, d.size, int(d), d.is_numeric, d.is_integer, d.is_floating, str(d), repr(d)]
        for d in (tf.resource, tf.variant, tf.as_dtype("resource"), tf.dtypes.variant)
    ]


def device_policies(tf):
    found = [tf.config.experimental.get_device_policy()]
    for name in ("warn", "silent_for_int32", "explicit", None):
        tf.config.experimental.set_device_policy(name)
        found.append(tf.config.experimental.get_device_policy())
    return found


CASES = {
    "shuffle": _shuffled(4, [1, 2, 3]),
    "shuffle_more": _shuffled(8, [1, -2, 3]),
    "shuffle_much": _shuffled(80, [1, 2, 3]),
    "shuffle_far": _shuffled(6, [7, 8, 9], np.array([0, 99999]), 2**20),
    "shuffle_by_rows": _shuffled(4, [[1, 2, 3], [3, 2, 1]], np.array([3, 3])),
    "shuffle_two_seeds": _shuffled(4, [1, 2]),
    "shuffle_beyond": _shuffled(4, [1, 2, 3], np.array([9])),
    "rows_of_splits": _asked(lambda r: r.from_row_splits([0, 2, 2, 5])),
    "rows_of_lengths": _asked(lambda r: r.from_row_lengths([2, 0, 3], dtype_hint="int32")),
    "rows_of_rowids": _asked(lambda r: r.from_value_rowids([0, 0, 2, 2, 2], nrows=4)),
    "rows_of_starts": _asked(lambda r: r.from_row_starts([0, 2, 2], nvals=5)),
    "rows_of_limits": _asked(lambda r: r.from_row_limits([2, 2, 5])),
    "rows_of_one_length": _asked(lambda r: r.from_uniform_row_length(2, nvals=6)),
    "rows_of_one_length_by_number": _asked(lambda r: r.from_uniform_row_length(3, nrows=2)),
    "rows_of_no_length": lambda tf: tf.experimental.RowPartition.from_uniform_row_length(2),
    "rows_by_hand": lambda tf: tf.experimental.RowPartition([0, 1]),
    "rows_falling": lambda tf: tf.experimental.RowPartition.from_row_splits([0, 3, 2]),
    "rows_of_floats": lambda tf: tf.experimental.RowPartition.from_row_lengths([1.0]),
    "kubernetes": _kubernetes(
        lambda r: [r.cluster_spec().as_dict(), r.master(), r.master("worker", 1), r.task_id],
        b="Running",
        a="Running",
    ),
    "kubernetes_waiting": _kubernetes(lambda r: r.cluster_spec(), a="Pending"),
    "cut_fixed": _cut("FixedShardsPartitioner", [10, 3], "float32", 4),
    "cut_fixed_beyond": _cut("FixedShardsPartitioner", [3, 5], "float32", 4, axis=1),
    "cut_least": _cut("MinSizePartitioner", [6, 1], "float32", 4, max_shards=2),
    "cut_least_many": _cut("MinSizePartitioner", [6, 3], "float64", 10, max_shards=50),
    "cut_least_text": _cut("MinSizePartitioner", [6], "string", 40, 10, bytes_per_string=7),
    "cut_least_nothing": _cut("MinSizePartitioner", [6], "string", 0),
    "cut_most": _cut("MaxSizePartitioner", [6, 1], "float32", 8),
    "cut_most_few": _cut("MaxSizePartitioner", [60, 2], "int64", 8, max_shards=7),
    "cut_most_text": _cut("MaxSizePartitioner", [4, 6], "string", 70, axis=1),
    "cut_most_nothing": _cut("MaxSizePartitioner", [4, 6], "string", 70, max_shards=-1),
    "dropped_inputs": _dropped(input_keep_prob=0.5),
    "dropped_outputs": _dropped(output_keep_prob=0.5),
    "dropped_states": _dropped(state_keep_prob=0.5),
    "dropped_alike": _dropped(
        input_keep_prob=0.5, variational_recurrent=True, dtype="float32", input_size=4
    ),
    "handle_of_number": lambda tf: tf.constant(1, tf.resource),
    "handle_of_zeros": lambda tf: tf.zeros([2], tf.variant),
    "no_device_policy": lambda tf: tf.config.experimental.set_device_policy("nonsense"),
    "string_variable_added_to": lambda tf: tf.Variable("a").assign_add("b"),
    "string_variable_taken_from": lambda tf: tf.Variable("a").assign_sub("b"),
    "string_variable_plus": lambda tf: tf.Variable("a") + "b",
}
