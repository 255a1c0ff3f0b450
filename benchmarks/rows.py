"""What is measured: the rows of the tables, their columns, and what tapeflow aims at."""

from __future__ import annotations

from dataclasses import dataclass, replace

PEERS = ("tensorflow", "torch", "jax")
COMPILERS = ("tensorflow-jit", "torch-compile")
COMPILED_PEERS = ("tensorflow", *COMPILERS, "torch", "jax")

# A library, or a library and how it is told to compile: the columns of the two tables.
EAGER_COLUMNS = {
    "tapeflow": "tapeflow",
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "jax": "JAX",
}
COMPILED_COLUMNS = {
    "tapeflow": "tapeflow",
    "tensorflow": "TensorFlow",
    "tensorflow-jit": "TensorFlow XLA",
    "torch-compile": "torch.compile",
    "torch": "PyTorch eager",
    "jax": "jax.jit",
}
KERAS_COLUMNS = EAGER_COLUMNS  # the backends
# tapeflow compiles when a function has run for a while; so told, it does in the first call.
EXTRA_COLUMNS = {"tapeflow-jit": "tapeflow XLA"}
# Both on XLA: as a function whose executor is chosen runs there, and as `jit_compile=True` does.
CHECKED_COLUMNS = {"tapeflow-checked": "checked", "tapeflow-jit": "`jit_compile=True`"}
# A call of a program by jax itself beside them.
CALL_COLUMNS = {**CHECKED_COLUMNS, "jax": "jax.jit"}
LIBRARIES = (*COMPILED_COLUMNS, *EXTRA_COLUMNS, "tapeflow-checked")


@dataclass(frozen=True)
class Workload:
    """What a row is called, how it is described, and what tapeflow aims at.

    Attributes:
      title: what the row is called.
      description: what is done, in a sentence without its stop.
      targets: how many times better tapeflow aims to be, for each peer that is named.
      in_bytes: whether memory is measured, not time.
      libraries: which libraries run it.
      against: the peers whose best is compared with, in the rows of the compiled table.
      aim: how many times better than that best tapeflow aims to be.
      variant_of: another workload that does the same, written in another way: the better counts.
    """

    title: str
    description: str
    targets: tuple[tuple[str, float], ...] = ()
    in_bytes: bool = False
    libraries: tuple[str, ...] = ("tapeflow", *PEERS)
    against: tuple[str, ...] = COMPILED_PEERS
    aim: float | None = None
    variant_of: str | None = None


EAGER = {
    "import": Workload(
        "import",
        "wall time of a fresh `python -c 'import ...'`, the start of the interpreter included, "
        "bytecode and disk cache warm",
        (("tensorflow", 15),),
    ),
    "chain": Workload(
        "200 × (sin, mul)",
        "`y = sin(y) * x` 200 times on a 4×4 float32 matrix, forward and backward",
        (("tensorflow", 15), ("torch", 1.5)),
    ),
    "mlp": Workload(
        "MLP training step",
        "784-256-256-10, relu, softmax cross-entropy with integer labels, batch 64: "
        "forward, backward and SGD",
        (("tensorflow", 4), ("torch", 1.2)),
    ),
    "rnn": Workload(
        "RNN, 20 steps",
        "vanilla tanh cell of width 32, batch 16, forward and backward",
    ),
    "deep_mlp": Workload(
        "peak memory, 50 layers",
        "forward and backward through 50 relu layers of width 512 at batch 2048: "
        "the highest resident memory above what was there before",
        in_bytes=True,
    ),
    "jacobian_cnn": Workload(
        "Jacobian, CNN",
        "`tape.jacobian` of the 64×10 scores of two 3×3 convolutions (8 and 16 channels) and a dense "
        "layer on 12×12 images, with respect to all weights",
        (("tensorflow", 1),),
        libraries=("tapeflow", "tensorflow"),
    ),
    "jacobian_cnn:memory": Workload(
        "Jacobian, CNN: peak memory",
        "the same: the highest resident memory above what was there before",
        (("tensorflow", 1),),
        in_bytes=True,
        libraries=("tapeflow", "tensorflow"),
    ),
    "jacobian_lstm": Workload(
        "Jacobian, LSTM",
        "`tape.jacobian` of the 64×10 scores of an LSTM of width 32 after 10 steps, written by hand, "
        "with respect to all weights",
        (("tensorflow", 1),),
        libraries=("tapeflow", "tensorflow"),
    ),
    "jacobian_lstm:memory": Workload(
        "Jacobian, LSTM: peak memory",
        "the same: the highest resident memory above what was there before",
        (("tensorflow", 1),),
        in_bytes=True,
        libraries=("tapeflow", "tensorflow"),
    ),
    "input_pipeline": Workload(
        "`tf.data`, 50,000 samples",
        "one pass over `from_tensor_slices`, `shuffle` with a buffer for all, `batch(32)`: samples of "
        "8 float32 features and an int32 label",
        (("tensorflow", 3),),
        libraries=("tapeflow", "tensorflow"),
    ),
}


def _compiled(title: str, description: str, **options) -> Workload:
    columns = (*COMPILED_COLUMNS, *EXTRA_COLUMNS)
    return Workload(title, description, **({"libraries": columns} | options))


COMPILED = {
    "compiled_chain": _compiled(
        "200 × (sin, mul)",
        "`y = sin(y) * x` 200 times on a 4×4 float32 matrix, forward and backward",
        targets=tuple((peer, 1) for peer in COMPILED_PEERS if peer != "jax"),
        aim=0.67,
    ),
    "compiled_mlp": _compiled(
        "MLP training step",
        "784-256-256-10, relu, softmax cross-entropy with integer labels, batch 64: "
        "forward, backward and SGD",
        aim=1.2,
    ),
    "compiled_cnn": _compiled(
        "CNN training step",
        "3×3 convolutions of 32 and 64 channels, each with relu and 2×2 max pooling, and a dense "
        "layer, on 32 images of 32×32×3: forward, backward and SGD",
        aim=1,
    ),
    "compiled_transformer": _compiled(
        "transformer block step",
        "a block of width 256 with 8 heads, layer normalisation first, and an MLP of 4 times the "
        "width with gelu, on 8 times 128 tokens: forward, backward and SGD",
        aim=1.05,
    ),
    "compiled_lstm": _compiled(
        "LSTM, 100 steps",
        "a hand-written cell of width 128, batch 32, 100 steps: forward, backward and SGD; a loop in "
        "Python that is unrolled for tapeflow, TensorFlow and PyTorch, `lax.scan` for JAX",
        # XLA would compile the unrolled loop for minutes: told to use it, one writes the other.
        libraries=("tapeflow", "tensorflow", "torch-compile", "torch", "jax"),
    ),
    "compiled_lstm_loop": _compiled(
        "LSTM, 100 steps, `tf.range`",
        "the same with `for t in tf.range(100)`; the row shows the faster of the two",
        libraries=("tapeflow", "tapeflow-jit", "tensorflow", "tensorflow-jit"),
        variant_of="compiled_lstm",
    ),
    "compiled_adam": _compiled(
        "Adam, 10 million",
        "one update of ten vectors of a million parameters each, written out in one function; "
        "PyTorch eager uses its own fused kernel",
        aim=1,
    ),
}

KERAS = {
    "keras_start": Workload(
        "start to first batch",
        "wall time of a process that imports Keras, builds the MLP and trains on one batch with `fit`",
        against=PEERS,
        aim=2,
    ),
    "keras_mlp": Workload(
        "`fit`, MLP",
        "784-256-256-10, relu, batch 128, 50 batches an epoch",
        against=PEERS,
        aim=1,
    ),
    "keras_cnn": Workload(
        "`fit`, CNN",
        "3×3 convolutions of 32 and 64 channels, each with 2×2 max pooling, and a dense layer on 32×32×3 images, "
        "batch 32",
        against=PEERS,
        aim=0.91,
    ),
    "keras_lstm": Workload(
        "`fit`, LSTM",
        "100 steps of 32 features, width 128, batch 32",
        against=PEERS,
        aim=0.91,
    ),
    "keras_transformer": Workload(
        "`fit`, transformer",
        "64 tokens, two blocks of width 128 with 4 heads and MLPs of 4 times the width, batch 16",
        against=PEERS,
        aim=1,
    ),
    "keras_mobilenet": Workload(
        "`fit`, MobileNetV2",
        "Keras's own, of 10 classes, 16 images of 96×96, SGD with momentum",
        against=PEERS,
        aim=1,
    ),
    "keras_resnet": Workload(
        "`fit`, ResNet-50",
        "Keras's own, of 10 classes, 8 images of 128×128, SGD with momentum",
        against=PEERS,
        aim=1,
    ),
    "keras_loop": Workload(
        "tape loop, eager",
        "a step over the MLP, batch 128: the model, `SparseCategoricalCrossentropy`, `tape.gradient` and "
        "`optimizer.apply_gradients`",
        targets=(("tensorflow", 3),),
        against=("tensorflow",),
        libraries=("tapeflow", "tensorflow"),
    ),
    "keras_loop_function": Workload(
        "tape loop, `tf.function`",
        "the same step inside `tf.function`",
        against=("tensorflow",),
        libraries=("tapeflow", "tensorflow"),
    ),
}

CHECKED = {
    "checked_mlp": Workload(
        "MLP training step",
        "784-256-256-10, batch 64: the labels come with the arguments, so they are checked before "
        "the program is started",
        libraries=tuple(CHECKED_COLUMNS),
    ),
    "checked_embedding": Workload(
        "embedding training step",
        "32 times 64 rows of a table of 10,000 × 64, their mean, and a dense layer of 10 classes: "
        "row numbers and labels are checked before",
        libraries=tuple(CHECKED_COLUMNS),
    ),
    "checked_computed": Workload(
        "MLP, computed labels",
        "the same MLP with labels that the step computes in floats: they are checked in the program, "
        "and each step waits for the answer",
        libraries=tuple(CHECKED_COLUMNS),
    ),
}

CALLS = {
    "call_one": Workload(
        "one array",
        "`x * 2 + 1` of a 4×4 matrix that an earlier call has made",
        libraries=tuple(CALL_COLUMNS),
    ),
    "call_step": Workload(
        "four variables",
        "a step that takes such a matrix and subtracts a part of it from each of four; jax is given their memory, too",
        libraries=tuple(CALL_COLUMNS),
    ),
}

# What the samples of a batch take at the highest point of a step.
_STEPS = {
    "mlp": "MLP training step",
    "cnn": "CNN training step",
    "transformer": "transformer block step",
    "lstm": "LSTM, 100 steps",
}
MEMORY = {
    f"memory_{mode}_{name}": Workload(
        f"{title}, {mode}",
        f"the {mode} step of this name on 8 times as many samples: the highest resident memory in a step, above "
        "that of the same program with one sample",
        in_bytes=True,
        libraries=libraries,
        against=libraries[1:],
        aim=1,
    )
    for mode, libraries in (
        ("eager", ("tapeflow", "tensorflow", "torch")),
        ("compiled", ("tapeflow", "tensorflow", "tensorflow-jit", "torch-compile", "jax")),
    )
    for name, title in _STEPS.items()
}
# XLA would compile the unrolled loop for minutes.
MEMORY["memory_compiled_lstm"] = replace(
    MEMORY["memory_compiled_lstm"], libraries=("tapeflow", "tensorflow", "torch-compile", "jax")
)
MEMORY_COLUMNS = COMPILED_COLUMNS

FIRST = ":first"
FIRST_CALLS = {
    name + FIRST: replace(
        about,
        title=f"{about.title}: first call",
        targets=(),
        against=COMPILERS,
        aim=1,
        variant_of=about.variant_of and about.variant_of + FIRST,
    )
    for name, about in COMPILED.items()
}

WORKLOADS = EAGER | COMPILED | MEMORY | CHECKED | CALLS | KERAS
# The rows that are measured again beside busy processes, and by `--quick`.
BUSY = tuple(row for row, about in (EAGER | COMPILED).items() if not about.in_bytes)
MOST_WHEN_BUSY = 2.2  # times the quiet time, with one busy process on two cores
ROWS = WORKLOADS | FIRST_CALLS
