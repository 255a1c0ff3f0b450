"""Reading image files: sizes are looked at before memory is taken, and pixels are taken a few rows at a time."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType, float32, uint16
from tapeflow._src.core.errors import OpError, ResourceExhaustedError, invalid
from tapeflow._src.core.system.memory import check_room, exhausted
from tapeflow._src.io.deep_png import deep_pixels

_SIGNATURES = {
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "JPEG": (b"\xff\xd8\xff",),
    "GIF": (b"GIF87a", b"GIF89a"),
    "BMP": (b"BM",),
    "WEBP": (b"RIFF",),
}
_ANIMATED = ("GIF", "WEBP")
_LONGEST, _LARGEST = 2**27, 2**29  # pixels of a side, and in all: as in TensorFlow
# Eight of one bit to a byte, and what zeros are compressed by at most.
_MOST_PIXELS_A_BYTE = 8 * 1032
_AT_ONCE = 2**20  # pixels
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_CHANNELS = {"1": 1, "L": 1, "LA": 2, "RGBA": 4, "PA": 4}


def pillow() -> Any:
    """Pillow, which is imported on first use."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            "Reading images, and writing JPEG files, needs Pillow, which is not installed: pip install pillow"
        ) from None
    return Image


class _translating_errors:
    """Within this context only Pillow works: what it makes of damaged contents may be an error of any kind."""

    def __init__(self, op: str) -> None:
        self._op = op

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, Exception) or isinstance(error, OpError):
            return
        if isinstance(error, MemoryError):
            raise exhausted(self._op, error) from None
        if isinstance(error, pillow().DecompressionBombError):  # of a frame in an animation
            raise ResourceExhaustedError(None, None, f"{self._op}: {error}") from None
        raise invalid(f"{self._op}: the image is damaged: {error}") from error


def opened(op: str, data: bytes, truncated: bool = False) -> Picture:
    """An image, of which only the header has been read.

    Args:
      op: who reads it, for messages.
      data: the contents of the file.
      truncated: whether a JPEG file that ends too early is read as far as it goes.
    """
    Image = pillow()
    kind = next((k for k, starts in _SIGNATURES.items() if data.startswith(starts)), None)
    if kind is None or (kind == "WEBP" and data[8:12] != b"WEBP"):
        *some, last = _SIGNATURES
        raise invalid(
            f"{op}: the string of {len(data)} bytes is not the contents of a {', '.join(some)} or {last} file"
        )
    file = (_Padded if truncated else io.BytesIO)(data)
    with _translating_errors(op):
        # By the class of its format: Pillow's `open` refuses images whose size it finds suspicious.
        Image.preinit()
        if kind == "WEBP":
            from PIL import WebPImagePlugin  # noqa: F401  # is not among what `preinit` knows
        image = Image.OPEN[kind][0](file, None)
    width, height = image.size
    if width >= _LONGEST or height >= _LONGEST or width * height >= _LARGEST:
        raise invalid(f"{op}: an image of {width} x {height} pixels is too large")
    if kind == "PNG" and width * height > _MOST_PIXELS_A_BYTE * len(data):
        raise invalid(
            f"{op}: the image is damaged: {len(data)} bytes cannot hold its {width} x {height} pixels"
        )
    return Picture(op, kind, image)


class Picture:
    """An image file whose pixels have not been read yet."""

    def __init__(self, op: str, kind: str, image: Any) -> None:
        self._op, self._kind, self._image = op, kind, image

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        width, height = self._image.size
        return height, width, _channels(self._image)

    @property
    def kind(self) -> str:
        """The format of the file."""
        return self._kind

    def pixels(self, channels: int, frames: bool | None, ratio: int, dtype: DType) -> np.ndarray:
        """All pixels.

        Args:
          channels: 1, 3 or 4; 0 for those of the file.
          frames: whether the result has a dimension for several images: if None, that of a GIF or a WebP file does.
          ratio: how much smaller a JPEG becomes.
          dtype: of the result.
        """
        image, animated, count = self._image, self._kind in _ANIMATED, 1
        if animated:
            channels = channels or (3 if self._kind == "GIF" else _channels(image))
            with _translating_errors(self._op):
                count = 1 if frames is False else image.n_frames
        elif self._kind == "JPEG":
            image = self._reduced(ratio, "L" if channels == 1 else image.mode)
        width, height = image.size
        shape = (count, height, width, channels or _channels(image))
        byte = np.dtype(np.uint8)
        check_room(self._op, (*shape[:3], shape[3] * dtype.size), byte)
        # And Pillow's pixels.
        check_room(self._op, (height, width, shape[3] * dtype.size + 4), byte)
        with _translating_errors(self._op):
            deep = deep_pixels(image, channels)
        if deep is not None:
            found = _as_dtype(deep, dtype)
            return found[None] if frames else found
        out = np.empty(shape, dtype.np_dtype)
        for number in range(count):
            with _translating_errors(self._op):
                if animated:
                    image.seek(number)
                image.load()
            self._fill(out[number], image, dtype)
        return out if frames or (frames is None and animated) else out[0]

    def _reduced(self, ratio: int, mode: str) -> Any:
        image = self._image
        size = tuple(-(-side // ratio) for side in image.size)
        with _translating_errors(self._op):
            image.draft(mode, size)  # as the file has it, or smaller
            return image if image.size == size else image.resize(size)

    def _fill(self, out: np.ndarray, image: Any, dtype: DType) -> None:
        """Puts pixels where they belong, a few rows at a time: all of them in another mode would take much memory."""
        height, width, channels = out.shape
        rows = max(1, _AT_ONCE // max(width, 1))
        for start in range(0, height, rows):
            with _translating_errors(self._op):
                part = image.crop((0, start, width, min(start + rows, height)))
                pixels = _converted(part, channels)
            out[start : start + rows] = _as_dtype(pixels, dtype)


def _channels(image: Any) -> int:
    """How many channels an image has by itself."""
    if image.mode == "P" and "transparency" in image.info:
        return 4
    return 1 if image.mode.startswith("I") else _CHANNELS.get(image.mode, 3)


def _converted(image: Any, channels: int) -> np.ndarray:
    if image.mode.startswith("I"):  # grey with 16 bits
        grey = np.asarray(image).astype(np.uint16)[:, :, None]
        if channels == 1:
            return grey
        alpha = np.full_like(grey, 65535)
        return np.concatenate([grey] * 3 + [alpha] * (channels == 4), axis=2)
    if channels == 1 and _channels(image) > 2:  # with the weights of libpng, which does not round
        red, green, blue = np.moveaxis(np.asarray(image.convert("RGB")).astype(np.uint32), 2, 0)
        grey = red * np.uint32(9797) + green * np.uint32(19234) + blue * np.uint32(3737)
        return (grey >> np.uint32(15)).astype(np.uint8)[:, :, None]
    pixels = np.asarray(image.convert(_MODES[channels]))
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _as_dtype(pixels: np.ndarray, dtype: DType) -> np.ndarray:
    wide = pixels.dtype == np.uint16
    if dtype is float32:
        return pixels.astype(np.float32) * np.float32(1 / (65535 if wide else 255))
    if dtype is uint16:
        return pixels if wide else pixels.astype(np.uint16) * np.uint16(257)
    return (pixels >> 8).astype(np.uint8) if wide else pixels


class _Padded(io.BytesIO):
    """A file that goes on with the end mark of a JPEG, for ever, where it has been cut off."""

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        if size is None or size < 0 or len(found) == size:
            return found
        return found + (b"\xff\xd9" * size)[: size - len(found)]
