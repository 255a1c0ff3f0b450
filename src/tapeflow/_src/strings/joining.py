"""Strings made of several: joined, reduced, formatted."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int32, int64, string
from tapeflow._src.core.errors import DTypeError, OutOfRangeError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.effects.host import bytes_array
from tapeflow._src.ops.effects.printing import tensor_text
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.ragged.broadcasting import elementwise, operand
from tapeflow._src.ragged.reducing import reduction
from tapeflow._src.strings.rows import listed, row, strings_of, text_of, the
from tapeflow._src.strings.structures import is_ragged

# Joining tensors.


def _join_kernel(separator: Any, *xs: Any) -> np.ndarray:
    shape = next((np.shape(x) for x in xs if np.ndim(x)), ())
    for x in xs:
        if np.ndim(x) and np.shape(x) != shape:
            raise invalid(
                f"join: the shapes of inputs must be equal, or [], got {list(shape)} and {list(np.shape(x))}"
            )
    if not shape:
        return bytes_array([the(separator).join([the(x) for x in xs])], ())
    columns = [listed(x) if np.ndim(x) else itertools.repeat(the(x)) for x in xs]
    return bytes_array(list(map(the(separator).join, zip(*columns, strict=False))), shape)


def _join_result(separator: ArraySpec, *xs: ArraySpec) -> ArraySpec:
    shape: tuple[Any, ...] = ()
    for x in xs:
        if not x.shape:
            continue
        both = list(zip(shape, x.shape, strict=False))
        if shape and (
            len(shape) != len(x.shape) or any(type(a) is type(b) is int and a != b for a, b in both)
        ):
            raise invalid(
                f"join: the shapes of inputs must be equal, or [], got {list(shape)} and {list(x.shape)}"
            )
        shape = tuple(a if type(a) is int else b for a, b in both) if shape else x.shape
    return ArraySpec(shape, string)


_join = row("join", "*xs", _join_kernel, _join_result)


@export("strings.join")
def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Joins tensors of strings, element by element.

    >>> tf.strings.join([["a", "b"], "x"], separator="-").numpy()
    array([b'a-x', b'b-x'], dtype=object)

    Args:
      inputs: tensors of strings, of one shape or scalars; ragged ones broadcast.
      separator: what is put between them.
      name: accepted for compatibility.
    """
    between = text_of("join", "separator", separator)
    inputs = list(inputs)
    if any(map(is_ragged, inputs)):
        return elementwise(lambda *xs: join(xs, separator), *[operand(x, string) for x in inputs])
    tensors = [strings_of("join", "inputs", x) for x in inputs]
    return _join(between, *tensors)


# Joining along dimensions.


def _reduce_kernel(x: Any, separator: Any, *, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
    x = np.asarray(x, object)
    kept = [i for i in range(x.ndim) if i not in axes]
    shape = tuple(
        (1 if i in axes else d) for i, d in enumerate(x.shape) if keepdims or i not in axes
    )
    rows = x.transpose(*kept, *axes[::-1]).reshape(
        int(np.prod([x.shape[i] for i in kept])), int(np.prod([x.shape[i] for i in axes]))
    )
    return bytes_array([the(separator).join(r) for r in rows.tolist()], shape)


def _reduce_result(
    x: ArraySpec, separator: ArraySpec, *, axes: tuple[int, ...], keepdims: bool
) -> ArraySpec:
    kept = enumerate(x.shape)
    return ArraySpec(
        tuple(1 if i in axes else d for i, d in kept if keepdims or i not in axes), string
    )


_reduce_join = row("reduce_join", "input separator", _reduce_kernel, _reduce_result)


@export("strings.reduce_join")
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Any:
    """Joins all strings along dimensions, the one named first the fastest.

    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=0, separator=",").numpy()
    array([b'a,c', b'b,d'], dtype=object)

    Args:
      inputs: strings. Rows may be of different lengths.
      axis: a dimension or several, in the order in which they are joined; all of them by default.
      keepdims: whether they stay, with size 1.
      separator: what is put between strings.
      name: accepted for compatibility.
    """
    if is_ragged(inputs):
        whole = functools.partial(reduce_join, separator=separator)
        return reduction(whole, functools.partial(unsorted_segment_join, separator=separator))(
            inputs, axis, keepdims
        )
    between = text_of("reduce_join", "separator", separator)
    x = strings_of("reduce_join", "inputs", inputs)
    rank = x._array.ndim
    if axis is None:
        axes = tuple(range(rank))[::-1]
    else:
        given = np.asarray(convert_to_tensor(axis)._elements()) if not _is_empty(axis) else []
        numbers = [int(a) for a in np.ravel(given)]
        for number in numbers:
            if not -rank <= number < rank:
                raise OutOfRangeError(
                    None,
                    None,
                    f"reduce_join: axis = {number} is not a dimension of inputs of shape {x.shape}",
                )
        axes = tuple(number % rank for number in numbers)
        if len(set(axes)) < len(axes):
            raise invalid(f"reduce_join: axis {shown(axis)} names a dimension twice")
    return _reduce_join(x, between, axes=axes, keepdims=bool(keepdims))


def _is_empty(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and not value


# Joining segments.


def _segment_kernel(x: Any, ids: Any, count: Any, separator: Any) -> np.ndarray:
    x, ids, total = np.asarray(x, object), np.asarray(ids), int(count)
    if ids.shape != x.shape[: ids.ndim]:
        raise invalid(
            f"unsorted_segment_join: segment_ids of shape {list(ids.shape)} is not how inputs of shape "
            f"{list(x.shape)} begins"
        )
    if ids.size and not (ids.min() >= 0 and ids.max() < total):
        raise invalid(
            f"unsorted_segment_join: segment_ids must be in [0, {total}), got {ids.min()} to {ids.max()}"
        )
    inner = x.shape[ids.ndim :]
    rows = x.reshape(ids.size, -1) if x.size else x.reshape(ids.size, 0)
    parts: list[list[list[bytes]]] = [[[] for _ in range(rows.shape[1])] for _ in range(total)]
    for segment, texts in zip(ids.ravel().tolist(), rows.tolist(), strict=True):
        for column, text in zip(parts[segment], texts, strict=True):
            if text or column:  # as in TensorFlow, nothing at the beginning needs no separator
                column.append(text)
    flat = [the(separator).join(column) for columns in parts for column in columns]
    return bytes_array(flat, (total, *inner))


def _segment_result(
    x: ArraySpec, ids: ArraySpec, count: ArraySpec, separator: ArraySpec
) -> ArraySpec:
    return ArraySpec((None, *x.shape[len(ids.shape) :]), string)


_segment_join = row(
    "unsorted_segment_join", "inputs ids count separator", _segment_kernel, _segment_result
)


@export("strings.unsorted_segment_join")
def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Tensor:
    """Joins the strings that have the same number, for each number.

    >>> tf.strings.unsorted_segment_join(["this", "a", "is"], [1, 0, 1], 2, separator=" ").numpy()
    array([b'a', b'this is'], dtype=object)

    Args:
      inputs: strings.
      segment_ids: integers, of a shape with which that of `inputs` begins.
      num_segments: how many numbers there are.
      separator: what is put between strings.
      name: accepted for compatibility.
    """
    op = "unsorted_segment_join"
    ids = convert_to_tensor(segment_ids)
    if ids.dtype not in (int32, int64):
        raise DTypeError(
            None, None, f"{op}: segment_ids must be int32 or int64, got {ids.dtype.name}"
        )
    count = convert_to_tensor(num_segments)
    between = text_of(op, "separator", separator)
    return _segment_join(strings_of(op, "inputs", inputs), ids, count, between)


# Templates.


def _format_kernel(template: Any, *xs: Any, placeholder: str, summarize: int) -> np.ndarray:
    texts = [tensor_text(Tensor(np.asarray(x)), summarize) for x in xs]
    pieces = the(template).split(placeholder.encode())
    filled = [
        b + a
        for a, b in zip(
            pieces[1:], [t.encode("utf-8", "surrogateescape") for t in texts], strict=True
        )
    ]
    return bytes_array([b"".join([pieces[0], *filled])], ())


_format = row("format", "*xs", _format_kernel, lambda template, *xs, **attrs: ArraySpec((), string))


@export("strings.format")
def format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """A text with tensors in the places that a template names.

    >>> tf.strings.format("x = {}", tf.constant([1, 2])).numpy()
    b'x = [1 2]'

    Args:
      template: the text.
      inputs: a tensor or a list of them, one for each place.
      placeholder: what stands for a tensor in the template.
      summarize: how many elements of each dimension are shown at its beginning and end; -1 for all.
      name: accepted for compatibility.
    """
    tensors = [
        convert_to_tensor(x) for x in (inputs if isinstance(inputs, (list, tuple)) else [inputs])
    ]
    text = text_of("format", "template", template)
    text_of("format", "placeholder", placeholder)
    places = template.count(placeholder)
    if places != len(tensors):
        raise ValueError(
            f"format: the template has {places} places for tensors ({placeholder!r}), and there are {len(tensors)} "
            "inputs"
        )
    digits = integer("format", "summarize", summarize)
    return _format(
        text,
        *tensors,
        placeholder=placeholder,
        summarize=digits,
    )
