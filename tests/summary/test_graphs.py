"""`tf.summary.graph`: TensorBoard reads the graphs of traced functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.summary

pytest.importorskip("tensorboard")


def read(folder):
    """The only graph in a folder, as TensorBoard finds it."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    graph = EventAccumulator(str(folder)).Reload().Graph()
    return {node.name: node for node in graph.node}


def test_the_ops_of_a_function(tmp_path):
    w = tf.Variable([1.0, 2.0], name="w")

    @tf.function
    def step(x):
        y = tf.reduce_sum(tf.sin(x) * w)
        w.assign_sub(w * 0.1)
        return y

    traced = step.get_concrete_function(tf.TensorSpec([None, 2], tf.float32))
    with tf.summary.create_file_writer(tmp_path).as_default():
        assert tf.summary.graph(traced.graph)
    nodes = read(tmp_path)
    assert nodes["x"].op == "Placeholder"
    shape = nodes["x"].attr["_output_shapes"].list.shape[0]
    assert [d.size for d in shape.dim] == [-1, 2]
    assert list(nodes["sin"].input) == ["x"]
    assert nodes["sin"].attr["line"].s.decode().startswith("test_graphs.py:")
    assert nodes["w"].op == "Variable"
    assert set(nodes["multiply"].input) == {"sin", "w"}
    assert nodes["w/assign"].input[0] == "w"
    for node in nodes.values():
        assert all(name.partition(":")[0] in nodes for name in node.input)
    constants = [n for n in nodes.values() if n.op == "Const"]
    from tensorboard.util import tensor_util

    values = [tensor_util.make_ndarray(n.attr["value"].tensor) for n in constants]
    assert any(np.allclose(v, 0.1) for v in values)


def test_branches_and_loops_are_inside_their_node(tmp_path):
    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = tf.cos(x) if x > 0.0 else tf.exp(x)
        return x

    traced = f.get_concrete_function(tf.constant(1.0))
    with tf.summary.create_file_writer(tmp_path).as_default():
        tf.summary.graph(traced.graph)
    names = read(tmp_path)
    assert any(name.endswith("/cos") and "while" in name for name in names)
    assert any(name.endswith("/exp") for name in names)


def test_what_is_no_graph(tmp_path):
    with pytest.raises(ValueError, match="get_concrete_function"):
        tf.summary.graph(3)
    with pytest.raises(ValueError, match="ConcreteFunction"):
        tf.summary.graph(tf.function(tf.sin).get_concrete_function(1.0))


def test_without_a_writer_nothing_is_written():
    traced = tf.function(lambda x: tf.sin(x)).get_concrete_function(tf.constant(1.0))
    assert not tf.summary.graph(traced.graph)


def test_a_graph_beside_scalars(tmp_path):
    traced = tf.function(lambda x: tf.sin(x)).get_concrete_function(tf.constant(1.0))
    with tf.summary.create_file_writer(tmp_path).as_default(step=1):
        tf.summary.scalar("loss", 1.0)
        tf.summary.graph(traced.graph)
        tf.summary.scalar("loss", 2.0)
    assert "sin" in read(tmp_path)
    assert len(list(Path(tmp_path).iterdir())) == 1
