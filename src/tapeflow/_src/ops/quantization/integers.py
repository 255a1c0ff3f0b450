"""Floats as integers of a few bits, and back.

Tensors of quantized dtypes hold plain integers: `tf.qint8` is stored, and shown, as `tf.int8`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import DTypeError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axis_of, integer
from tapeflow._src.ops.array.creation import zeros_like
from tapeflow._src.ops.array.moving import concat
from tapeflow._src.ops.array.shaping import cast, reshape, stop_gradient
from tapeflow._src.ops.elementwise.arithmetic import (
    abs as abs_,
    floor,
    maximum,
    minimum,
    round as round_,
    sign,
)
from tapeflow._src.ops.elementwise.clip import clip_by_value
from tapeflow._src.ops.indexing.gathering import where
from tapeflow._src.ops.reduction.reducing import reduce_max, reduce_min

_INFINITE = float(np.finfo(np.float32).max)


class QuantizeV2(NamedTuple):
    """What `tf.quantization.quantize` gives."""

    output: Tensor
    output_min: Tensor
    output_max: Tensor


@export("quantization.quantize")
def quantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> QuantizeV2:
    """Floats as integers, and the range that these stand for. It has no gradient.

    >>> found = tf.quantization.quantize([-1.0, 0.0, 0.5], -1.0, 1.0, tf.qint8, mode="SCALED")
    >>> found.output.numpy()
    array([-127,    0,   64], dtype=int8)

    Args:
      input: floats.
      min_range: what the least integer stands for.
      max_range: what the largest integer stands for.
      T: `tf.qint8`, `tf.quint8`, `tf.qint16`, `tf.quint16` or `tf.qint32`.
      mode: "MIN_COMBINED" and "MIN_FIRST" divide the range evenly; with "SCALED" zero is zero.
      round_mode: "HALF_AWAY_FROM_ZERO", or "HALF_TO_EVEN" with "SCALED".
      name: accepted for compatibility.
      narrow_range: with "SCALED", whether the least integer is left out.
      axis: the dimension along which each slice has a range of its own.
      ensure_minimum_range: the range is made at least so large, as a part of its larger end or of 1.
    """
    op = "quantize"
    _check_mode(op, mode, round_mode)
    kind = _quantized(op, T)
    x = convert_to_tensor(input, dtypes.float32)
    low, high, spread = _ranges(op, x, min_range, max_range, axis)
    low = minimum(low, 0.0)
    least = maximum(maximum(abs_(low), abs_(high)), 1.0) * ensure_minimum_range
    high = maximum(maximum(high, low + least), 0.0)
    first, last = _limits(kind, narrow_range)
    if mode == "SCALED":
        by_low = where(low < 0.0, first / where(low < 0.0, low, -1.0), _INFINITE)
        by_high = where(high > 0.0, last / where(high > 0.0, high, 1.0), _INFINITE)
        scale = minimum(by_low if first else by_high, by_high)
        low, high = first / scale, last / scale
        scaled = clip_by_value(x, spread(low), spread(high)) * spread(scale)
    else:
        inside = clip_by_value(x, spread(low), spread(high))
        scaled = (inside - spread(low)) * (float(last - first) / (spread(high) - spread(low)))
        scaled = scaled + float(first)
    whole = round_(scaled) if round_mode == "HALF_TO_EVEN" else _half_away(scaled)
    # Floats have no 2 ** 31 - 1: doubles have.
    exact = clip_by_value(cast(whole, dtypes.float64), float(first), float(last))
    return QuantizeV2(cast(exact, dtypes.from_numpy(kind.np_dtype)), low, high)


@export("quantization.dequantize")
def dequantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: int | None = None,
    narrow_range: bool = False,
    dtype: Any = dtypes.float32,
) -> Tensor:
    """The floats that integers stand for: what `tf.quantization.quantize` made of them.

    >>> tf.quantization.dequantize(tf.constant([0, 51, 255], tf.uint8), 0.0, 5.0).numpy().round(4)
    array([0., 1., 5.], dtype=float32)

    Args:
      input: integers.
      min_range: what the least of them stands for.
      max_range: what the largest stands for.
      mode: as in `tf.quantization.quantize`.
      name: accepted for compatibility.
      axis: the dimension along which each slice has a range of its own.
      narrow_range: with "SCALED", whether the least integer is left out.
      dtype: float32 or bfloat16.
    """
    op = "dequantize"
    _check_mode(op, mode)
    x = convert_to_tensor(input)
    if not x.dtype.is_integer:
        raise DTypeError(
            None, None, f"{op}: input must be integers, as of quantize, got {x.dtype.name}"
        )
    low, high, spread = _ranges(op, x, min_range, max_range, axis)
    first, last = _limits(x.dtype, narrow_range)
    given = cast(x, dtypes.float32)
    if mode == "SCALED":
        scale = high / float(last)
        if first:
            scale = maximum(low / float(first), scale)
        y = given * spread(scale)
    elif mode == "MIN_COMBINED":
        step = spread((high - low) / float(last - first))
        y = (given - float(first)) * step + spread(low)
    else:
        step = (high - low) / float(last - first)
        y = (given + spread(_half_away(low / step)) - float(first)) * spread(step)
    return cast(y, as_dtype(dtype))


class QuantizedConcat(NamedTuple):
    """What `tf.quantization.quantized_concat` gives."""

    output: Tensor
    output_min: Tensor
    output_max: Tensor


@export("quantization.quantized_concat")
def quantized_concat(
    concat_dim: Any,
    values: Sequence[Any],
    input_mins: Sequence[Any],
    input_maxes: Sequence[Any],
    name: str | None = None,
) -> QuantizedConcat:
    """Joins quantized tensors along a dimension, and brings them to one range.

    >>> a, b = tf.constant([0, 255], tf.uint8), tf.constant([255], tf.uint8)
    >>> tf.quantization.quantized_concat(0, [a, b], [0.0, 0.0], [1.0, 2.0]).output.numpy()
    array([  0, 128, 255], dtype=uint8)
    """
    op = "quantized_concat"
    tensors = [convert_to_tensor(v) for v in values]
    lows = [convert_to_tensor(v, dtypes.float32) for v in input_mins]
    highs = [convert_to_tensor(v, dtypes.float32) for v in input_maxes]
    if not len(tensors) == len(lows) == len(highs) or not tensors:
        raise invalid(
            f"{op}: values, input_mins and input_maxes must be as many as each other, got {len(tensors)}, "
            f"{len(lows)} and {len(highs)}"
        )
    low, high = lows[0], highs[0]
    for i in range(1, len(tensors)):
        low, high = minimum(low, lows[i]), maximum(high, highs[i])
    low = minimum(low, 0.0)
    first, last = _limits(tensors[0].dtype, False)
    scale = float(last - first) / (high - low)
    moved = []
    for x, a, b in zip(tensors, lows, highs, strict=True):
        floats = dequantize(x, a, b)
        whole = clip_by_value(_half_away((floats - low) * scale) + first, float(first), float(last))
        same = (a == low) & (b == high)
        moved.append(where(same, x, cast(whole, x.dtype)))
    return QuantizedConcat(concat(moved, integer(op, "concat_dim", concat_dim)), low, high)


@export("quantization.quantize_and_dequantize_v2")
def quantize_and_dequantize_v2(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: Any = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """Rounds to the levels of a few bits, among which is zero. Gradients pass within the range that was given.

    >>> y = tf.quantization.quantize_and_dequantize_v2([-9.0, 0.3, 1.0], -1.0, 1.0, num_bits=3, range_given=True)
    >>> y.numpy().round(4)
    array([-1.3333,  0.3333,  1.    ], dtype=float32)

    Args:
      input: floats.
      input_min: the least number, if `range_given`.
      input_max: the largest number, if `range_given`.
      signed_input: whether levels may be negative.
      num_bits: how many bits there are.
      range_given: whether the range is given, and not that of `input`.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      name: accepted for compatibility.
      narrow_range: whether there are as many levels below zero as above.
      axis: the dimension along which each slice has a range of its own.
    """
    op = "quantize_and_dequantize_v2"
    x = _inexact(op, input)
    y = _there_and_back(
        op,
        (x, input_min, input_max, axis),
        (signed_input, num_bits, range_given, round_mode, narrow_range),
    )
    low, high, spread = _ranges(op, x, input_min, input_max, axis)
    passes = (x >= spread(low)) & (x <= spread(high))
    # Zeros with the gradients: also for the range, whose gradient is zero and not missing.
    zero = where(passes, x, stop_gradient(x)) - stop_gradient(x)
    return y + zero + (spread(low - low) + spread(high - high))


@export("quantization.quantize_and_dequantize")
def quantize_and_dequantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: Any = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """The same as `tf.quantization.quantize_and_dequantize_v2`, with a gradient that passes everywhere.

    >>> x = tf.constant([-1.0, 0.25, 1.0])
    >>> tf.quantization.quantize_and_dequantize(x, -1.0, 1.0, num_bits=2, narrow_range=True).numpy().round(4)
    array([-1.,  0.,  1.], dtype=float32)
    """
    op = "quantize_and_dequantize"
    x = _inexact(op, input)
    y = _there_and_back(
        op,
        (x, input_min, input_max, axis),
        (signed_input, num_bits, range_given, round_mode, narrow_range),
    )
    return y + (x - stop_gradient(x))


def _there_and_back(op: str, inputs: tuple[Any, ...], options: tuple[Any, ...]) -> Tensor:
    x, low, high, axis = inputs
    signed, num_bits, given, round_mode, narrow = options
    if round_mode not in ("HALF_TO_EVEN", "HALF_UP"):
        raise invalid(
            f"{op}: round_mode must be 'HALF_TO_EVEN' or 'HALF_UP', got {shown(round_mode)}"
        )
    bits = integer(op, "num_bits", num_bits)
    if not 0 < bits < (62 if signed else 63):
        raise invalid(f"{op}: num_bits must be positive and less than 63, got {bits}")
    low, high, spread = _ranges(op, x, low, high, axis)
    if not given:
        others = None
        if axis is not None:
            rank = len(x._array.shape)
            others = [i for i in range(rank) if i != axis_of(op, axis, rank)]
        low, high = reduce_min(x, axis=others), reduce_max(x, axis=others)
    first = -float(2 ** (bits - 1) - bool(narrow)) if signed else 0.0
    last = float(2 ** (bits - 1) - 1 if signed else 2**bits - 1)
    by_low, by_high = first * low > 0.0, last * high > 0.0
    down = where(by_low, first / where(by_low, low, -1.0), _INFINITE)
    up = where(by_high, last / where(by_high, high, 1.0), _INFINITE)
    low_decides = down < up
    scale = where(low_decides, down, up)
    back = where(low_decides, low / (first or 1.0), high / (last or 1.0))
    inside = x
    if given:
        ends = where(low_decides, low, first * back), where(low_decides, last * back, high)
        inside = clip_by_value(x, spread(ends[0]), spread(ends[1]))
    scaled = inside * spread(scale)
    whole = round_(scaled) if round_mode == "HALF_TO_EVEN" else floor(scaled + 0.5)
    y = whole * spread(back)
    return stop_gradient(where(spread(scale) >= _INFINITE, zeros_like(y), y))


def _half_away(x: Tensor) -> Tensor:
    """To the nearest integer; halves away from zero."""
    return sign(x) * floor(abs_(x) + 0.5)


# Arguments.


def _inexact(op: str, input: Any) -> Tensor:
    x = convert_to_tensor(input)
    if not x.dtype.is_floating:
        raise DTypeError(None, None, f"{op}: input must be floats, got {x.dtype.name}")
    return x


def _quantized(op: str, kind: Any) -> DType:
    found = as_dtype(kind)
    if not found.is_quantized:
        raise DTypeError(
            None,
            None,
            f"{op}: T must be tf.qint8, tf.quint8, tf.qint16, tf.quint16 or tf.qint32, got {found!r}",
        )
    return found


def _limits(kind: DType, narrow: bool) -> tuple[int, int]:
    bits = 8 * kind.size
    signed = kind.np_dtype.kind == "i"
    first = -(2 ** (bits - 1)) + int(bool(narrow)) if signed else 0
    return first, (2 ** (bits - 1) if signed else 2**bits) - 1


def _check_mode(op: str, mode: Any, round_mode: Any = None) -> None:
    if mode not in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        raise invalid(
            f"{op}: mode must be 'MIN_COMBINED', 'MIN_FIRST' or 'SCALED', got {shown(mode)}"
        )
    if round_mode not in (None, "HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"):
        raise invalid(
            f"{op}: round_mode must be 'HALF_AWAY_FROM_ZERO' or 'HALF_TO_EVEN', got {shown(round_mode)}"
        )
    if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
        raise invalid(f"{op}: round_mode 'HALF_TO_EVEN' needs mode 'SCALED', got {shown(mode)}")


def _ranges(op: str, x: Tensor, low: Any, high: Any, axis: Any) -> tuple[Tensor, Tensor, Any]:
    """Both ends, and what lays numbers of the ends along their axis of `x`."""
    dtype = x.dtype if x.dtype.is_floating else dtypes.float32
    low, high = convert_to_tensor(low, dtype), convert_to_tensor(high, dtype)
    wanted: tuple[Any, ...] = ()
    shape: tuple[Any, ...] = ()
    if axis is not None:
        rank = len(x._array.shape)
        at = axis_of(op, axis, rank)
        wanted = (x._array.shape[at],)
        shape = (*(1,) * at, x._array.shape[at], *(1,) * (rank - at - 1))
    for end in (low, high):
        if end._array.shape != wanted:
            raise invalid(
                f"{op}: the ends of the range must have the shape {list(wanted)}, got {list(end.shape)}"
            )
    return low, high, (lambda end: reshape(end, shape)) if shape else (lambda end: end)
