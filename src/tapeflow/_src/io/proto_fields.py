"""`tf.io.decode_proto` and `tf.io.encode_proto`: fields of messages as tensors."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import (
    DataLossError,
    UnimplementedError,
    invalid,
    shown,
)
from tapeflow._src.core.export import export
from tapeflow._src.core.system.files import translating_os_errors
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.io import example, wire
from tapeflow._src.io.messages import Message
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.primitives.specs import ArraySpec


class _Kind(NamedTuple):
    """A type of fields: how its values stand on the wire, and which dtypes they may have."""

    wire: str  # "varint", "zigzag", "data", or the format of a fixed size
    dtypes: tuple[DType, ...]


_WIDE = (dtypes.int64,)
_KINDS = {
    1: _Kind("<d", (dtypes.float64,)),
    2: _Kind("<f", (dtypes.float32, dtypes.float64)),
    3: _Kind("varint", _WIDE),
    4: _Kind("varint", (dtypes.uint64, dtypes.int64)),
    5: _Kind("varint", (dtypes.int32, dtypes.int64)),
    6: _Kind("<Q", (dtypes.uint64, dtypes.int64)),
    7: _Kind("<I", (dtypes.uint32, dtypes.uint64)),
    8: _Kind("varint", (dtypes.bool_,)),
    9: _Kind("data", (dtypes.string,)),
    11: _Kind("data", (dtypes.string,)),
    12: _Kind("data", (dtypes.string,)),
    13: _Kind("varint", (dtypes.uint32, dtypes.uint64)),
    14: _Kind("varint", (dtypes.int32,)),
    15: _Kind("<i", (dtypes.int32, dtypes.int64)),
    16: _Kind("<q", _WIDE),
    17: _Kind("zigzag", (dtypes.int32, dtypes.int64)),
    18: _Kind("zigzag", _WIDE),
}
_BITS = {5: 32, 13: 32, 14: 32, 17: 32, 8: 1}  # of integers that are shorter than 64 bits
_SIGNED = (3, 5, 14)
_OF_OURS = {example.Strings: 12, example.Floats: 2, example.Integers: 3}


class _Field(NamedTuple):
    number: int
    kind: int
    repeated: bool
    packed: bool


@export("io.decode_proto")
def decode_proto(
    bytes: Any,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[Any],
    descriptor_source: str = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """The fields of messages, and how many values each of them has.

    >>> message = tf.train.Int64List(value=[3, 4]).SerializeToString()
    >>> sizes, (values,) = tf.io.decode_proto(
    ...     [message, b""], "tensorflow.Int64List", ["value"], [tf.int64])
    >>> sizes.numpy().tolist(), values.numpy().tolist()
    ([[2], [0]], [[3, 4], [0, 0]])

    Args:
      bytes: strings, of any shape: one message each.
      message_type: the full name of the kind of message.
      field_names: which fields.
      output_types: for each of them a dtype that holds its values. Messages inside are strings, to be decoded again.
      descriptor_source: where kinds of messages are described: `"local://"` for those of `tf.train.Example`, the path
        of a file with a `FileDescriptorSet`, or `b"bytes://"` followed by one.
      message_format: `"binary"`.
      sanitize: accepted for compatibility.
      name: accepted for compatibility.

    Returns:
      `sizes`, int32 of shape `[..., fields]`, and for each field its values, of shape `[..., the most of one message]`,
      filled up with zeros or empty strings.
    """
    if message_format != "binary":
        raise UnimplementedError(
            None, None, f"decode_proto: message_format must be 'binary', got {message_format!r}"
        )
    wanted = [as_dtype(t) for t in output_types]
    if len(wanted) != len(field_names):
        raise invalid(
            f"decode_proto: field_names and output_types must be as many, got {len(field_names)} and {len(wanted)}"
        )
    described = _message(message_type, descriptor_source)
    fields = [_field("decode_proto", message_type, described, n) for n in field_names]
    for field, dtype, each in zip(fields, wanted, field_names, strict=True):
        if dtype not in _KINDS[field.kind].dtypes:
            raise invalid(
                f"decode_proto: the field {each!r} of {message_type} cannot be decoded as {dtype.name}, but as "
                f"{', '.join(d.name for d in _KINDS[field.kind].dtypes)}"
            )

    def run(contents: np.ndarray) -> list[Any]:
        rows = [_decoded(message_type, x, fields) for x in contents.reshape(-1)]
        sizes = np.array([[len(v) for v in row] for row in rows], np.int32)
        out: list[Any] = [sizes.reshape(*contents.shape, len(fields))]
        for i, dtype in enumerate(wanted):
            most = max(1, int(sizes[:, i].max())) if len(rows) else 1  # as in TensorFlow
            empty = b"" if dtype is dtypes.string else 0
            values = np.full((len(rows), most), empty, dtype.np_dtype)
            for row, into in zip(rows, values, strict=True):
                found = np.empty(len(row[i]), object)
                found[:] = row[i]
                into[: len(found)] = found if dtype is dtypes.string else _as_dtype(found, dtype)
            out.append(values.reshape(*contents.shape, most))
        return out

    contents = convert_to_tensor(bytes, dtypes.string)
    shape = contents._array.shape
    specs = [ArraySpec((*shape, len(fields)), dtypes.int32)]
    specs += [ArraySpec((*shape, None), dtype) for dtype in wanted]
    sizes, *values = on_host("decode_proto", run, [contents], specs)
    return sizes, values


def _as_dtype(values: np.ndarray, dtype: DType) -> np.ndarray:
    if dtype.is_integer:
        bits = dtype.size * 8
        wrapped = [int(v) % 2**bits for v in values]
        return np.array(wrapped, f"u{dtype.size}").astype(dtype.np_dtype)
    return values.astype(dtype.np_dtype)


@export("io.encode_proto")
def encode_proto(
    sizes: Any,
    values: Sequence[Any],
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: str = "local://",
    name: str | None = None,
) -> Tensor:
    """Messages made of the values of their fields: what `tf.io.decode_proto` takes apart.

    >>> messages = tf.io.encode_proto(
    ...     [[2], [0]], [tf.constant([[3, 4], [0, 0]], tf.int64)], ["value"], "tensorflow.Int64List")
    >>> tf.train.Int64List.FromString(messages[0].numpy()).value
    [3, 4]

    Args:
      sizes: int32 of shape `[..., fields]`: how many values each field of each message has.
      values: for each field a tensor of shape `[..., the most of one message]`.
      field_names: which fields.
      message_type: the full name of the kind of message.
      descriptor_source: as for `tf.io.decode_proto`.
      name: accepted for compatibility.

    Returns:
      Strings of shape `[...]`.
    """
    described = _message(message_type, descriptor_source)
    fields = [_field("encode_proto", message_type, described, n) for n in field_names]
    tensors = [convert_to_tensor(v) for v in values]
    counts = convert_to_tensor(sizes, dtypes.int32)
    if len(tensors) != len(fields):
        raise invalid(
            f"encode_proto: values and field_names must be as many, got {len(tensors)} and {len(fields)}"
        )
    for field, tensor, each in zip(fields, tensors, field_names, strict=True):
        if tensor.dtype not in _KINDS[field.kind].dtypes:
            raise invalid(
                f"encode_proto: the field {each!r} of {message_type} cannot be encoded from {tensor.dtype.name}, but "
                f"from {', '.join(d.name for d in _KINDS[field.kind].dtypes)}"
            )
    order = sorted(range(len(fields)), key=lambda i: fields[i].number)

    def run(counts: np.ndarray, *columns: np.ndarray) -> list[Any]:
        shape = counts.shape[:-1]
        if counts.shape[-1] != len(fields) or any(c.shape[:-1] != shape for c in columns):
            raise invalid(
                "encode_proto: sizes must have the shape of values, with the number of fields in the place of the "
                f"last axis, got {list(counts.shape)} and {[list(c.shape) for c in columns]}"
            )
        out = np.empty(math.prod(shape), object)
        rows = counts.reshape(-1, len(fields))
        flat = [c.reshape(len(rows), -1) if c.size else c.reshape(len(rows), 0) for c in columns]
        for row, number in enumerate(rows):
            parts = [
                _encoded(fields[i], flat[i][row], int(number[i]), field_names[i]) for i in order
            ]
            out[row] = b"".join(parts)
        return [out.reshape(shape)]

    spec = ArraySpec(counts._array.shape[:-1], dtypes.string)
    return on_host("encode_proto", run, [counts, *tensors], [spec])[0]


# One message.


def _decoded(message_type: str, data: bytes, fields: Sequence[_Field]) -> list[list[Any]]:
    found: dict[int, list[Any]] = {field.number: [] for field in fields}
    by_number = {field.number: field for field in fields}
    try:
        for number, value in wire.fields(data):
            field = by_number.get(number)
            if field is not None:
                read = _read(field.kind, value)
                found[number] = [*found[number], *read] if field.repeated else read[-1:]
    except (ValueError, IndexError, struct.error, UnicodeDecodeError) as error:
        raise DataLossError(
            None, None, f"decode_proto: {len(data)} bytes are no {message_type}: {error}"
        ) from None
    return [found[field.number] for field in fields]


def _read(kind: int, value: int | bytes) -> list[Any]:
    """The values of what stands on the wire, of which there may be several."""
    form = _KINDS[kind].wire
    if form == "data":
        if not isinstance(value, bytes):
            raise ValueError("an integer, where a string belongs")
        return [value]
    if form in ("varint", "zigzag"):
        numbers = [value] if isinstance(value, int) else _varints(value)
        return [_integer(kind, n) for n in numbers]
    if not isinstance(value, bytes):
        raise ValueError("an integer, where a number of fixed size belongs")
    size = struct.calcsize(form)
    if len(value) % size:
        raise ValueError(f"{len(value)} bytes, where numbers of {size} belong")
    return [x for (x,) in struct.iter_unpack(form, value)]


def _varints(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = wire.varint_at(data, at)
        found.append(value)
    return found


def _integer(kind: int, value: int) -> Any:
    if _KINDS[kind].wire == "zigzag":
        return (value >> 1) ^ -(value & 1)
    if kind == 8:
        return bool(value)
    bits = _BITS.get(kind, 64)
    value %= 2**bits
    return value - 2**bits if kind in _SIGNED and value >= 2 ** (bits - 1) else value


def _encoded(field: _Field, values: np.ndarray, count: int, name: str) -> bytes:
    if count < 0 or count > len(values):
        raise invalid(
            f"encode_proto: the field {name!r} has {count} values, of {len(values)} that are given"
        )
    form = _KINDS[field.kind].wire
    listed = values[:count].tolist()
    if form == "data":
        return b"".join(wire.data(field.number, v) for v in listed)
    if form == "zigzag":
        written = [wire.varint((v << 1) ^ (v >> 63)) for v in listed]
    elif form == "varint":
        written = [wire.varint(int(v)) for v in listed]
    else:
        wide = 2 ** (8 * struct.calcsize(form))
        written = [struct.pack(form, v % wide if form in ("<Q", "<I") else v) for v in listed]
    if field.packed:
        return wire.data(field.number, b"".join(written)) if written else b""
    kinds = {4: wire.FIXED32, 8: wire.FIXED64}
    kind = wire.VARINT if form in ("varint", "zigzag") else kinds[struct.calcsize(form)]
    key = wire.varint(field.number << 3 | kind)
    return b"".join(key + each for each in written)


# Descriptions.


def _field(op: str, message_type: str, described: dict[str, _Field], name: str) -> _Field:
    if name not in described:
        raise invalid(
            f"{op}: the message {message_type} has no field {name!r}, but {', '.join(described) or 'none'}"
        )
    if described[name].kind not in _KINDS:
        raise UnimplementedError(None, None, f"{op}: the field {name!r} is a group")
    return described[name]


def _message(message_type: str, source: Any) -> dict[str, _Field]:
    """The fields of a kind of message, by name."""
    if not isinstance(source, (str, bytes, os.PathLike)):
        raise invalid(f"decode_proto: descriptor_source must be a text, got {shown(source)}")
    if source in ("", "local://"):
        found = _of_our_own()
    else:
        found = _parsed(_descriptors(source))
    if message_type not in found:
        raise invalid(
            f"No descriptor found for message type '{message_type}'. There are {', '.join(sorted(found)[:20])}."
        )
    return found[message_type]


def _of_our_own() -> dict[str, dict[str, _Field]]:
    kinds = [k for k in vars(example).values() if isinstance(k, type) and issubclass(k, Message)]
    return {
        kind.FULL_NAME: {
            name: _Field(
                field.number,
                11 if isinstance(field.kind, str) else _OF_OURS[field.kind],
                field.kind != "message",
                field.kind in (example.Floats, example.Integers),
            )
            for name, field in kind.FIELDS.items()
        }
        for kind in kinds
        if kind is not Message
    }


def _descriptors(source: Any) -> bytes:
    text = source.encode("latin-1") if isinstance(source, str) else os.fsencode(source)
    if text.startswith(b"bytes://"):
        return text[len(b"bytes://") :]
    with translating_os_errors(source), open(source, "rb") as file:
        return file.read()


def _parsed(data: bytes) -> dict[str, dict[str, _Field]]:
    found: dict[str, dict[str, _Field]] = {}
    try:
        for file in _all(data, 1):
            (package,) = [*_all(file, 2), b""][:1]
            proto3 = b"proto3" in _all(file, 12)
            for message in _all(file, 4):
                _described(message, package.decode(), proto3, found)
    except (ValueError, IndexError, KeyError) as error:
        raise invalid(f"descriptor_source: it is no FileDescriptorSet: {error}") from None
    return found


def _described(
    message: bytes, prefix: str, proto3: bool, found: dict[str, dict[str, _Field]]
) -> None:
    name = ".".join(filter(None, [prefix, _all(message, 1)[0].decode()]))
    fields = {}
    for said in _all(message, 2):
        about: dict[int, Any] = dict(wire.fields(said))
        options = dict(wire.fields(about.get(8, b"")))
        repeated = about.get(4) == 3
        is_number = about[5] not in (9, 11, 12)
        packed = repeated and is_number and bool(options.get(2, proto3))
        fields[about[1].decode()] = _Field(about[3], about[5], repeated, packed)
    found[name] = fields
    for inside in _all(message, 3):
        _described(inside, name, proto3, found)


def _all(message: bytes, wanted: int) -> list[bytes]:
    return [v for n, v in wire.fields(message) if n == wanted and isinstance(v, bytes)]
