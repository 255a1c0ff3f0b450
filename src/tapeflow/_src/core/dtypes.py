"""The element types of tensors: `tf.float32` and its siblings.

There is exactly one `DType` object for each type, so the library compares them with `is`.
Everything the hot path asks of a type (`np_dtype`, `is_floating`, ...) is a plain attribute.
"""

from __future__ import annotations

import builtins
from typing import Any

import ml_dtypes
import numpy as np

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export, export_value

__all__ = [
    "DType",
    "as_dtype",
    "bfloat16",
    "bool_",
    "complex64",
    "complex128",
    "double",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


@export("DType", "dtypes.DType")
class DType:
    """The type of the elements of a tensor.

    The instances are fixed (`tf.float32`, `tf.int64`, ...): look one up with `tf.as_dtype`.

    >>> import tapeflow as tf
    >>> tf.float32
    tf.float32
    >>> print(tf.float32)
    <dtype: 'float32'>
    >>> tf.float32 == "float32", tf.float32.is_floating, tf.float32.size
    (True, True, 4)

    Attributes:
        name: the name as a string, `"float32"`.
        np_dtype: the `numpy.dtype` that stores the elements.
        as_numpy_dtype: the NumPy scalar type, `numpy.float32`.
        as_datatype_enum: TensorFlow's number for the type.
        is_floating: whether it is a real floating point type.
        is_integer: whether it is a signed or unsigned integer type.
        is_unsigned: whether it is an unsigned integer type.
        is_complex: whether it is a complex type.
        is_bool: whether it is `tf.bool`.
        is_numeric: whether arithmetic is defined on it (not so for the 8-bit floats).
        is_differentiable: whether gradients flow through it: floating or complex.
        is_numpy_compatible: whether NumPy can hold it: not so `tf.resource` and `tf.variant`.
        is_quantized: whether it is one of `tf.qint8` and its like. Tensors of it hold, and say so, plain integers.
        size: the bytes of one element; 0 for strings and handles, which have no fixed size.
    """

    __slots__ = (
        "__weakref__",
        "as_datatype_enum",
        "as_numpy_dtype",
        "is_bool",
        "is_complex",
        "is_differentiable",
        "is_floating",
        "is_integer",
        "is_numeric",
        "is_numpy_compatible",
        "is_quantized",
        "is_unsigned",
        "name",
        "np_dtype",
        "size",
    )

    name: str
    np_dtype: np.dtype[Any]
    as_numpy_dtype: type[Any]
    as_datatype_enum: int
    is_floating: bool
    is_integer: bool
    is_unsigned: bool
    is_complex: bool
    is_bool: bool
    is_numeric: bool
    is_differentiable: bool
    is_numpy_compatible: bool
    is_quantized: bool
    size: int

    def __new__(cls, type_enum: int) -> DType:
        """Returns the existing type with this TensorFlow type number."""
        try:
            return as_dtype(int(type_enum))
        except OverflowError:  # of infinity
            return as_dtype(type_enum)

    @property
    def base_dtype(self) -> DType:
        """This type: TensorFlow's reference types, which have another base, do not exist here."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part: this type itself unless it is complex.

        >>> import tapeflow as tf
        >>> tf.complex64.real_dtype
        tf.float32
        """
        if self is complex64:
            return float32
        return float64 if self is complex128 else self

    @property
    def min(self) -> Any:
        """The least finite value the type can hold.

        >>> import tapeflow as tf
        >>> tf.int8.min
        -128
        """
        return self._extreme("min", "minimum")

    @property
    def max(self) -> Any:
        """The greatest finite value the type can hold.

        >>> import tapeflow as tf
        >>> tf.int8.max
        127
        """
        return self._extreme("max", "maximum")

    def _extreme(self, field: str, word: str) -> Any:
        if self.is_integer:
            return getattr(np.iinfo(self.np_dtype), field)
        if self.is_floating:
            # ml_dtypes.finfo knows NumPy's own types too, with the same answers.
            return getattr(ml_dtypes.finfo(self.np_dtype), field)
        raise TypeError(
            f"tf.{self.name} has no {word} value: only integer and floating types have one."
        )

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of intensities an image of this type uses, without the negative part.

        >>> import tapeflow as tf
        >>> tf.uint8.limits, tf.float32.limits
        ((0, 255), (0, 1))
        """
        if self.is_integer:
            return 0, self.max
        if self is float32 or self is float64:
            return 0, 1
        if self is bool_:
            return 0, True
        raise ValueError(
            f"tf.{self.name} has no limits: only tf.bool, integers, float32 and float64 have them."
        )

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor of type `other` may be used where this type is expected.

        >>> import tapeflow as tf
        >>> tf.float32.is_compatible_with("float32"), tf.float32.is_compatible_with(tf.float64)
        (True, False)
        """
        return self is as_dtype(other)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether `other` is the same type: no type stands above another."""
        return self is other

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        # Not `as_dtype`, which also takes Python types whose width is a convention of this library.
        return _lookup(other) is self

    # Each type is one object, so identity is enough, and it is the fastest hash there is.
    __hash__ = object.__hash__

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return as_dtype, (self.name,)


# Everything `==` takes for a type: names, type numbers, NumPy types and dtypes, Python types.
_BY_KEY: dict[Any, DType] = {}
_BY_NUMPY: dict[np.dtype[Any], DType] = {}


# Numbers of a few bits, to be stored and cast, not computed with.
_NARROW = {
    "float8_e5m2": 24,
    "float8_e4m3fn": 25,
    "float8_e4m3fnuz": 26,
    "float8_e4m3b11fnuz": 27,
    "float8_e5m2fnuz": 28,
    "float4_e2m1fn": 33,
    "int4": 29,
    "uint4": 30,
    "int2": 31,
    "uint2": 32,
}


# Of what is no array: variables and tables, datasets.
_HANDLES = ("resource", "variant")


def _define(name: str, scalar: type[Any], enum: int) -> DType:
    self = object.__new__(DType)
    self.name = name
    self.np_dtype = np.dtype(scalar)
    self.as_numpy_dtype = scalar
    self.as_datatype_enum = enum
    self.is_floating = "float" in name
    self.is_integer = "int" in name and not name.startswith("q")
    self.is_unsigned = name.startswith("uint")
    self.is_complex = name.startswith("complex")
    self.is_bool = name == "bool"
    self.is_numeric = not (self.is_bool or name == "string" or name in (*_NARROW, *_HANDLES))
    self.is_differentiable = self.is_floating or self.is_complex
    self.is_numpy_compatible = name not in _HANDLES
    self.is_quantized = name.startswith("q")
    self.size = 0 if name == "string" else self.np_dtype.itemsize
    _BY_KEY[name] = _BY_KEY[enum] = self
    if not self.is_quantized and name not in _HANDLES:  # their arrays are those of other dtypes
        _BY_KEY[scalar] = _BY_KEY[self.np_dtype] = _BY_NUMPY[self.np_dtype] = self
    return self


float16 = half = _define("float16", np.float16, 19)
bfloat16 = _define("bfloat16", ml_dtypes.bfloat16, 14)
float32 = _define("float32", np.float32, 1)
float64 = double = _define("float64", np.float64, 2)
_narrow = [_define(name, getattr(ml_dtypes, name), enum) for name, enum in _NARROW.items()]
float8_e5m2, float8_e4m3fn, float8_e4m3fnuz, float8_e4m3b11fnuz, float8_e5m2fnuz = _narrow[:5]
float4_e2m1fn, int4, uint4, int2, uint2 = _narrow[5:]
int8 = _define("int8", np.int8, 6)
int16 = _define("int16", np.int16, 5)
int32 = _define("int32", np.int32, 3)
int64 = _define("int64", np.int64, 9)
uint8 = _define("uint8", np.uint8, 4)
uint16 = _define("uint16", np.uint16, 17)
uint32 = _define("uint32", np.uint32, 22)
uint64 = _define("uint64", np.uint64, 23)
bool_ = _define("bool", np.bool_, 10)
complex64 = _define("complex64", np.complex64, 8)
complex128 = _define("complex128", np.complex128, 18)
# Integers that stand for floats, by a range that is kept apart: see `tf.quantization`.
qint8 = _define("qint8", np.int8, 11)
qint16 = _define("qint16", np.int16, 15)
qint32 = _define("qint32", np.int32, 13)
quint8 = _define("quint8", np.uint8, 12)
quint16 = _define("quint16", np.uint16, 16)
QUANTIZED_DTYPES = frozenset((qint8, qint16, qint32, quint8, quint16))
# Strings are `bytes` in an array of objects: NumPy's own string types have a fixed width.
string = _define("string", object, 7)
# Their arrays are of a dtype that no tensor has, so that none is made of numbers.
resource = _define("resource", np.void, 20)
variant = _define("variant", np.void, 21)

_BY_KEY |= {
    "half": float16,
    "float": float32,
    "double": float64,
    float: float32,
    builtins.bool: bool_,
    np.str_: string,
    np.bytes_: string,
}

# Python types that TensorFlow refuses here, although it gives their values just these types.
_PYTHON_TYPES: dict[Any, DType] = {
    int: int32,
    complex: complex128,
    str: string,
    bytes: string,
}


def _lookup(value: object) -> DType | None:
    try:
        found = _BY_KEY.get(value)
    except TypeError:  # not hashable
        found = None
    if found is not None:
        return found
    if isinstance(value, (np.ndarray, np.generic)):
        return _lookup(value.dtype)
    if isinstance(value, type) and issubclass(value, np.generic):
        try:
            value = np.dtype(value)
        except TypeError:  # abstract, such as np.floating
            return None
    return _lookup_numpy(value) if isinstance(value, np.dtype) else None


def _lookup_numpy(np_dtype: np.dtype[Any]) -> DType | None:
    """The type for a NumPy dtype, of any byte order and any width of string."""
    return string if np_dtype.kind in "USO" else _BY_NUMPY.get(np_dtype.newbyteorder("="))


@export("as_dtype", "dtypes.as_dtype")
def as_dtype(type_value: Any) -> DType:
    """Converts `type_value` to a `tf.DType`.

    >>> import tapeflow as tf
    >>> import numpy as np
    >>> tf.as_dtype("float32"), tf.as_dtype(np.int64), tf.as_dtype(float)
    (tf.float32, tf.int64, tf.float32)

    Args:
        type_value: a `tf.DType`, the name of one, a NumPy dtype or scalar type, or one of Python's
            `float`, `int`, `bool`, `complex`, `str` and `bytes`.

    Raises:
        TypeError: if no type corresponds to it.
    """
    if type_value.__class__ is DType:
        return type_value
    found = _lookup(type_value)
    if found is None and isinstance(type_value, type):
        found = _PYTHON_TYPES.get(type_value)
    if found is None:
        raise TypeError(
            f"Cannot convert {shown(type_value)} to a tf.DType. Pass a type such as tf.float32, its "
            'name ("float32"), a NumPy dtype, or one of Python\'s float, int, bool, complex, str.'
        )
    return found


def from_numpy(np_dtype: np.dtype[Any]) -> DType:
    """Returns the type of tensors made from arrays with this NumPy dtype.

    The array itself may still need converting: string arrays to objects, foreign byte orders to the
    machine's. Its dtype is then the result's `np_dtype`.

    >>> import numpy as np
    >>> from_numpy(np.dtype("float32"))
    tf.float32

    Raises:
        TypeError: if tensors cannot hold such elements.
    """
    found = _BY_NUMPY.get(np_dtype)
    if found is None:
        found = _lookup_numpy(np_dtype)
        if found is None:
            remedy = "np.float64" if np_dtype.kind == "f" else "np.int64"
            raise TypeError(
                f"Tensors cannot hold the NumPy dtype {np_dtype.name!r}: convert the array first, "
                f"for example with array.astype({remedy})."
            )
    return found


export_value("bfloat16", "bfloat16", "dtypes.bfloat16")
export_value("bool_", "bool", "dtypes.bool")
export_value("complex128", "complex128", "dtypes.complex128")
export_value("complex64", "complex64", "dtypes.complex64")
export_value("double", "double", "dtypes.double")
export_value("float16", "float16", "dtypes.float16")
export_value("float32", "float32", "dtypes.float32")
export_value("float64", "float64", "dtypes.float64")
export_value("half", "half", "dtypes.half")
export_value("int16", "int16", "dtypes.int16")
export_value("int32", "int32", "dtypes.int32")
export_value("int64", "int64", "dtypes.int64")
export_value("int8", "int8", "dtypes.int8")
export_value("resource", "resource", "dtypes.resource")
export_value("string", "string", "dtypes.string")
export_value("variant", "variant", "dtypes.variant")
export_value("uint16", "uint16", "dtypes.uint16")
export_value("uint32", "uint32", "dtypes.uint32")
export_value("uint64", "uint64", "dtypes.uint64")
export_value("uint8", "uint8", "dtypes.uint8")
export_value("float8_e4m3fn", "dtypes.float8_e4m3fn")
export_value("float8_e5m2", "dtypes.float8_e5m2")
export_value("float8_e5m2", "dtypes.experimental.float8_e5m2", "experimental.float8_e5m2")
export_value("float8_e4m3fn", "dtypes.experimental.float8_e4m3fn", "experimental.float8_e4m3fn")
export_value(
    "float8_e4m3fnuz", "dtypes.experimental.float8_e4m3fnuz", "experimental.float8_e4m3fnuz"
)
export_value(
    "float8_e4m3b11fnuz",
    "dtypes.experimental.float8_e4m3b11fnuz",
    "experimental.float8_e4m3b11fnuz",
)
export_value(
    "float8_e5m2fnuz", "dtypes.experimental.float8_e5m2fnuz", "experimental.float8_e5m2fnuz"
)
export_value("float4_e2m1fn", "dtypes.experimental.float4_e2m1fn", "experimental.float4_e2m1fn")
export_value("int4", "dtypes.experimental.int4", "experimental.int4")
export_value("uint4", "dtypes.experimental.uint4", "experimental.uint4")
export_value("int2", "dtypes.experimental.int2", "experimental.int2")
export_value("uint2", "dtypes.experimental.uint2", "experimental.uint2")
export_value("qint8", "qint8", "dtypes.qint8")
export_value("qint16", "qint16", "dtypes.qint16")
export_value("qint32", "qint32", "dtypes.qint32")
export_value("quint8", "quint8", "dtypes.quint8")
export_value("quint16", "quint16", "dtypes.quint16")
export_value("QUANTIZED_DTYPES", "dtypes.QUANTIZED_DTYPES")
