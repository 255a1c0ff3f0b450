"""Special functions, segments, counting and other less common math."""

import numpy as np
from tests.differential.calls import op
from tests.differential.draw import (
    INTS,
    WIDE,
    arrays,
    axis_of,
    bools,
    derived,
    dtypes,
    fits,
    floats,
    indices,
    ints,
    lists,
    one_of,
    same,
    shapes,
)
from tests.differential.values import Array

NUMBERS = ("float32", "float64", "int32", "int64")

for name in ("i0", "i0e", "i1", "i1e"):
    op(f"math.bessel_{name}", x=floats(dtypes=WIDE), _loose=20.0)
for name in ("j0", "j1"):
    op(f"math.special.bessel_{name}", x=floats(dtypes=WIDE), _loose=50.0)
for name in ("k0", "k0e", "k1", "k1e", "y0", "y1"):
    op(f"math.special.bessel_{name}", x=floats(0.3, 4.0, dtypes=WIDE), _loose=50.0)
for name in ("dawsn", "fresnel_cos", "fresnel_sin"):
    op(f"math.special.{name}", x=floats(dtypes=WIDE), _loose=50.0)
for name in ("expint", "spence"):
    op(f"math.special.{name}", x=floats(0.3, 3.0, dtypes=WIDE), _loose=50.0)
op("math.erfcinv", x=floats(0.1, 1.9, dtypes=WIDE), _loose=50.0)
op(
    "math.betainc",
    a=floats(0.5, 3.0, dtypes=WIDE),
    b=same("a", low=0.5),
    x=same("a", low=0.1, high=0.9),
    _loose=100.0,
    _second=False,
)
for name in ("igamma", "igammac"):
    op(
        f"math.{name}",
        a=floats(0.5, 3.0, dtypes=WIDE),
        x=fits("a", low=0.2),
        _loose=100.0,
        _second=False,
    )
op("math.lbeta", x=floats(0.3, 3.0, dtypes=WIDE, shape=shapes(1, 3)), _loose=50.0)
op(
    "math.polygamma",
    a=derived(lambda dice: Array(np.array([0.0, 1.0, 2.0, 3.0], dice.one(WIDE)))),
    x=same("a", low=0.4),
    _loose=100.0,
)
op("math.zeta", x=floats(1.5, 4.0, dtypes=WIDE), q=same("x", low=0.5), _loose=100.0)
op("math.nextafter", x1=floats(dtypes=WIDE), x2=same("x1"))
op(
    "math.polyval",
    coeffs=lists(floats(shape=(), dtypes=("float32",)), 0, 4),
    x=floats(dtypes=("float32",)),
    _bad=False,
)
op(
    "math.accumulate_n",
    inputs=lists(floats(shape=(2, 3), dtypes=("float32",), forms=("tensor", "variable")), 1, 3),
)
op(
    "math.cumulative_logsumexp",
    x=floats(shape=shapes(1, 3), edges=0.0),
    axis=axis_of("x"),
    exclusive=bools(),
    reverse=bools(),
    _loose=10.0,
)
op(
    "math.invert_permutation",
    x=derived(lambda dice: Array(dice.rng.permutation(dice.integer(0, 5)).astype("int32"))),
)
for name in ("is_non_decreasing", "is_strictly_increasing"):
    op(f"math.{name}", x=arrays(NUMBERS, shape=shapes(0, 2)))
for name in ("truncatediv", "truncatemod"):
    op(name, x=ints(dtypes=INTS[:7]), y=fits("x", low=1))
op("realdiv", x=floats(), y=fits("x"))

SORTED = derived(
    lambda dice, data: Array(
        np.sort(dice.rng.integers(0, 4, data.shape[0])).astype(dice.one(["int32", "int64"]))
    )
)
for name in ("sum", "mean", "prod", "min", "max"):
    op(f"math.segment_{name}", data=arrays(NUMBERS, shape=shapes(1, 3)), segment_ids=SORTED)
UNSORTED = derived(
    lambda dice, data: Array(
        dice.rng.integers(-1, 4, data.shape[: dice.integer(1, len(data.shape))]).astype(
            dice.one(["int32", "int64"])
        )
    )
)
for name in ("sum", "prod", "min", "max"):
    op(
        f"math.unsorted_segment_{name}",
        data=arrays(NUMBERS, shape=shapes(1, 3)),
        segment_ids=UNSORTED,
        num_segments=4,
    )
for name in ("mean", "sqrt_n"):
    op(
        f"math.unsorted_segment_{name}",
        data=floats(shape=shapes(1, 3), dtypes=WIDE),
        segment_ids=UNSORTED,
        num_segments=4,
    )
op(
    "math.bincount",
    arr=ints(0, 5, dtypes=("int32",), shape=shapes(1, 2)),
    minlength=one_of(None, 3, 8),
    maxlength=one_of(None, 4),
    axis=one_of(None, None, -1),
    binary_output=bools(),
    _valid=lambda arr, axis, binary_output, **_: arr.values.size > 0,
)
op(
    "math.bincount",
    arr=ints(0, 5, dtypes=("int32",), shape=(4,)),
    weights=floats(shape=(4,), dtypes=WIDE),
    _label="math.bincount with weights",
)
op(
    "math.confusion_matrix",
    labels=indices(lambda: 3, shape=(4,)),
    predictions=same("labels", low=0, high=2),
    num_classes=one_of(None, 3, 5),
    dtype=dtypes("int32", "float32"),
)
op(
    "histogram_fixed_width",
    values=floats(dtypes=WIDE),
    value_range=one_of([-2.0, 2.0], [0.0, 1.0]),
    nbins=one_of(1, 5),
)
op(
    "histogram_fixed_width_bins",
    values=floats(dtypes=WIDE, edges=0.0),
    value_range=[-2.0, 2.0],
    nbins=one_of(1, 5),
)
op("unravel_index", indices=indices(lambda: 6), dims=one_of([2, 3], [3, 2]))
op(
    "reverse_sequence",
    input=arrays(NUMBERS, shape=one_of((2, 3), (2, 3, 2))),
    seq_lengths=derived(lambda dice, input: Array(dice.rng.integers(0, 4, 2).astype("int32"))),
    seq_axis=1,
    batch_axis=0,
)
op(
    "batch_to_space",
    input=arrays(NUMBERS, shape=one_of((4, 2, 3, 1), (4, 1, 2))),
    block_shape=[2, 2],
    crops=one_of([[0, 0], [0, 0]], [[0, 1], [1, 0]]),
)
op(
    "space_to_batch",
    input=arrays(NUMBERS, shape=one_of((1, 2, 2, 1), (2, 4, 2, 3))),
    block_shape=[2, 2],
    paddings=one_of([[0, 0], [0, 0]], [[2, 0], [1, 1]]),
)
op(
    "nn.depth_to_space",
    input=arrays(NUMBERS, shape=one_of((1, 2, 3, 4), (2, 1, 1, 8))),
    block_size=2,
)
op(
    "nn.space_to_depth",
    input=arrays(NUMBERS, shape=one_of((1, 2, 4, 3), (2, 2, 2, 1))),
    block_size=2,
)
