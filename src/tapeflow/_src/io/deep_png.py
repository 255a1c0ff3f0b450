"""PNG files with 16 bits a sample, of which Pillow reads 8.

It undoes the filters for 16 bits all the same, and then takes one byte of each sample: the first of big-endian numbers,
the second of little-endian ones. So what is big-endian is read twice, once under either name.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

_WEIGHTS = [9797, 19234, 3737]  # of red, green and blue in libpng, of 2**15


def deep_pixels(image: Any, channels: int) -> np.ndarray | None:
    """The pixels of an image that is open and not loaded, as uint16; None if it is no PNG with 16 bits."""
    raw = image.tile[0][3] if image.format == "PNG" and image.tile else None
    if raw not in ("I;16B", "LA;16B", "RGB;16B", "RGBA;16B"):
        return None
    if raw == "I;16B":
        samples = np.asarray(image).astype(np.uint16)[:, :, None]
    elif raw == "LA;16B":  # four bytes a pixel, as RGBA with 8 bits has
        samples = _read_as(image, "RGBA", "RGBA").astype(np.uint16)
        samples = samples[:, :, ::2] << 8 | samples[:, :, 1::2]
    else:
        low = _read_as(image, image.mode, raw.replace("16B", "16L"))
        samples = np.asarray(image).astype(np.uint16) << 8 | low
    return _with_channels(samples, channels, image.info.get("transparency"))


def _read_as(image: Any, mode: str, raw: str) -> np.ndarray:
    """The bytes of another image of the same file, taken for what they are not."""
    from PIL import Image

    other: Any
    with Image.OPEN["PNG"][0](io.BytesIO(image.fp.getvalue()), "") as other:
        fields = (*other.tile[0][:3], raw)
        kind = type(other.tile[0])
        other.tile = [fields if kind is tuple else kind(*fields)]
        other._mode = mode
        return np.asarray(other)


def _with_channels(samples: np.ndarray, channels: int, transparent: Any) -> np.ndarray:
    """Grey or colours, with or without alpha. `transparent` is what stands for no colour at all."""
    own = samples.shape[2]
    channels = channels or own
    colours = samples[:, :, : own - (own + 1) % 2]
    if channels % 2:
        alpha = samples[:, :, :0]
    elif own % 2 == 0:
        alpha = samples[:, :, -1:]
    else:
        seen = np.ones(samples.shape[:2], np.bool_)
        if transparent is not None:
            seen = (samples != np.reshape(transparent, -1)).any(axis=2)
        alpha = seen[:, :, None] * np.uint16(65535)
    if channels < 3 and colours.shape[2] == 3:
        grey = (colours.astype(np.int64) @ _WEIGHTS + 2**14) >> 15
        colours = grey.astype(np.uint16)[:, :, None]
    elif channels > 2:
        colours = np.broadcast_to(colours, (*colours.shape[:2], 3))
    return np.concatenate([colours, alpha], axis=2)
