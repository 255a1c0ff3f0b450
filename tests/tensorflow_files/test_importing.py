"""Graphs of TensorFlow's, imported; traces as atomic functions and MLIR; ops dumped to files."""

import json

import pytest

import tapeflow as tf


def graph_def():
    found = tf.compat.v1.GraphDef()
    number = tf.float32.as_datatype_enum
    found.node.add(name="x", op="Placeholder").attr["dtype"].type = number
    found.node[0].attr["shape"].shape.dim.add(size=2)
    found.node.add(name="y", op="Sin", input=["x"]).attr["T"].type = number
    found.node.add(name="z", op="AddV2", input=["y", "x:0"]).attr["T"].type = number
    return found


def test_imported_ops_run_in_functions_and_have_gradients():
    @tf.function
    def f(x):
        (z,) = tf.import_graph_def(graph_def(), {"x": x}, ["z:0"])
        return z

    x = tf.constant([0.0, 0.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy().tolist() == [0, 0]
    assert tape.gradient(y, x).numpy().tolist() == [2, 2]
    (z,) = tf.graph_util.import_graph_def(graph_def().SerializeToString(), {"y:0": x}, ["y:0"])
    assert z.numpy().tolist() == [0, 0]


def test_a_graph_gets_placeholders():
    with tf.Graph().as_default():
        y, operation = tf.import_graph_def(graph_def(), return_elements=["y:0", "y"])
    assert y.shape == [2]
    assert operation.type == "Sin"


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (TypeError, {"graph_def": 3}),
        (TypeError, {"input_map": 3}),
        (TypeError, {"input_map": {3: 1.0}}),
        (TypeError, {"return_elements": [3]}),
        (ValueError, {"return_elements": ["q:0"]}),
        (ValueError, {"return_elements": ["y:3"], "input_map": {"x": [0.0, 0.0]}}),
        (tf.errors.InvalidArgumentError, {"return_elements": ["y:0"]}),
    ],
)
def test_mistakes(kind, arguments):
    with pytest.raises(kind):
        tf.import_graph_def(**{"graph_def": graph_def(), **arguments})


def test_atomic_functions_take_captures():
    w = tf.Variable(3.0)
    concrete = tf.function(lambda x: w * x).get_concrete_function(tf.TensorSpec([], tf.float32))
    atomic = concrete.inference_fn
    assert isinstance(atomic, tf.types.experimental.AtomicFunction)
    assert not isinstance(concrete, tf.types.experimental.AtomicFunction)
    with pytest.raises(ValueError, match="call_with_captures"):
        atomic(tf.constant(1.0))
    with pytest.raises(TypeError, match="captures 1"):
        atomic.call_with_captures((tf.constant(1.0),), {}, [])
    assert atomic.call_with_captures((), {"x": tf.constant(2.0)}, [tf.Variable(4.0)]).numpy() == 8


def test_dumps_have_the_ops_of_functions(tmp_path):
    dump = tf.debugging.experimental
    writer = dump.enable_dump_debug_info(tmp_path, "FULL_HEALTH", 0, op_regex="log")
    try:
        assert dump.enable_dump_debug_info(tmp_path, "FULL_HEALTH", op_regex="log") is writer
        with pytest.raises(ValueError, match="disable_dump_debug_info"):
            dump.enable_dump_debug_info(tmp_path, "SHAPE")
        tf.function(lambda x: tf.math.log(x) + 1.0)(tf.constant([0.0, -1.0, 1.0]))
    finally:
        dump.disable_dump_debug_info()
    tf.math.log(tf.constant(2.0))
    (path,) = tmp_path.glob("*.execution.jsonl")
    (event,) = map(json.loads, path.read_text().splitlines())
    (said,) = event["outputs"]
    assert (said["nans"], said["negative_infinities"], said["zeros"]) == (1, 1, 1)


def test_passes_that_are_not_there():
    pytest.importorskip("jax")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.mlir.experimental.run_pass_pipeline("module {}", "builtin.module(nope)")
    with pytest.raises(tf.errors.UnknownError):
        tf.mlir.experimental.run_pass_pipeline("modu", "builtin.module(canonicalize)")
