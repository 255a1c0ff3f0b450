"""Reductions, shapes, joining, slicing, gathering, scattering, sorting, creation."""

import numpy as np
from tests.differential.calls import op
from tests.differential.draw import (
    FLOATS,
    INTS,
    WIDE,
    Dice,
    Draw,
    arrays,
    axes_of,
    axis_of,
    booleans,
    bools,
    code,
    complexes,
    derived,
    dtypes,
    fits,
    floats,
    indices,
    ints,
    lists,
    numbers,
    one_of,
    rank_of,
    same,
    shaped,
    shapes,
    sometimes,
)
from tests.differential.values import Array

COMMON = ("float32", "float32", "float64", "int32", "int64")
ANY = (*COMMON, "bool", "complex64", "float16", "bfloat16", "uint8")
NUMBERS = FLOATS + INTS[:7]

# Reductions

for name in ("reduce_sum", "reduce_mean", "reduce_prod"):
    op(
        name,
        input_tensor=arrays(NUMBERS) | complexes(),
        axis=axes_of("input_tensor"),
        keepdims=bools(),
        _valid=lambda input_tensor, **_: "int8" not in input_tensor.dtype,
    )
for name in ("reduce_max", "reduce_min"):
    op(name, input_tensor=arrays(NUMBERS), axis=axes_of("input_tensor"), keepdims=bools())
for name in ("reduce_all", "reduce_any"):
    op(name, input_tensor=booleans(), axis=axes_of("input_tensor"), keepdims=bools())
for name in (
    "reduce_logsumexp",
    "math.reduce_euclidean_norm",
    "math.reduce_std",
    "math.reduce_variance",
):
    op(name, input_tensor=floats(), axis=axes_of("input_tensor"), keepdims=bools(), _loose=4.0)
for name in ("cumsum", "math.cumprod"):
    op(
        name,
        x=arrays(NUMBERS, shape=shapes(1, 4)) | complexes(shape=shapes(1, 3)),
        axis=axis_of("x"),
        exclusive=bools(),
        reverse=bools(),
    )
for name in ("argmax", "argmin"):
    op(
        name,
        input=arrays(NUMBERS, shape=shapes(1, 4)),
        axis=axis_of("input") | None,
        output_type=dtypes("int32", "int64"),
    )
op(
    "math.count_nonzero",
    input=arrays(ANY),
    axis=axes_of("input"),
    keepdims=bools(),
    dtype=dtypes("int32", "int64"),
)
op("math.zero_fraction", value=arrays(COMMON), _gradients=False)
op(
    "norm",
    tensor=floats(shape=shapes(1, 3)),
    ord=one_of("euclidean", 1, 2, 2.5, np.inf),
    axis=axis_of("tensor") | None,
    keepdims=bools(),
    _loose=4.0,
)
op(
    "norm",
    tensor=floats(shape=shapes(2, 3)),
    ord=one_of("fro", 1, "euclidean"),
    axis=one_of([0, 1], [-2, -1]),
    keepdims=bools(),
    _label="norm of matrices",
    _loose=4.0,
)

# Shapes


def factored(dice: Dice, tensor: Array) -> list[int]:
    """A shape with as many elements as the tensor."""
    size = tensor.values.size
    first = dice.one([n for n in range(1, size + 1) if size % n == 0]) if size else 0
    shape = [first, size // first if first else 1]
    if dice.chance(0.3) and size:
        shape[dice.integer(0, 1)] = -1
    return shape


op("reshape", tensor=arrays(ANY), shape=derived(factored))
op("expand_dims", input=arrays(ANY, shape=shapes(0, 3)), axis=axis_of("input", extra=1))
op(
    "squeeze",
    input=arrays(ANY, shape=one_of((1, 3, 1), (2, 1), (1, 1), (1, 2, 1, 3))),
    axis=one_of(None, [0]),
    _valid=lambda input, axis: axis is None or input.shape[0] == 1,
)
op(
    "transpose",
    a=arrays(ANY),
    perm=None | derived(lambda dice, a: dice.rng.permutation(rank_of(a)).tolist()),
)
op("transpose", a=complexes(), conjugate=bools(), _label="transpose of complex numbers")
op(
    "broadcast_to",
    input=arrays(ANY, shape=one_of((3,), (1, 3), (2, 1), (), (1, 1, 1))),
    shape=one_of([2, 3], [4, 2, 3]),
)
op("ensure_shape", x=arrays(ANY, shape=(2, 3)), shape=one_of([2, 3], [None, 3], [2, None], None))
for name in ("identity", "stop_gradient", "rank", "shape", "size"):
    op(name, input=arrays(ANY))
op("shape", input=arrays(ANY), out_type=dtypes("int32", "int64"), _label="shape with out_type")
op("shape_n", input=lists(arrays(ANY)))
op("identity_n", input=lists(arrays(ANY)))
op(
    "bitcast",
    input=arrays(("float32", "int32", "uint32")),
    type=dtypes("int32", "float32", "uint32"),
    _gradients=False,
)
op(
    "broadcast_dynamic_shape",
    shape_x=one_of([2, 3], [1, 3]),
    shape_y=one_of([3], [2, 1], [4, 2, 3]),
)
op(
    "broadcast_static_shape",
    shape_x=code("tf.TensorShape([2, 1])", "tf.TensorShape([3])"),
    shape_y=code("tf.TensorShape([1, 3])", "tf.TensorShape([2, 3])"),
)
op("is_tensor", x=arrays(ANY))
op("get_static_value", tensor=arrays(COMMON, forms=("tensor",)), _bad=False)
op(
    "reverse",
    tensor=arrays(ANY, shape=shapes(1, 4)),
    axis=axes_of("tensor", none=False),
    _valid=lambda tensor, axis: (
        isinstance(axis, list) and len({a % rank_of(tensor) for a in axis}) == len(axis)
    ),
)
op("roll", input=arrays(ANY, shape=shapes(1, 3)), shift=one_of(1, -2, 5), axis=axis_of("input"))
op(
    "tile",
    input=arrays(ANY, shape=shapes(1, 3)),
    multiples=derived(lambda dice, input: [dice.integer(0, 3) for _ in input.shape]),
)
op(
    "repeat",
    input=arrays(ANY, shape=shapes(1, 3)),
    repeats=one_of(0, 1, 2, 3),
    axis=axis_of("input") | None,
)


def paddings(dice: Dice, mode: str, tensor: Array) -> list[list[int]]:
    room = {"CONSTANT": lambda n: 3, "REFLECT": lambda n: n - 1, "SYMMETRIC": lambda n: n}[mode]
    return [[dice.integer(0, max(room(n), 0)) for _ in "ab"] for n in tensor.shape]


op(
    "pad",
    mode=one_of("CONSTANT", "REFLECT", "SYMMETRIC"),
    tensor=arrays(COMMON, shape=shapes(1, 3)),
    paddings=derived(paddings),
    constant_values=one_of(0, 0, 1),
)

# Joining and splitting


def alike(dice: Dice, drawn: dict[str, object], axis: int | None) -> list[Array]:
    dtype = dice.one(ANY)
    shape = [dice.integer(1, 3) for _ in range(dice.integer(1, 3))]
    made = []
    for _ in range(dice.integer(1, 4)):
        size = list(shape)
        if axis is not None:
            size[axis] = dice.integer(0, 3)
        made.append(
            Array(numbers(dice, size, dtype), dice.one(["tensor"] * 6 + ["variable", "numpy"]))
        )
    return made


op("concat", values=Draw(lambda dice, drawn: alike(dice, drawn, 0)), axis=0)
op(
    "concat",
    values=Draw(lambda dice, drawn: alike(dice, drawn, -1)),
    axis=-1,
    _label="concat of the last axis",
)
op(
    "stack",
    values=Draw(lambda dice, drawn: alike(dice, drawn, None)),
    axis=axis_of("values", extra=1),
)
op("unstack", value=arrays(ANY, shape=shapes(1, 3)), axis=axis_of("value"))
op(
    "split",
    value=arrays(ANY, shape=one_of((4,), (4, 2), (2, 4, 3))),
    num_or_size_splits=one_of(1, 2),
    axis=0,
)
op(
    "split",
    value=arrays(ANY, shape=one_of((2, 4), (3, 4))),
    num_or_size_splits=one_of([1, 3], [0, 4], [2, -1], [4]),
    axis=one_of(1, -1),
    _label="split in unequal parts",
)
op(
    "meshgrid",
    x=floats(shape=shapes(1, 1), dtypes=WIDE),
    y=same("x"),
    indexing=one_of("xy", "ij"),
    _positional=2,
    _bad=False,
)
op("tuple", tensors=lists(floats(forms=("tensor",))), _bad=False)
op("group", x=floats(), _positional=1, _bad=False)
op("no_op")

# Slicing and gathering

op(
    "slice",
    input_=arrays(ANY, shape=shapes(1, 3)),
    begin=derived(lambda dice, input_: [dice.integer(0, max(n - 1, 0)) for n in input_.shape]),
    size=derived(
        lambda dice, input_, begin: [
            dice.one([-1, min(1, n - b)]) for n, b in zip(input_.shape, begin, strict=True)
        ]
    ),
)
op(
    "strided_slice",
    input_=arrays(ANY, shape=one_of((4, 3), (3, 4, 2))),
    begin=one_of([0, 0], [1, 1], [-1, 2]),
    end=one_of([3, 2], [4, 3], [-1, -1]),
    strides=one_of([1, 1], [2, 1]),
    begin_mask=one_of(0, 1, 2),
    end_mask=one_of(0, 1, 3),
    shrink_axis_mask=one_of(0, 0, 1),
    new_axis_mask=one_of(0, 0, 2),
)
op(
    "gather",
    params=arrays(ANY, shape=shapes(1, 3)),
    axis=axis_of("params") | 0,
    indices=indices(lambda params, axis: params.shape[axis]),
)
op(
    "gather",
    params=arrays(ANY, shape=one_of((2, 3), (2, 3, 2), (2, 4, 1))),
    indices=indices(lambda params: 3, shape=one_of((2,), (2, 3))),
    batch_dims=1,
    axis=one_of(1, -1),
    _label="gather with batch_dims",
    _valid=lambda params, indices, axis, **_: indices.values.max(initial=0) < params.shape[axis],
)
op(
    "gather_nd",
    params=arrays(ANY, shape=one_of((2, 3), (3, 2, 2))),
    indices=indices(lambda params: 2, shape=one_of((1,), (2,), (3, 1), (2, 2), (2, 3, 2))),
)
op(
    "gather_nd",
    params=arrays(COMMON, shape=(2, 3, 2)),
    indices=indices(lambda params: 2, shape=one_of((2, 1), (2, 2), (2, 3, 1))),
    batch_dims=1,
    _label="gather_nd with batch_dims",
)
op(
    "boolean_mask",
    tensor=arrays(ANY, shape=shapes(1, 3)),
    mask=shaped("tensor", lambda dice, of: of[: dice.integer(1, len(of))], dtype="bool"),
)
op(
    "where",
    condition=booleans(),
    x=shaped("condition", lambda dice, of: of, dtype="float32"),
    y=fits("x"),
)
op("where", condition=booleans() | ints(), _label="where of indices")
op(
    "one_hot",
    indices=ints(-1, 4, dtypes=("int32", "int64", "uint8")),
    depth=one_of(0, 3, 4),
    axis=one_of(None, -1, 0),
    on_value=sometimes(2.0),
    off_value=sometimes(0.5),
    dtype=dtypes("float32"),
)
op(
    "sequence_mask",
    lengths=ints(0, 4, dtypes=("int32", "int64"), shape=shapes(0, 2)),
    maxlen=one_of(None, 3, 5),
    dtype=dtypes("bool", "float32", "int32"),
    _valid=lambda lengths, maxlen, **_: maxlen is not None or lengths.values.size,
)
op(
    "nn.embedding_lookup",
    params=floats(shape=one_of((3, 2), (4, 1, 2))),
    ids=indices(lambda params: 3),
    max_norm=code("None", "None", "1.0"),
)

# Scattering

op(
    "scatter_nd",
    indices=indices(lambda: 3, shape=one_of((2, 1), (4, 1), (0, 1))),
    updates=shaped("indices", lambda dice, of: (of[0], 2), dtype="float32")
    | shaped("indices", lambda dice, of: (of[0], 2), dtype="int32"),
    shape=derived(lambda dice, indices, updates: Array(np.array([3, 2], indices.dtype))),
)
for name in ("add", "sub", "min", "max", "update"):
    op(
        f"tensor_scatter_nd_{name}",
        tensor=arrays(COMMON, shape=(3, 2)),
        indices=indices(lambda tensor: 3, shape=one_of((2, 1), (3, 1))),
        updates=derived(
            lambda dice, tensor, indices: Array(numbers(dice, (indices.shape[0], 2), tensor.dtype))
        ),
        _valid=lambda tensor, indices, updates, name=name: (
            name != "update" or len(set(indices.values.ravel())) == indices.values.size
        ),
    )
op(
    "dynamic_partition",
    data=arrays(ANY, shape=shapes(1, 3)),
    partitions=derived(
        lambda dice, data: Array(
            dice.rng.integers(0, 3, data.shape[: dice.integer(1, len(data.shape))]).astype("int32")
        )
    ),
    num_partitions=3,
)
op(
    "dynamic_stitch",
    indices=derived(
        lambda dice: [
            Array(part.astype("int32"))
            for part in np.split(dice.rng.permutation(4), [dice.integer(1, 3)])
        ]
    ),
    data=derived(
        lambda dice, indices: [Array(numbers(dice, (*i.shape, 2), "float32")) for i in indices]
    ),
    _bad=False,
)

# Sorting

op(
    "sort",
    values=arrays(NUMBERS, shape=shapes(1, 3), edges=0.0),
    axis=axis_of("values"),
    direction=one_of("ASCENDING", "DESCENDING"),
)
op(
    "argsort",
    values=arrays(NUMBERS, shape=shapes(1, 3), edges=0.0),
    axis=axis_of("values"),
    direction=one_of("ASCENDING", "DESCENDING"),
    stable=True,
)
op(
    "searchsorted",
    sorted_sequence=derived(
        lambda dice: Array(np.sort(numbers(dice, (2, 5), dice.one(["float32", "int32"]))))
    ),
    values=shaped("sorted_sequence", lambda dice, of: (2, dice.integer(0, 3))),
    side=one_of("left", "right"),
)
for name in ("unique", "unique_with_counts"):
    op(
        name,
        x=arrays(("float32", "int32", "int64"), shape=shapes(1, 1), edges=0.0),
        out_idx=dtypes("int32", "int64"),
    )
for name in ("math.top_k",):
    op(
        name,
        input=arrays(NUMBERS, shape=shapes(1, 3, smallest=2), edges=0.0),
        k=one_of(0, 1, 2),
        sorted=True,
    )
op(
    "math.in_top_k",
    targets=indices(lambda: 3, shape=(4,)),
    predictions=floats(shape=(4, 3), dtypes=("float32",)),
    k=one_of(1, 2),
)

# Creation

SHAPES = one_of([], [0], [3], [2, 3], 4)
for name in ("zeros", "ones"):
    op(name, shape=SHAPES, dtype=dtypes(*ANY))
for name in ("zeros_like", "ones_like"):
    op(name, input=arrays(ANY), dtype=sometimes(dtypes("float32", "int32", "bool")))
op("fill", dims=one_of([], [0], [2, 3]), value=arrays(ANY, shape=()))
op(
    "eye",
    num_rows=one_of(0, 2, 3),
    num_columns=one_of(None, 2),
    batch_shape=one_of(None, [2]),
    dtype=dtypes(*COMMON),
)
op("range", start=one_of(0, 1, 2.5), limit=one_of(5, 7.25), delta=one_of(1, 2, 0.5))
op("range", limit=one_of(0, 4), start=0, dtype=dtypes(*COMMON), _label="range with dtype")
op(
    "linspace",
    start=floats(shape=shapes(0, 2), dtypes=WIDE),
    stop=same("start"),
    num=one_of(1, 2, 5),
    axis=0,
)
op(
    "constant",
    value=one_of(1, 2.5, [1, 2], [[1.0], [2]], True, 1j),
    dtype=sometimes(dtypes("float32", "float64", "int32", "complex64")),
    shape=sometimes(one_of([2], [2, 3])),
)
op(
    "convert_to_tensor",
    value=one_of(1, 2.5, [1, 2], True) | arrays(ANY),
    dtype_hint=sometimes(dtypes("float32", "float64")),
)
