"""`tf.summary.trace_on`, `trace_export`, `trace_off`."""

import logging

import pytest

import tapeflow as tf
from tapeflow._src.core.context import recorders
from tapeflow._src.core.system.timeline import timeline


@tf.function
def f(x):
    with tf.name_scope("part"):
        return tf.reduce_sum(tf.sin(x))


def graphs_in(folder):
    reader = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="TensorBoard is not installed",
    )
    from tensorboard.compat.proto import config_pb2

    events = reader.EventAccumulator(str(folder))
    events.Reload()
    (event,) = events.Tensors("run")
    message = config_pb2.RunMetadata()
    message.ParseFromString(event.tensor_proto.string_val[0])
    assert event.step == 7
    plugin = events.SummaryMetadata("run").plugin_data.plugin_name
    return plugin, [g.pre_optimization_graph for g in message.function_graphs]


def test_the_graphs_of_functions_that_run(tmp_path):
    f(tf.ones([2]))  # before
    tf.summary.trace_on()
    f(tf.ones([3]))
    f(tf.ones([3]))
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.trace_export("run", step=7)
    assert recorders() == ()
    plugin, graphs = graphs_in(tmp_path)
    assert plugin == "graph_run_metadata_graph"
    (graph,) = graphs
    assert [node.name for node in graph.node] == ["x", "part/sin", "part/sum"]
    assert list(graph.node[2].input) == ["part/sin"]


def test_with_a_profile(tmp_path):
    tf.summary.trace_on(profiler=True)
    f(tf.ones([3]))
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.trace_export("run", step=7, profiler_outdir=tmp_path)
    assert timeline.watcher is None
    assert len(list(tmp_path.glob("plugins/profile/*/*.trace.json.gz"))) == 1


def test_what_is_demanded(tmp_path, caplog):
    with pytest.raises(ValueError, match="Must enable trace before export"):
        tf.summary.trace_export("run", step=7)
    tf.summary.trace_off()
    tf.summary.trace_on(profiler=True)
    with caplog.at_level(logging.WARNING):
        tf.summary.trace_on()
    assert "Trace already enabled" in caplog.text
    with (
        tf.summary.create_file_writer(str(tmp_path)).as_default(),
        pytest.raises(ValueError, match="No step set"),
    ):
        tf.summary.trace_export("run")
    tf.summary.trace_off()
    assert timeline.watcher is None
    assert recorders() == ()
