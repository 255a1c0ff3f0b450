"""Arguments and objects that would be right, by name: hostile calls put others beside them."""

from __future__ import annotations

from tests.differential.draw import Draw, arrays, bools, code, dtypes, floats, one_of, shapes

X = floats(shape=shapes(0, 3), forms=("tensor", "tensor", "variable", "numpy"))
MATRIX = floats(shape=one_of((2, 2), (3, 3)), dtypes=("float32", "float64"), edges=0.0)
INT = one_of(0, 1, 2, 3)
FUNCTION = code("lambda x: x", "lambda x: x * x", "lambda *a: a[0]", "tf.identity")
FOLD = code("lambda a, x: a", "lambda *a: a[0]")
DATASET = code(
    "tf.data.Dataset.range(5)",
    "tf.data.Dataset.from_tensor_slices({'a': [1.0, 2.0], 'b': [[1], [2]]})",
)
DATASETS = code("[tf.data.Dataset.range(3), tf.data.Dataset.range(4)]")
PATH = one_of("a.txt", "folder", "folder/b")
IMAGE = arrays(("uint8",), shape=one_of((2, 3, 3), (2, 3, 1), (1, 2, 3, 3)), low=0, high=255)
CONTENTS = code(
    *(f"image_file({k!r})" for k in ("png", "jpeg", "gif", "bmp")),
    "image_file('png', mode='LA')",
    "image_file('gif', mode='P')",
)
OPTIONAL = code("tf.data.experimental.Optional.from_value([1.0])")
DEVICE = code("'/CPU:0'", "tf.config.list_physical_devices()[0]")

PLAUSIBLE: dict[str, Draw] = {
    **dict.fromkeys(("x", "xs", "ys", "tensor", "value", "values", "elems", "data", "v"), X),
    **dict.fromkeys(("target", "sources", "updates", "delta", "initial_value", "inp"), X),
    **dict.fromkeys(("initializer", "initial_state", "tensors", "inputs", "loop_vars"), X),
    **dict.fromkeys(("query", "key", "input_tensor", "element", "structure", "components"), X),
    **dict.fromkeys(("f", "func", "fn", "map_func", "loss", "key_func", "generator"), FUNCTION),
    **dict.fromkeys(
        ("body", "true_fn", "false_fn", "default", "entity", "python_function"), FUNCTION
    ),
    **dict.fromkeys(("reduce_func", "scan_func", "window_size_func", "transformation_func"), FOLD),
    **dict.fromkeys(("cond", "predicate", "element_length_func"), code("lambda *a: True")),
    **dict.fromkeys(("dataset", "choice_dataset", "dataset_or_iterator"), DATASET),
    **dict.fromkeys(("datasets",), DATASETS),
    **dict.fromkeys(
        ("shape", "element_shape", "padded_shapes", "fft_length"), code("[2]", "[2, 3]")
    ),
    **dict.fromkeys(
        ("dtype", "out_type", "Tout", "output_types", "type_value"), dtypes("float32", "int64")
    ),
    **dict.fromkeys(("axis", "axes", "batch_dims", "count", "num", "size", "start", "stop"), INT),
    **dict.fromkeys(("step", "index", "buffer_size", "batch_size", "num_shards", "n"), INT),
    **dict.fromkeys(("cycle_length", "block_length", "num_parallel_calls", "depth"), INT),
    **dict.fromkeys(("branch_index", "alg", "rank", "channels", "max_to_keep"), INT),
    **dict.fromkeys(("seed", "state"), code("[1, 2]", "1", "[1, 2, 3]")),
    **dict.fromkeys(("minval", "mean", "lam", "rate", "decay"), one_of(0.0, 0.5)),
    **dict.fromkeys(("maxval", "stddev", "counts", "probs"), one_of(1.0, 0.7)),
    **dict.fromkeys(("filename", "path", "directory", "src", "dst", "top", "logdir"), PATH),
    **dict.fromkeys(("export_dir", "checkpoint_dir", "ckpt_dir_or_file", "save_path"), PATH),
    **dict.fromkeys(("pattern", "file_prefix", "device_type"), one_of("*", "a*", "CPU")),
    **dict.fromkeys(("device",), DEVICE),
    **dict.fromkeys(("indices",), code("[0, 1]", "[[0], [1]]", "tf.constant([0])")),
    "sparse_delta": code("tf.IndexedSlices(tf.ones([1, 2]), [0], [2, 2])"),
    "contents": CONTENTS,
    "image": IMAGE,
    "serialized": code(
        "tf.io.serialize_tensor([1.0, 2.0])", "b'\\x08\\x01\\x12\\x04\\x12\\x02\\x08\\x05'"
    ),
    "bytes": code("b'text'", "b'x\\x9c+I\\xad(\\x01\\x00\\x04]\\x01\\xc1'"),
    "compression_type": one_of("", "ZLIB", "GZIP"),
    "input_bytes": code("b'12345678'", "[b'1234', b'5678']"),
    "branch_fns": code("[lambda: 1.0, lambda: 2.0]"),
    "pred_fn_pairs": code("[(True, lambda: 1.0)]"),
    "pred": bools(),
    "shapes": code("[(tf.ones([2, 3]), ('n', 3))]"),
    "input_signature": code("[tf.TensorSpec([None], tf.float32)]"),
    "signature": code("tf.TensorSpec([None], tf.float32)"),
    "output_signature": code("tf.TensorSpec([], tf.float32)"),
    "bucket_boundaries": code("[1, 2]"),
    "bucket_batch_sizes": code("[1, 2, 3]"),
    "padding_values": code("None", "0.0"),
    "lengths": code("[1, 2]"),
    "primals": code("tf.constant([1.0, 2.0])"),
    "tangents": code("tf.constant([1.0, 2.0])"),
    "element_spec": code("tf.TensorSpec([], tf.int64)"),
    "window_size": INT,
    "mode": one_of("r", "w", "rb"),
    "step_": INT,
    "forward_window_fn": code("tf.signal.hann_window"),
    "frame_step": INT,
    "checkpoint": code("tf.train.Checkpoint(v=tf.Variable(1.0))"),
    "obj": code("tf.Module()"),
    "variable": code("tf.Variable([1.0])"),
    "var_list": code("[tf.Variable([1.0])]"),
    "option": code("tf.data.Options()"),
    "options": code("None"),
    "iterator": code("iter(tf.data.Dataset.range(3))"),
    "writer": code("tf.summary.create_noop_writer()"),
    "loss_scale": one_of(1.0, 2.0),
}
"""By the name of a parameter. Others get something odd at once."""

VECTOR = "tf.constant([[1.0, 2.0], [3.0, 4.0]])"
OBJECTS: dict[str, tuple[str, ...]] = {
    "tf.Tensor": (VECTOR, "tf.constant(3)", "tf.constant([b'a', b''])", "tf.zeros([0, 2])"),
    "tf.Variable": ("tf.Variable([[1.0, 2.0], [3.0, 4.0]])", "tf.Variable(2)", "tf.Variable('a')"),
    "tf.TensorShape": ("tf.TensorShape([2, None])", "tf.TensorShape(None)", "tf.TensorShape([])"),
    "tf.TensorSpec": ("tf.TensorSpec([None, 2], tf.float32)",),
    "tf.DType": ("tf.float32", "tf.string", "tf.uint64"),
    "tf.TensorArray": (
        "tf.TensorArray(tf.float32, 3, dynamic_size=True, clear_after_read=False).unstack([[1.0], [2.0]])",
        "tf.TensorArray(tf.int32, 2)",
    ),
    "tf.GradientTape": ("used_tape(tf)", "tf.GradientTape(persistent=True)"),
    "tf.autodiff.ForwardAccumulator": (
        "tf.autodiff.ForwardAccumulator(tf.constant(1.0), tf.constant(1.0))",
    ),
    "tf.random.Generator": (
        "tf.random.Generator.from_seed(1)",
        "tf.random.Generator.from_seed(1, 'threefry')",
    ),
    "tf.data.Dataset": (
        "tf.data.Dataset.range(5)",
        "tf.data.Dataset.from_tensor_slices({'a': [1.0, 2.0], 'b': [[1], [2]]})",
        "tf.data.Dataset.range(6).batch(2)",
        "tf.data.Dataset.from_generator(lambda: iter([1.0, 2.0]), output_types=tf.float32)",
    ),
    "tf.data.Iterator": ("iter(tf.data.Dataset.range(3))",),
    "tf.data.Options": ("tf.data.Options()",),
    "tf.data.DatasetSpec": ("tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))",),
    "tf.data.experimental.Optional": ("tf.data.experimental.Optional.from_value([1.0])",),
    "tf.Module": ("tf.Module()",),
    "tf.train.Checkpoint": ("tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))",),
    "tf.train.CheckpointManager": (
        "tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), 'folder', 2)",
    ),
    "tf.train.ExponentialMovingAverage": ("tf.train.ExponentialMovingAverage(0.9)",),
    "tf.io.gfile.GFile": ("tf.io.gfile.GFile('a.txt', 'w+')", "tf.io.gfile.GFile('a.txt', 'rb')"),
    "tf.io.TFRecordWriter": ("tf.io.TFRecordWriter('records')",),
    "tf.summary.SummaryWriter": ("tf.summary.create_file_writer('folder')",),
    **{
        f"tf.{kind}_initializer": (f"tf.{kind}_initializer({'1.0' if kind == 'constant' else ''})",)
        for kind in ("constant", "ones", "zeros", "random_normal", "random_uniform")
    },
}
"""Objects whose methods are called, by class."""

EXPRESSIONS = (
    *(f"x {sign} y" for sign in ("+", "-", "*", "/", "//", "%", "**", "@", "<", "==", "!=", "&")),
    *(f"y {sign} x" for sign in ("+", "-", "*", "/", "//", "%", "**", "@", ">", "|", "^")),
    *("x[y]", "x[y, y]", "x[y:y]", "x[::y]", "x[..., y]", "x[y, None]", "x[:, y:, y]"),
    *("-x", "~x", "abs(x)", "len(x)", "list(x)", "bool(x)", "int(x)", "float(x)", "complex(x)"),
    *("x.shape[y]", "f'{x}'", "round(x)", "x in y", "y in x", "range(x)[:3]"),
    *("hash(x)", "str(x)", "repr(x)", "tf.TensorShape(y)[y]", "tf.TensorShape(y) + y", "x is y"),
    *("[*x]", "x.shape + y", "tf.function(lambda a: a)(y)", "tf.function(lambda **k: k)(a=y)"),
    *("tf.function(lambda a: tf.add(a, x))(y)", "tf.function(y)(x)", "tf.constant(y).shape"),
    "tf.function(lambda a: a, input_signature=[tf.TensorSpec([None])])(y)",
    "tf.function(lambda a: a).get_concrete_function(y)",
    "tf.custom_gradient(lambda a: (a, y))(x)",
    "gradient(tf, tf.custom_gradient(lambda a: (a, lambda g: y)), x)",
    "tf.custom_gradient(lambda a: y)(x)",
    "tf.recompute_grad(y)(x)",
    "tf.data.Dataset.range(3).map(lambda a: y)",
    "tf.data.Dataset.from_generator(lambda: [y], output_types=tf.float32)",
    "tf.data.Dataset.from_generator(lambda: y, output_signature=tf.TensorSpec([None], tf.int32))",
    "tf.cond(y, lambda: x, lambda: x)",
    "tf.cond(True, lambda: y, lambda: x)",
    "tf.while_loop(lambda a: False, lambda a: y, [x])",
    "tf.while_loop(lambda a: y, lambda a: a, [x], maximum_iterations=2)",
    "tf.map_fn(lambda a: y, x)",
    "tf.py_function(lambda a: y, [x], tf.float32)",
    "tf.numpy_function(lambda a: y, [x], tf.float32)",
    "tf.numpy_function(lambda a: x, [x], y)",
    "tf.vectorized_map(lambda a: y, x)",
)
"""With `x` a tensor or a variable, and `y` anything."""
