"""`tf.train.Example` and `tf.train.SequenceExample`: what is most often in the records of TFRecord files."""

from __future__ import annotations

import operator
import struct
from typing import Any, ClassVar

import numpy as np

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.io import wire
from tapeflow._src.io.descriptors import Described
from tapeflow._src.io.message_fields import Scalars, listed, quoted
from tapeflow._src.io.messages import Field, Message

_FEW = 64  # values, up to which Python is faster than NumPy


class Strings(Scalars):
    """A list of strings of bytes."""

    PROTOBUF = "bytes"

    @staticmethod
    def checked(values: Any) -> list[Any]:
        """Bytes."""
        found = listed(values)
        for value in found:
            if not isinstance(value, bytes):
                raise TypeError(f"expected bytes, {type(value).__name__} found: {shown(value)}")
        return found

    @staticmethod
    def shown(value: Any) -> str:
        """With escapes."""
        return quoted(value)

    def serialized(self, number: int) -> bytes:
        """One after the other."""
        return b"".join([wire.data(number, value) for value in self])

    def read(self, value: int | bytes) -> None:
        """One of them."""
        if not isinstance(value, bytes):
            raise ValueError("an integer, where a string belongs")
        self.added([value])


class Floats(Scalars):
    """A list of floats of 32 bits."""

    PROTOBUF = "float"

    @staticmethod
    def checked(values: Any) -> list[Any]:
        """Rounded to 32 bits."""
        found = values if isinstance(values, np.ndarray) else listed(values)
        if type(found) is list and len(found) < _FEW:
            try:
                return list(
                    struct.unpack(f"<{len(found)}f", struct.pack(f"<{len(found)}f", *found))
                )
            except (struct.error, OverflowError):
                pass  # NumPy rounds what is too large, and below is said what is wrong
        array = np.asarray(found)
        if array.dtype.kind not in "fiub" and len(found):
            wrong = next((v for v in found if not hasattr(v, "__float__")), found[0])
            raise TypeError(f"must be real number, not {type(wrong).__name__}: {shown(wrong)}")
        with np.errstate(over="ignore"):
            return array.astype(np.float32).ravel().tolist()

    @staticmethod
    def shown(value: Any) -> str:
        """With six digits, or nine where these are too few."""
        short = f"{value:.6g}"
        return short if np.float32(short) == np.float32(value) or value != value else f"{value:.9g}"

    def serialized(self, number: int) -> bytes:
        """Packed."""
        return wire.data(number, struct.pack(f"<{len(self)}f", *self)) if self else b""

    def read(self, value: int | bytes) -> None:
        """One, or several."""
        if not isinstance(value, bytes) or len(value) % 4:
            raise ValueError("what is no list of floats, where one belongs")
        self.added(np.frombuffer(value, "<f4").tolist())


class Integers(Scalars):
    """A list of integers of 64 bits."""

    PROTOBUF = "int64"

    @staticmethod
    def checked(values: Any) -> list[Any]:
        """Integers, no bools."""
        given = listed(values)
        if set(map(type, given)) <= {int} and (
            not given or (min(given) >= -(2**63) and max(given) < 2**63)
        ):
            return given
        found = []
        for value in given:
            if isinstance(value, (bool, np.bool_)):
                raise TypeError("Field tensorflow.Int64List.value: Expected an int, got a boolean.")
            number = operator.index(value)
            if not -(2**63) <= number < 2**63:
                raise ValueError(f"Value out of range: {number}")
            found.append(number)
        return found

    def serialized(self, number: int) -> bytes:
        """Packed."""
        return wire.data(number, b"".join(map(wire.varint, self))) if self else b""

    def read(self, value: int | bytes) -> None:
        """One, or several."""
        found = [value] if isinstance(value, int) else wire.packed_varints(value)
        self.added([wire.signed(v) for v in found])


@export("train.BytesList")
class BytesList(Message):
    """A list of strings in a `tf.train.Feature`.

    >>> tf.train.BytesList(value=[b"one", b"two"]).value
    [b'one', b'two']
    """

    FULL_NAME = "tensorflow.BytesList"
    DESCRIPTOR = Described()
    FIELDS: ClassVar[dict[str, Field]] = {"value": Field(1, Strings)}


@export("train.FloatList")
class FloatList(Message):
    """A list of floats in a `tf.train.Feature`.

    >>> tf.train.FloatList(value=[0.5, 2]).value
    [0.5, 2.0]
    """

    FULL_NAME = "tensorflow.FloatList"
    DESCRIPTOR = Described()
    FIELDS: ClassVar[dict[str, Field]] = {"value": Field(1, Floats)}


@export("train.Int64List")
class Int64List(Message):
    """A list of integers in a `tf.train.Feature`.

    >>> tf.train.Int64List(value=range(3)).value
    [0, 1, 2]
    """

    FULL_NAME = "tensorflow.Int64List"
    DESCRIPTOR = Described()
    FIELDS: ClassVar[dict[str, Field]] = {"value": Field(1, Integers)}


@export("train.Feature")
class Feature(Message):
    """A list of strings, of floats or of integers.

    >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
    >>> feature.WhichOneof("kind")
    'int64_list'
    """

    FULL_NAME = "tensorflow.Feature"
    DESCRIPTOR = Described()
    ONE_OF = "kind"
    FIELDS: ClassVar[dict[str, Field]] = {
        "bytes_list": Field(1, "message", BytesList),
        "float_list": Field(2, "message", FloatList),
        "int64_list": Field(3, "message", Int64List),
    }


@export("train.Features")
class Features(Message):
    """Features by name.

    >>> age = tf.train.Feature(int64_list=tf.train.Int64List(value=[42]))
    >>> tf.train.Features(feature={"age": age}).feature["age"].int64_list.value
    [42]
    """

    FULL_NAME = "tensorflow.Features"
    DESCRIPTOR = Described()
    FIELDS: ClassVar[dict[str, Field]] = {"feature": Field(1, "map", Feature)}


@export("train.FeatureList")
class FeatureList(Message):
    """Features one after the other, such as the steps of a sequence.

    >>> step = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5]))
    >>> len(tf.train.FeatureList(feature=[step, step]).feature)
    2
    """

    FULL_NAME = "tensorflow.FeatureList"
    DESCRIPTOR = Described()
    FIELDS: ClassVar[dict[str, Field]] = {"feature": Field(1, "messages", Feature)}


@export("train.FeatureLists")
class FeatureLists(Message):
    """Lists of features by name.

    >>> lists = tf.train.FeatureLists(feature_list={"words": tf.train.FeatureList()})
    >>> list(lists.feature_list)
    ['words']
    """

    FULL_NAME = "tensorflow.FeatureLists"
    DESCRIPTOR = Described()
    FIELDS: ClassVar[dict[str, Field]] = {"feature_list": Field(1, "map", FeatureList)}


@export("train.Example")
class Example(Message):
    r"""One example for a model: features by name.

    >>> example = tf.train.Example()
    >>> example.features.feature["age"].int64_list.value.append(42)
    >>> example.SerializeToString()
    b'\n\x0e\n\x0c\n\x03age\x12\x05\x1a\x03\n\x01*'
    >>> tf.train.Example.FromString(_) == example
    True
    >>> print(example)
    features {
      feature {
        key: "age"
        value {
          int64_list {
            value: 42
          }
        }
      }
    }
    <BLANKLINE>
    """

    FULL_NAME = "tensorflow.Example"
    DESCRIPTOR = Described()
    FIELDS: ClassVar[dict[str, Field]] = {"features": Field(1, "message", Features)}


@export("train.SequenceExample")
class SequenceExample(Message):
    """A sequence: features of all of it, and lists with a feature for each step.

    >>> sequence = tf.train.SequenceExample()
    >>> sequence.feature_lists.feature_list["words"].feature.add().bytes_list.value.append(b"one")
    >>> len(sequence.feature_lists.feature_list["words"].feature)
    1
    """

    FULL_NAME = "tensorflow.SequenceExample"
    DESCRIPTOR = Described()
    FIELDS: ClassVar[dict[str, Field]] = {
        "context": Field(1, "message", Features),
        "feature_lists": Field(2, "message", FeatureLists),
    }
