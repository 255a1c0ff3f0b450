"""Fields of messages that hold one scalar."""

from __future__ import annotations

import operator
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tapeflow._src.core.errors import shown
from tapeflow._src.io import wire
from tapeflow._src.io.message_fields import quoted


class Single:
    """A kind of scalar. A field that is not set has the value `nothing`."""

    nothing: Any = None
    PROTOBUF: str = ""
    """What Google's library calls it."""

    def checked(self, field: str, value: Any) -> Any:
        """The value as it is kept, or a TypeError."""
        raise NotImplementedError

    def shown(self, value: Any) -> str:
        """A value as it is shown."""
        return str(value)

    def serialized(self, number: int, value: Any) -> bytes:
        """The field."""
        raise NotImplementedError

    def read(self, value: int | bytes) -> Any:
        """The value of what stands on the wire, or a ValueError."""
        raise NotImplementedError


class _Integer(Single):
    PROTOBUF = "int64"
    nothing = 0

    def __init__(self, names: Mapping[int, str] | None = None) -> None:
        self.names = names or {}  # of an enumeration

    def checked(self, field: str, value: Any) -> int:
        known = {name: number for number, name in self.names.items()}
        if isinstance(value, str) and known:
            if value not in known:
                raise ValueError(f"Field {field}: unknown enum label {shown(value)}")
            return known[value]
        if isinstance(value, (bool, np.bool_)):
            raise TypeError(f"Field {field}: Expected an int, got a boolean.")
        try:
            number = operator.index(value)  # pyright: ignore[reportArgumentType]
        except TypeError:
            raise TypeError(f"Field {field}: Expected an int, got {shown(value)}") from None
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"Value out of range: {number}")
        return number

    def shown(self, value: int) -> str:
        return self.names.get(value, str(value))

    def serialized(self, number: int, value: int) -> bytes:
        return wire.integer(number, value)

    def read(self, value: int | bytes) -> int:
        if not isinstance(value, int):
            raise ValueError("what is no integer, where one belongs")
        return wire.signed(value)


class _Bool(Single):
    PROTOBUF = "bool"
    nothing = False

    def checked(self, field: str, value: Any) -> bool:
        if not isinstance(value, (bool, np.bool_, int)):
            raise TypeError(f"Field {field}: Expected a bool, got {shown(value)}")
        return bool(value)

    def shown(self, value: bool) -> str:
        return "true" if value else "false"

    def serialized(self, number: int, value: bool) -> bytes:
        return wire.integer(number, int(value))

    def read(self, value: int | bytes) -> bool:
        return bool(INTEGER.read(value))


class _Float(Single):
    PROTOBUF = "float"
    nothing = 0.0

    def checked(self, field: str, value: Any) -> float:
        if isinstance(value, str) or not hasattr(value, "__float__"):
            raise TypeError(f"Field {field}: must be real number, not {type(value).__name__}")
        with np.errstate(over="ignore"):
            return float(np.float32(value))

    def shown(self, value: float) -> str:
        short = f"{value:.6g}"
        return short if np.float32(short) == np.float32(value) or value != value else f"{value:.9g}"

    def serialized(self, number: int, value: float) -> bytes:
        return wire.floating(number, value)

    def read(self, value: int | bytes) -> float:
        if not isinstance(value, bytes) or len(value) != 4:
            raise ValueError("what is no float, where one belongs")
        return struct.unpack("<f", value)[0]


class _Text(Single):
    PROTOBUF = "string"
    nothing = ""

    def checked(self, field: str, value: Any) -> str:
        if isinstance(value, bytes):
            return value.decode()
        if not isinstance(value, str):
            raise TypeError(
                f"bad argument type for built-in operation: Field {field} is a text, got {shown(value)}"
            )
        return value

    def shown(self, value: str) -> str:
        return quoted(value.encode())

    def serialized(self, number: int, value: str) -> bytes:
        return wire.text(number, value)

    def read(self, value: int | bytes) -> str:
        return BYTES.read(value).decode()


class _Bytes(Single):
    PROTOBUF = "bytes"
    nothing = b""

    def checked(self, field: str, value: Any) -> bytes:
        if not isinstance(value, bytes):
            raise TypeError(f"Field {field}: expected bytes, {type(value).__name__} found")
        return value

    def shown(self, value: bytes) -> str:
        return quoted(value)

    def serialized(self, number: int, value: bytes) -> bytes:
        return wire.data(number, value)

    def read(self, value: int | bytes) -> bytes:
        if not isinstance(value, bytes):
            raise ValueError("an integer, where a string belongs")
        return value


INTEGER, BOOL, FLOAT, TEXT, BYTES = _Integer(), _Bool(), _Float(), _Text(), _Bytes()
enumeration = _Integer
