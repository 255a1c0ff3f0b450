"""`TensorProto`: how TensorFlow writes a tensor into files. `tf.io.serialize_tensor` and `tf.io.parse_tensor`."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, from_numpy, string
from tapeflow._src.core.errors import OpError, invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.io import wire
from tapeflow._src.ops.effects.host import bytes_array, on_host
from tapeflow._src.primitives.specs import ArraySpec

_DTYPE, _SHAPE, _CONTENT, _STRINGS = 1, 2, 4, 8  # numbers of fields


def tensor_proto(array: Any, packed: bool = False) -> bytes:
    """An array as a message, in which strings are listed or, as numbers are, packed."""
    array = np.asarray(array)
    dtype = from_numpy(array.dtype)
    sizes = [wire.integer(1, size) if size else b"" for size in array.shape]
    shape = b"".join(wire.data(2, size) for size in sizes)
    message = wire.integer(_DTYPE, dtype.as_datatype_enum) + wire.data(_SHAPE, shape)
    if dtype is string:
        texts = array.ravel().tolist()
        if packed and texts:
            sizes = b"".join(wire.varint(len(text)) for text in texts)
            return message + wire.data(_CONTENT, sizes + b"".join(texts))
        return message + b"".join(wire.data(_STRINGS, text) for text in texts)
    content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    return message + (wire.data(_CONTENT, content) if content else b"")


def parsed_tensor_proto(message: bytes) -> np.ndarray:
    """The array of a message. A ValueError says what is wrong with it."""
    dtype, shape, content = None, (), None
    values: list[tuple[int, Any]] = []
    for number, value in wire.fields(message):
        if number == _DTYPE:
            dtype = as_dtype(value)
            if not dtype.is_numpy_compatible:
                raise ValueError(
                    f"a tensor of dtype {dtype.name} is a handle, which no message holds"
                )
        elif number == _SHAPE and isinstance(value, bytes):
            shape = _shape(value)
        elif number == _CONTENT:
            content = value
        else:
            values.append((number, value))
    if dtype is None:
        raise ValueError("the message names no dtype")
    check_room("parse_tensor", shape, dtype.np_dtype)
    count = math.prod(shape)
    if isinstance(content, bytes) and content and dtype is string:
        return bytes_array(_packed_strings(content, count), shape)
    if isinstance(content, bytes) and content:
        if len(content) != count * dtype.size:
            raise ValueError(
                f"{len(content)} bytes are not a tensor of shape {shape} and dtype {dtype.name}"
            )
        little = np.frombuffer(content, dtype.np_dtype.newbyteorder("<"))
        return little.astype(dtype.np_dtype).reshape(shape)
    flat = _listed(dtype, values)
    if len(flat) > count or (not flat and count and dtype is string):
        raise ValueError(f"{len(flat)} elements do not fill shape {shape}")
    if not flat:
        return np.zeros(shape, dtype.np_dtype)
    array = np.empty(count, dtype.np_dtype)
    array[: len(flat)] = flat
    array[len(flat) :] = flat[-1]  # the last one stands for all that follow
    return array.reshape(shape)


def _packed_strings(content: bytes, count: int) -> list[bytes]:
    """Strings that follow their lengths."""
    sizes, at = [], 0
    for _ in range(count):
        end = at
        while end < len(content) and content[end] & 128:
            end += 1
        if end >= len(content):
            raise ValueError(f"{len(content)} bytes do not hold {count} strings")
        sizes += wire.packed_varints(content[at : end + 1])
        at = end + 1
    if at + sum(sizes) != len(content):
        raise ValueError(f"{len(content)} bytes do not hold {count} strings")
    texts = []
    for size in sizes:
        texts.append(content[at : at + size])
        at += size
    return texts


def _shape(message: bytes) -> tuple[int, ...]:
    sizes: list[int] = []
    for number, value in wire.fields(message):
        if number == 3:
            raise ValueError("the shape is unknown")
        if number == 2 and isinstance(value, bytes):
            known = [wire.signed(v) for n, v in wire.fields(value) if n == 1 and isinstance(v, int)]
            sizes.append(known[0] if known else 0)
    if any(size < 0 for size in sizes):
        raise ValueError(f"the shape {sizes} has negative sizes")
    return tuple(sizes)


def _unpack(letter: str) -> Callable[[bytes], list[Any]]:
    return lambda value: [x for (x,) in struct.iter_unpack(f"<{letter}", value)]


def _integers(value: Any) -> list[int]:
    found = [value] if isinstance(value, int) else wire.packed_varints(value)
    return [wire.signed(v) for v in found]


def _listed(dtype: DType, values: list[tuple[int, Any]]) -> list[Any]:
    """The elements of a message that lists them one by one: `float_val`, `int_val` and so on."""
    if dtype is string:
        return [v for number, v in values if number == _STRINGS and isinstance(v, bytes)]
    readers: dict[int, Callable[[Any], list[Any]]] = {
        5: _unpack("f"),
        6: _unpack("d"),
        9: _unpack("f"),
        12: _unpack("d"),
        **dict.fromkeys((7, 10, 11, 16, 17), _integers),
        13: _integers,
    }
    flat = [x for number, value in values if number in readers for x in readers[number](value)]
    if dtype.is_complex:
        return [complex(a, b) for a, b in zip(flat[::2], flat[1::2], strict=True)]
    if dtype.name in ("float16", "bfloat16"):  # their bits, as integers
        return list(np.array(flat, np.uint16).view(dtype.np_dtype))
    if dtype.is_unsigned:
        return [x % 2 ** (8 * dtype.size) for x in flat]
    return flat


@export("io.serialize_tensor")
def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    r"""A tensor as a string that holds all of it: shape, dtype and elements.

    >>> stored = tf.io.serialize_tensor(tf.constant([1, 2]))
    >>> stored.numpy()
    b'\x08\x03\x12\x04\x12\x02\x08\x02"\x08\x01\x00\x00\x00\x02\x00\x00\x00'
    >>> tf.io.parse_tensor(stored, tf.int32).numpy()
    array([1, 2], dtype=int32)

    Args:
      tensor: of any shape and dtype.
      name: accepted for compatibility.
    """

    def run(array: Any) -> list[Any]:
        return [bytes_array([tensor_proto(array)], ())]

    return on_host("serialize_tensor", run, [tensor], [ArraySpec((), string)])[0]


@export("io.parse_tensor")
def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor that `tf.io.serialize_tensor` made a string of.

    >>> stored = tf.io.serialize_tensor(tf.constant([[0.5]]))
    >>> tf.io.parse_tensor(stored, out_type=tf.float32).numpy()
    array([[0.5]], dtype=float32)

    Args:
      serialized: a scalar string.
      out_type: the dtype it must have.
      name: accepted for compatibility.
    """
    wanted = as_dtype(out_type)

    def run(contents: Any) -> list[Any]:
        try:
            array = parsed_tensor_proto(contents[()])
        except OpError:
            raise
        except (ValueError, OverflowError, TypeError, struct.error) as error:
            raise invalid(
                f"parse_tensor: the string is not a serialized tensor: {error}"
            ) from error
        found = from_numpy(array.dtype)
        if found is not wanted:
            raise invalid(
                f"parse_tensor: the tensor has dtype {found.name}, and out_type is {wanted.name}"
            )
        return [array]

    serialized = convert_to_tensor(serialized, string)
    if serialized.shape.rank:
        raise invalid(f"parse_tensor: serialized must be a scalar, got shape {serialized.shape}")
    return on_host("parse_tensor", run, [serialized], [ArraySpec(None, wanted)])[0]  # pyright: ignore[reportArgumentType]
