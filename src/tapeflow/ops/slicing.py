"""Indexing with brackets: `x[1:, ..., None]`, masks, and assigning to slices of variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.tensor import Tensor
from tapeflow.core.variable import Variable
from tapeflow.primitives import array, indexing
from tapeflow.primitives.rules import invalid


def getitem(x: Any, key: Any) -> Tensor:
    """`x[key]` for a tensor."""
    if type(x) is not Tensor:
        x = convert_to_tensor(x)
    mask = _mask(key)
    if mask is not None:
        return boolean_mask(x, mask)
    return indexing.getitem(x, index=_normalised(key))


class VariableSlice(Tensor):
    """What indexing a variable gives: a tensor that also knows where it came from, so it can be assigned to."""

    __slots__ = ("_index", "_variable")

    def __init__(self, tensor: Tensor, variable: Variable, index: Any) -> None:
        self._array = tensor._array
        self._id = tensor._id  # the same tensor to every tape
        self._variable = variable
        self._index = index

    def assign(self, value: Any, name: str | None = None, read_value: bool = True) -> Variable:
        """Replaces this part of the variable.

        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> v[1:].assign([8.0, 9.0]).numpy()
        array([1., 8., 9.], dtype=float32)
        """
        variable = self._variable
        value = variable._converted(value)
        array = np.array(variable._value._array)
        if value.dtype is not variable.dtype:
            raise ValueError(
                f"slice assign: the variable {variable.name!r} has dtype {variable.dtype.name}, and the value has "
                f"dtype {value.dtype.name}. Use tf.cast to change it."
            )
        try:
            array[self._index] = value._array
        except ValueError:
            raise invalid(
                f"slice assign: Cannot broadcast input shape {list(value.shape)} into the slice's shape "
                f"{list(self.shape)}"
            ) from None
        return variable._replace(array)


def variable_getitem(variable: Variable, key: Any) -> Tensor:
    """`v[key]` for a variable."""
    mask = _mask(key)
    if mask is not None:
        return boolean_mask(variable.value(), mask)
    index = _normalised(key)
    return VariableSlice(indexing.getitem(variable.value(), index=index), variable, index)


def _mask(key: Any) -> Any:
    if isinstance(key, (Tensor, Variable)) and key.dtype.is_bool:
        return convert_to_tensor(key)
    if isinstance(key, np.ndarray) and key.dtype == np.bool_:
        return convert_to_tensor(key)
    if key is True or key is False:
        raise ValueError("A mask cannot be scalar.")
    return None


def _normalised(key: Any) -> tuple[Any, ...]:
    items = key if isinstance(key, (tuple, list)) else (key,)
    return tuple([_index(item) for item in items])


def _index(item: Any) -> Any:
    if type(item) is int or item is None or item is Ellipsis:
        return item
    if type(item) is slice:
        return slice(_bound(item.start), _bound(item.stop), _step(item.step))
    if isinstance(item, (Tensor, Variable, np.integer, np.ndarray)):
        value = np.asarray(item)
        if value.ndim == 0 and value.dtype.kind in "iu":
            return int(value)
    elif not isinstance(item, bool) and hasattr(item, "__index__"):
        return item.__index__()
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`), scalar integer tensors and boolean masks "
        f"are valid indices, got {item!r}. To pick several rows, use tf.gather(x, indices)."
    )


def _bound(value: Any) -> int | None:
    return None if value is None else _index(value)


def _step(value: Any) -> int | None:
    step = _bound(value)
    if step == 0:
        raise invalid("slice: the step must not be 0")
    return step


def boolean_mask(x: Tensor, mask: Tensor, axis: int = 0) -> Tensor:
    """The elements or rows of `x` where `mask` is true."""
    if not mask._array.ndim:
        raise ValueError("A mask cannot be scalar.")
    shape, mask_shape = x._array.shape, mask._array.shape
    if shape[axis : axis + len(mask_shape)] != mask_shape:
        raise ValueError(
            f"boolean_mask: the mask's shape {list(mask_shape)} must match the tensor's shape {list(shape)} from "
            f"dimension {axis} on"
        )
    lead, tail = shape[:axis], shape[axis + len(mask_shape) :]
    flat = array.reshape(x, shape=(*lead, mask._array.size, *tail))
    rows = Tensor(np.flatnonzero(mask._array))
    return indexing.gather(flat, rows, axis=axis, batch_dims=0)
