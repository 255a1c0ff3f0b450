"""Making tensors: `zeros`, `ones`, `fill`, `range`, `linspace`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.context import quietly
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.devices import devices, elsewhere_now
from tapeflow._src.core.placement.remote import beside, placed
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import larger
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.arguments import Shape, axis_of, integer, ints
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.rules import DTypeError, broadcast_or_raise, invalid
from tapeflow._src.primitives.specs import ArraySpec


@export("zeros")
def zeros(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """A tensor of zeros; of empty strings for `tf.string`.

    >>> tf.zeros([2, 3], tf.int32).numpy()
    array([[0, 0, 0],
           [0, 0, 0]], dtype=int32)
    """
    if not devices.in_use:
        return patterns.zeros(_shape("zeros", shape), as_dtype(dtype))
    with beside(shape):
        return patterns.zeros(_shape("zeros", shape), as_dtype(dtype))


@export("ones")
def ones(
    shape: Any, dtype: Any = dtypes.float32, name: str | None = None, layout: Any = None
) -> Tensor:
    """A tensor of ones.

    >>> tf.ones([2]).numpy()
    array([1., 1.], dtype=float32)
    """
    dtype = as_dtype(dtype)
    if dtype is dtypes.string:
        raise TypeError("ones: dtype string has no one. Use tf.fill to repeat a string.")
    if not devices.in_use:
        return patterns.full(_shape("ones", shape), 1, dtype)
    with beside(shape):
        return patterns.full(_shape("ones", shape), 1, dtype)


def _shape(op: str, shape: Any) -> Shape:
    sizes = ints(op, "shape", shape, scalar=True)
    for size in sizes:
        if size < 0:
            raise invalid(f"{op}: a dimension must be >= 0, got shape {list(sizes)}")
    return sizes


@export("zeros_like")
def zeros_like(
    input: Any, dtype: Any = None, name: str | None = None, layout: Any = None
) -> Tensor:
    """A tensor of zeros with the shape of `input`, and its dtype unless another is given.

    >>> tf.zeros_like([[1.5, 2.5]]).numpy()
    array([[0., 0.]], dtype=float32)
    """
    tensor = convert_to_tensor(input)
    if dtype is None or as_dtype(dtype) is tensor.dtype:
        return moving.zeros_like(tensor)
    with beside(tensor):
        return patterns.zeros(tensor._array.shape, as_dtype(dtype))


@export("ones_like")
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Tensor:
    """A tensor of ones with the shape of `input`, and its dtype unless another is given.

    >>> tf.ones_like([[1.5, 2.5]], dtype=tf.int32).numpy()
    array([[1, 1]], dtype=int32)
    """
    tensor = convert_to_tensor(input)
    wanted = tensor.dtype if dtype is None else as_dtype(dtype)
    if wanted is dtypes.string:
        raise DTypeError(
            None, None, "ones_like: dtype string has no one. Use tf.fill to repeat a string."
        )
    if wanted is tensor.dtype:
        return moving.ones_like(tensor)
    with beside(tensor):
        return patterns.full(tensor._array.shape, 1, wanted)


@export("fill")
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Tensor:
    """A tensor of shape `dims` whose elements are all `value`.

    >>> tf.fill([2, 2], 7).numpy()
    array([[7, 7],
           [7, 7]], dtype=int32)

    Args:
      dims: the shape.
      value: a scalar. Gradients flow to it.
      name: accepted for compatibility.
      layout: accepted for compatibility.
    """
    shape = _shape("fill", dims)
    value = convert_to_tensor(value)
    if value._array.size != 1:
        raise invalid(f"fill: value must be a scalar, got shape {list(value._array.shape)}")
    if value._array.ndim:
        value = moving.reshape(value, shape=())
    with beside(dims):
        return moving.broadcast_to(value, shape=shape)


# Sequences of numbers.

_RANGE_DTYPES = (
    dtypes.int32,
    dtypes.int64,
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
)
_HIERARCHY = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


@export("range")
def range(  # TensorFlow's name
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = "range"
) -> Tensor:
    """The numbers from `start` up to `limit`, which is left out, in steps of `delta`.

    >>> tf.range(4).numpy()
    array([0, 1, 2, 3], dtype=int32)
    >>> tf.range(3, 1, -0.5).numpy()
    array([3. , 2.5, 2. , 1.5], dtype=float32)

    Args:
      start: the first number; given alone, it is the limit, and the first number is 0.
      limit: the end.
      delta: the step, which may be negative.
      dtype: the dtype; by default the widest of the three numbers'.
      name: accepted for compatibility.
    """
    if limit is None:
        start, limit = 0, start
    if dtype is not None:
        dtype = as_dtype(dtype)
    elif type(start) is type(limit) is type(delta) is int and max(abs(start), abs(limit)) < 2**31:
        return _from(start, _count(start, limit, delta), delta, dtypes.int32)
    numbers = [_number(v, dtype) for v in (start, limit, delta)]
    if dtype is None:
        dtype = _widest([n.dtype for n in numbers])
    elif dtype not in _RANGE_DTYPES:
        names = ", ".join(d.name for d in _RANGE_DTYPES)
        raise DTypeError(None, None, f"range: dtype must be one of {names}; got {dtype.name}")
    if any(n.symbolic for n in numbers):
        return _range_in_function(numbers, dtype)
    first, end, step = [n._array.astype(dtype.np_dtype).reshape(())[()] for n in numbers]
    with beside(*numbers):
        if dtype.is_integer:
            first, end, step = int(first), int(end), int(step)
            return _from(first, _count(first, end, step), step, dtype)
        # In the dtype itself, roundings included: 0.3 / 0.1 is 3 as float32, and more than 3 as float64.
        count = quietly(_count, first, end, step)
        check_room("range", (count,), np.dtype(np.float64))
        return _from(first, count, step, dtype)


_FEW = 16  # numbers, which are axes more often than data, and are looked at


def _from(first: Any, count: int, step: Any, dtype: DType) -> Tensor:
    """So many numbers from the first one on."""
    if count > _FEW and elsewhere_now():
        one, more = (convert_to_tensor(n, dtype) for n in (first, step))
        return one + patterns.numbers(count, dtype) * more
    if dtype.is_integer:
        numbers = _whole_numbers(first, count, step, dtype)
    else:
        numbers = first + np.arange(count).astype(dtype.np_dtype) * step
    return placed(Tensor(numbers)) if devices.may_be_used() else Tensor(numbers)


def _range_in_function(numbers: list[Tensor], dtype: DType) -> Tensor:
    """A range whose numbers are known only when the function runs that is traced now."""
    count = _count_in_function(numbers, dtype)
    first, _, step = [
        moving.stop_gradient(_cast(moving.reshape(n, shape=()), dtype)) for n in numbers
    ]
    return first + patterns.numbers(count, dtype) * step


def _count_in_function(numbers: list[Tensor], dtype: DType) -> Any:
    if all(n.dtype.is_integer for n in numbers):
        first, end, step = [integer("range", "a number", n) for n in numbers]
        if type(step) is int and step:
            return (end - first) if step == 1 else -((first - end) // step)
    kind = dtype if dtype.is_floating else dtypes.float64
    first, end, step = [_cast(moving.reshape(n, shape=()), kind) for n in numbers]
    count = unary.ceil((end - first) / step)
    return integer("range", "a number", _cast(count, dtypes.int64))


def _cast(x: Tensor, dtype: DType) -> Tensor:
    if x.dtype is dtype:
        return x
    return (moving.cast if dtype.is_differentiable else moving.cast_to_discrete)(x, dtype=dtype)


def _whole_numbers(first: int, count: int, step: int, dtype: DType) -> np.ndarray:
    check_room("range", (count,), dtype.np_dtype)
    end = first + count * step
    kind = dtype.np_dtype
    if not dtype.min <= end <= dtype.max:
        kind = np.dtype(np.int64)  # the end lies beyond the last number that the dtype holds
        check_room("range", (count,), kind)
    return np.arange(first, end, step, dtype=kind).astype(dtype.np_dtype, copy=False)


def _number(value: Any, dtype: DType | None) -> Tensor:
    if dtype is not None and not isinstance(value, (Tensor, Variable)):
        number = convert_to_tensor(value, dtype)
    else:
        number = convert_to_tensor(value)
    if number._array.size != 1 or number._array.dtype.kind in "bOc":
        raise invalid(f"range: start, limit and delta must be real numbers, got {shown(value)}")
    return number


def _widest(found: list[DType]) -> DType:
    odd = [d for d in found if d not in _HIERARCHY]
    if odd:
        if any(d is not odd[0] for d in odd):
            raise invalid(
                f"range: start, limit and delta have dtypes {[d.name for d in found]}; use one"
            )
        return odd[0]
    return _HIERARCHY[max(_HIERARCHY.index(d) for d in found)]


def _count(first: Any, end: Any, step: Any) -> int:
    if step == 0:
        raise invalid("range: delta must not be 0")
    if (step > 0 and not first <= end) or (step < 0 and not first >= end):
        relation = "<=" if step > 0 else ">="
        raise invalid(
            f"range: delta is {step}, so start must be {relation} limit: got {first} and {end}"
        )
    count = abs(end - first) / abs(step)
    if not math.isfinite(count):
        raise invalid(f"range: from {first} to {end} in steps of {step} has no end")
    if isinstance(step, int):
        return -(-abs(end - first) // abs(step))
    return math.ceil(count)


@export("linspace")
def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: Any = 0) -> Tensor:
    """`num` numbers, evenly spaced from `start` to `stop`, both included. Gradients flow to both.

    >>> tf.linspace(0.0, 1.0, 5).numpy()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)

    Args:
      start: the first number, or a tensor of them.
      stop: the last number.
      num: how many.
      name: accepted for compatibility.
      axis: where the new dimension is put, if `start` or `stop` is not a scalar.
    """
    count = _linspace_count(num)
    start = convert_to_tensor(start)
    stop = convert_to_tensor(stop, start.dtype)
    if start.dtype.is_integer:
        start, stop = (
            moving.cast(start, dtype=dtypes.float64),
            moving.cast(stop, dtype=dtypes.float64),
        )
    specs = [ArraySpec(t._array.shape, t.dtype) for t in (start, stop)]
    shape = broadcast_or_raise("linspace", *specs)
    at = axis_of("linspace", axis, len(shape) + 1)
    lone = (*shape[:at], 1, *shape[at:])
    start, stop = [
        moving.reshape(moving.broadcast_to(t, shape=shape), shape=lone) for t in (start, stop)
    ]
    inner = larger(count - 2, 0)
    step = (stop - start) / patterns.scalar(larger(count - 1, 1), start.dtype)
    with beside(start):
        numbers = patterns.numbers(inner, start.dtype) + 1.0
    column = moving.reshape(numbers, shape=(inner, *(1,) * (len(shape) - at)))
    between = start + step * column
    # The ends are taken as they are, so that rounding cannot move them.
    found = moving.concat(start, between, stop, axis=at)
    if not is_dynamic(count) and count >= 2:
        return found
    found = found[(*[slice(None)] * at, slice(count))]  # one number, or none, or not known yet
    return moving.reshape(found, shape=(*shape[:at], count, *shape[at:]))


def _linspace_count(num: Any) -> int:
    tensor = convert_to_tensor(num)
    if tensor._array.dtype.kind not in "iu":
        raise TypeError(
            f"linspace: num must be an integer, got {shown(num)} of dtype {tensor.dtype.name}"
        )
    count = integer("linspace", "num", tensor)
    if count < 0:
        raise invalid(f"linspace: num must be >= 0, got {count}")
    return count
