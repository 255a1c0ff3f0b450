"""Activations, losses, normalisation, matrices, random numbers and nests."""

from tests.differential.calls import op
from tests.differential.draw import (
    COMPLEX,
    FLOATS,
    WIDE,
    arrays,
    axes_of,
    axis_of,
    bools,
    code,
    complexes,
    derived,
    dtypes,
    floats,
    ints,
    one_of,
    same,
    shaped,
    shapes,
    sometimes,
)
from tests.differential.values import Array

for name in ("relu", "relu6", "elu", "selu", "silu", "crelu"):
    op(f"nn.{name}", features=floats(shape=shapes(1, 3)))
op("nn.relu", features=ints(), _label="nn.relu of integers")
op("nn.gelu", features=floats(), approximate=bools())
op("nn.leaky_relu", features=floats(), alpha=one_of(0.2, 0.0, 0.5))
op("nn.l2_normalize", x=floats(shape=shapes(1, 3)), axis=axes_of("x"), _loose=4.0)
for name in ("math.softmax", "math.log_softmax"):
    op(name, logits=floats(shape=shapes(1, 3)), axis=axis_of("logits") | None)
op("nn.l2_loss", t=floats())
op(
    "nn.log_poisson_loss",
    targets=floats(0.0, 4.0),
    log_input=same("targets"),
    compute_full_loss=bools(),
    _loose=4.0,
)
op("nn.sigmoid_cross_entropy_with_logits", labels=floats(0.0, 1.0), logits=same("labels"))
op(
    "nn.weighted_cross_entropy_with_logits",
    labels=floats(0.0, 1.0),
    logits=same("labels"),
    pos_weight=one_of(1.0, 2.5),
)
op(
    "nn.softmax_cross_entropy_with_logits",
    labels=floats(0.0, 1.0, shape=shapes(1, 3, smallest=2)),
    logits=same("labels"),
    axis=one_of(-1, 0),
)
op(
    "nn.sparse_softmax_cross_entropy_with_logits",
    logits=floats(shape=one_of((2, 3), (3,), (2, 2, 3))),
    labels=derived(
        lambda dice, logits: Array(
            dice.rng.integers(0, 3, logits.shape[:-1]).astype(dice.one(["int32", "int64"]))
        )
    ),
)
op(
    "nn.ctc_loss",
    logits=floats(-2.0, 2.0, dtypes=("float32",), shape=(5, 2, 4), edges=0.0),
    labels=derived(lambda dice, **_: Array(dice.rng.integers(1, 4, (2, 2)).astype("int32"))),
    label_length=derived(lambda dice, **_: Array(dice.rng.integers(0, 3, 2).astype("int32"))),
    logit_length=derived(lambda dice, **_: Array(dice.rng.integers(4, 6, 2).astype("int32"))),
    blank_index=0,
    _loose=4.0,
    _second=False,  # TensorFlow's is NaN
    _bad=False,  # TensorFlow reads out of bounds, or says nothing
)
op(
    "nn.batch_normalization",
    x=floats(shape=(2, 3)),
    mean=shaped("x", lambda dice, of: (3,)),
    variance=shaped("x", lambda dice, of: (3,), low=0.1),
    offset=sometimes(shaped("x", lambda dice, of: (3,)), 0.6),
    scale=sometimes(shaped("x", lambda dice, of: (3,)), 0.6),
    variance_epsilon=0.001,
)
op(
    "nn.bias_add",
    value=floats(shape=one_of((2, 3), (2, 2, 3), (1, 2, 2, 3))),
    bias=shaped("value", lambda dice, of: (of[-1],)),
)
op(
    "nn.bias_add",
    value=floats(shape=one_of((2, 3, 2), (1, 3, 2, 2)), dtypes=WIDE),
    bias=shaped("value", lambda dice, of: (3,)),
    data_format=one_of("NCHW", "NC..."),
    _label="nn.bias_add of channels first",
)
op(
    "nn.moments",
    x=floats(shape=shapes(1, 3)),
    axes=axes_of("x", none=False),
    keepdims=bools(),
    _loose=4.0,
)
op(
    "nn.dropout",
    x=floats(shape=shapes(1, 3), dtypes=WIDE, edges=0.0),
    rate=one_of(0.0, 0.0, 0.5),
    noise_shape=None,
    _values=False,
    _second=False,
)
op(
    "nn.experimental.stateless_dropout",
    x=floats(shape=shapes(1, 3), dtypes=WIDE, edges=0.0),
    rate=one_of(0.0, 0.5),
    seed=[1, 2],
    _second=False,
)

# Matrices


def inner(dice, of):
    return (*of[:-2], of[-1], dice.integer(1, 3))


MATRICES = floats(shape=shapes(2, 4)) | complexes(shape=shapes(2, 3)) | floats(shape=shapes(2, 2))
op("matmul", a=MATRICES, b=shaped("a", inner))
op(
    "matmul",
    a=floats(shape=shapes(2, 3)) | complexes(shape=shapes(2, 3)),
    b=shaped("a", lambda dice, of: (of[-2], 3)[-2:]),
    transpose_a=True,
    adjoint_b=False,
    _label="matmul of a transposed matrix",
)
op(
    "matmul",
    a=ints(shape=(2, 3), dtypes=("int32", "int64")),
    b=shaped("a", inner),
    _label="matmul of integers",
)
op(
    "matmul",
    a=arrays(FLOATS + COMPLEX, shape=(2, 3)),
    b=shaped("a", lambda dice, of: (4, 3)),
    adjoint_b=True,
    _label="matmul with an adjoint",
)
op("linalg.matvec", a=MATRICES, b=shaped("a", lambda dice, of: (*of[:-2], of[-1])))
op(
    "tensordot",
    a=floats(shape=(2, 3)),
    b=shaped("a", lambda dice, of: (3, 2)),
    axes=one_of(0, 1, [[1], [0]], [[0, 1], [1, 0]]),
)
for equation, left, right in (
    ("ij,jk->ik", (2, 3), (3, 2)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 1)),
    ("i,j->ij", (2,), (3,)),
    ("...ij,jk->...ik", (2, 1, 3), (3, 2)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("ij,j->i", (2, 3), (3,)),
):
    op(
        "einsum",
        equation=equation,
        a=arrays(FLOATS + COMPLEX, shape=left),
        b=shaped("a", lambda dice, of, right=right: right),
        _positional=3,
        _label=f"einsum {equation}",
    )
for equation, left in (("ii->i", (3, 3)), ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ii", (2, 2))):
    op(
        "einsum",
        equation=equation,
        a=floats(shape=left),
        _positional=2,
        _label=f"einsum {equation}",
    )
op("linalg.adjoint", matrix=floats(shape=shapes(2, 3)) | complexes(shape=shapes(2, 3)))
op(
    "linalg.matrix_transpose",
    a=floats(shape=shapes(2, 4)) | complexes(shape=shapes(2, 3)),
    conjugate=bools(),
)
op("linalg.cross", a=floats(shape=one_of((3,), (2, 3))), b=same("a"))
op("linalg.trace", x=floats(shape=shapes(2, 4)) | complexes(shape=shapes(2, 3)))
op(
    "linalg.band_part",
    input=floats(shape=shapes(2, 3)),
    num_lower=one_of(-1, 0, 1),
    num_upper=one_of(-1, 0, 1),
    _valid=lambda input, **_: 0 not in input.shape and min(input.shape[-2:]) > 1,
)
op(
    "linalg.diag",
    diagonal=floats(shape=shapes(1, 2)),
    k=one_of(0, 1, -1),
    padding_value=one_of(0, 1),
)
op("linalg.diag_part", input=floats(shape=one_of((3, 3), (2, 3), (2, 2, 3))), k=one_of(0, 1, -1))
op(
    "linalg.set_diag",
    input=floats(shape=one_of((3, 3), (2, 3, 3))),
    diagonal=shaped("input", lambda dice, of: of[:-1]),
)
op("linalg.tensor_diag", diagonal=floats(shape=shapes(1, 2)))
op("linalg.tensor_diag_part", input=floats(shape=one_of((3, 3), (2, 3, 2, 3))))

# Random numbers: which they are where a seed says so; otherwise what they look like

SHAPES = one_of([], [3], [2, 3], [0])
for name in ("normal", "truncated_normal", "uniform"):
    op(f"random.{name}", shape=SHAPES, dtype=dtypes(*WIDE, "float16"), _values=False)
    op(
        f"random.stateless_{name}",
        shape=SHAPES,
        seed=one_of([1, 2], [0, 0]),
        dtype=dtypes(*WIDE, "float16"),
    )
op(
    "random.uniform",
    shape=SHAPES,
    minval=0,
    maxval=5,
    dtype=dtypes("int32", "int64"),
    _values=False,
    _label="random.uniform of integers",
)
op(
    "random.normal",
    shape=one_of([2, 3]),
    mean=floats(shape=one_of((), (3,)), dtypes=("float32",)),
    stddev=floats(1.0, 2.0, shape=(), dtypes=("float32",)),
    _values=False,
    _label="random.normal, gradients of its parameters",
)
op(
    "random.categorical",
    logits=floats(shape=(2, 3), edges=0.0),
    num_samples=one_of(0, 4),
    _values=False,
)
op(
    "random.stateless_categorical",
    logits=floats(shape=(2, 3), edges=0.0),
    num_samples=one_of(0, 4),
    seed=[1, 2],
)
op("random.shuffle", value=floats(shape=shapes(1, 2)), _values=False, _gradients=False)

# Nests

NEST = code("[1, (2, 3), {'b': 4, 'a': 5}]", "(1, [])", "{'x': [1, None]}", "3", "[]")
op("nest.flatten", structure=NEST)
op("nest.is_nested", seq=NEST)
op("nest.assert_same_structure", nest1=NEST, nest2=NEST)
op("nest.map_structure", func=code("lambda a: a", "str"), structure=NEST, _positional=2)
op("nest.pack_sequence_as", structure=NEST, flat_sequence=one_of([1, 2], [1], [1, 2, 3, 4, 5], []))

op(
    "nn.isotonic_regression",
    inputs=floats(shape=shapes(1, 3), dtypes=WIDE, edges=0.0),
    decreasing=bools(),
    axis=axis_of("inputs"),
    _second=False,
    _bad=False,
)
op(
    "math.approx_max_k",
    operand=floats(shape=one_of((5,), (2, 4)), dtypes=("float32",), edges=0.0),
    k=one_of(1, 3),
    _gradients=False,
    _bad=False,
)
op(
    "approx_top_k",
    input=floats(shape=(5,), dtypes=("float32",), edges=0.0),
    k=1,
    is_max_k=True,
    _gradients=False,
    _bad=False,
)
