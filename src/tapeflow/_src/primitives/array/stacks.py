"""Lists of tensors inside traced functions: what a `tf.TensorArray` holds, and what the turns of a loop leave behind.

A `Stack` is a value of a graph like an array, but its elements need not have one shape, and putting one in copies a
dictionary and no data. Its shape is a `StackShape`, by which tensors that stand for one are known. Stacks are
differentiable: the gradient of a stack is a stack, in which elements that are not there are zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import InvalidArgumentError
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array.stack import (
    Element,
    Stack,
    StackShape,
    stack_from_rows,
    stack_of,
)
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import unlisted

# Primitives. They are no rows of the table, which is about arrays.


def _known(shape: Any) -> Element:
    """The shape of the elements of a stack, from its own."""
    return shape.element if isinstance(shape, StackShape) else None


def _spec(length: Any, element: Element, dtype: DType) -> ArraySpec:
    return ArraySpec(StackShape(length, element), dtype)


def _element_spec(s: ArraySpec, element: Element) -> ArraySpec:
    shape = _known(s.shape) if element is None else element
    if shape is None:
        raise ValueError(
            "TensorArray: the shape of the elements is not known here. Give element_shape=... when you make the "
            "TensorArray, or write an element first."
        )
    return ArraySpec(shape, s.dtype)


def _position(op: str, index: Any, length: int) -> int:
    number = int(index)
    if not 0 <= number < length:
        raise InvalidArgumentError(
            None, None, f"TensorArray.{op}: index {number} is not in the range [0, {length})"
        )
    return number


stack_empty = unlisted(
    "stack_empty",
    "",
    lambda *, length, element, dtype: Stack({}, length, dtype.np_dtype, element),
    result=lambda *, length, element, dtype: _spec(length, element, dtype),
)


def _get_kernel(s: Stack, index: Any, *, element: Element) -> Any:
    found = s.entries.get(_position("read", index, s.length))
    return s.zeros(element) if found is None else found


stack_get = unlisted(
    "stack_get",
    "s index",
    _get_kernel,
    result=lambda s, index, *, element: _element_spec(s, element),
    gradients={
        "s": lambda g, index, s_shape: stack_single(
            g, index, length=s_shape[0], element=g._array.shape
        )
    },
)


def _single_kernel(x: Any, index: Any, *, length: int, element: Element) -> Stack:
    number = int(index)
    return Stack({number: x}, max(length, number + 1), x.dtype, element)


stack_single = unlisted(
    "stack_single",
    "x index",
    _single_kernel,
    result=lambda x, index, *, length, element: _spec(length, element, x.dtype),
    gradients={"x": lambda g, index, x_shape: stack_get(g, index, element=x_shape)},
)


def _set_kernel(s: Stack, x: Any, index: Any, *, grow: bool) -> Stack:
    number = int(index)
    if number < 0 or (number >= s.length and not grow):
        more = "" if number < 0 else " and cannot grow. Make it with dynamic_size=True, or larger."
        raise InvalidArgumentError(
            None,
            None,
            f"TensorArray.write: index {number} is out of range; the array has size {s.length}{more}",
        )
    return s.with_entry(number, x)


stack_set = unlisted(
    "stack_set",
    "s x index",
    _set_kernel,
    result=lambda s, x, index, *, grow: _spec(
        None if grow else s.shape[0], _known(s.shape) or x.shape, s.dtype
    ),
    gradients={
        "s": lambda g, index: stack_drop(g, index),
        "x": lambda g, index, x_shape: stack_get(g, index, element=x_shape),
    },
)

stack_add = unlisted(
    "stack_add",
    "a b",
    lambda a, b: a + b,
    result=lambda a, b: _spec(a.shape[0], _known(a.shape) or _known(b.shape), a.dtype),
    gradients={"a": lambda g: g, "b": lambda g: g},
)


def _ones_like_kernel(s: Any) -> Stack:
    if not isinstance(s, Stack):  # XLA has arrays in the place of stacks
        return stack_from_rows(np.ones_like(s))
    return s.full_like(1)


stack_ones_like = unlisted("stack_ones_like", "s", _ones_like_kernel, result=lambda s: s)

stack_drop = unlisted(
    "stack_drop",
    "s index",
    lambda s, index: s.without(int(index)),
    result=lambda s, index: s,
    gradients={"s": lambda g, index: stack_drop(g, index)},
)


def _rows_result(s: ArraySpec, *, element: Element) -> ArraySpec:
    return ArraySpec((s.shape[0], *_element_spec(s, element).shape), s.dtype)


stack_rows = unlisted(
    "stack_rows",
    "s",
    lambda s, *, element: s.rows(element),
    result=_rows_result,
    gradients={"s": lambda g: stack_from(g)},
)


stack_from = unlisted(
    "stack_from",
    "x",
    stack_from_rows,
    result=lambda x: _spec(x.shape[0], x.shape[1:], x.dtype),
    gradients={"x": lambda g, x_shape: stack_rows(g, element=x_shape[1:])},
)

stack_length = unlisted(
    "stack_length",
    "s",
    lambda s: np.int32(s.length),
    result=lambda s: ArraySpec((), dtypes.int32),
)


def _concat_kernel(s: Stack, *, element: Element = None) -> Any:
    if s.length:
        return np.concatenate([s[i] for i in range(s.length)])
    shape = (element or s.element or (None, None))[1:]
    inner = [d for d in shape if d is not None]
    if len(inner) < len(shape):
        raise InvalidArgumentError(
            None,
            None,
            "TensorArray.concat: the array has no elements, and their shape is not known. Give element_shape when you "
            "make it: all but the first size.",
        )
    return np.zeros((0, *inner), s.dtype)


def _concat_result(s: ArraySpec, *, element: Element = None) -> ArraySpec:
    element = _element_spec(s, element).shape
    if not element:
        raise ValueError(
            "TensorArray.concat: the elements are scalars, and scalars cannot be joined. Use stack()."
        )
    return ArraySpec((None, *element[1:]), s.dtype)


stack_concat = unlisted(
    "stack_concat",
    "s",
    _concat_kernel,
    result=_concat_result,
    gradients={"s": lambda g, s: stack_split_like(g, s)},
)


def _split_like_kernel(x: Any, s: Stack) -> Stack:
    return _split_kernel(x, np.array([len(s[i]) for i in range(s.length)], np.int64))


stack_split_like = unlisted(
    "stack_split_like",
    "x s",
    _split_like_kernel,
    result=lambda x, s: _spec(s.shape[0], _known(s.shape), x.dtype),
    gradients={"x": lambda g, x_shape: stack_concat(g, element=x_shape)},
)


def _split_kernel(x: Any, lengths: Any) -> Stack:
    if int(lengths.sum()) != len(x):
        raise InvalidArgumentError(
            None,
            None,
            f"TensorArray.split: the lengths {lengths.tolist()} add up to {int(lengths.sum())}, and the value has "
            f"shape {list(x.shape)}",
        )
    # NumPy makes one part of no lengths.
    parts = np.split(x, np.cumsum(lengths)[:-1]) if len(lengths) else []
    return stack_of(parts, x.dtype, (None, *x.shape[1:]))


stack_split = unlisted(
    "stack_split",
    "x lengths",
    _split_kernel,
    result=lambda x, lengths: _spec(lengths.shape[0], (None, *x.shape[1:]), x.dtype),
    gradients={"x": lambda g, x_shape: stack_concat(g, element=x_shape)},
)


def _scatter_kernel(s: Stack, x: Any, indices: Any, *, grow: bool) -> Stack:
    for index, row in zip(indices.tolist(), x, strict=False):
        s = _set_kernel(s, row, index, grow=grow)
    return s


stack_scatter = unlisted(
    "stack_scatter",
    "s x indices",
    _scatter_kernel,
    result=lambda s, x, indices, *, grow: _spec(
        None if grow else s.shape[0], _known(s.shape) or x.shape[1:], s.dtype
    ),
    gradients={
        "s": lambda g, indices: stack_drop_rows(g, indices),
        "x": lambda g, indices, x_shape: stack_pick(g, indices, element=x_shape[1:]),
    },
)


def _drop_rows_kernel(s: Stack, indices: Any) -> Stack:
    for index in indices.tolist():
        s = s.without(index)
    return s


stack_drop_rows = unlisted(
    "stack_drop_rows",
    "s indices",
    _drop_rows_kernel,
    result=lambda s, indices: s,
    gradients={"s": lambda g, indices: stack_drop_rows(g, indices)},
)


def _pick_kernel(s: Stack, indices: Any, *, element: Element) -> Any:
    picked = [s.entries.get(i) for i in indices.tolist()]
    zeros = s.zeros(element) if any(x is None for x in picked) else None
    return stack_of([zeros if x is None else x for x in picked], s.dtype).rows(element)


def _pick_gradient(g: Tensor, indices: Tensor, s_shape: Any) -> Tensor:
    empty = stack_empty(length=s_shape[0], element=g._array.shape[1:], dtype=g.dtype)
    return stack_scatter(empty, g, indices, grow=True)


stack_pick = unlisted(
    "stack_pick",
    "s indices",
    _pick_kernel,
    result=lambda s, indices, *, element: ArraySpec(
        (indices.shape[0], *_element_spec(s, element).shape), s.dtype
    ),
    gradients={"s": _pick_gradient},
)
