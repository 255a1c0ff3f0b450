"""The dtypes in which operands meet in the modes "safe" and "all" of `experimental_enable_numpy_behavior`.

A kind is a dtype and whether it is weak: the dtype of what nobody gave one, as that of Python's numbers. Kinds form a
lattice, and two of them meet in the first one that both lead to. So the result depends neither on the order of the
operands nor on how they are grouped.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes, nest
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.shapes import TensorShape


class Kind(NamedTuple):
    """A dtype, and whether it gives way to one that was asked for."""

    dtype: DType
    weak: bool = False

    def __repr__(self) -> str:
        return f"({self.dtype!r}, weak={self.weak})"


class NoMeetingError(NotImplementedError):
    """Operands of which the lattice knows nothing: strings, and composite tensors of other kinds."""


class _Mode:
    """What promotes now: "safe", "all", or None where the lattice is not asked."""

    name: str | None = None


mode = _Mode()

# What each dtype leads to. `int*`, `float*` and `complex*` are the weak ones, of any width.
_LEADS_TO = {
    "bool": "int*",
    "int*": "uint8 int8",
    "uint8": "uint16 int16",
    "uint16": "uint32 int32",
    "uint32": "uint64 int64",
    "uint64": "float*",
    "int8": "int16",
    "int16": "int32",
    "int32": "int64",
    "int64": "float*",
    "float*": "bfloat16 float16 complex*",
    "bfloat16": "float32",
    "float16": "float32",
    "float32": "float64 complex64",
    "float64": "complex128",
    "complex*": "complex64",
    "complex64": "complex128",
    "complex128": "",
}
# How many bits of an integer a float holds exactly.
_EXACT_BITS = {
    "bfloat16": 8,
    "float16": 11,
    "float32": 24,
    "float64": 53,
    "complex64": 24,
    "complex128": 53,
}
_WEAK = {
    "int32": "int*",
    "int64": "int*",
    "float32": "float*",
    "float64": "float*",
    "complex128": "complex*",
}
WEAK_DTYPES = frozenset(dtypes.as_dtype(name) for name in _WEAK)
"""The dtypes that can be weak."""

_INT, _FLOAT = Kind(dtypes.int32, True), Kind(dtypes.float32, True)
_COMPLEX = Kind(dtypes.complex128, True)


@functools.cache
def _above(node: str) -> frozenset[str]:
    """A node, and all that it leads to."""
    return frozenset([node]).union(*map(_above, _LEADS_TO[node].split()))


def _node(kind: Kind) -> str:
    name = kind.dtype.name
    return _WEAK[name] if kind.weak else name


@functools.cache
def meet(a: Kind, b: Kind) -> tuple[Kind, bool]:
    """The kind in which two meet, and whether that is safe: neither wider than both, nor less exact.

    Raises:
      NoMeetingError: if the lattice does not have them.
    """
    if _node(a) not in _LEADS_TO or _node(b) not in _LEADS_TO:
        if a == b:
            return a, True
        raise NoMeetingError(f"There is no dtype in which {a} and {b} meet")
    common = _above(_node(a)) & _above(_node(b))
    first = next(node for node in common if common == _above(node))
    if first in _WEAK.values():
        dtype = _weak_dtype(first, [k for k in (a, b) if _node(k) == first])
        if first == "float*" and any(not k.weak and k.dtype.is_integer for k in (a, b)):
            dtype = (
                dtypes.float64
            )  # integers that were asked for keep what they can of their digits
        found = Kind(dtype, True)
    else:
        found = Kind(dtypes.as_dtype(first))
    held = found.dtype in (a.dtype, b.dtype)
    return found, held and all(_is_exact(kind, found.dtype) for kind in (a, b))


def _weak_dtype(node: str, kinds: list[Kind]) -> DType:
    """The widest of the kinds that are there, for a weak node."""
    if node == "complex*":
        return dtypes.complex128
    return max((k.dtype for k in kinds), key=lambda d: d.size, default=dtypes.float64)


def _is_exact(kind: Kind, dtype: DType) -> bool:
    if kind.weak or not kind.dtype.is_integer or dtype.is_integer:
        return True
    bits = kind.dtype.size * 8 - (not kind.dtype.is_unsigned)
    return bits <= _EXACT_BITS[dtype.name]


def kind_of(x: Any) -> Kind:
    """The kind of one operand that is no list.

    Raises:
      NoMeetingError: for what has none.
      OverflowError: for an integer of Python that int32 does not hold.
    """
    if isinstance(x, DType):
        return Kind(x)
    if isinstance(x, CompositeTensor) and not isinstance(x, IndexedSlices):
        kind = getattr(x, "_kind", None)
        if kind is None:
            raise NoMeetingError(f"no promotion for {type(x).__name__}")
        return kind
    dtype = getattr(x, "dtype", None)
    if isinstance(dtype, DType):
        return Kind(dtype)
    if isinstance(dtype, np.dtype):
        return Kind(_dtype_of(dtype))
    return _kind_of_python(x)


def _kind_of_python(x: Any) -> Kind:
    if isinstance(x, bool) or x is bool:
        return Kind(dtypes.bool_)
    if isinstance(x, int):
        if not -(2**31) <= x < 2**31:
            raise OverflowError(
                f"The integer {x} of Python is too large for int32, which integers are in this mode of "
                "experimental_enable_numpy_behavior. Say which dtype it has: tf.constant(..., dtype=tf.int64)"
            )
        return _INT
    if isinstance(x, (float, complex)):
        return _FLOAT if isinstance(x, float) else _COMPLEX
    if isinstance(x, (str, bytes)):
        return Kind(dtypes.string)
    if isinstance(x, TensorShape):
        return Kind(dtypes.int32)
    if isinstance(x, type) and x in (int, float, complex):
        return {int: _INT, float: _FLOAT, complex: _COMPLEX}[x]
    if isinstance(x, np.dtype) or (isinstance(x, type) and issubclass(x, np.generic)):
        return Kind(_dtype_of(np.dtype(x)))
    raise NoMeetingError(f"no promotion for {type(x).__name__}")


def _dtype_of(dtype: np.dtype) -> DType:
    try:
        return dtypes.as_dtype(dtype)
    except TypeError as error:
        raise NoMeetingError(str(error)) from None


def result_kind(*operands: Any) -> Kind:
    """The kind in which operands meet: tensors, arrays, numbers, dtypes and lists of these.

    Raises:
      TypeError: if they meet, and the mode does not allow it.
      NoMeetingError: if the lattice does not have them.
    """
    kinds = [kind_of(x) for x in nest.flatten([x for x in operands if x is not None])]
    if not kinds:
        return _FLOAT
    found = kinds[0]
    for kind in kinds[1:]:
        result, is_safe = meet(found, kind)
        if mode.name == "safe" and not is_safe:
            raise TypeError(
                f"In promotion mode 'safe', implicit dtype promotion between {found} and {kind} is disallowed: they "
                f"meet in {result.dtype.name}, which is wider than both, or less exact than one of them. Cast one "
                "with tf.cast, or allow all promotions: "
                'experimental_enable_numpy_behavior(dtype_conversion_mode="all")'
            )
        found = result
    return found
