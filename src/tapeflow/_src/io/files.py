"""`tf.io.read_file` and its like: files as strings, and strings as numbers."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype, string
from tapeflow._src.core.errors import DataLossError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.system.files import replacing
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.io import gfile
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.effects.host import bytes_array, each, on_host
from tapeflow._src.primitives.specs import ArraySpec

_SCALAR = [ArraySpec((), string)]


@export("io.read_file")
def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The contents of a file, as a scalar string.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/greeting"
    >>> tf.io.write_file(path, "hello")
    >>> tf.io.read_file(path).numpy()
    b'hello'

    Args:
      filename: a path, as a text or a scalar string tensor.
      name: accepted for compatibility.
    """

    def run(path: Any) -> list[Any]:
        with gfile.GFile(path[()], "rb") as file:
            return [bytes_array([file.read()], ())]

    return on_host("read_file", run, [_path(filename)], _SCALAR)[0]


@export("io.write_file")
def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Writes a string to a file. Folders that are missing are made.

    Whatever happens in the meantime, the file holds what it held before, or all of the string.

    >>> import tempfile
    >>> tf.io.write_file(tempfile.mkdtemp() + "/a/b.txt", "text")

    Args:
      filename: a path, as a text or a scalar string tensor.
      contents: a scalar string.
      name: accepted for compatibility.
    """

    def run(path: Any, data: Any) -> list[Any]:
        with replacing(gfile._path(path[()])) as file:
            file.write(data[()])
        return []

    on_host("write_file", run, [_path(filename), convert_to_tensor(contents, string)], [])


@export("io.matching_files")
def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The files whose paths match a pattern, or one of several, sorted.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/a.txt", "")
    >>> tf.io.matching_files(folder + "/*.txt").shape
    TensorShape([1])

    Args:
      pattern: a text with `*`, `?` and `[...]`, or a vector of them.
      name: accepted for compatibility.
    """

    def run(patterns: np.ndarray) -> list[Any]:
        found = {os.fsencode(p) for one in patterns.ravel() for p in gfile.glob(os.fsdecode(one))}
        return [bytes_array(sorted(found), (len(found),))]

    return on_host("matching_files", run, [_path(pattern)], [_spec((None,), string)])[0]


@export("io.match_filenames_once")
def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """The names of the files that match a pattern now, as a variable that keeps them.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(f"{folder}/a.txt", "")
    >>> tf.io.match_filenames_once(f"{folder}/*.txt").shape
    TensorShape([1])

    Args:
      pattern: a text with `*`, `?` and `[...]`, or a vector of them.
      name: of the variable.
    """
    return Variable(matching_files(pattern), trainable=False, name=name)


def _path(value: Any) -> Tensor:
    return convert_to_tensor(os.fspath(value) if isinstance(value, os.PathLike) else value, string)


@export("io.decode_raw")
def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Tensor:
    r"""The bytes of strings as numbers, in a dimension that is added at the end.

    >>> tf.io.decode_raw(tf.constant(b"\x01\x00\x02\x00"), tf.int16).numpy()
    array([1, 2], dtype=int16)

    Args:
      input_bytes: strings, all of the same length.
      out_type: the dtype of the numbers.
      little_endian: whether the lowest byte of a number is the first.
      fixed_length: a number of bytes to which strings are cut, or filled up with zeros.
      name: accepted for compatibility.
    """
    dtype = as_dtype(out_type)
    strings = convert_to_tensor(input_bytes, string)
    if dtype is string:
        raise TypeError("decode_raw: out_type must be a dtype of numbers, got string")
    if fixed_length is not None:
        fixed_length = integer("decode_raw", "fixed_length", fixed_length)
        if fixed_length <= 0 or fixed_length % dtype.size:
            raise invalid(
                f"decode_raw: fixed_length must be a multiple of the {dtype.size} bytes of {dtype.name}, got "
                f"{fixed_length}"
            )

    def run(array: np.ndarray) -> list[Any]:
        parts: list[bytes] = array.ravel().tolist()
        if fixed_length is not None:
            check_room("decode_raw", (*array.shape, fixed_length), np.dtype(np.uint8))
            parts = [p[:fixed_length].ljust(fixed_length, b"\0") for p in parts]
        sizes = {len(p) for p in parts}
        if len(sizes) > 1:
            raise invalid(
                f"decode_raw: the strings must have the same length, got lengths {sorted(sizes)}"
            )
        size = sizes.pop() if sizes else 0
        if size % dtype.size:
            raise invalid(
                f"decode_raw: strings of {size} bytes cannot be divided into numbers of {dtype.size} bytes "
                f"({dtype.name})"
            )
        order = dtype.np_dtype.newbyteorder("<" if little_endian else ">")
        flat = np.frombuffer(b"".join(parts), order).astype(dtype.np_dtype)
        return [flat.reshape(*array.shape, size // dtype.size)]

    shape = strings.shape
    last = None if fixed_length is None else fixed_length // dtype.size
    sizes = None if shape.rank is None else (*shape.as_list(), last)
    return on_host("decode_raw", run, [strings], [_spec(sizes, dtype)])[0]


@export("io.decode_compressed")
def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """Strings as they were before they were compressed.

    >>> import gzip
    >>> tf.io.decode_compressed(gzip.compress(b"text"), "GZIP").numpy()
    b'text'

    Args:
      bytes: strings.
      compression_type: `"GZIP"`, `"ZLIB"`, or `""` for none.
      name: accepted for compatibility.
    """
    ways: dict[str, Callable[..., Any]] = {
        "": lambda x: x,
        "GZIP": lambda x: _inflated(x, 31),
        "ZLIB": lambda x: _inflated(x, 15),
    }
    if not isinstance(compression_type, str) or compression_type not in ways:
        raise invalid(
            f'decode_compressed: compression_type must be "GZIP", "ZLIB" or "", got {shown(compression_type)}'
        )

    def run(array: np.ndarray) -> list[Any]:
        try:
            return [each(ways[compression_type], array)]
        except (EOFError, zlib.error) as error:
            raise DataLossError(None, None, f"decode_compressed: {error}") from error

    return _string_op("decode_compressed", run, bytes)


_PIECE = 2**24  # bytes


def _inflated(data: bytes, bits: int) -> bytes:
    """What was compressed. A few bytes may stand for more than there is memory, so it is made in pieces."""
    out = io.BytesIO()
    while True:
        stream = zlib.decompressobj(bits)
        while not stream.eof:
            piece = stream.decompress(data, _PIECE)
            data = stream.unconsumed_tail
            if not (piece or data or stream.eof):
                raise EOFError("the compressed data ends too early")
            check_room("decode_compressed", (out.tell() + len(piece),), np.dtype(np.uint8))
            out.write(piece)
        data = stream.unused_data.lstrip(b"\0") if bits == 31 else b""
        if not data:  # a file of gzip may have several parts, one after the other
            return out.getvalue()


@export("io.encode_base64")
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Strings in the letters of base64 that are safe in addresses.

    >>> tf.io.encode_base64("hi?>").numpy()
    b'aGk_Pg'

    Args:
      input: strings.
      pad: whether to fill up with `=`.
      name: accepted for compatibility.
    """
    import base64

    def encode(text: bytes) -> bytes:
        found = base64.urlsafe_b64encode(text)
        return found if pad else found.rstrip(b"=")

    return _string_op("encode_base64", lambda array: [each(encode, array)], input)


@export("io.decode_base64")
def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """Strings from those that `tf.io.encode_base64` makes.

    >>> tf.io.decode_base64("aGk_Pg").numpy()
    b'hi?>'

    Args:
      input: strings, with or without `=` at their ends.
      name: accepted for compatibility.
    """
    import base64

    def decode(text: bytes) -> bytes:
        whole = text if text.endswith(b"=") else text + b"=" * (-len(text) % 4)
        try:
            if b"+" in text or b"/" in text:  # which Python takes, too
                raise ValueError("- and _ stand for + and /")
            return base64.b64decode(whole, b"-_", validate=True)
        except ValueError as error:
            raise invalid(f"decode_base64: {text!r} is not base64: {error}") from error

    return _string_op("decode_base64", lambda array: [each(decode, array)], input)


def _string_op(name: str, run: Callable[[np.ndarray], list[Any]], value: Any) -> Tensor:
    strings = convert_to_tensor(value, string)
    return on_host(name, run, [strings], [ArraySpec(strings._array.shape, string)])[0]


def _spec(shape: Any, dtype: Any) -> ArraySpec:
    """With None where something is not known."""
    return ArraySpec(shape, dtype)
