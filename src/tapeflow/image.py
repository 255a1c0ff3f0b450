"""`tf.image`: resizing, cropping and recolouring images, and measuring them."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.io.images import (
        decode_image as decode_image, decode_png as decode_png, decode_jpeg as decode_jpeg,
        decode_bmp as decode_bmp, decode_gif as decode_gif, decode_webp as decode_webp,
        encode_png as encode_png, encode_jpeg as encode_jpeg, is_jpeg as is_jpeg
    )
    from tapeflow._src.io.jpeg import (
        extract_jpeg_shape as extract_jpeg_shape, decode_and_crop_jpeg as decode_and_crop_jpeg,
        adjust_jpeg_quality as adjust_jpeg_quality, random_jpeg_quality as random_jpeg_quality,
        stateless_random_jpeg_quality as stateless_random_jpeg_quality
    )
    from tapeflow._src.ops.image.augmentation import (
        random_flip_left_right as random_flip_left_right,
        random_flip_up_down as random_flip_up_down,
        stateless_random_flip_left_right as stateless_random_flip_left_right,
        stateless_random_flip_up_down as stateless_random_flip_up_down,
        random_brightness as random_brightness,
        stateless_random_brightness as stateless_random_brightness,
        random_contrast as random_contrast, stateless_random_contrast as stateless_random_contrast,
        random_saturation as random_saturation,
        stateless_random_saturation as stateless_random_saturation, random_hue as random_hue,
        stateless_random_hue as stateless_random_hue, random_crop as random_crop,
        stateless_random_crop as stateless_random_crop
    )
    from tapeflow._src.ops.image.boxes import (
        draw_bounding_boxes as draw_bounding_boxes,
        sample_distorted_bounding_box as sample_distorted_bounding_box,
        stateless_sample_distorted_bounding_box as stateless_sample_distorted_bounding_box,
        extract_glimpse as extract_glimpse
    )
    from tapeflow._src.ops.image.colour import (
        convert_image_dtype as convert_image_dtype, rgb_to_grayscale as rgb_to_grayscale,
        grayscale_to_rgb as grayscale_to_rgb, rgb_to_yiq as rgb_to_yiq, yiq_to_rgb as yiq_to_rgb,
        rgb_to_yuv as rgb_to_yuv, yuv_to_rgb as yuv_to_rgb, rgb_to_hsv as rgb_to_hsv,
        hsv_to_rgb as hsv_to_rgb, adjust_hue as adjust_hue, adjust_saturation as adjust_saturation,
        adjust_brightness as adjust_brightness, adjust_contrast as adjust_contrast,
        adjust_gamma as adjust_gamma, per_image_standardization as per_image_standardization
    )
    from tapeflow._src.ops.image.quality import (
        total_variation as total_variation, image_gradients as image_gradients,
        sobel_edges as sobel_edges, psnr as psnr, ssim as ssim, ssim_multiscale as ssim_multiscale
    )
    from tapeflow._src.ops.image.resize import (
        ResizeMethod as ResizeMethod, resize as resize, resize_with_pad as resize_with_pad,
        crop_and_resize as crop_and_resize
    )
    from tapeflow._src.ops.image.shape import (
        flip_left_right as flip_left_right, flip_up_down as flip_up_down, transpose as transpose,
        rot90 as rot90, central_crop as central_crop, crop_to_bounding_box as crop_to_bounding_box,
        pad_to_bounding_box as pad_to_bounding_box,
        resize_with_crop_or_pad as resize_with_crop_or_pad, extract_patches as extract_patches
    )
    from tapeflow._src.ops.image.suppression import (
        non_max_suppression as non_max_suppression,
        non_max_suppression_with_scores as non_max_suppression_with_scores,
        non_max_suppression_overlaps as non_max_suppression_overlaps,
        non_max_suppression_padded as non_max_suppression_padded,
        combined_non_max_suppression as combined_non_max_suppression
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.image",
    names={
        "io.images": "decode_image decode_png decode_jpeg decode_bmp decode_gif decode_webp encode_png encode_jpeg is_jpeg",
        "io.jpeg": "extract_jpeg_shape decode_and_crop_jpeg adjust_jpeg_quality random_jpeg_quality stateless_random_jpeg_quality",
        "ops.image.augmentation": "random_flip_left_right random_flip_up_down stateless_random_flip_left_right stateless_random_flip_up_down random_brightness stateless_random_brightness random_contrast stateless_random_contrast random_saturation stateless_random_saturation random_hue stateless_random_hue random_crop stateless_random_crop",
        "ops.image.boxes": "draw_bounding_boxes sample_distorted_bounding_box stateless_sample_distorted_bounding_box extract_glimpse",
        "ops.image.colour": "convert_image_dtype rgb_to_grayscale grayscale_to_rgb rgb_to_yiq yiq_to_rgb rgb_to_yuv yuv_to_rgb rgb_to_hsv hsv_to_rgb adjust_hue adjust_saturation adjust_brightness adjust_contrast adjust_gamma per_image_standardization",
        "ops.image.quality": "total_variation image_gradients sobel_edges psnr ssim ssim_multiscale",
        "ops.image.resize": "ResizeMethod resize resize_with_pad crop_and_resize",
        "ops.image.shape": "flip_left_right flip_up_down transpose rot90 central_crop crop_to_bounding_box pad_to_bounding_box resize_with_crop_or_pad extract_patches",
        "ops.image.suppression": "non_max_suppression non_max_suppression_with_scores non_max_suppression_overlaps non_max_suppression_padded combined_non_max_suppression",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())
