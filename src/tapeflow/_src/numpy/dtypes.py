"""NumPy's dtypes, and what operands of different ones become together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.convert import check_depth, convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.system.memory import exhausted
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.numpy.promotion import NoMeetingError, mode, result_kind
from tapeflow._src.ops.array.shaping import cast

_NUMBERS = (bool, int, float, complex)

bool_, object_, string_, unicode_ = np.bool_, np.object_, np.bytes_, np.str_
float16, float32, float64, float_ = np.float16, np.float32, np.float64, np.float64
int8, int16, int32, int64, int_ = np.int8, np.int16, np.int32, np.int64, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
complex64, complex128, complex_, inexact = np.complex64, np.complex128, np.complex128, np.inexact
pi, e, inf, newaxis = np.pi, np.e, np.inf, None
ndarray = Tensor
export_value("bool_", "experimental.numpy.bool_")
export_value("object_", "experimental.numpy.object_")
export_value("string_", "experimental.numpy.string_")
export_value("unicode_", "experimental.numpy.unicode_")
export_value("float16", "experimental.numpy.float16")
export_value("float32", "experimental.numpy.float32")
export_value("float64", "experimental.numpy.float64")
export_value("float_", "experimental.numpy.float_")
export_value("int8", "experimental.numpy.int8")
export_value("int16", "experimental.numpy.int16")
export_value("int32", "experimental.numpy.int32")
export_value("int64", "experimental.numpy.int64")
export_value("int_", "experimental.numpy.int_")
export_value("uint8", "experimental.numpy.uint8")
export_value("uint16", "experimental.numpy.uint16")
export_value("uint32", "experimental.numpy.uint32")
export_value("uint64", "experimental.numpy.uint64")
export_value("complex64", "experimental.numpy.complex64")
export_value("complex128", "experimental.numpy.complex128")
export_value("complex_", "experimental.numpy.complex_")
export_value("inexact", "experimental.numpy.inexact")
export_value("pi", "experimental.numpy.pi")
export_value("e", "experimental.numpy.e")
export_value("inf", "experimental.numpy.inf")
export_value("newaxis", "experimental.numpy.newaxis")
export_value("ndarray", "experimental.numpy.ndarray")


class _Preference:
    """Whether numbers of Python are 32 bits wide where nothing else is said."""

    float32 = False


preference = _Preference()


def kind_of_python(x: Any) -> Any:
    """What an operand of an operator is to NumPy, or None if it is nothing to it."""
    try:
        return _kind(x)
    except (TypeError, ValueError):
        return None


def numpys_float() -> Any:
    """The dtype of floats that nothing else is said of, where NumPy's rules hold in every mode."""
    return np.float32 if preference.float32 else np.float64


def default_float() -> Any:
    """The same for all else: 32 bits, too, in the modes that promote by the lattice."""
    return numpys_float() if mode.name is None else np.float32


def default_int() -> Any:
    """The dtype that `int` stands for."""
    return np.int64 if mode.name is None else np.int32


def array_of(x: Any, dtype: Any = None) -> Tensor:
    """A tensor; of lists and numbers, with NumPy's dtypes."""
    if isinstance(x, Variable):
        x = convert_to_tensor(x)
    if not isinstance(x, Tensor):
        if dtype is None and not hasattr(x, "__tf_tensor__"):
            x = _converted(x)
        else:
            x = convert_to_tensor(x) if hasattr(x, "__tf_tensor__") else _converted(x)
    return x if dtype is None else to(x, dtype)


def _converted(x: Any) -> Tensor:
    found = _holds_tensors(x)
    if found is not None:
        wide = result_dtype(*found)
        return convert_to_tensor(_each(x, wide))
    try:
        array = np.asarray(x)
    except MemoryError as error:
        raise exhausted("experimental.numpy.asarray", error) from None
    if preference.float32 and array.dtype == np.float64 and not isinstance(x, np.ndarray):
        array = array.astype(np.float32)
    return convert_to_tensor(array)


def _holds_tensors(x: Any, depth: int = 0) -> list[Any] | None:
    """The leaves of a list that has tensors in it."""
    if not isinstance(x, (list, tuple)):
        return None
    check_depth(depth)
    leaves: list[Any] = []
    some = False
    for each in x:
        inner = _holds_tensors(each, depth + 1)
        is_tensor = isinstance(each, (Tensor, Variable))
        some = some or is_tensor or inner is not None
        leaves += inner if inner is not None else [each]
    return leaves if some else None


def _each(x: Any, dtype: DType) -> Any:
    if isinstance(x, (list, tuple)):
        return [_each(item, dtype) for item in x]
    return to(array_of(x), dtype)


def to(x: Tensor, dtype: Any) -> Tensor:
    """A tensor of another dtype."""
    wanted = as_dtype(dtype) if dtype is not float else as_dtype(default_float())
    if dtype is int:
        wanted = as_dtype(default_int())
    return x if x.dtype is wanted else cast(x, wanted)


def _kind(x: Any) -> Any:
    if isinstance(x, (Tensor, Variable)):
        return x.dtype.np_dtype
    if isinstance(x, DType):
        return x.np_dtype
    if type(x) in _NUMBERS:
        return x
    if isinstance(x, (np.dtype, type)):
        return np.dtype(x)
    return array_of(x).dtype.np_dtype


def _kinds(x: Any, depth: int = 0) -> list[Any]:
    """What an operand is to NumPy; of a list, each of its numbers, which are as weak as Python's."""
    if not isinstance(x, (list, tuple)):
        return [_kind(x)]
    check_depth(depth)
    found = {(type(k), str(k)): k for item in x for k in _kinds(item, depth + 1)}
    return list(found.values())


def result_dtype(*operands: Any) -> DType:
    """The dtype in which operands meet, by NumPy's rules."""
    kinds = [kind for x in operands for kind in _kinds(x)]
    if all(type(kind) in _NUMBERS for kind in kinds):
        kinds = [np.asarray(kind).dtype for kind in kinds]
    try:
        found = np.result_type(*kinds)
    except (TypeError, OverflowError) as error:  # NumPy's own kind of TypeError among them
        raise TypeError(f"There is no dtype in which these operands meet: {error}") from None
    strong = [kind.name for kind in kinds if isinstance(kind, np.dtype)]
    if preference.float32 and found == np.float64 and "float64" not in strong:
        found = np.dtype(np.float32)
    return as_dtype(found)


def promoted(*xs: Any) -> Any:
    """Tensors of the dtype in which the operands meet."""
    if all(isinstance(x, Tensor) for x in xs) and len({x.dtype for x in xs}) == 1:
        return list(xs)
    wide = result_dtype(*xs)
    return [to(array_of(x), wide) for x in xs]


def meeting_dtype(*xs: Any) -> DType:
    """The dtype in which operands meet, by the rules of the mode."""
    if mode.name is None:
        return result_dtype(*xs)
    try:
        return result_kind(*xs).dtype
    except NoMeetingError:
        return result_dtype(*xs)


def met(*xs: Any) -> Any:
    """Tensors of the dtype in which operands meet by the rules of the mode. Those of pairs of elements keep NumPy's."""
    if mode.name is None:
        return promoted(*xs)
    wide = meeting_dtype(*xs)
    return [to(array_of(x), wide) for x in xs]


def floating(x: Any) -> Tensor:
    """A tensor of floats or complex numbers: integers become floats."""
    found = array_of(x)
    whole = not (found.dtype.is_floating or found.dtype.is_complex)
    return to(found, default_float()) if whole else found


@export("experimental.numpy.result_type")
def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype in which arrays, numbers and dtypes meet.

    >>> tf.experimental.numpy.result_type(tf.constant(1), tf.constant(1.0))
    tf.float64
    """
    return meeting_dtype(*arrays_and_dtypes)


@export("experimental.numpy.promote_types")
def promote_types(type1: Any, type2: Any) -> np.dtype:
    """The dtype of NumPy's in which two dtypes meet.

    >>> tf.experimental.numpy.promote_types("int8", "float16")
    dtype('float16')
    """
    return result_dtype(as_dtype(type1), as_dtype(type2)).np_dtype


@export("experimental.numpy.finfo")
def finfo(dtype: Any) -> np.finfo:
    """The limits of a floating dtype.

    >>> tf.experimental.numpy.finfo(tf.float32).bits
    32
    """
    return np.finfo(as_dtype(dtype).np_dtype)


@export("experimental.numpy.iinfo")
def iinfo(int_type: Any) -> np.iinfo:
    """The limits of an integer dtype.

    >>> tf.experimental.numpy.iinfo(tf.int8).max
    127
    """
    return np.iinfo(as_dtype(int_type).np_dtype)


@export("experimental.numpy.issubdtype")
def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is of a kind.

    >>> tf.experimental.numpy.issubdtype(tf.float32, tf.experimental.numpy.inexact)
    True
    """
    first = arg1.np_dtype if isinstance(arg1, DType) else arg1
    second = arg2.np_dtype if isinstance(arg2, DType) else arg2
    return bool(np.issubdtype(first, second))
