"""`tf.make_tensor_proto` and `tf.make_ndarray`: arrays as messages whose fields can be read and changed."""

from __future__ import annotations

import math
import struct
from typing import Any, ClassVar

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, from_numpy
from tapeflow._src.core.errors import shown, wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.io import wire
from tapeflow._src.io.example import Floats, Integers, Strings
from tapeflow._src.io.message_fields import Scalars, listed
from tapeflow._src.io.message_scalars import BOOL, BYTES, INTEGER, TEXT, enumeration
from tapeflow._src.io.messages import Field, Message
from tapeflow._src.io.tensor_proto import parsed_tensor_proto

_WORDS = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}
# Those of which TensorFlow's messages list the elements, however many there are.
_LISTED = (dtypes.bool_, dtypes.complex64, dtypes.complex128)


def _dtype_names() -> dict[int, str]:
    known = {n: as_dtype(n) for n in range(1, 34) if n not in (20, 21)}
    named = {n: f"DT_{_WORDS.get(dtype.name, dtype.name.upper())}" for n, dtype in known.items()}
    return named | {0: "DT_INVALID", 20: "DT_RESOURCE", 21: "DT_VARIANT"}


DTYPE = enumeration(_dtype_names())


class Doubles(Scalars):
    """A list of floats of 64 bits."""

    @staticmethod
    def checked(values: Any) -> list[Any]:
        """As they are."""
        return [float(value) for value in listed(values)]

    @staticmethod
    def shown(value: Any) -> str:
        """With as many digits as are needed."""
        return f"{value:.17g}" if float(f"{value:.15g}") != value else f"{value:.15g}"

    def serialized(self, number: int) -> bytes:
        """Packed."""
        return wire.data(number, struct.pack(f"<{len(self)}d", *self)) if self else b""

    def read(self, value: int | bytes) -> None:
        """One, or several."""
        if not isinstance(value, bytes) or len(value) % 8:
            raise ValueError("what is no list of floats, where one belongs")
        self.added(np.frombuffer(value, "<f8").tolist())


class Bools(Integers):
    """A list of bools."""

    @staticmethod
    def checked(values: Any) -> list[Any]:
        """Bools, and integers that stand for them."""
        return [BOOL.checked("bool_val", value) for value in listed(values)]

    @staticmethod
    def shown(value: Any) -> str:
        """As words."""
        return BOOL.shown(value)

    def read(self, value: int | bytes) -> None:
        """One, or several."""
        found = [value] if isinstance(value, int) else wire.packed_varints(value)
        self.added([bool(v) for v in found])


class Unsigned(Integers):
    """A list of integers of 64 bits without a sign."""

    @staticmethod
    def checked(values: Any) -> list[Any]:
        """Integers that are not negative."""
        found = [int(value) for value in listed(values)]
        if any(not 0 <= value < 2**64 for value in found):
            raise ValueError(f"Value out of range: {shown(found)}")
        return found

    def read(self, value: int | bytes) -> None:
        """One, or several."""
        self.added([value] if isinstance(value, int) else wire.packed_varints(value))


class Dim(Message):
    """The size of a dimension: -1 if it is not known."""

    FULL_NAME = "tensorflow.TensorShapeProto.Dim"
    FIELDS: ClassVar[dict[str, Field]] = {"size": Field(1, INTEGER), "name": Field(2, TEXT)}


class TensorShapeProto(Message):
    """A shape as a message."""

    FULL_NAME = "tensorflow.TensorShapeProto"
    FIELDS: ClassVar[dict[str, Field]] = {
        "dim": Field(2, "messages", Dim),
        "unknown_rank": Field(3, BOOL),
    }
    Dim: ClassVar[type[Dim]] = Dim


@export("compat.v1.TensorProto")
class TensorProto(Message):
    """A tensor as a message: dtype, shape, and the elements packed or listed.

    >>> tf.make_ndarray(tf.compat.v1.TensorProto(dtype=3, int_val=[7]))
    array(7, dtype=int32)
    """

    FULL_NAME = "tensorflow.TensorProto"
    FIELDS: ClassVar[dict[str, Field]] = {
        "dtype": Field(1, DTYPE),
        "tensor_shape": Field(2, "message", TensorShapeProto),
        "version_number": Field(3, INTEGER),
        "tensor_content": Field(4, BYTES),
        "float_val": Field(5, Floats),
        "double_val": Field(6, Doubles),
        "int_val": Field(7, Integers),
        "string_val": Field(8, Strings),
        "scomplex_val": Field(9, Floats),
        "int64_val": Field(10, Integers),
        "bool_val": Field(11, Bools),
        "dcomplex_val": Field(12, Doubles),
        "half_val": Field(13, Integers),
        "uint32_val": Field(16, Unsigned),
        "uint64_val": Field(17, Unsigned),
    }


_FIELDS_OF = {
    "float32": "float_val",
    "float64": "double_val",
    "int64": "int64_val",
    "string": "string_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
    "bool": "bool_val",
    "float16": "half_val",
    "bfloat16": "half_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
}


def shape_message(shape: Any) -> TensorShapeProto:
    """A shape as a message."""
    dims = TensorShape(shape)._dims
    if dims is None:
        return TensorShapeProto(unknown_rank=True)
    sizes = [Dim(size=d if isinstance(d, int) else -1) for d in dims]
    return TensorShapeProto(dim=sizes)


def tensor_message(array: np.ndarray, shape: Any = None) -> TensorProto:
    """An array as a message. With a larger shape, the last element stands for those that follow."""
    dtype = from_numpy(array.dtype)
    sizes = array.shape if shape is None else tuple(shape)
    message = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=shape_message(sizes))
    count = math.prod(sizes)
    if count == array.size and count > 1 and dtype not in _LISTED and dtype is not dtypes.string:
        message.tensor_content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        return message
    field = getattr(message, _FIELDS_OF.get(dtype.name, "int_val"))
    field.extend(_elements(array.ravel(), dtype))
    return message


def _elements(flat: np.ndarray, dtype: DType) -> list[Any]:
    if dtype.is_complex:
        return [part for value in flat.tolist() for part in (value.real, value.imag)]
    if dtype.name in ("float16", "bfloat16"):  # their bits
        return flat.view(np.uint16).tolist()
    if dtype.name not in _FIELDS_OF and not dtype.is_integer:  # floats of 8 bits
        return flat.view(np.uint8).tolist()
    return flat.tolist()


@export("make_tensor_proto")
def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """An array as a message, a `TensorProto`.

    >>> proto = tf.make_tensor_proto([1.0, 2.0])
    >>> proto.tensor_shape.dim[0].size, tf.make_ndarray(proto)
    (2, array([1., 2.], dtype=float32))

    Args:
      values: what becomes a tensor.
      dtype: that of the elements.
      shape: of the tensor; there may be fewer elements, of which the last one stands for all that follow.
      verify_shape: whether there must be as many elements as the shape has.
      allow_broadcast: whether there may be one element alone.
    """
    if values is None:
        raise ValueError("None values not supported.")
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, Message):
        return TensorProto.FromString(values.SerializeToString())
    array = np.asarray(
        convert_to_tensor(values, None if dtype is None else as_dtype(dtype)).numpy()
    )
    if array.dtype.kind in "SU":
        array = array.astype(object)
    if shape is None:
        return tensor_message(array)
    sizes = tuple(int(size) for size in shape)
    exact = verify_shape or (allow_broadcast and array.size != 1)
    if exact and array.shape != sizes:
        raise TypeError(f"Expected Tensor's shape: {sizes}, but got {array.shape}.")
    if array.size > math.prod(sizes):
        raise ValueError(
            f"Too many elements provided. Takes at most {math.prod(sizes)}, but got {array.size}."
        )
    return tensor_message(array, sizes)


@export("make_ndarray")
def make_ndarray(tensor: Any) -> np.ndarray:
    """The array of a message.

    >>> tf.make_ndarray(tf.make_tensor_proto(3, shape=[2, 2]))
    array([[3, 3],
           [3, 3]], dtype=int32)

    Args:
      tensor: what `tf.make_tensor_proto` gives.
    """
    if not hasattr(tensor, "tensor_shape"):
        raise wrong_object("make_ndarray", "tensor", "a TensorProto", tensor)
    if not tensor.dtype:
        raise TypeError("make_ndarray: the message has no dtype")
    return parsed_tensor_proto(tensor.SerializeToString())
