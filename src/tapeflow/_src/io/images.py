"""Images in files: `tf.io.decode_image`, `tf.io.encode_png` and their like.

PNG files are written here. All else is done by Pillow, which is needed only when one of these functions is called.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, float32, string, uint8, uint16
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.io.decoding import opened, pillow
from tapeflow._src.io.png import png
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.effects.host import bytes_array, on_host
from tapeflow._src.primitives.specs import ArraySpec

# Reading.


@export("image.decode_image", "io.decode_image")
def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The image in the contents of a PNG, JPEG, GIF or BMP file.

    >>> contents = tf.io.encode_png(tf.constant([[[255, 0, 0]]], tf.uint8))
    >>> tf.io.decode_image(contents).numpy()
    array([[[255,   0,   0]]], dtype=uint8)

    Args:
      contents: a scalar string.
      channels: 1 for grey, 3 for RGB, 4 for RGBA, 0 or `None` for those of the file.
      dtype: `tf.uint8`, `tf.uint16`, or `tf.float32` for numbers from 0 to 1.
      name: accepted for compatibility.
      expand_animations: whether the images of a GIF are all returned, in a dimension of their own.
    """
    return _decoded("decode_image", contents, channels, dtype, None if expand_animations else False)


@export("image.decode_png", "io.decode_png")
def decode_png(
    contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None
) -> Tensor:
    """The image in the contents of a PNG file.

    >>> contents = tf.io.encode_png(tf.zeros([4, 3, 1], tf.uint8))
    >>> tf.io.decode_png(contents, channels=3).shape
    TensorShape([4, 3, 3])

    Args:
      contents: a scalar string.
      channels: 1 for grey, 3 for RGB, 4 for RGBA, 0 for those of the file.
      dtype: `tf.uint8` or `tf.uint16`.
      name: accepted for compatibility.
    """
    return _decoded("decode_png", contents, channels, dtype)


@export("image.decode_jpeg", "io.decode_jpeg")
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The image in the contents of a JPEG file.

    >>> contents = tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8))
    >>> tf.io.decode_jpeg(contents).shape
    TensorShape([8, 8, 3])

    Args:
      contents: a scalar string.
      channels: 1 for grey, 3 for RGB, 0 for those of the file.
      ratio: 1, 2, 4 or 8: how much smaller the result is.
      fancy_upscaling: accepted for compatibility.
      try_recover_truncated: whether a file that ends too early is read as far as it goes.
      acceptable_fraction: accepted for compatibility.
      dct_method: accepted for compatibility.
      name: accepted for compatibility.
    """
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"decode_jpeg: ratio must be 1, 2, 4 or 8, got {ratio}")
    return _decoded(
        "decode_jpeg", contents, channels, uint8, ratio=ratio, truncated=try_recover_truncated
    )


@export("image.decode_bmp", "io.decode_bmp")
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """The image in the contents of a BMP file.

    >>> import io
    >>> from PIL import Image
    >>> file = io.BytesIO()
    >>> Image.new("RGB", (2, 1)).save(file, "bmp")
    >>> tf.io.decode_bmp(file.getvalue()).shape
    TensorShape([1, 2, 3])

    Args:
      contents: a scalar string.
      channels: 1, 3 or 4; 0 for those of the file.
      name: accepted for compatibility.
    """
    return _decoded("decode_bmp", contents, channels, uint8)


@export("image.decode_gif", "io.decode_gif")
def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """The images in the contents of a GIF file, RGB, in the order in which they are shown.

    >>> import io
    >>> from PIL import Image
    >>> file = io.BytesIO()
    >>> Image.new("RGB", (3, 2)).save(file, "gif")
    >>> tf.io.decode_gif(file.getvalue()).shape
    TensorShape([1, 2, 3, 3])

    Args:
      contents: a scalar string.
      name: accepted for compatibility.
    """
    return _decoded("decode_gif", contents, 3, uint8, frames=True)


@export("image.decode_webp", "io.decode_webp")
def decode_webp(
    contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None
) -> Tensor:
    """The images in the contents of a WebP file, in the order in which they are shown.

    >>> import io
    >>> from PIL import Image
    >>> file = io.BytesIO()
    >>> Image.new("RGB", (3, 2)).save(file, "webp")
    >>> tf.io.decode_webp(file.getvalue()).shape
    TensorShape([1, 2, 3, 3])

    Args:
      contents: a scalar string.
      channels: 3 or 4, as the file has; 0 for those of the file.
      dtype: `tf.uint8`.
      name: accepted for compatibility.
    """
    if as_dtype(dtype) is not uint8:
        raise TypeError(f"decode_webp: dtype must be uint8, got {as_dtype(dtype).name}")
    if integer("decode_webp", "channels", channels) not in (0, 3, 4):
        raise invalid(f"decode_webp: channels must be 0, 3 or 4, got {channels}")
    return _decoded("decode_webp", contents, channels, uint8, frames=True)


def _decoded(
    op: str,
    contents: Any,
    channels: int | None,
    dtype: Any,
    frames: bool | None = False,
    ratio: int = 1,
    truncated: bool = False,
) -> Tensor:
    """Reads an image. `frames` says whether the result has a dimension for several: if None, that of a GIF does."""
    wanted = as_dtype(dtype)
    if wanted not in (uint8, uint16, float32):
        raise TypeError(f"{op}: dtype must be uint8, uint16 or float32, got {wanted.name}")
    channels = 0 if channels is None else integer(op, "channels", channels)
    if channels not in (0, 1, 3, 4):
        raise invalid(f"{op}: channels must be 0, 1, 3 or 4, got {channels}")
    contents = one_file(op, contents)

    def run(data: Any) -> list[Any]:
        image = opened(op, data[()], truncated)
        if image.kind == "WEBP" and channels not in (0, image.sizes[2]):
            raise invalid(
                f"{op}: the WebP file has {image.sizes[2]} channels, and channels is {channels}. Pass 0, and change "
                "the result."
            )
        return [image.pixels(channels, frames, ratio, wanted)]

    shape: Any = (None, None, channels or None)
    if frames or frames is None:
        shape = (None, *shape) if frames else None
    return on_host(op, run, [contents], [ArraySpec(shape, wanted)])[0]


# Writing.


@export("image.encode_png", "io.encode_png")
def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """Images as the contents of PNG files.

    >>> image = tf.zeros([8, 8, 3], tf.uint8)
    >>> tf.io.write_file("/dev/null", tf.io.encode_png(image))

    Args:
      image: of shape `[..., height, width, channels]` with 1 (grey), 2 (grey and alpha), 3 (RGB) or 4 (RGBA) channels,
        uint8 or uint16.
      compression: from 0, none, to 9, the most; -1 for what is usual.
      name: accepted for compatibility.
    """
    images = convert_to_tensor(image)
    check_image("encode_png", images, (uint8, uint16), (1, 2, 3, 4))
    if not -1 <= compression <= 9:
        raise invalid(f"encode_png: compression must be in [-1, 9], got {compression}")

    def run(array: np.ndarray) -> list[Any]:
        flat = array.reshape(-1, *array.shape[-3:])
        return [bytes_array([png(one, compression) for one in flat], array.shape[:-3])]

    shape = images._array.shape[:-3]
    return on_host("encode_png", run, [images], [ArraySpec(shape, string)])[0]


@export("image.encode_jpeg", "io.encode_jpeg")
def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    r"""An image as the contents of a JPEG file.

    >>> tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8)).numpy()[:3]
    b'\xff\xd8\xff'

    Args:
      image: of shape `[height, width, channels]` with 1 (grey) or 3 (RGB) channels, uint8.
      format: `"grayscale"`, `"rgb"`, or `""` for what the channels say.
      quality: from 0 to 100.
      progressive: whether the file shows a coarse image before all of it is there.
      optimize_size: whether to make the file smaller, at the cost of time.
      chroma_downsampling: whether colours have half the resolution of brightness.
      density_unit: `"in"` or `"cm"`.
      x_density: pixels for each unit, from left to right.
      y_density: pixels for each unit, from top to bottom.
      xmp_metadata: accepted for compatibility.
      name: accepted for compatibility.
    """
    tensor = convert_to_tensor(image)
    allowed = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}
    if format not in allowed:
        raise invalid(
            f"encode_jpeg: format must be 'grayscale', 'rgb' or '' for either, got {format!r}"
        )
    check_image("encode_jpeg", tensor, (uint8,), allowed[format], exactly=True)

    def run(array: np.ndarray) -> list[Any]:
        pixels = array[:, :, 0] if array.shape[2] == 1 else array
        file = io.BytesIO()
        pillow().fromarray(np.ascontiguousarray(pixels)).save(
            file,
            "jpeg",
            quality=quality,
            progressive=progressive,
            optimize=optimize_size,
            subsampling=2 if chroma_downsampling and pixels.ndim == 3 else 0,
            dpi=tuple(d * (1 if density_unit == "in" else 2.54) for d in (x_density, y_density)),
        )
        return [bytes_array([file.getvalue()], ())]

    return on_host("encode_jpeg", run, [tensor], [ArraySpec((), string)])[0]


def check_image(
    op: str,
    images: Tensor,
    dtypes: tuple[DType, ...],
    channels: tuple[int, ...],
    exactly: bool = False,
) -> None:
    """Raises if a tensor is not an image, or several."""
    if images.dtype not in dtypes:
        names = " or ".join(d.name for d in dtypes)
        raise invalid(f"{op}: image must have dtype {names}, got {images.dtype.name}")
    rank = images.shape.rank
    if rank is not None and (rank < 3 or (exactly and rank > 3)):
        raise invalid(f"{op}: image must have shape [height, width, channels], got {images.shape}")
    last = images.shape[-1] if rank is not None else None
    if last is not None and last not in channels:
        *some, end = map(str, channels)
        named = f"{', '.join(some)} or {end}" if some else end
        raise invalid(f"{op}: image must have {named} channels, got {last}")


@export("image.is_jpeg", "io.is_jpeg")
def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether a string begins as JPEG files do.

    >>> bool(tf.io.is_jpeg(b"GIF89a"))
    False

    Args:
      contents: a scalar string.
      name: accepted for compatibility.
    """

    def run(data: Any) -> list[Any]:
        return [np.bool_(data[()][:3] == b"\xff\xd8\xff")]

    spec = ArraySpec((), as_dtype("bool"))
    return on_host("is_jpeg", run, [one_file("is_jpeg", contents)], [spec])[0]


def one_file(op: str, contents: Any) -> Tensor:
    """The contents of a file, a scalar string."""
    contents = convert_to_tensor(contents, string)
    if contents.shape.rank:
        raise invalid(f"{op}: contents must be a scalar string, got shape {contents.shape}")
    return contents
