"""The one place that binds late: operators of `Tensor` and `Variable`, and what core needs of the layers above it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.late import late
from tapeflow._src.core.placement import exchange
from tapeflow._src.core.shapes import broadcast_shapes
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops import absent
from tapeflow._src.ops.effects import copies
from tapeflow._src.ops.indexing import gathering, scattering, slicing, variable_rows
from tapeflow._src.primitives.array import moving, packing, sizes
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.elementwise.strings import ADD_STRINGS
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.linalg import products
from tapeflow._src.primitives.table import TABLE

QUOTIENT: dict[DType, DType] = {
    dtypes.int8: dtypes.float32,
    dtypes.uint8: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.uint16: dtypes.float32,
    dtypes.int32: dtypes.float64,
    dtypes.uint32: dtypes.float64,
    dtypes.int64: dtypes.float64,
    dtypes.uint64: dtypes.float64,
}
"""Integers divide as floats wide enough for them."""


def true_divide(a: Any, b: Any) -> Tensor:
    """`a / b`."""
    if type(a) is not Tensor or type(b) is not Tensor:
        a, b = coerce(a, b)
    if a._array.dtype.kind in "iu" and a.dtype is b.dtype:
        wide = QUOTIENT[a.dtype]
        a, b = moving.cast(a, dtype=wide), moving.cast(b, dtype=wide)
    return binary.divide(a, b)


def matrix_multiply(a: Any, b: Any) -> Tensor:
    """`a @ b`."""
    if type(a) is not Tensor or type(b) is not Tensor:
        a, b = coerce(a, b)
    return products.matmul(a, b, transpose_a=False, transpose_b=False)


def is_equal(a: Any, b: Any) -> Any:
    """`a == b`: elementwise, and plainly false for shapes that do not broadcast or for None."""
    return _compared(a, b, binary.equal, False)


def is_not_equal(a: Any, b: Any) -> Any:
    """`a != b`."""
    return _compared(a, b, binary.not_equal, True)


def _compared(a: Any, b: Any, op: Callable[[Any, Any], Tensor], otherwise: bool) -> Any:
    if a is None or b is None:
        return otherwise
    a, b = coerce(a, b)
    try:
        broadcast_shapes(a._array.shape, b._array.shape)
    except ValueError:
        return convert_to_tensor(otherwise)
    return op(a, b)


def _by_dtype(
    logical: Callable[..., Tensor], bitwise: Callable[..., Tensor]
) -> Callable[..., Tensor]:
    """`&`, `|`, `^` and `~` are logical on bools and bitwise on integers."""

    def op(a: Any, *b: Any) -> Tensor:
        operands = coerce(a, *b) if b else (convert_to_tensor(a),)
        return (logical if operands[0].dtype.is_bool else bitwise)(*operands)

    return op


def _reflected(op: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: op(other, self)


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": binary.add,
    "sub": binary.subtract,
    "mul": binary.multiply,
    "truediv": true_divide,
    "floordiv": binary.floor_divide,
    "mod": binary.floor_mod,
    "pow": binary.power,
    "matmul": matrix_multiply,
    "and": _by_dtype(binary.logical_and, binary.bitwise_and),
    "or": _by_dtype(binary.logical_or, binary.bitwise_or),
    "xor": _by_dtype(binary.logical_xor, binary.bitwise_xor),
}
_OTHERS: dict[str, Callable[..., Any]] = {
    "lt": binary.less,
    "le": binary.less_equal,
    "gt": binary.greater,
    "ge": binary.greater_equal,
    "eq": is_equal,
    "ne": is_not_equal,
    "neg": unary.negative,
    "abs": unary.abs_,
    "invert": _by_dtype(unary.logical_not, unary.invert),
}


for _class in (Tensor, Variable):
    for _name, _op in _ARITHMETIC.items():
        setattr(_class, f"__{_name}__", _op)
        setattr(_class, f"__r{_name}__", _reflected(_op))
    for _name, _op in _OTHERS.items():
        setattr(_class, f"__{_name}__", _op)
    for _name, _advice in absent.ABSENT.items():
        setattr(_class, _name, absent.Absent(_name, _advice))
    setattr(_class, "__dir__", absent.without_absent)  # noqa: B010
for _name, _advice in absent.ABSENT_OF_TENSORS.items():
    setattr(Tensor, _name, absent.Absent(_name, _advice))
setattr(Tensor, "__getitem__", slicing.getitem)  # noqa: B010
setattr(Variable, "__getitem__", slicing.variable_getitem)  # noqa: B010
setattr(Tensor, "__setitem__", absent.refuse_item_of_tensor)  # noqa: B010
setattr(Variable, "__setitem__", absent.refuse_item_of_variable)  # noqa: B010
setattr(Tensor, "cpu", copies.cpu)  # noqa: B010
setattr(Tensor, "gpu", copies.gpu)  # noqa: B010
setattr(Tensor, "__dlpack__", exchange.dlpack)  # noqa: B010
setattr(Tensor, "__dlpack_device__", exchange.dlpack_device)  # noqa: B010
setattr(Tensor, "__cuda_array_interface__", property(exchange.cuda_array_interface))  # noqa: B010
setattr(Variable, "_apart", staticmethod(moving.identity))  # noqa: B010

TABLE["add"].for_strings = ADD_STRINGS
late.packed = packing.packed
late.dense = picking.dense_from_slices
late.size = sizes.tensor_of
late.scattered = variable_rows.scattered
late.batch_coordinates = scattering.batch_coordinates
late.gather = gathering.gather
late.gather_nd = gathering.gather_nd
