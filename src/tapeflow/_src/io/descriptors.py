"""What Google's library for protocol buffers asks of a message, so that its text and JSON formats read and write ours.

Only `google.protobuf.text_format` and `json_format` need it, so it is made when they ask, by that library itself.
"""

from __future__ import annotations

import functools
from typing import Any

from tapeflow._src.io.message_scalars import Single

FILE = "tapeflow/messages/{}.proto"


class Described:
    """The attribute `DESCRIPTOR` of a class of messages."""

    def __get__(self, message: Any, kind: Any) -> Any:
        try:
            return descriptor(kind)
        except ImportError:
            raise AttributeError(
                f"Protocol message {kind.__name__} has its description from Google's library: pip install protobuf"
            ) from None


@functools.cache
def descriptor(kind: Any) -> Any:
    """The description of a class of messages."""
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(
        name=FILE.format(kind.FULL_NAME), package=kind.FULL_NAME.rpartition(".")[0], syntax="proto3"
    )
    made: Any = file.message_type.add(name=kind.FULL_NAME.rpartition(".")[2])
    if kind.ONE_OF is not None:
        made.oneof_decl.add(name=kind.ONE_OF)
    needed = []
    for name, field in kind.FIELDS.items():
        each: Any = made.field.add(name=name, number=field.number, label=_label(field.kind))
        if kind.ONE_OF is not None:
            each.oneof_index = 0
        if field.kind == "map":
            entry = f"{name.title().replace('_', '')}Entry"
            inside = made.nested_type.add(name=entry)
            inside.options.map_entry = True
            inside.field.add(name="key", number=1, type=_type("string"), label=1)
            value = inside.field.add(name="value", number=2, type=_type("message"), label=1)
            value.type_name = f".{field.of.FULL_NAME}"
            each.type, each.type_name = _type("message"), f".{kind.FULL_NAME}.{entry}"
        elif field.of is not None:
            each.type, each.type_name = _type("message"), f".{field.of.FULL_NAME}"
        else:
            each.type = _type(field.kind.PROTOBUF)
        needed += [] if field.of is None else [field.of]
    for of in dict.fromkeys(needed):
        file.dependency.append(descriptor(of).file.name)
    _pool().AddSerializedFile(file.SerializeToString())
    return _pool().FindMessageTypeByName(kind.FULL_NAME)


def _label(kind: Any) -> int:
    """Whether a field holds one value (1) or several (3)."""
    return 1 if kind == "message" or isinstance(kind, Single) else 3


def _type(name: str) -> int:
    from google.protobuf import descriptor_pb2

    return getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{name.upper()}")


@functools.cache
def _pool() -> Any:
    """Descriptions of our own: those of TensorFlow's library have the same names."""
    from google.protobuf import descriptor_pool

    return descriptor_pool.DescriptorPool()
