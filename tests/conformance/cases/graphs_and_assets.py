"""Graphs that are imported, traces by themselves, MLIR, dumps for debugging, files of saved models."""

import os
import tempfile

import numpy as np
from case_helpers import value_and_gradients


def _graph_def(tf):
    found = tf.compat.v1.GraphDef()
    number = tf.float32.as_datatype_enum
    found.node.add(name="x", op="Placeholder").attr["dtype"].type = number
    found.node[0].attr["shape"].shape.dim.add(size=2)
    found.node.add(name="y", op="Sin", input=["x"]).attr["T"].type = number
    found.node.add(name="z", op="AddV2", input=["y", "x:0"]).attr["T"].type = number
    return found


def _imported(by, **arguments):
    """What importing gives in a graph, under both names of the function."""

    def case(tf):
        f = tf.import_graph_def if by == "import" else tf.graph_util.import_graph_def
        with tf.Graph().as_default():
            found = f(**{"graph_def": _graph_def(tf), **arguments})
        return None if found is None else [_told(each) for each in found]

    return case


def _told(found):
    if hasattr(found, "dtype"):
        return found.dtype.name, found.shape.as_list()
    return found.type, len(found.outputs), len(found.inputs), found.inputs[0].name


def _run(tf, elements):
    def f(x):
        return tf.import_graph_def(_graph_def(tf), {"x": x}, elements)

    return value_and_gradients(tf, tf.function(f), [0.5, -1.0])


def _trace(tf):
    w = tf.Variable(3.0)
    concrete = tf.function(lambda x: w * x).get_concrete_function(tf.TensorSpec([], tf.float32))
    return w, concrete


def atomic_function(tf):
    _w, concrete = _trace(tf)
    atomic = concrete.inference_fn
    kinds = tf.types.experimental
    return [
        isinstance(atomic, kinds.AtomicFunction),
        isinstance(concrete, kinds.AtomicFunction),
        isinstance(concrete, kinds.ConcreteFunction),
        isinstance(atomic, kinds.Callable),
        atomic.call_with_captures((tf.constant(2.0),), {}, concrete.captured_inputs),
        atomic.call_with_captures((), {"x": tf.constant(5.0)}, concrete.captured_inputs),
    ]


def _logarithm(tf):
    return lambda x: tf.math.log(x) * 2.0


def _dumping(**arguments):
    """What is computed while ops are dumped, and that a call more gives the same writer."""

    def case(tf):
        dump = tf.debugging.experimental
        with tempfile.TemporaryDirectory() as folder:
            try:
                writer = dump.enable_dump_debug_info(folder, **arguments)
                again = dump.enable_dump_debug_info(folder, **arguments)
                y = tf.function(_logarithm(tf), autograph=False)(tf.constant([1.0, 0.0, -1.0]))
                writer.FlushNonExecutionFiles()
                writer.FlushExecutionFiles()
                return y, again is writer, len(os.listdir(folder)) > 0
            finally:
                dump.disable_dump_debug_info()

    return case


def _dumping_twice(first, second):
    def case(tf):
        dump = tf.debugging.experimental
        with tempfile.TemporaryDirectory() as folder:
            try:
                dump.enable_dump_debug_info(folder, **first)
                dump.enable_dump_debug_info(folder, **second)
            finally:
                dump.disable_dump_debug_info()

    return case


def mlir_of_a_function(tf):
    _, concrete = _trace(tf)
    text = tf.mlir.experimental.convert_function(concrete)
    return type(text).__name__, "module" in text, "func.func" in text


def mlir_passes(tf):
    text = """func.func @f() -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  return %a : i32
}"""
    found = tf.mlir.experimental.run_pass_pipeline(text, "builtin.module(canonicalize)")
    return type(found).__name__, "@f" in found, "constant 1" in found


def mlir_bytecode(tf):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "module.mlirbc")
        given = tf.mlir.experimental.write_bytecode(path, "module {}")
        with open(path, "rb") as file:
            return given, file.read(4)


def _with_a_file(f):
    def case(tf):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "words.txt")
            with open(path, "w") as file:
                file.write("one\ntwo\n")
            return f(tf, folder, path)

    return case


def _asset(tf, folder, path):
    asset = tf.saved_model.Asset(path)
    found = asset.asset_path
    return found.dtype.name, found.shape.as_list(), tf.convert_to_tensor(asset) == path


def _saved_asset(tf, folder, path):
    model = tf.Module()
    model.file = tf.saved_model.Asset(path)
    goal = os.path.join(folder, "model")
    tf.saved_model.save(model, goal)
    os.remove(path)
    loaded = tf.saved_model.load(goal)
    where = os.path.relpath(loaded.file.asset_path.numpy().decode(), goal)
    return where, tf.io.read_file(loaded.file.asset_path), os.listdir(os.path.join(goal, "assets"))


def _table_of_a_file(tf, folder, path):
    """The words of a table are a file of the model, too."""
    reader = tf.lookup.TextFileInitializer(
        path,
        tf.string,
        tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
    )
    return tf.lookup.StaticHashTable(reader, -1).lookup(tf.constant(["two", "three"]))


CONSTANTS = (
    "ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES "
    "DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU PREDICT_INPUTS PREDICT_METHOD_NAME "
    "PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS SAVED_MODEL_FILENAME_PB "
    "SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING TPU TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME"
)

MODES = (
    "NO_TENSOR CURT_HEALTH CONCISE_HEALTH FULL_HEALTH SHAPE FULL_TENSOR UNSPECIFIED FULL_NUMERICS "
    "REDUCE_INF_NAN_THREE_SLOTS NOTHING"
)

CASES = {
    **{
        f"{name} {what}": _imported(name, **arguments)
        for name in ("import", "graph_util")
        for what, arguments in {
            "nothing": {},
            "a tensor": {"return_elements": ["z:0"]},
            "both": {"return_elements": ["y:0", "y"]},
            "a name": {"return_elements": ["y"], "name": "inner"},
            "an operation": {"return_elements": ["y"]},
            "an empty list": {"return_elements": []},
            "no message": {"graph_def": 3},
            "no map": {"input_map": 3},
            "a map from a number": {"input_map": {3: 1.0}},
            "an element that is a number": {"return_elements": [3]},
            "an element that is not there": {"return_elements": ["q:0"]},
            "a result that is not there": {"return_elements": ["y:3"]},
            "an input that is not there": {"input_map": {"q:0": np.zeros(2, np.float32)}},
        }.items()
    },
    "run": lambda tf: _run(tf, ["z:0"]),
    "run with all": lambda tf: _run(tf, ["x:0", "y:0", "z:0"])[0],
    "atomic without captures": lambda tf: _trace(tf)[1].inference_fn(tf.constant(1.0)),
    **{f"dump {mode}": _dumping(tensor_debug_mode=mode) for mode in MODES.split()},
    "dump all": _dumping(circular_buffer_size=-1),
    "dump some ops": _dumping(op_regex="(?i)log"),
    "dump dtypes": _dumping(tensor_dtypes=["float32", np.int32]),
    "dump dtypes by a function": _dumping(tensor_dtypes=lambda dtype: dtype.is_floating),
    "dump no dtypes": _dumping(tensor_dtypes=3),
    "dump to nowhere": lambda tf: tf.debugging.experimental.enable_dump_debug_info(""),
    "dump with another mode": _dumping_twice({}, {"tensor_debug_mode": "SHAPE"}),
    "dump with another size": _dumping_twice({}, {"circular_buffer_size": 7}),
    "dump no more": lambda tf: tf.debugging.experimental.disable_dump_debug_info(),
    "mlir passes that are not there": lambda tf: tf.mlir.experimental.run_pass_pipeline(
        "module {}", "builtin.module(nope)"
    ),
    "mlir that is none": lambda tf: tf.mlir.experimental.run_pass_pipeline(
        "modu", "builtin.module(canonicalize)"
    ),
    "asset": _with_a_file(_asset),
    "saved asset": _with_a_file(_saved_asset),
    "table of a file": _with_a_file(_table_of_a_file),
    "asset of a number": lambda tf: tf.saved_model.Asset(3),
    "constants of saved models": lambda tf: [getattr(tf.saved_model, n) for n in CONSTANTS.split()],
}
