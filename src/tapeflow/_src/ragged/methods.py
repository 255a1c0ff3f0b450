"""The one place of this folder that binds late: methods and operators of `tf.RaggedTensor`, and ops that take it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.ops.elementwise import arithmetic, logic
from tapeflow._src.ops.indexing import gathering
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.ragged import conversion, dispatching, getitem
from tapeflow._src.ragged.broadcasting import elementwise, operand
from tapeflow._src.ragged.spec import RaggedTensorSpec
from tapeflow._src.ragged.tensor import RaggedTensor, late

_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "truediv": arithmetic.truediv,
    "floordiv": arithmetic.floordiv,
    "mod": arithmetic.floormod,
    "pow": arithmetic.pow,
}
_LOGIC: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "and": (logic.logical_and, binary.bitwise_and),
    "or": (logic.logical_or, binary.bitwise_or),
    "xor": (logic.logical_xor, binary.bitwise_xor),
}
_COMPARISONS: dict[str, Callable[..., Any]] = {
    "lt": logic.less,
    "le": logic.less_equal,
    "gt": logic.greater,
    "ge": logic.greater_equal,
}


def _binary(op: Callable[..., Any], reflected: bool = False) -> Callable[[Any, Any], Any]:
    def method(self: RaggedTensor, other: Any) -> Any:
        if isinstance(other, CompositeTensor) and not isinstance(other, RaggedTensor):
            return NotImplemented
        other = operand(other, self.dtype)
        return elementwise(op, other, self) if reflected else elementwise(op, self, other)

    return method


def _by_dtype(logical: Callable[..., Any], bitwise: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: (logical if a.dtype.is_bool else bitwise)(a, b)


def _on_values(op: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: self.with_flat_values(op(self.flat_values))


def _equality(op: Callable[..., Any], otherwise: bool) -> Callable[[Any, Any], Any]:
    compare = _binary(op)
    return lambda self, other: otherwise if other is None else compare(self, other)


def _inverted(values: Any) -> Any:
    return logic.logical_not(values) if values.dtype.is_bool else unary.invert(values)


for _name, _op in _ARITHMETIC.items():
    setattr(RaggedTensor, f"__{_name}__", _binary(_op))
    setattr(RaggedTensor, f"__r{_name}__", _binary(_op, reflected=True))
for _name, _pair in _LOGIC.items():
    setattr(RaggedTensor, f"__{_name}__", _binary(_by_dtype(*_pair)))
    setattr(RaggedTensor, f"__r{_name}__", _binary(_by_dtype(*_pair), reflected=True))
for _name, _op in _COMPARISONS.items():
    setattr(RaggedTensor, f"__{_name}__", _binary(_op))
setattr(RaggedTensor, "__eq__", _equality(logic.equal, False))  # noqa: B010
setattr(RaggedTensor, "__ne__", _equality(logic.not_equal, True))  # noqa: B010
setattr(RaggedTensor, "__neg__", _on_values(arithmetic.negative))  # noqa: B010
setattr(RaggedTensor, "__abs__", _on_values(arithmetic.abs))  # noqa: B010
setattr(RaggedTensor, "__invert__", _on_values(_inverted))  # noqa: B010
setattr(RaggedTensor, "__getitem__", getitem.getitem)  # noqa: B010
setattr(RaggedTensor, "__repr__", conversion.text)  # noqa: B010
setattr(RaggedTensor, "__str__", conversion.text)  # noqa: B010
setattr(RaggedTensor, "_printed", conversion.printed)  # noqa: B010
setattr(RaggedTensor, "from_tensor", classmethod(conversion.from_tensor))  # noqa: B010
for _method in (conversion.to_tensor, conversion.to_list, conversion.numpy, conversion.merge_dims):
    setattr(RaggedTensor, _method.__name__, _method)

late.gather = gathering.gather
late.spec = RaggedTensorSpec.from_value
dispatching.register_all()
