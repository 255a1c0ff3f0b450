"""Weak tensors: of a dtype that nobody asked for, and that gives way to one that was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.numpy.choosing import around
from tapeflow._src.numpy.promotion import WEAK_DTYPES, Kind


class WeakTensor(CompositeTensor):
    """A tensor whose dtype is weak.

    It is a composite tensor with one component, so functions, loops, datasets and tapes carry it as they do others. Ops
    that know nothing of it convert it to the tensor inside. The operators are put on it by `modes.py`.
    """

    __slots__ = ("__weakref__", "tensor")

    _is_tensor = True
    _is_one_tensor = True
    __array_priority__ = 100

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    def _kind(self) -> Kind:
        return Kind(self.tensor.dtype, True)

    @property
    def dtype(self) -> DType:
        """The dtype that it has for now."""
        return self.tensor.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the tensor inside."""
        return self.tensor.shape

    def to_tensor(self) -> Tensor:
        """The tensor inside, whose dtype is as good as any other."""
        return self.tensor

    def __getattr__(self, name: str) -> Any:
        if name == "tensor" or name.startswith("__"):  # of one that is not yet made, or a protocol
            raise AttributeError(name)
        return getattr(self.tensor, name)

    @property
    def _type_spec(self) -> WeakTensorSpec:
        return WeakTensorSpec(self.shape, self.dtype)

    def _differentiable(self) -> Tensor:
        return self.tensor

    def _with_gradients(self, gradients: Any) -> WeakTensor:
        return WeakTensor(convert_to_tensor(gradients))

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        return convert_to_tensor(self.tensor, dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.tensor.__array__(dtype, copy)

    def __len__(self) -> int:
        return len(self.tensor)

    def __iter__(self) -> Iterator[WeakTensor]:
        return (WeakTensor(x) for x in self.tensor)

    def __bool__(self) -> bool:
        return bool(self.tensor)

    def __int__(self) -> int:
        return int(self.tensor)

    def __float__(self) -> float:
        return float(self.tensor)

    def __complex__(self) -> complex:
        return complex(self.tensor)

    def __index__(self) -> int:
        return self.tensor.__index__()

    def __round__(self, ndigits: int | None = None) -> WeakTensor:
        return WeakTensor(around(self.tensor, ndigits or 0))

    def __format__(self, spec: str) -> str:
        return format(self.tensor, spec)

    def __hash__(self) -> int:
        return hash(self.tensor)

    def __copy__(self) -> WeakTensor:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> WeakTensor:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return WeakTensor, (self.tensor,)

    def __repr__(self) -> str:
        return f"{repr(self.tensor)[:-1]}, weak=True>"

    def __str__(self) -> str:
        return f"{str(self.tensor)[:-1]}, weak=True)"


class WeakTensorSpec(TypeSpec):
    """What is known of a weak tensor.

    Args:
      shape: the shape, with None for what is not known.
      dtype: the dtype that it has for now.
    """

    def __init__(self, shape: Any, dtype: Any) -> None:
        self.shape = TensorShape(shape)
        self.dtype = as_dtype(dtype)

    @property
    def value_type(self) -> type:
        """The class of weak tensors."""
        return WeakTensor

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        return (TensorSpec(self.shape, self.dtype),)

    def _to_components(self, value: WeakTensor) -> tuple[Any, ...]:
        return (value.tensor,)

    def _from_components(self, components: Any) -> WeakTensor:
        return WeakTensor(*components)

    # What datasets do with such elements.

    def _batch(self, size: int | None) -> WeakTensorSpec:
        return WeakTensorSpec(TensorShape([size]).concatenate(self.shape), self.dtype)

    def _unbatch(self) -> WeakTensorSpec:
        return WeakTensorSpec(self.shape[1:], self.dtype)

    def _stack(self, values: Sequence[WeakTensor]) -> WeakTensor:
        return _of(np.stack([np.asarray(value) for value in values]))

    def _rows(self, value: WeakTensor) -> list[WeakTensor]:
        return [_of(row) for row in np.asarray(value)]

    def _cut(self, value: WeakTensor, begin: int, end: int) -> WeakTensor:
        return _of(np.asarray(value)[begin:end])

    def _no_rows(self) -> WeakTensor:
        sizes = [d or 0 for d in self.shape.as_list()[1:]]
        return _of(np.zeros([0, *sizes], self.dtype.np_dtype))


def _of(array: Any) -> WeakTensor:
    return WeakTensor(Tensor(array))


def weakened(result: Any) -> Any:
    """A result as a weak tensor, if it is a tensor of a dtype that can be weak."""
    if isinstance(result, Tensor) and result.dtype in WEAK_DTYPES:
        return WeakTensor(result)
    return result
