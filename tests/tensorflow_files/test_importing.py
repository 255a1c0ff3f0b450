"""Graphs of TensorFlow's, imported; traces as atomic functions and MLIR; ops dumped to files."""

import json
import math

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


@pytest.fixture
def dump():
    """`tf.debugging.experimental`, which writes nothing afterwards."""
    yield tf.debugging.experimental
    tf.debugging.experimental.disable_dump_debug_info()


def dumped(folder):
    (path,) = folder.glob("*.execution.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_dumps_have_the_ops_of_functions(tmp_path, dump):
    writer = dump.enable_dump_debug_info(tmp_path, "FULL_HEALTH", 0, op_regex="log")
    assert dump.enable_dump_debug_info(tmp_path, "FULL_HEALTH", 0, op_regex="log") is writer
    for others in (("SHAPE", 0, "log"), ("FULL_HEALTH", 7, "log"), ("FULL_HEALTH", 0, "exp")):
        with pytest.raises(ValueError, match="disable_dump_debug_info"):
            dump.enable_dump_debug_info(tmp_path, *others)
    tf.function(lambda x: tf.math.log(x) + 1.0)(tf.constant([0.0, -1.0, 1.0]))
    dump.disable_dump_debug_info()
    tf.math.log(tf.constant(2.0))
    (event,) = dumped(tmp_path)
    (said,) = event["outputs"]
    assert (said["nans"], said["negative_infinities"], said["zeros"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("NO_TENSOR", {}),
        ("CURT_HEALTH", {"has_inf_or_nan": True}),
        (
            "CONCISE_HEALTH",
            {"elements": 4, "negative_infinities": 1, "positive_infinities": 0, "nans": 1},
        ),
        ("SHAPE", {"rank": 2, "elements": 4, "shape": [2, 2]}),
        ("FULL_TENSOR", {"shape": [2, 2], "values": [[0.0, -math.inf], [math.nan, 0.0]]}),
    ],
)
def test_what_each_mode_tells(tmp_path, dump, mode, said):
    dump.enable_dump_debug_info(tmp_path, mode)
    tf.math.log(tf.constant([[1.0, 0.0], [-1.0, 1.0]]))
    dump.disable_dump_debug_info()
    (event,) = dumped(tmp_path)
    assert str(event["outputs"]) == str([{"dtype": "float32", **said}])


@pytest.mark.parametrize("mode", ["CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "FULL_TENSOR"])
@pytest.mark.parametrize("value", [["a", "b"], [True, False], [1 + 2j, 0j], [7, 8]], ids=str)
def test_every_mode_takes_every_dtype(tmp_path, dump, mode, value):
    x = tf.constant(value)
    dump.enable_dump_debug_info(tmp_path, mode)
    tf.reshape(x, [2, 1])
    dump.disable_dump_debug_info()
    (event,) = dumped(tmp_path)
    assert event["outputs"][0]["dtype"] == x.dtype.name


def test_ops_that_are_left_out(tmp_path, dump):
    """An expression is matched from the beginning of the name on, so that one that excludes a name does."""
    dump.enable_dump_debug_info(tmp_path, op_regex="(?!^exp$)", tensor_dtypes=["float32"])
    tf.exp(tf.constant(1.0))
    tf.sin(tf.constant(1.0))
    tf.cos(tf.constant(1.0, tf.float64))
    dump.disable_dump_debug_info()
    assert [event["op"] for event in dumped(tmp_path)] == ["sin"]


def test_the_latest_ops_wait_until_they_are_written(tmp_path, dump):
    writer = dump.enable_dump_debug_info(tmp_path, circular_buffer_size=2)
    for f in (tf.exp, tf.sin, tf.cos):
        f(tf.constant(1.0))
    writer.FlushExecutionFiles()
    assert [event["op"] for event in dumped(tmp_path)] == ["sin", "cos"]
    writer.FlushExecutionFiles()
    assert len(dumped(tmp_path)) == 2


def test_passes_that_are_not_there():
    pytest.importorskip("jax")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.mlir.experimental.run_pass_pipeline("module {}", "builtin.module(nope)")
    with pytest.raises(tf.errors.UnknownError):
        tf.mlir.experimental.run_pass_pipeline("modu", "builtin.module(canonicalize)")
