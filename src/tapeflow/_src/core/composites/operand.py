"""Operators between tensors and composite tensors: `tensor + ragged`.

Python asks the left operand first, and that is a tensor, whose operators are primitives. The conversion of their
operands fails for a composite tensor, and puts an `Operand` in its place. Its interpreter is given the primitive before
anything is computed, and asks the composite tensor, as Python would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.interpreter import AbstractArray, Interpreter
from tapeflow._src.core.tensor import Tensor

_REFLECTED = {
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__",
    "floor_mod": "__rmod__",
    "power": "__rpow__",
    "matmul": "__rmatmul__",
    "logical_and": "__rand__",
    "logical_or": "__ror__",
    "logical_xor": "__rxor__",
    "bitwise_and": "__rand__",
    "bitwise_or": "__ror__",
    "bitwise_xor": "__rxor__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "greater": "__lt__",
    "greater_equal": "__le__",
    "equal": "__eq__",
    "not_equal": "__ne__",
}


class _Operators(Interpreter):
    depth = 2**62  # before any other

    def interpret(self, primitive: Any, inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> Any:
        """The operator of the composite tensor on the right."""
        left, right = inputs
        name = _REFLECTED.get(primitive.name, "")
        if not isinstance(left, Operand) and isinstance(right, Operand):
            operator: Callable[[Any], Any] | None = getattr(right.composite, name, None)
            result = NotImplemented if operator is None else operator(left)
            if result is not NotImplemented:
                return result
        raise (right if isinstance(right, Operand) else inputs[0]).refusal  # pyright: ignore


class Operand(Tensor):
    """In the place of a composite tensor, until a primitive is about to run.

    Args:
      composite: what it stands for.
      refusal: why it is no tensor.
    """

    interpreter = _Operators()
    symbolic = True

    def __init__(self, composite: Any, refusal: Exception) -> None:
        super().__init__(AbstractArray((), np.dtype(np.void), str(refusal)))
        self.composite = composite
        self.refusal = refusal

    @property
    def dtype(self) -> Any:
        """That of no tensor: nobody is to cast it."""
        return None
