"""Images: sizes, colours and quality."""

from tests.differential.calls import op
from tests.differential.draw import WIDE, arrays, bools, derived, dtypes, floats, ints, one_of, same
from tests.differential.values import Array

import numpy as np  # isort: skip

KINDS = ("float32", "float32", "float32", "uint8")
PICTURES = arrays(
    KINDS, shape=one_of((4, 5, 3), (2, 4, 4, 3), (3, 3, 1)), low=0, high=200, edges=0.0
)
COLOURS = floats(0.0, 1.0, shape=one_of((2, 3, 3), (2, 2, 2, 3)), dtypes=("float32",), edges=0.0)
FLOATS = floats(0.0, 1.0, shape=one_of((4, 5, 3), (2, 4, 4, 3)), dtypes=("float32",), edges=0.0)

for name in ("flip_left_right", "flip_up_down", "transpose"):
    op(f"image.{name}", image=PICTURES)
op("image.rot90", image=PICTURES, k=one_of(0, 1, 2, 3, 5))
op("image.central_crop", image=PICTURES, central_fraction=one_of(0.5, 0.75, 1.0))
op(
    "image.crop_to_bounding_box",
    image=PICTURES,
    offset_height=one_of(0, 1),
    offset_width=1,
    target_height=2,
    target_width=one_of(1, 2),
)
op(
    "image.pad_to_bounding_box",
    image=PICTURES,
    offset_height=one_of(0, 1),
    offset_width=1,
    target_height=6,
    target_width=one_of(6, 7),
)
op(
    "image.resize_with_crop_or_pad",
    image=PICTURES,
    target_height=one_of(2, 5),
    target_width=one_of(3, 6),
)
op(
    "image.extract_patches",
    images=floats(shape=(1, 4, 5, 2), dtypes=WIDE, edges=0.0),
    sizes=[1, 2, 2, 1],
    strides=[1, 1, 2, 1],
    rates=[1, 1, 1, 1],
    padding=one_of("SAME", "VALID"),
)
METHODS = one_of(
    "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"
)
op(
    "image.resize",
    images=FLOATS,
    size=one_of([2, 3], [6, 7], [4, 4]),
    method=METHODS,
    antialias=bools(),
    _loose=10.0,
)
op(
    "image.resize",
    images=FLOATS,
    size=[3, 5],
    preserve_aspect_ratio=True,
    _label="image.resize, same ratio",
    _loose=10.0,
)
op(
    "image.resize_with_pad",
    image=FLOATS,
    target_height=one_of(3, 6),
    target_width=6,
    method=one_of("bilinear", "nearest"),
    _loose=10.0,
)
op(
    "image.crop_and_resize",
    image=floats(shape=(2, 4, 4, 2), dtypes=("float32",), edges=0.0),
    boxes=floats(0.0, 1.2, shape=(3, 4), dtypes=("float32",), edges=0.0),
    box_indices=derived(lambda dice, image, boxes: Array(np.array([0, 1, 1], "int32"))),
    crop_size=[2, 3],
    method=one_of("bilinear", "nearest"),
    _second=False,
    _loose=20.0,
)

for name in (
    "rgb_to_hsv",
    "hsv_to_rgb",
    "rgb_to_yiq",
    "yiq_to_rgb",
    "rgb_to_yuv",
    "yuv_to_rgb",
    "rgb_to_grayscale",
):
    op(f"image.{name}", images=COLOURS, _loose=10.0, _second=False)
op(
    "image.grayscale_to_rgb",
    images=floats(shape=one_of((2, 3, 1), (2, 2, 2, 1)), dtypes=("float32",)),
)
op(
    "image.adjust_brightness",
    image=arrays(KINDS, shape=(2, 3, 3), low=0, high=1),
    delta=one_of(0.1, -0.3),
)
op("image.adjust_contrast", images=COLOURS, contrast_factor=one_of(0.5, 2.0), _loose=10.0)
op("image.adjust_gamma", image=COLOURS, gamma=one_of(1, 0.5, 2.0), gain=one_of(1, 1.5), _loose=10.0)
op("image.adjust_hue", image=COLOURS, delta=one_of(0.1, -0.3), _loose=10.0, _second=False)
op(
    "image.adjust_saturation",
    image=COLOURS,
    saturation_factor=one_of(0.5, 2.0),
    _loose=10.0,
    _second=False,
)
op(
    "image.convert_image_dtype",
    image=FLOATS | ints(0, 255, dtypes=("uint8", "uint16"), shape=(2, 2, 3)),
    dtype=dtypes("float32", "float64", "uint8", "float16", "uint16"),
    saturate=bools(),
)
op("image.per_image_standardization", image=FLOATS, _loose=20.0)
op("image.image_gradients", image=floats(shape=(2, 3, 4, 1), dtypes=WIDE))
op("image.sobel_edges", image=floats(shape=(1, 4, 4, 2), dtypes=("float32",), edges=0.0))
op("image.total_variation", images=FLOATS, _loose=10.0)
op(
    "image.psnr",
    a=COLOURS,
    b=same("a", low=0.0, high=1.0, edges=0.0),
    max_val=1.0,
    _loose=20.0,
    _bad=False,
)
op(
    "image.ssim",
    img1=floats(0.0, 1.0, shape=(1, 12, 12, 1), dtypes=("float32",), edges=0.0),
    img2=same("img1", low=0.0, high=1.0, edges=0.0),
    max_val=1.0,
    filter_size=one_of(3, 11),
    _loose=50.0,
    _bad=False,
    _second=False,
)
op(
    "image.ssim_multiscale",
    img1=floats(0.0, 1.0, shape=(1, 24, 24, 1), dtypes=("float32",), edges=0.0),
    img2=same("img1", low=0.0, high=1.0, edges=0.0),
    max_val=1.0,
    filter_size=3,
    power_factors=(0.4, 0.6),
    _loose=100.0,
    _bad=False,
    _second=False,
)

ANY = {"_values": False, "_gradients": False, "_bad": False}
for prefix, seed in (("", {}), ("stateless_", {"seed": [1, 2]})):
    op(f"image.{prefix}random_brightness", image=COLOURS, max_delta=0.3, **seed, **ANY)
    for name in ("contrast", "saturation"):
        op(f"image.{prefix}random_{name}", image=COLOURS, lower=0.5, upper=1.5, **seed, **ANY)
    op(f"image.{prefix}random_hue", image=COLOURS, max_delta=0.3, **seed, **ANY)
    op(
        f"image.{prefix}random_crop",
        value=PICTURES,
        size=derived(lambda dice, value: [*value.shape[:-3], 2, 3, value.shape[-1]]),
        **seed,
        **ANY,
    )
    for name in ("flip_left_right", "flip_up_down"):
        op(f"image.{prefix}random_{name}", image=PICTURES, **seed, **ANY)

# Boxes. Among boxes that score the same, the first is the best in some functions of TensorFlow, and any in others.


def distinct(dice, shape):
    """Scores none of which is like another."""
    return (dice.rng.permutation(int(np.prod(shape))).reshape(shape) / 16).astype("float32")


BOXES = floats(0.0, 1.0, shape=(5, 4), dtypes=("float32",), edges=0.0)
CHOICE = {
    "boxes": BOXES,
    "scores": derived(lambda dice, boxes: Array(distinct(dice, (5,)))),
    "max_output_size": one_of(0, 2, 5),
    "iou_threshold": one_of(0.1, 0.5, 1.0),
    "score_threshold": one_of(float("-inf"), 0.4),
    "_gradients": False,
    "_bad": False,
}
op("image.non_max_suppression", **CHOICE)
op("image.non_max_suppression_with_scores", **CHOICE, soft_nms_sigma=one_of(0.0, 0.4))
op("image.non_max_suppression_padded", **CHOICE, pad_to_max_output_size=bools())
op(
    "image.non_max_suppression_overlaps",
    overlaps=floats(0.0, 1.0, shape=(4, 4), dtypes=("float32",), edges=0.0),
    scores=floats(0.0, 1.0, shape=(4,), dtypes=("float32",), edges=0.0),
    max_output_size=one_of(1, 4),
    _gradients=False,
    _bad=False,
)
op(
    "image.combined_non_max_suppression",
    boxes=floats(
        0.0, 1.2, shape=one_of((2, 4, 1, 4), (2, 4, 2, 4)), dtypes=("float32",), edges=0.0
    ),
    scores=derived(lambda dice, boxes: Array(distinct(dice, (2, 4, 2)))),
    max_output_size_per_class=one_of(1, 3),
    max_total_size=one_of(2, 6),
    pad_per_class=bools(),
    clip_boxes=bools(),
    _gradients=False,
    _bad=False,
)
op(
    "image.draw_bounding_boxes",
    images=floats(shape=one_of((2, 5, 6, 3), (2, 4, 4, 1)), dtypes=("float32",), edges=0.0),
    boxes=floats(-0.5, 1.5, shape=(2, 3, 4), dtypes=("float32",), edges=0.0),
    colors=None,
    _gradients=False,
    _bad=False,
)
op(
    "image.extract_glimpse",
    input=floats(shape=(2, 5, 4, 2), dtypes=("float32",), edges=0.0),
    size=one_of([2, 3], [6, 6]),
    offsets=floats(-1.0, 1.0, shape=(2, 2), dtypes=("float32",), edges=0.0),
    centered=bools(),
    normalized=bools(),
    noise="zero",
    _gradients=False,
    _bad=False,
)
DISTORTED = {
    "image_size": [40, 60, 3],
    "bounding_boxes": [[[0.1, 0.2, 0.8, 0.7]]],
    "min_object_covered": one_of(0.1, 0.8),
}
op(
    "image.stateless_sample_distorted_bounding_box",
    **DISTORTED,
    seed=one_of([1, 2], [3, 4]),
    _bad=False,
)
op("image.sample_distorted_bounding_box", **DISTORTED, seed=1, **ANY)
