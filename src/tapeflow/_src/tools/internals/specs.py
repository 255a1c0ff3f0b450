"""`DenseSpec` and `BatchableTypeSpec`: what classes of libraries that are composite tensors build on."""

from __future__ import annotations

import abc
from typing import Any

from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.dtypes import DType, as_dtype, float32
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec, TypeSpec, parts_compatible
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.spec import VariableSpec
from tapeflow._src.core.variables.variable import Variable


class _Comparing(TypeSpec, abc.ABC):
    """A spec that can be asked, by the names TensorFlow's private methods have, how it compares its parts."""

    def _TypeSpec__make_cmp_key(self, value: Any) -> Any:
        """Something that can be hashed and is equal for equal parts."""
        key = self._TypeSpec__make_cmp_key
        if isinstance(value, (int, float, complex, str, bytes, bool, type(None), DType, TypeSpec)):
            return (type(value), value)
        if isinstance(value, TensorShape):
            return (TensorShape, value._dims)
        if isinstance(value, dict):
            return (dict, *((key(name), key(value[name])) for name in sorted(value)))
        if isinstance(value, (list, tuple)):
            return (type(value), *map(key, value))
        try:
            hash(value)
        except TypeError:
            return (type(value), id(value))
        return (type(value), value)

    @staticmethod
    def _TypeSpec__is_compatible(a: Any, b: Any) -> bool:
        """Whether one value could have both parts."""
        return parts_compatible(a, b)


class BatchableTypeSpec(_Comparing):
    """Of values that can be stacked: what has `_batch` and `_unbatch` is one."""

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        return True if cls is BatchableTypeSpec and hasattr(other, "_batch") else NotImplemented


class DenseSpec(_Comparing):
    """Of values with a shape, a dtype and a name."""

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self._shape, self._dtype, self._name = TensorShape(shape), as_dtype(dtype), name

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, if there is one."""
        return self._name


DenseSpec.register(TensorSpec)
DenseSpec.register(VariableSpec)


def type_spec_from_value(value: Any) -> Any:
    """The spec of a tensor, a variable or a composite tensor."""
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, Variable):
        return VariableSpec.from_value(value)
    if isinstance(value, Tensor):
        return TensorSpec.from_tensor(value)
    raise TypeError(f"Could not build a TypeSpec for {value!r} of type {type(value).__name__}.")
