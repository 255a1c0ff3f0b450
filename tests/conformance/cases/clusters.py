"""Who belongs to a job: `tf.train.ClusterSpec`, cluster resolvers, and options for communication."""

import json
import os

SPEC = {"worker": ["a:1", "b:2"], "ps": {1: "c:3", 4: "d:4"}}


def _spec(ask, cluster=None):
    return lambda tf: ask(tf.train.ClusterSpec(SPEC if cluster is None else cluster))


CASES = {
    "dict": _spec(lambda s: s.as_dict()),
    "repr": _spec(repr),
    "str": _spec(str),
    "jobs": _spec(lambda s: sorted(s.jobs)),
    "num_tasks": _spec(lambda s: [s.num_tasks("worker"), s.num_tasks("ps")]),
    "indices": _spec(lambda s: [s.task_indices("worker"), s.task_indices("ps")]),
    "address": _spec(lambda s: s.task_address("ps", 4)),
    "job_tasks": _spec(lambda s: s.job_tasks("ps")),
    "no_such_job": _spec(lambda s: s.num_tasks("chief")),
    "no_such_task": _spec(lambda s: s.task_address("worker", 5)),
    "no_such_job_tasks": _spec(lambda s: s.job_tasks("chief")),
    "no_such_address": _spec(lambda s: s.task_address("chief", 0)),
    "empty": _spec(lambda s: [bool(s), s.as_dict(), s.jobs], {}),
    "empty_job": _spec(lambda s: s.as_dict(), {"worker": []}),
    "of_spec": lambda tf: tf.train.ClusterSpec(tf.train.ClusterSpec(SPEC)).as_dict(),
    "equal": lambda tf: [
        tf.train.ClusterSpec(SPEC) == tf.train.ClusterSpec(dict(SPEC)),
        tf.train.ClusterSpec(SPEC) == tf.train.ClusterSpec({}),
        tf.train.ClusterSpec(SPEC) != tf.train.ClusterSpec({}),
    ],
    "of_list": _spec(lambda s: s, ["a:1"]),
    "tasks_of_text": _spec(lambda s: s, {"worker": "a:1"}),
    "address_of_number": _spec(lambda s: s, {"worker": [3]}),
    "address_of_bytes": _spec(lambda s: s.as_dict(), {"worker": [b"a:1"]}),
}


def _configured(ask, config, *args, **kwargs):
    def case(tf):
        before = os.environ.get("TF_CONFIG")
        os.environ["TF_CONFIG"] = config if isinstance(config, str) else json.dumps(config)
        try:
            return ask(tf.distribute.cluster_resolver.TFConfigClusterResolver(*args, **kwargs))
        finally:
            del os.environ["TF_CONFIG"]
            if before is not None:
                os.environ["TF_CONFIG"] = before

    return case


def _all(resolver):
    return [
        resolver.task_type,
        resolver.task_id,
        resolver.rpc_layer,
        resolver.environment,
        resolver.master(),
        resolver.cluster_spec().as_dict(),
    ]


CLUSTER = {
    "cluster": {"worker": ["a:1", "b:2"]},
    "task": {"type": "worker", "index": 1},
    "rpc_layer": "grpc",
}

CASES |= {
    "config": _configured(_all, CLUSTER),
    "config_of_nothing": _configured(_all, {}),
    "config_of_one": _configured(_all, {"cluster": {"worker": ["a:1"]}}),
    "config_overridden": _configured(_all, CLUSTER, task_type="worker", task_id=0, rpc_layer="x"),
    "config_text_index": _configured(_all, {**CLUSTER, "task": {"type": "worker", "index": "1"}}),
    "config_without_task": _configured(_all, {"cluster": {"worker": ["a:1", "b:2"]}}),
    "config_session_master": _configured(_all, {**CLUSTER, "session_master": "m"}),
    "config_master_of": _configured(lambda r: r.master("worker", 0, "http"), CLUSTER),
    "config_master_missing": _configured(lambda r: r.master("worker", 7), CLUSTER),
    "config_is_no_json": _configured(lambda r: r.task_type, "{worker"),
}


def _set(resolver):
    resolver.task_type, resolver.task_id, resolver.rpc_layer = "chief", 3, "x"
    return [resolver.task_type, resolver.task_id, resolver.rpc_layer]


CASES["config_set"] = _configured(_set, CLUSTER)


def _simple(tf, cluster=None, **options):
    spec = tf.train.ClusterSpec({"worker": ["a:1", "b:2"]} if cluster is None else cluster)
    return tf.distribute.cluster_resolver.SimpleClusterResolver(spec, **options)


def _union(*clusters, ask=lambda r: r.cluster_spec().as_dict(), **options):
    def case(tf):
        parts = [_simple(tf, c, task_type="worker", task_id=1, rpc_layer="g") for c in clusters]
        return ask(tf.distribute.cluster_resolver.UnionResolver(*parts, **options))

    return case


CASES |= {
    "simple": lambda tf: _all(_simple(tf)),
    "simple_told": lambda tf: _all(
        _simple(tf, master="m", task_type="worker", task_id=1, environment="here", rpc_layer="grpc")
    ),
    "simple_master": lambda tf: _simple(tf).master("worker", 1, "grpc"),
    "simple_accelerators": lambda tf: [
        _simple(tf).num_accelerators(),
        _simple(tf, num_accelerators={"GPU": 2}).num_accelerators(),
    ],
    "simple_set": lambda tf: _set(_simple(tf)),
    "simple_of_dict": lambda tf: tf.distribute.cluster_resolver.SimpleClusterResolver(
        {"worker": ["a:1"]}
    ),
    "simple_master_number": lambda tf: _simple(tf, master=3),
    "union": _union({"worker": ["a:1"]}, {"worker": ["b:1"], "ps": ["c:1"]}),
    "union_of_numbers": _union({"worker": {1: "a:1"}}, {"worker": {3: "b:1"}}),
    "union_of_both": _union({"worker": {1: "a:1"}}, {"worker": ["b:1"]}),
    "union_twice": _union({"worker": {0: "a:1", 2: "x:1"}}, {"worker": ["b:1"]}),
    "union_told": _union(
        {"worker": ["a:1"]}, ask=lambda r: [r.task_type, r.task_id, r.rpc_layer, r.master()]
    ),
    "union_overridden": _union(
        {"worker": ["a:1"]},
        ask=lambda r: [r.task_type, r.task_id, r.rpc_layer, r.master("worker", 0)],
        task_type="chief",
        task_id=2,
        rpc_layer="h",
    ),
    "union_set": _union({"worker": ["a:1"]}, ask=_set),
    "union_of_none": lambda tf: tf.distribute.cluster_resolver.UnionResolver(),
    "union_of_text": lambda tf: tf.distribute.cluster_resolver.UnionResolver("a:1"),
}


def _options(tf, *args, **kwargs):
    found = tf.distribute.experimental.CommunicationOptions(*args, **kwargs)
    return [found.bytes_per_pack, found.timeout_seconds, found.implementation.name]


CASES |= {
    "options": lambda tf: _options(tf),
    "options_told": lambda tf: _options(tf, 1024, 3.0, "ring"),
    "options_nccl": lambda tf: _options(
        tf, implementation=tf.distribute.experimental.CommunicationImplementation.NCCL
    ),
    "options_below_zero": lambda tf: _options(tf, -1),
    "options_unknown": lambda tf: _options(tf, implementation="mail"),
    "options_of_number": lambda tf: _options(tf, implementation=3),
    "implementations": lambda tf: [
        x.value for x in tf.distribute.experimental.CollectiveCommunication
    ],
    "hints": lambda tf: tf.distribute.experimental.CollectiveHints(5, 2.0).timeout_seconds,
}


def _slurm(ask=None, rank=1, nodes="n[1-2]", per_node="2,1", count=3, **options):
    variables = {
        "SLURM_PROCID": str(rank),
        "SLURM_STEP_NUM_TASKS": str(count),
        "SLURM_STEP_NODELIST": nodes,
        "SLURM_STEP_TASKS_PER_NODE": per_node,
    }

    def told(resolver):
        return [
            resolver.cluster_spec().as_dict(),
            resolver.get_task_info(),
            resolver.master(),
            resolver.num_accelerators(),
        ]

    def case(tf):
        os.environ.update(variables)
        given = {"gpus_per_node": 4, "auto_set_gpu": False, **options}
        try:
            resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(**given)
            return (ask or told)(resolver)
        finally:
            for name in variables:
                del os.environ[name]

    return case


CASES |= {
    "slurm": _slurm(),
    "slurm_last": _slurm(rank=2),
    "slurm_hosts": _slurm(nodes="a[08-10,3],b,c1", per_node="1(x6)", count=6),
    "slurm_jobs": _slurm(jobs={"worker": 2, "ps": 1}),
    "slurm_per_node": _slurm(tasks_per_node=2, count=4, rank=3),
    "slurm_per_host": _slurm(tasks_per_node={"x": 1, "a": 2}),
    "slurm_ports": _slurm(port_base=100, rpc_layer="http"),
    "slurm_gpus": _slurm(gpus_per_task=2),
    "slurm_too_many_gpus": _slurm(gpus_per_task=3),
    "slurm_too_many_tasks": _slurm(jobs={"worker": 5}),
    "slurm_before": _slurm(lambda r: [r.get_task_info(), r.master()]),
    "slurm_master": _slurm(lambda r: r.master("worker", 2)),
    "no_slurm": lambda tf: tf.distribute.cluster_resolver.SlurmClusterResolver(),
}
