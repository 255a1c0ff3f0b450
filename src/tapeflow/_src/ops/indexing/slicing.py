"""Indexing with brackets, assigning to slices of variables, `slice` and `strided_slice`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.placement.remote import RemoteTensor, beside, moved_beside
from tapeflow._src.core.sizes.dims import Dim, is_dynamic
from tapeflow._src.core.sizes.extremes import hint_of
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.arguments import integer, ints
from tapeflow._src.ops.indexing import symbolic_slicing
from tapeflow._src.primitives.array import moving as array, patterns
from tapeflow._src.primitives.batched import BatchedTensor
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.reduction import ordering
from tapeflow._src.primitives.rules import DTypeError, invalid


def getitem(x: Any, key: Any) -> Tensor:
    """`x[key]` for a tensor."""
    if type(key) is int:
        return picking.getitem(x, index=(key,))
    mask = _mask(key)
    if mask is not None:
        return boolean_mask(convert_to_tensor(x), mask)
    index = _normalised(key)
    for item in index:
        if isinstance(item, Tensor):  # it has no value yet
            return symbolic_slicing.getitem(x, index)
    return picking.getitem(x, index=index)


class VariableSlice(Tensor):
    """What indexing a variable gives: a tensor that can also be assigned to."""

    __slots__ = ("_index", "_tensor", "_variable")

    def __init__(self, tensor: Tensor, variable: Variable, index: Any) -> None:
        self._array = tensor._array
        self._id = tensor._id  # the same tensor to every tape
        self._tensor = tensor  # forward mode forgets what it knows of a tensor that is gone
        self._variable = variable
        self._index = index

    @property
    def interpreter(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What runs primitives on it."""
        return self._tensor.interpreter

    @property
    def device(self) -> str:
        """The name of the device that holds the value."""
        return self._tensor.device

    def assign(self, value: Any, name: str | None = None, read_value: bool = True) -> Variable:
        """Replaces this part of the variable.

        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> v[1:].assign([8.0, 9.0]).numpy()
        array([1., 8., 9.], dtype=float32)
        """
        variable = self._variable
        value = variable._converted(value)
        if value.dtype is not variable.dtype:
            raise ValueError(
                f"slice assign: the variable {shown(variable.name)} has dtype {variable.dtype.name}, "
                f"and the value has dtype {value.dtype.name}. Use tf.cast to change it."
            )
        if type(variable._now()) is RemoteTensor:
            return _assign_by_ops(variable, self._index, value)
        # The Ellipsis makes it a view even of a single element, which has no place for [1.0] otherwise.
        whole = self._index if Ellipsis in self._index else (*self._index, ...)

        def changed(held: Any) -> Any:
            array = np.array(held)
            try:
                array[whole][...] = value._array
            except ValueError:
                raise invalid(
                    f"slice assign: Cannot broadcast input shape {list(value.shape)} into the "
                    f"slice's shape {list(self.shape)}"
                ) from None
            return array

        return variable._change(changed, value)


def variable_getitem(variable: Variable, key: Any) -> Tensor:
    """`v[key]` for a variable."""
    mask = _mask(key)
    if mask is not None:
        return boolean_mask(variable._read(), mask)
    index = _normalised(key)
    if any(map(symbolic_slicing.is_symbolic, index)):
        return symbolic_slicing.getitem(variable._read(), index)
    part = picking.getitem(variable._read(), index=index)
    if not part.symbolic:
        return VariableSlice(part, variable, index)
    if context.tracer is None:  # an example of tf.vectorized_map, where nothing is assigned
        return part
    return context.tracer.assignable(part, lambda value: _assign_by_ops(variable, index, value))


def _assign_by_ops(variable: Variable, index: Any, value: Any) -> Variable:
    """Assigns to a part by ops, as inside `tf.function`: numbers the elements, and scatters to those of the part."""
    from tapeflow._src.ops.indexing.scattering import tensor_scatter_nd_update

    now = variable._read()
    shape = now._array.shape
    if is_dynamic(shape):
        raise NotImplementedError(
            f"slice assign: the variable {shown(variable.name)} has sizes that are not known inside tf.function. Use "
            "scatter_nd_update, or assign all of it."
        )
    count = math.prod(shape)
    with beside(now):
        numbers = array.reshape(patterns.numbers(count, dtypes.int32), shape=shape)
    part = picking.getitem(numbers, index=index)
    size = part._array.size
    places = array.reshape(part, shape=(size, 1))
    value = array.broadcast_to(variable._converted(value), shape=part._array.shape)
    values = array.reshape(value, shape=(size,))
    flat = tensor_scatter_nd_update(array.reshape(now, shape=(count,)), places, values)
    return variable.assign(array.reshape(flat, shape=shape))


def _mask(key: Any) -> Any:
    if type(key) is tuple or type(key) is slice:
        return None
    if isinstance(key, (Tensor, Variable, np.ndarray)) and key.dtype == np.bool_:
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
    if isinstance(item, (Tensor, Variable)):
        tensor = convert_to_tensor(item)
        if tensor.symbolic:
            return tensor
        value = tensor._array
        if value.ndim == 0 and value.dtype in (np.int32, np.int64):
            return int(value)
    elif type(item) is Dim:
        return item
    elif not isinstance(item, bool) and hasattr(item, "__index__"):
        return item.__index__()
    raise DTypeError(
        None,
        None,
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`), scalar integer "
        "tensors and boolean masks "
        f"are valid indices, got {shown(item)}. To pick several rows, use tf.gather(x, indices).",
    )


def _bound(value: Any) -> int | None:
    if value is None:
        return None
    bound = _index(value)
    return integer("slice", "a bound", bound) if isinstance(bound, Tensor) else bound


def _step(value: Any) -> int | None:
    step = _bound(value)
    if step == 0:
        raise invalid("slice: the step must not be 0")
    return step


def boolean_mask(x: Tensor, mask: Tensor, axis: int = 0) -> Tensor:
    """The elements or rows of `x` where `mask` is true."""
    shape, mask_shape = x._array.shape, mask._array.shape
    if not mask_shape:
        raise ValueError("boolean_mask: mask cannot be scalar.")
    if shape[axis : axis + len(mask_shape)] != mask_shape:
        raise ValueError(
            f"boolean_mask: the mask's shape {list(mask_shape)} must match the tensor's shape "
            f"{list(shape)} from "
            f"dimension {axis} on"
        )
    lead, tail = shape[:axis], shape[axis + len(mask_shape) :]
    flat = array.reshape(x, shape=(*lead, mask._array.size, *tail))
    return picking.gather(flat, _true_places(mask), axis=axis, batch_dims=0)


def _true_places(mask: Tensor) -> Tensor:
    if context.tracer is None:
        return moved_beside(Tensor(np.flatnonzero(mask._array)), mask)
    places = ordering.nonzero(array.reshape(mask, shape=(mask._array.size,)))
    return picking.getitem(places, index=(slice(None), 0))


@export("slice")
def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The part of a tensor that begins at `begin` and has shape `size`.

    >>> tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1]).numpy()
    array([[2, 3],
           [5, 6]], dtype=int32)

    Args:
      input_: the tensor.
      begin: for each dimension, where the part begins.
      size: for each dimension, how long the part is; -1 for all the rest.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input_)
    shape = x._array.shape
    first, sizes = _starts(begin), ints("slice", "size", size)
    if len(first) != len(shape) or len(sizes) != len(shape):
        raise invalid(
            f"slice: begin {list(first)} and size {list(sizes)} must have one number for each of "
            f"the {len(shape)} "
            f"dimensions of shape {list(shape)}"
        )
    if any(isinstance(n, Tensor) or hint_of(n) is None for n in (*first, *sizes)):
        return symbolic_slicing.part(x, first, sizes)
    index = []
    for axis, (start, length, total) in enumerate(zip(first, sizes, shape, strict=True)):
        stop = total if length == -1 else start + length
        if not 0 <= start <= stop <= total:
            raise invalid(
                f"slice: begin[{axis}] = {start} and size[{axis}] = {length} do not fit in "
                f"dimension {axis} of shape "
                f"{list(shape)}"
            )
        index.append(slice(start, stop))
    return picking.getitem(x, index=tuple(index))


def _starts(begin: Any) -> tuple[Any, ...]:
    """Where a part begins: integers, or tensors where the examples of `tf.vectorized_map` begin at other places."""
    if isinstance(begin, BatchedTensor) and begin._array.ndim == 1:
        return tuple([picking.getitem(begin, index=(i,)) for i in range(begin._array.shape[0])])
    if isinstance(begin, (list, tuple)) and any(isinstance(n, BatchedTensor) for n in begin):
        return tuple(
            [n if isinstance(n, BatchedTensor) else integer("slice", "begin", n) for n in begin]
        )
    return ints("slice", "begin", begin)


@export("strided_slice")
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """The part `x[begin:end:strides]` of a tensor: what brackets do, in numbers.

    >>> tf.strided_slice([1, 2, 3, 4, 5], [3], [0], [-2]).numpy()
    array([4, 2], dtype=int32)

    Args:
      input_: the tensor.
      begin: where each slice begins.
      end: where each slice ends, which is left out.
      strides: the steps; by default 1.
      begin_mask: the slices (as bits) whose `begin` is ignored, as in `x[:3]`.
      end_mask: the slices whose `end` is ignored, as in `x[3:]`.
      ellipsis_mask: the place of an Ellipsis.
      new_axis_mask: the places of new dimensions.
      shrink_axis_mask: the places of single indices, which remove a dimension.
      var: accepted for compatibility.
      name: accepted for compatibility.
    """
    starts, stops = ints("strided_slice", "begin", begin), ints("strided_slice", "end", end)
    steps = (1,) * len(starts) if strides is None else ints("strided_slice", "strides", strides)
    if not len(starts) == len(stops) == len(steps):
        raise invalid(
            f"strided_slice: begin {list(starts)}, end {list(stops)} and strides {list(steps)} "
            "must have one length"
        )
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = (
        integer("strided_slice", argument, mask) for argument, mask in masks.items()
    )
    if ellipsis_mask & (ellipsis_mask - 1):
        raise invalid("strided_slice: Multiple ellipses are not allowed")
    index: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(...)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(start)
        else:
            bounds = (None if begin_mask & bit else start, None if end_mask & bit else stop)
            index.append(slice(*bounds, _step(step)))
    return picking.getitem(convert_to_tensor(input_), index=tuple(index))


newaxis = None

export_value("newaxis", "newaxis")
