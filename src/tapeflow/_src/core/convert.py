"""Turning Python and NumPy values into tensors, by TensorFlow's rules for dtypes."""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.context import apart, context
from tapeflow._src.core.dtypes import DType, as_dtype, from_numpy
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.late import late
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.core.placement.remote import RemoteTensor, placed
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.system.memory import check_room, copied, exhausted
from tapeflow._src.core.tensor import Tensor

_INT32 = np.iinfo(np.int32)
_INT64 = np.iinfo(np.int64)


@export("convert_to_tensor")
def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Tensor:
    """Converts a Python number, nested list, NumPy array, variable or tensor to a tensor.

    Python floats become float32 and Python ints int32; NumPy arrays keep their dtype. Lists may hold tensors, which
    are packed, and gradients flow through the packing.

    >>> tf.convert_to_tensor([1, 2.5])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1. , 2.5], dtype=float32)>

    Args:
      value: what to convert.
      dtype: the dtype wanted. It is an error if a tensor has another, or if the value cannot be represented in it.
      dtype_hint: the dtype to use if the value allows it and `dtype` is not given.
      name: what is named while a function is traced can be a source of `tf.gradients`, even if it is a constant.
    """
    if name is not None and context.tracer is not None:
        return _followed(convert_to_tensor(value, dtype, dtype_hint))
    if dtype is not None:
        dtype = as_dtype(dtype)
    if type(value) is Tensor or type(value) is RemoteTensor:
        return _checked(value, dtype)
    if dtype is None and dtype_hint is not None:
        hint = as_dtype(dtype_hint)
        if not hasattr(value, "__tf_tensor__") and not isinstance(value, Tensor):
            try:
                return _placed(_convert(value, hint))
            except (TypeError, ValueError):
                pass
    try:
        tensor = _convert(value, dtype)
    except MemoryError as error:
        raise exhausted("convert_to_tensor", error) from None
    if devices.in_use is False or (
        hasattr(value, "__tf_tensor__") and not isinstance(value, Tensor)
    ):
        return tensor  # what a variable holds is no new tensor: it stays where it is, and tapes know it
    return _placed(tensor)


def _followed(tensor: Tensor) -> Tensor:
    if not tensor.symbolic and tensor.dtype.is_differentiable:  # symbols are followed anyway
        context.tracer.tape.watch(tensor)
    return tensor


def _placed(tensor: Tensor) -> Tensor:
    return placed(tensor) if devices.may_be_used() and tensor.interpreter is None else tensor


def _checked(tensor: Tensor, dtype: DType | None) -> Tensor:
    if dtype is not None and tensor.dtype is not dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
            f"{tensor.dtype.name}: {tensor!r}. Use tf.cast to change the dtype."
        )
    return tensor


def _convert(value: Any, dtype: DType | None) -> Tensor:
    if isinstance(value, Tensor):
        return _checked(value, dtype)
    to_tensor = getattr(value, "__tf_tensor__", None)  # variables, Keras variables, user types
    if to_tensor is not None:
        return to_tensor(dtype)
    if isinstance(value, (list, tuple)):
        leaves, kinds = leaves_of(value)
        if any(map(makes_tensors, kinds)):
            return late.packed(value, leaves, dtype)
        return Tensor(_from_sequence(value, leaves, kinds, dtype))
    return Tensor(to_array(value, dtype))


def to_array(value: Any, dtype: DType | None = None) -> Any:
    """Converts a value that holds no tensors to an array of ours, never sharing memory with it."""
    if type(value) in _DEFAULTS:
        return _from_python(value, dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(value, dtype)
    if isinstance(value, (list, tuple)):
        return _from_sequence(value, *leaves_of(value), dtype)
    if isinstance(value, range):
        return _from_range(value, dtype)
    if isinstance(value, (bool, numbers.Number, str, bytes, bytearray)):
        return _from_python(value, dtype)
    if hasattr(value, "__array__") and not isinstance(value, type):
        return _from_numpy(np.asarray(value), dtype)
    if isinstance(value, Sequence):
        return to_array(list(value), dtype)
    raise ValueError(
        f"Attempt to convert a value ({shown(value)}) with an unsupported type ({type(value)}) to a Tensor."
    )


def _from_numpy(array: Any, dtype: DType | None) -> Any:
    try:
        own = dtypes.from_numpy(array.dtype)
    except TypeError as error:
        raise ValueError(str(error)) from None
    if own is dtypes.string:
        if dtype is not None and dtype is not dtypes.string:
            raise TypeError(f"Cannot convert an array of strings to dtype {dtype.name}")
        if array.dtype.kind == "O":
            if dtype is dtypes.string and not array.size:  # a list would lose its shape
                return np.empty(array.shape, object)
            return to_array(array.tolist() if array.ndim else array[()], dtype)
        return _encode(array)
    if dtype is None or dtype is own:
        return copied(array, own.np_dtype)  # in native byte order
    if dtype is dtypes.string:
        raise TypeError(f"Cannot convert an array of dtype {own.name} to dtype string")
    return cast_quietly(array, dtype)


def _encode(array: Any) -> np.ndarray:
    """Strings are kept as bytes in object arrays: NumPy's fixed-width types lose trailing zeros."""
    flat = [s.encode() if isinstance(s, str) else bytes(s) for s in np.ravel(array).tolist()]
    out = np.empty(len(flat), dtype=object)
    out[:] = flat
    return out.reshape(np.shape(array))


def _from_python(value: Any, dtype: DType | None) -> Any:
    if isinstance(value, (str, bytes, bytearray)):
        if dtype is not None and dtype is not dtypes.string:
            raise TypeError(f"Cannot convert {shown(value)} to a tensor of dtype {dtype.name}")
        out = np.empty((), dtype=object)
        out[()] = value.encode() if isinstance(value, str) else bytes(value)
        return out
    if dtype is None:
        dtype = _default_dtype(value)
    else:
        _check_representable(value, dtype)
    try:
        array = cast_quietly(value, dtype)
    except OverflowError:
        raise ValueError(f"The number {shown(value)} is too large for {dtype.name}.") from None
    if (
        dtype is dtypes.float32
        and isinstance(value, float)
        and math.isinf(array) > math.isinf(value)
    ):
        raise ValueError(f"The number {value!r} is too large for float32. Use dtype=tf.float64.")
    return array


def cast_quietly(value: Any, dtype: DType) -> Any:
    """A copy in another dtype. What does not fit becomes inf or wraps, and NumPy does not warn of it."""
    run = context.dispatch[0]
    try:
        return run(np.array, value, dtype.np_dtype)
    except RuntimeError as error:
        return apart(run, error, np.array, value, dtype.np_dtype)


_DEFAULTS: dict[type, DType | None] = {
    bool: dtypes.bool_,
    int: None,  # by its size
    float: dtypes.float32,
    complex: dtypes.complex128,
}
"""The numbers of Python itself. Asking `numbers` about them would cost more than the conversion."""


def _default_dtype(value: Any) -> DType:
    known = _DEFAULTS.get(type(value))
    if known is not None:
        return known
    if isinstance(value, numbers.Integral):
        if _INT32.min <= int(value) <= _INT32.max:
            return dtypes.int32
        if _INT64.min <= int(value) <= _INT64.max:
            return dtypes.int64
        raise ValueError(
            f"The integer {value} does not fit in int64, so it cannot become a tensor."
        )
    return dtypes.float32 if isinstance(value, numbers.Real) else dtypes.complex128


def _check_representable(value: Any, dtype: DType) -> None:
    """A Python number may widen (int to float to complex), and never narrow."""
    if dtype.is_bool:
        fits = isinstance(value, bool)
    elif dtype.is_integer:
        fits = isinstance(value, numbers.Integral)
    elif dtype.is_floating:
        fits = isinstance(value, numbers.Real)
    else:
        fits = dtype.is_complex
    if not fits:
        raise TypeError(f"Cannot convert {shown(value)} to a tensor of dtype {dtype.name}")
    if dtype.is_integer and not dtype.min <= int(value) <= dtype.max:
        raise TypeError(
            f"Cannot convert {shown(value)} to a tensor of dtype {dtype.name}: it is out of range"
        )


def leaves_of(value: Any, depth: int = 1) -> tuple[list[Any], set[type]]:
    """What a nested list holds at its ends, and the types of that.

    Level by level, so that a list of a million numbers is walked by C and not by Python.
    """
    level = list(value)
    kinds = set(map(type, level))
    while kinds and kinds <= _NESTING:
        depth += 1
        check_depth(depth)
        level = list(itertools.chain.from_iterable(level))
        kinds = set(map(type, level))
    if any(issubclass(kind, (list, tuple)) for kind in kinds):  # beside what is neither
        check_depth(depth + 1)
        parts = [leaves_of(x, depth + 1)[0] if isinstance(x, (list, tuple)) else [x] for x in level]
        level = list(itertools.chain.from_iterable(parts))
        kinds = set(map(type, level))
    return level, kinds


_NESTING = {list, tuple}
_DEEPEST = 64  # dimensions of an array


def check_depth(depth: int) -> None:
    """A list may even hold itself, and so has no end."""
    if depth > _DEEPEST:
        raise ValueError(
            f"Can't convert Python sequence to Tensor: it is nested more than {_DEEPEST} levels deep."
        )


def _from_range(value: range, dtype: DType | None) -> Any:
    ends = [value[0], value[-1]] if value else []
    if any(not _INT64.min <= end <= _INT64.max for end in ends):
        raise ValueError(f"Can't convert {value} to Tensor: it holds integers beyond int64.")
    check_room("convert_to_tensor", (len(value) if ends else 0,), np.dtype(np.int64))
    whole = np.arange(value.start, value.stop, value.step) if ends else np.zeros(0, np.int64)
    return _from_sequence(whole, ends, {int}, dtype)


def _from_sequence(value: Any, leaves: list[Any], kinds: set[type], dtype: DType | None) -> Any:
    if any(issubclass(kind, (str, bytes)) for kind in kinds):
        return _from_strings(value, leaves, dtype)
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise _not_rectangular(value, error) from None
    if array.dtype.kind == "O":
        for leaf in leaves:
            to_array(leaf)  # raises for what is not a number
        raise _not_rectangular(value, "integers that fit no dtype, or mixed types")
    if dtype is None:
        return cast_quietly(array, _sequence_dtype(array, leaves))
    if not all(issubclass(kind, (np.ndarray, np.generic)) for kind in kinds):
        _check_leaves(leaves, array, dtype)
    return cast_quietly(array, dtype)


def _check_leaves(leaves: list[Any], array: Any, dtype: DType) -> None:
    """Raises if a Python number among `leaves`, which make up `array`, does not fit in `dtype`."""
    if array.dtype.kind == "b" and dtype is not dtypes.string:
        return  # lists of bools are numbers to TensorFlow, although a single bool is not
    if dtype.is_floating and array.dtype.kind in "iuf":
        return
    if dtype.is_integer and array.dtype.kind in "iu" and array.size:
        low, high = array.min(), array.max()
        _check_representable(int(low), dtype)
        _check_representable(int(high), dtype)
        return
    for leaf in leaves:
        if not isinstance(leaf, (np.ndarray, np.generic)):
            _check_representable(leaf, dtype)


def _sequence_dtype(array: Any, leaves: list[Any]) -> DType:
    """Python numbers take TensorFlow's default dtypes; NumPy values at the front keep theirs."""
    own = dtypes.from_numpy(array.dtype)
    if not leaves:
        return dtypes.float32
    first = leaves[0]
    if type(first) is bool and own is not dtypes.bool_:
        raise ValueError(
            "Can't convert Python sequence with mixed types (bools and numbers) to Tensor."
        )
    if isinstance(first, (np.ndarray, np.floating, np.complexfloating)):
        return own
    if own is dtypes.float64:
        return dtypes.float32
    if (
        own is dtypes.int64
        and array.size
        and _INT32.min <= array.min()
        and array.max() <= _INT32.max
    ):
        return dtypes.int32
    if own is dtypes.uint64:
        raise ValueError("A Python sequence holds an integer that does not fit in int64.")
    return own


def _from_strings(value: Any, leaves: list[Any], dtype: DType | None) -> Any:
    if not all(isinstance(x, (str, bytes)) for x in leaves):
        raise ValueError(
            "Can't convert Python sequence with mixed types (strings and numbers) to Tensor."
        )
    if dtype is not None and dtype is not dtypes.string:
        raise TypeError(f"Cannot convert strings to a tensor of dtype {dtype.name}")
    # As objects: NumPy would make one kind of text of strings and bytes, and copy all of it.
    array = np.asarray(value, object)
    shape = array.shape
    if array.size != len(leaves) or any(isinstance(x, (list, tuple)) for x in array.flat):
        raise _not_rectangular(value, f"only its first {array.ndim} dimensions are of one size")
    out = np.empty(len(leaves), dtype=object)
    out[:] = [x.encode() if isinstance(x, str) else x for x in leaves]
    return out.reshape(shape)


def _not_rectangular(value: Any, why: Any) -> ValueError:
    return ValueError(
        f"Can't convert non-rectangular Python sequence to Tensor: {str(why).rstrip('.')}. "
        "All rows of a tensor must have the same length; tf.ragged.constant takes rows of different lengths."
    )


def holds_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__tf_tensor__")


def makes_tensors(kind: type) -> bool:
    return issubclass(kind, Tensor) or hasattr(kind, "__tf_tensor__")


_scalars: dict[tuple[Any, type, np.dtype], Tensor] = {}


def scalar(value: Any, dtype: np.dtype) -> Tensor:
    """A Python number as a tensor of `dtype`.

    Training loops use the same few constants again and again (`2.0 * x`, `lr * g`), and making an array of each costs
    as much as the operation, so small numbers of them are kept.
    """
    key = (value, type(value), dtype)
    found = _scalars.get(key)
    if found is None:
        found = Tensor(_from_python(value, from_numpy(dtype)))
        if _is_key(value):
            if len(_scalars) > 1000:
                _scalars.clear()
            _scalars[key] = found
    return found


def _is_key(value: Any) -> bool:
    """Whether no other number is equal to it: 0.0 equals -0.0, also as a part of a complex number, and NaN nothing."""
    if isinstance(value, (complex, np.complexfloating)):
        return _is_key(value.real) and _is_key(value.imag)
    return bool(value) and value == value


@export("constant")
def constant(
    value: Any, dtype: Any = None, shape: Any = None, name: str | None = "Const"
) -> Tensor:
    """Creates a tensor from a Python value or NumPy array.

    >>> tf.constant([[1.0, 2.0]])
    <tf.Tensor: shape=(1, 2), dtype=float32, numpy=array([[1., 2.]], dtype=float32)>
    >>> tf.constant(0, shape=(2, 2))
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[0, 0],
           [0, 0]], dtype=int32)>

    Args:
      value: a Python number, nested list, NumPy array or tensor.
      dtype: the dtype of the result; by default it follows from the value.
      shape: the shape of the result. A single value fills it; several must be exactly as many as it has elements.
      name: accepted for compatibility.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted is not None and holds_tensor(value) and as_dtype(value.dtype) is not wanted:
        raise TypeError(
            f"Expected a tensor with dtype {wanted!r}, but got dtype {value.dtype!r}. Use tf.cast to change it."
        )
    if shape is None:
        return convert_to_tensor(value, wanted)
    tensor = _convert(value, wanted)
    if isinstance(shape, Tensor):
        shape = shape._elements().tolist()
    shape = TensorShape(shape)
    if not shape.is_fully_defined():
        raise ValueError(f"tf.constant: the shape {shape} is not fully known")
    shape = tuple(shape.as_list())
    array = tensor._array
    if array.shape == shape:
        return placed(tensor)
    if array.size == 1:
        check_room("constant", shape, array.dtype)
        return placed(Tensor(np.full(shape, array.reshape(())[()], array.dtype)))
    if array.size != math.prod(shape):
        raise TypeError(
            f"tf.constant: the value has {array.size} elements and cannot fill shape {shape}. "
            "Pass one element, or as many as the shape holds."
        )
    return placed(Tensor(array.reshape(shape)))
