"""Convolutions, pooling, and normalisation over channels."""

from tests.differential.calls import op
from tests.differential.draw import WIDE, bools, derived, floats, one_of, shaped

PADDING = one_of("SAME", "VALID")
LINE = floats(shape=one_of((2, 5, 3), (1, 4, 2)), dtypes=WIDE, edges=0.0)
PLANE = floats(shape=one_of((2, 5, 4, 3), (1, 4, 4, 2), (1, 3, 3, 1)), dtypes=WIDE, edges=0.0)
BLOCK = floats(shape=one_of((1, 3, 4, 3, 2), (1, 3, 3, 3, 1)), dtypes=("float32",), edges=0.0)
SMALL = {"edges": 0.0, "low": -1.0, "high": 1.0}


def filters(*size, reverse=False):
    """Filters for an input whose last dimension is its channels."""

    def shape(dice, of):
        channels = (of[-1], dice.integer(1, 3))
        return (*size, *(channels[::-1] if reverse else channels))

    return shape


op(
    "nn.conv1d",
    input=LINE,
    filters=shaped("input", filters(3), **SMALL),
    stride=one_of(1, 2),
    padding=PADDING,
    _loose=5.0,
)
op(
    "nn.conv2d",
    input=PLANE,
    filters=shaped("input", filters(3, 2), **SMALL),
    strides=one_of(1, 2, [1, 2]),
    padding=PADDING,
    _loose=5.0,
)
op(
    "nn.conv2d",
    input=PLANE,
    filters=shaped("input", filters(2, 2), **SMALL),
    strides=1,
    padding=PADDING,
    dilations=2,
    _loose=5.0,
    _label="nn.conv2d, dilated",
)
op(
    "nn.conv2d",
    input=PLANE,
    filters=shaped("input", filters(2, 2), **SMALL),
    strides=1,
    padding=one_of([[0, 0], [1, 0], [1, 1], [0, 0]]),
    _loose=5.0,
    _label="nn.conv2d, explicit padding",
)
op(
    "nn.conv3d",
    input=BLOCK,
    filters=shaped("input", filters(2, 2, 2), **SMALL),
    strides=[1, 1, 1, 1, 1],
    padding=PADDING,
    _loose=5.0,
)
op(
    "nn.convolution",
    input=PLANE,
    filters=shaped("input", filters(2, 2), **SMALL),
    strides=one_of(None, 1, 2),
    padding=PADDING,
    _loose=5.0,
)
op(
    "nn.atrous_conv2d",
    value=PLANE,
    filters=shaped("value", filters(2, 2), **SMALL),
    rate=one_of(1, 2),
    padding=PADDING,
    _loose=5.0,
)
op(
    "nn.depthwise_conv2d",
    input=PLANE,
    filter=shaped("input", filters(2, 2), **SMALL),
    strides=[1, 1, 1, 1],
    padding=PADDING,
    _loose=5.0,
)
op(
    "nn.separable_conv2d",
    input=PLANE,
    depthwise_filter=shaped("input", lambda dice, of: (2, 2, of[-1], 2), **SMALL),
    pointwise_filter=shaped("input", lambda dice, of: (1, 1, of[-1] * 2, 3), **SMALL),
    strides=[1, 1, 1, 1],
    padding=PADDING,
    _loose=5.0,
)


def larger(dice, input, filters, strides, padding):
    """An output shape that a convolution would turn back into the input's."""
    sizes = [
        n * strides if padding == "SAME" else (n - 1) * strides + k
        for n, k in zip(input.shape[1:-1], filters.shape, strict=False)
    ]
    return [input.shape[0], *sizes, filters.shape[-2]]


for name, source, size in (
    ("conv1d", LINE, (3,)),
    ("conv2d", PLANE, (3, 2)),
    ("conv3d", BLOCK, (2, 2, 2)),
):
    op(
        f"nn.{name}_transpose",
        input=source,
        filters=shaped("input", filters(*size, reverse=True), **SMALL),
        strides=one_of(1, 2),
        padding=PADDING,
        output_shape=derived(larger),
        _loose=5.0,
    )
op(
    "nn.conv_transpose",
    input=PLANE,
    filters=shaped("input", filters(2, 2, reverse=True), **SMALL),
    strides=one_of(1, 2),
    padding=PADDING,
    output_shape=derived(larger),
    _loose=5.0,
)
op(
    "nn.atrous_conv2d_transpose",
    value=floats(shape=(1, 4, 4, 2), dtypes=WIDE, edges=0.0),
    filters=floats(-1, 1, shape=(2, 2, 3, 2), dtypes=WIDE, edges=0.0),
    output_shape=[1, 4, 4, 3],
    rate=one_of(1, 2),
    padding="SAME",
    _loose=5.0,
    _valid=lambda value, filters, **_: value.dtype == filters.dtype,
)

for kind in ("max", "avg"):
    op(
        f"nn.{kind}_pool1d",
        input=LINE,
        ksize=one_of(1, 2, 3),
        strides=one_of(1, 2),
        padding=PADDING,
    )
    op(
        f"nn.{kind}_pool2d",
        input=PLANE,
        ksize=one_of(2, 3, [1, 2]),
        strides=one_of(1, 2),
        padding=PADDING,
    )
    op(f"nn.{kind}_pool3d", input=BLOCK, ksize=2, strides=one_of(1, 2), padding=PADDING)
    op(f"nn.{kind}_pool", input=PLANE, ksize=2, strides=one_of(1, 2), padding=PADDING)
op(
    "nn.max_pool_with_argmax",
    input=PLANE,
    ksize=2,
    strides=2,
    padding=PADDING,
    include_batch_in_index=bools(),
)
op(
    "nn.pool",
    input=PLANE,
    window_shape=[2, 2],
    pooling_type=one_of("MAX", "AVG"),
    strides=one_of(None, [1, 2]),
    padding=PADDING,
)
op(
    "nn.local_response_normalization",
    input=floats(shape=(1, 2, 2, 5), dtypes=("float32",), edges=0.0),
    depth_radius=one_of(1, 2),
    bias=1.0,
    alpha=0.5,
    beta=0.5,
    _second=False,
)
