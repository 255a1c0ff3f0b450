"""`tf.audio`: sound in WAV files of 16 bits."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import float32, int32, string
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.effects.host import bytes_array, on_host
from tapeflow._src.primitives.specs import ArraySpec


class DecodeWav(NamedTuple):
    """What `tf.audio.decode_wav` gives."""

    audio: Tensor
    sample_rate: Tensor


@export("audio.decode_wav")
def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """The sound in the contents of a WAV file of 16 bits, as numbers from -1 to 1.

    >>> contents = tf.audio.encode_wav([[0.0], [0.5]], sample_rate=16000)
    >>> sound, rate = tf.audio.decode_wav(contents)
    >>> sound.numpy(), int(rate)
    (array([[0. ],
           [0.5]], dtype=float32), 16000)

    Args:
      contents: a scalar string.
      desired_channels: how many channels there are to be: those that are too many are left out, and the last is
        repeated; -1 for those of the file.
      desired_samples: how many samples there are to be, cut off or filled up with zeros; -1 for those of the file.
      name: accepted for compatibility.
    """
    op = "decode_wav"
    channels = integer(op, "desired_channels", desired_channels)
    samples = integer(op, "desired_samples", desired_samples)
    contents = convert_to_tensor(contents, string)
    if contents.shape.rank:
        raise invalid(f"{op}: contents must be a scalar string, got shape {contents.shape}")

    def run(data: Any) -> tuple[Any, Any]:
        sound, rate = _read(op, data[()])
        if channels > 0:
            missing = max(channels - sound.shape[1], 0)
            sound = np.pad(sound[:, :channels], ((0, 0), (0, missing)), mode="edge")
        if samples >= 0:
            sound = np.pad(sound[:samples], ((0, max(samples - len(sound), 0)), (0, 0)))
        return np.ascontiguousarray(sound, np.float32), np.int32(rate)

    shape = (samples if samples >= 0 else None, channels if channels > 0 else None)
    specs = [ArraySpec(shape, float32), ArraySpec((), int32)]
    return DecodeWav(*on_host(op, run, [contents], specs))


def _read(op: str, data: bytes) -> tuple[np.ndarray, int]:
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise invalid(
            f"{op}: the string of {len(data)} bytes is not the contents of a WAV file: it does not begin with RIFF and "
            "WAVE"
        )
    at, form, sound = 12, None, None
    while at + 8 <= len(data) and sound is None:
        kind, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        body = data[at + 8 : at + 8 + size]
        if len(body) < size:
            raise invalid(f"{op}: the file ends within its part {kind!r}")
        if kind == b"fmt " and size >= 16:
            form = struct.unpack_from("<HHIIHH", body)
        elif kind == b"data":
            sound = body
        at += 8 + size + size % 2
    if form is None or sound is None:
        raise invalid(f"{op}: the WAV file has no {'format' if form is None else 'sound'}")
    encoding, channels, rate, _, _, bits = form
    if encoding not in (1, 0xFFFE) or bits != 16 or not channels:
        raise invalid(
            f"{op}: only uncompressed sound of 16 bits can be read, got format {encoding} of {bits} bits"
        )
    whole = len(sound) // (2 * channels)
    numbers = np.frombuffer(sound, "<i2", whole * channels).reshape(whole, channels)
    return numbers.astype(np.float32) / np.float32(32768), rate


@export("audio.encode_wav")
def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """Sound as the contents of a WAV file of 16 bits.

    >>> tf.audio.encode_wav([[0.0], [0.5]], sample_rate=16000).numpy()[:4]
    b'RIFF'

    Args:
      audio: `[samples, channels]`, numbers from -1 to 1.
      sample_rate: samples in a second.
      name: accepted for compatibility.
    """
    op = "encode_wav"
    audio = convert_to_tensor(audio, float32)
    rate = convert_to_tensor(sample_rate, int32)
    if audio.shape.rank not in (2, None) or rate.shape.rank:
        raise invalid(
            f"{op}: audio must have the shape [samples, channels] and sample_rate be a number, got {audio.shape} and "
            f"{rate.shape}"
        )

    def run(sound: np.ndarray, rate: Any) -> list[Any]:
        channels = sound.shape[1]
        if not 0 < channels < 2**15 or not rate > 0:
            raise invalid(
                f"{op}: there must be channels and a positive sample_rate, got {channels} and {rate}"
            )
        body = np.clip(np.round(sound * np.float32(32768)), -32768, 32767).astype("<i2").tobytes()
        form = struct.pack(
            "<HHIIHH", 1, channels, int(rate), 2 * channels * int(rate), 2 * channels, 16
        )
        text = (
            b"WAVEfmt "
            + struct.pack("<I", 16)
            + form
            + b"data"
            + struct.pack("<I", len(body))
            + body
        )
        return [bytes_array([b"RIFF" + struct.pack("<I", len(text)) + text], ())]

    return on_host(op, run, [audio, rate], [ArraySpec((), string)])[0]
