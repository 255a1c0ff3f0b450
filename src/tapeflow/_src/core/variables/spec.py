"""`VariableSpec`: what is known of a variable that is part of a composite tensor."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.dtypes import DType, as_dtype, float32
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TypeSpec
from tapeflow._src.core.variables.variable import Variable


class VariableSpec(TypeSpec):
    """Shape, dtype and whether it is trained: a variable is one leaf, and stays that variable in functions."""

    _expands = False

    def __init__(
        self, shape: Any, dtype: Any = float32, trainable: bool = True, alias_id: int | None = None
    ) -> None:
        self._shape, self._dtype = TensorShape(shape), as_dtype(dtype)
        self.trainable, self.alias_id = trainable, alias_id

    @classmethod
    def from_value(cls, value: Variable) -> VariableSpec:
        """The spec of a variable."""
        return cls(value.shape, value.dtype, bool(value.trainable))

    @property
    def shape(self) -> TensorShape:
        """The shape of the variable."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The type of its elements."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """None: it is a variable of that kind, under any name."""
        return None

    @property
    def value_type(self) -> type:
        """Variables."""
        return Variable

    def _serialize(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype, self.trainable, self.alias_id)

    def _to_components(self, value: Any) -> Any:
        return [value]

    def _from_components(self, components: Any) -> Any:
        return components[0]

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Whether a variable could be of this kind and of the other."""
        other = spec_or_value
        if isinstance(other, Variable):
            other = VariableSpec.from_value(other)
        return (
            isinstance(other, VariableSpec)
            and self._dtype is other._dtype
            and self.trainable == other.trainable
            and self._shape.is_compatible_with(other._shape)
        )

    def __repr__(self) -> str:
        return (
            f"VariableSpec(shape={self._shape}, dtype={self._dtype!r}, trainable={self.trainable}, "
            f"alias_id={self.alias_id})"
        )
