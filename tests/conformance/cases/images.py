"""Images: resizing by every method, crops, flips, colours, measures, and their gradients."""

import numpy as np
from case_helpers import value_and_gradients

_rng = np.random.default_rng(5)
IMAGE = _rng.uniform(0, 1, (5, 7, 3)).astype(np.float32)
OTHER = _rng.uniform(0, 1, (5, 7, 3)).astype(np.float32)
BATCH = _rng.uniform(0, 1, (2, 4, 5, 2)).astype(np.float32)
BYTES = _rng.integers(0, 256, (4, 5, 3)).astype(np.uint8)
LARGE = _rng.uniform(0, 1, (1, 13, 12, 1)).astype(np.float32)
LARGE_2 = np.clip(LARGE + _rng.uniform(-0.1, 0.1, LARGE.shape), 0, 1).astype(np.float32)

METHODS = [
    "bilinear",
    "nearest",
    "bicubic",
    "area",
    "lanczos3",
    "lanczos5",
    "gaussian",
    "mitchellcubic",
]
COLOURS = [
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "hsv_to_rgb",
    "rgb_to_yuv",
    "yuv_to_rgb",
    "rgb_to_yiq",
    "yiq_to_rgb",
    "per_image_standardization",
]
SIZES = {"up": [9, 8], "down": [2, 3], "mixed": [11, 2], "same": [5, 7], "one": [1, 1]}


def _resize(method, size, **arguments):
    return lambda tf: tf.image.resize(IMAGE, size, method=method, **arguments)


def _weighted_gradient(f, *images):
    """The gradient of a sum in which every pixel counts differently."""

    def case(tf):
        xs = [tf.constant(image) for image in images]
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = f(tf, *xs)
            weights = tf.reshape(tf.cast(tf.range(1, tf.size(y) + 1), y.dtype), tf.shape(y))
            total = tf.reduce_sum(y * weights) / tf.cast(tf.size(y), y.dtype)
        return tape.gradient(total, xs)

    return case


def _image(name, *arguments, of=None, **keywords):
    image = IMAGE if of is None else of
    return lambda tf: getattr(tf.image, name)(tf.constant(image), *arguments, **keywords)


CASES = {
    **{f"resize_{m}_{how}": _resize(m, size) for m in METHODS for how, size in SIZES.items()},
    **{
        f"resize_{m}_{how}_antialias": _resize(m, SIZES[how], antialias=True)
        for m in METHODS
        for how in ("up", "down", "mixed")
    },
    **{
        f"resize_{m}_gradient": _weighted_gradient(
            lambda tf, x, m=m: tf.image.resize(x, [9, 3], method=m), IMAGE
        )
        for m in ("bilinear", "nearest", "bicubic", "lanczos3")
    },
    "resize_batch": lambda tf: tf.image.resize(BATCH, [3, 4]),
    "resize_bytes": lambda tf: tf.image.resize(BYTES, [3, 4]),
    "resize_bytes_nearest": lambda tf: tf.image.resize(BYTES, [3, 4], method="nearest"),
    "resize_float64": lambda tf: tf.image.resize(IMAGE.astype(np.float64), [3, 4]),
    "resize_half": lambda tf: tf.image.resize(IMAGE.astype(np.float16), [3, 4]),
    "resize_aspect": _resize("bilinear", [10, 9], preserve_aspect_ratio=True),
    "resize_aspect_down": _resize("area", [3, 3], preserve_aspect_ratio=True),
    "resize_bad_method": _resize("best", [3, 3]),
    "resize_bad_size": _resize("bilinear", [3, 3, 3]),
    "resize_zero": _resize("bilinear", [0, 3]),
    "resize_vector": lambda tf: tf.image.resize([1.0, 2.0], [1, 1]),
    "resize_method_names": lambda tf: [
        tf.image.ResizeMethod.NEAREST_NEIGHBOR,
        tf.image.ResizeMethod.LANCZOS5,
    ],
    "resize_with_pad": _image("resize_with_pad", 9, 9),
    "resize_with_pad_down": _image("resize_with_pad", 3, 8, antialias=True),
    "resize_with_crop_or_pad": _image("resize_with_crop_or_pad", 8, 4),
    "resize_with_crop_or_pad_zero": _image("resize_with_crop_or_pad", 0, 4),
    "crop_and_resize": lambda tf: tf.image.crop_and_resize(
        BATCH, [[0.1, 0.2, 0.9, 0.7], [0.8, 0.9, 0.2, -0.3]], [1, 0], [3, 4]
    ),
    "crop_and_resize_nearest": lambda tf: tf.image.crop_and_resize(
        BATCH, [[0.1, 0.2, 0.8, 0.65]], [1], [3, 4], method="nearest"
    ),
    "crop_and_resize_outside": lambda tf: tf.image.crop_and_resize(
        BATCH, [[-0.5, -0.5, 1.5, 1.5]], [0], [4, 4], extrapolation_value=7.0
    ),
    "crop_and_resize_one": lambda tf: tf.image.crop_and_resize(
        BATCH, [[0.1, 0.2, 0.9, 0.7]], [0], [1, 1]
    ),
    "crop_and_resize_gradient": _weighted_gradient(
        lambda tf, x, boxes: tf.image.crop_and_resize(x, boxes, [1, 0], [3, 4]),
        BATCH,
        np.array([[0.1, 0.2, 0.9, 0.7], [0.8, 0.9, 0.2, 0.3]], np.float32),
    ),
    "crop_and_resize_bad_boxes": lambda tf: tf.image.crop_and_resize(
        BATCH, [[0.1, 0.2, 0.9]], [0], [1, 1]
    ),
    "flip_left_right": _image("flip_left_right"),
    "flip_up_down_batch": _image("flip_up_down", of=BATCH),
    "flip_of_matrix": lambda tf: tf.image.flip_up_down([[1.0]]),
    **{f"rot90_{k}": _image("rot90", k) for k in (0, 1, 2, 3, -1)},
    "rot90_batch": _image("rot90", of=BATCH),
    "transpose": _image("transpose"),
    "transpose_batch": _image("transpose", of=BATCH),
    "central_crop": _image("central_crop", 0.5),
    "central_crop_all": _image("central_crop", 1.0),
    "central_crop_bad": _image("central_crop", 0.0),
    "crop": _image("crop_to_bounding_box", 1, 2, 3, 4),
    "crop_outside": _image("crop_to_bounding_box", 3, 2, 3, 4),
    "crop_nothing": _image("crop_to_bounding_box", 1, 2, 0, 4),
    "pad": _image("pad_to_bounding_box", 1, 2, 8, 9),
    "pad_too_small": _image("pad_to_bounding_box", 1, 2, 5, 9),
    "pad_bytes": _image("pad_to_bounding_box", 0, 1, 4, 7, of=BYTES),
    **{
        f"patches_{padding.lower()}_{i}": (
            lambda tf, p=padding, a=arguments: tf.image.extract_patches(BATCH, *a, p)
        )
        for padding in ("VALID", "SAME")
        for i, arguments in enumerate(
            [
                ([1, 2, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1]),
                ([1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 2, 1]),
            ]
        )
    },
    "patches_gradient": _weighted_gradient(
        lambda tf, x: tf.image.extract_patches(x, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
        BATCH,
    ),
    "patches_bad_padding": lambda tf: tf.image.extract_patches(
        BATCH, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "ALL"
    ),
    # colours
    **{name: _image(name) for name in COLOURS},
    **{
        f"{name}_gradient": _weighted_gradient(
            lambda tf, x, name=name: getattr(tf.image, name)(x), IMAGE
        )
        for name in ("rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yuv", "per_image_standardization")
    },
    "hsv_of_grays": lambda tf: tf.image.rgb_to_hsv([[[0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]]),
    "hsv_of_primaries": lambda tf: tf.image.rgb_to_hsv(np.eye(3, dtype=np.float32)[None]),
    "hsv_two_channels": lambda tf: tf.image.rgb_to_hsv([[[0.5, 0.5]]]),
    "gray_bytes": _image("rgb_to_grayscale", of=BYTES),
    "grayscale_to_rgb": lambda tf: tf.image.grayscale_to_rgb(tf.constant([[[1.0], [2.0]]])),
    "grayscale_to_rgb_three": _image("grayscale_to_rgb"),
    **{
        f"brightness_{kind}": _image("adjust_brightness", 0.3, of=image)
        for kind, image in {"floats": IMAGE, "bytes": BYTES}.items()
    },
    **{
        f"contrast_{kind}": _image("adjust_contrast", 1.7, of=image)
        for kind, image in {"floats": IMAGE, "bytes": BYTES, "batch": BATCH}.items()
    },
    "saturation": _image("adjust_saturation", 0.4),
    "saturation_up": _image("adjust_saturation", 3.0),
    "saturation_bytes": _image("adjust_saturation", 0.5, of=BYTES),
    "hue": _image("adjust_hue", 0.3),
    "hue_back": _image("adjust_hue", -0.6),
    "hue_bytes": _image("adjust_hue", 0.2, of=BYTES),
    "hue_too_far": _image("adjust_hue", 1.5),
    "gamma": _image("adjust_gamma", 2.2, 0.8),
    "gamma_negative": _image("adjust_gamma", -1.0),
    "standardize_flat": lambda tf: tf.image.per_image_standardization(tf.ones([2, 2, 1])),
    "standardize_bytes": _image("per_image_standardization", of=BYTES),
    "standardize_matrix": lambda tf: tf.image.per_image_standardization([[1.0]]),
    "convert_bytes": lambda tf: tf.image.convert_image_dtype(BYTES, tf.float32),
    "convert_to_bytes": lambda tf: tf.image.convert_image_dtype(IMAGE, tf.uint8),
    "convert_saturated": lambda tf: tf.image.convert_image_dtype(
        [[[1.5, -0.5]]], tf.uint8, saturate=True
    ),
    "convert_up": lambda tf: tf.image.convert_image_dtype(BYTES, tf.int16),
    "convert_down": lambda tf: tf.image.convert_image_dtype(
        tf.constant([[[1000, 32000]]], tf.int16), tf.uint8
    ),
    "convert_floats": lambda tf: tf.image.convert_image_dtype(IMAGE, tf.float16),
    "convert_bool": lambda tf: tf.image.convert_image_dtype(IMAGE, tf.bool),
    # measures
    "total_variation": lambda tf: value_and_gradients(tf, tf.image.total_variation, BATCH),
    "total_variation_one": lambda tf: value_and_gradients(tf, tf.image.total_variation, IMAGE),
    "total_variation_matrix": lambda tf: tf.image.total_variation(tf.constant([[1.0]])),
    "image_gradients": lambda tf: list(tf.image.image_gradients(tf.constant(BATCH))),
    "image_gradients_three": lambda tf: tf.image.image_gradients(tf.constant(IMAGE)),
    "sobel_edges": _image("sobel_edges", of=BATCH),
    "sobel_gradient": _weighted_gradient(lambda tf, x: tf.image.sobel_edges(x), BATCH),
    "psnr": lambda tf: tf.image.psnr(tf.constant(IMAGE), tf.constant(OTHER), max_val=1.0),
    "psnr_bytes": lambda tf: tf.image.psnr(
        tf.constant(BYTES), tf.constant(BYTES[::-1].copy()), max_val=255
    ),
    "psnr_gradient": _weighted_gradient(lambda tf, a, b: tf.image.psnr(a, b, 1.0), IMAGE, OTHER),
    "ssim": lambda tf: tf.image.ssim(LARGE, LARGE_2, max_val=1.0),
    "ssim_map": lambda tf: tf.image.ssim(LARGE, LARGE_2, max_val=1.0, return_index_map=True),
    "ssim_gradient": _weighted_gradient(lambda tf, a, b: tf.image.ssim(a, b, 1.0), LARGE, LARGE_2),
    "ssim_small": lambda tf: tf.image.ssim(IMAGE, OTHER, max_val=1.0),
    "ssim_window": lambda tf: tf.image.ssim(IMAGE, OTHER, max_val=1.0, filter_size=3),
    "ssim_multiscale": lambda tf: tf.image.ssim_multiscale(
        LARGE, LARGE_2, 1.0, power_factors=(0.3, 0.7), filter_size=5
    ),
}
