"""Rounding to the levels of a few bits while staying in floats, for training that knows of the rounding.

The gradient is that of the identity within the range, as if nothing had been rounded; beyond it, it goes to the end of
the range that the number was moved to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, number
from tapeflow._src.ops.array.creation import zeros_like
from tapeflow._src.ops.array.shaping import stop_gradient
from tapeflow._src.ops.elementwise.arithmetic import floor, maximum, minimum
from tapeflow._src.ops.indexing.gathering import where
from tapeflow._src.ops.reduction.reducing import reduce_sum


class Range(NamedTuple):
    """The levels: the first and the last, moved so that zero is one of them, and the distance between two."""

    low: Tensor
    high: Tensor
    step: Tensor


@export("quantization.fake_quant_with_min_max_args")
def fake_quant_with_min_max_args(
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """Rounds to `2 ** num_bits` levels between two numbers, one of which is zero.

    >>> tf.quantization.fake_quant_with_min_max_args([-9.0, 0.2, 2.0], min=-1.0, max=2.5, num_bits=3).numpy().round(4)
    array([-1.,  0.,  2.], dtype=float32)

    Args:
      inputs: floats.
      min: the least level, which is moved a little for zero to be a level.
      max: the largest level.
      num_bits: from 2 to 16.
      narrow_range: whether there is one level less.
      name: accepted for compatibility.
    """
    op = "fake_quant_with_min_max_args"
    low, high = _numbers(op, min, max)
    return _rounded(_floats(op, inputs), low, high, *_levels(op, num_bits, narrow_range))


@export("quantization.fake_quant_with_min_max_args_gradient")
def fake_quant_with_min_max_args_gradient(
    gradients: Any,
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """What `tf.quantization.fake_quant_with_min_max_args` makes of the gradient of its result.

    >>> tf.quantization.fake_quant_with_min_max_args_gradient([1.0, 1.0], [2.0, 9.0]).numpy()
    array([1., 0.], dtype=float32)
    """
    op = "fake_quant_with_min_max_args_gradient"
    low, high = _numbers(op, min, max)
    given, x = _pair(op, gradients, inputs)
    return _parts(given, x, low, high, *_levels(op, num_bits, narrow_range))[0]


@export("quantization.fake_quant_with_min_max_vars")
def fake_quant_with_min_max_vars(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The same as `tf.quantization.fake_quant_with_min_max_args` for a range that is learned, too.

    >>> low, high = tf.Variable(-1.0), tf.Variable(2.5)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.quantization.fake_quant_with_min_max_vars([-9.0, 0.2, 7.0, 8.0], low, high, num_bits=3)
    >>> [round(float(g), 4) for g in tape.gradient(y, [low, high])]
    [1.0, 2.0]
    """
    op = "fake_quant_with_min_max_vars"
    x = _floats(op, inputs)
    low, high = _ends(op, min, max, ())
    return _rounded(x, low, high, *_levels(op, num_bits, narrow_range))


class FakeQuantWithMinMaxVarsGradient(NamedTuple):
    """What `tf.quantization.fake_quant_with_min_max_vars_gradient` gives."""

    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor


class FakeQuantWithMinMaxVarsPerChannelGradient(NamedTuple):
    """What `tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient` gives."""

    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor


@export("quantization.fake_quant_with_min_max_vars_gradient")
def fake_quant_with_min_max_vars_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> FakeQuantWithMinMaxVarsGradient:
    """What `tf.quantization.fake_quant_with_min_max_vars` makes of the gradient of its result.

    >>> found = tf.quantization.fake_quant_with_min_max_vars_gradient([1.0, 1.0], [2.0, 9.0], -6.0, 6.0)
    >>> found.backprops_wrt_input.numpy(), float(found.backprop_wrt_max)
    (array([1., 0.], dtype=float32), 1.0)
    """
    op = "fake_quant_with_min_max_vars_gradient"
    given, x = _pair(op, gradients, inputs)
    low, high = _ends(op, min, max, ())
    whole, below, above = _parts(given, x, low, high, *_levels(op, num_bits, narrow_range))
    return FakeQuantWithMinMaxVarsGradient(whole, reduce_sum(below), reduce_sum(above))


@export("quantization.fake_quant_with_min_max_vars_per_channel")
def fake_quant_with_min_max_vars_per_channel(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    """The same with a range for each channel, which are in the last dimension.

    >>> x = tf.constant([[3.0, 3.0]])
    >>> tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [-1.0, -4.0], [2.5, 3.0], num_bits=3).numpy()
    array([[2.5, 3. ]], dtype=float32)
    """
    op = "fake_quant_with_min_max_vars_per_channel"
    x = _floats(op, inputs)
    low, high = _ends(op, min, max, _channels(op, x))
    return _rounded(x, low, high, *_levels(op, num_bits, narrow_range))


@export("quantization.fake_quant_with_min_max_vars_per_channel_gradient")
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> FakeQuantWithMinMaxVarsPerChannelGradient:
    """What `tf.quantization.fake_quant_with_min_max_vars_per_channel` makes of the gradient of its result.

    >>> one, x = tf.ones([1, 2]), tf.constant([[3.0, 3.0]])
    >>> found = tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(one, x, [-1.0, -4.0], [2.0, 3.5])
    >>> found.backprops_wrt_input.numpy(), found.backprop_wrt_max.numpy()
    (array([[0., 1.]], dtype=float32), array([1., 0.], dtype=float32))
    """
    op = "fake_quant_with_min_max_vars_per_channel_gradient"
    given, x = _pair(op, gradients, inputs)
    low, high = _ends(op, min, max, _channels(op, x))
    whole, below, above = _parts(given, x, low, high, *_levels(op, num_bits, narrow_range))
    axes = list(range(len(x._array.shape) - 1))
    return FakeQuantWithMinMaxVarsPerChannelGradient(
        whole, reduce_sum(below, axis=axes), reduce_sum(above, axis=axes)
    )


# Arguments.


def _floats(op: str, inputs: Any) -> Tensor:
    return convert_to_tensor(inputs, dtypes.float32)


def _pair(op: str, gradients: Any, inputs: Any) -> tuple[Tensor, Tensor]:
    given, x = _floats(op, gradients), _floats(op, inputs)
    if given._array.shape != x._array.shape:
        raise invalid(
            f"{op}: gradients and inputs must have the same shape, got {given.shape} and {x.shape}"
        )
    return given, x


def _numbers(op: str, low: Any, high: Any) -> tuple[Tensor, Tensor]:
    low, high = number(op, "min", low), number(op, "max", high)
    if low >= high:
        raise invalid(f"{op}: min has to be smaller than max, got {low} and {high}")
    return _floats(op, low), _floats(op, high)


def _channels(op: str, x: Tensor) -> tuple[Any, ...]:
    if not x._array.shape:
        raise invalid(f"{op}: inputs must have a last dimension of channels, got a scalar")
    return x._array.shape[-1:]


def _ends(op: str, low: Any, high: Any, shape: tuple[Any, ...]) -> tuple[Tensor, Tensor]:
    found = []
    for argument, value in (("min", low), ("max", high)):
        end = _floats(op, value)
        if end._array.shape != shape:
            raise invalid(
                f"{op}: {argument} must have the shape {list(shape)}, got {list(end.shape)}"
            )
        found.append(end)
    return found[0], found[1]


def _levels(op: str, num_bits: Any, narrow_range: Any) -> tuple[int, int]:
    bits = integer(op, "num_bits", num_bits)
    if not 2 <= bits <= 16:
        raise invalid(f"{op}: num_bits must be from 2 to 16, got {bits}")
    return int(bool(narrow_range)), 2**bits - 1


# Rounding.


def _range(low: Tensor, high: Tensor, first: int, last: int) -> Range:
    step = (high - low) / float(last - first)
    zero = first - low / step
    inside = minimum(maximum(floor(zero + 0.5), float(first)), float(last))
    return Range((first - inside) * step, (last - inside) * step, step)


def _rounded(x: Tensor, low: Tensor, high: Tensor, first: int, last: int) -> Tensor:
    ends = _range(low, high, first, last)
    inner = minimum(maximum(x, ends.low), ends.high)
    per_step = 1.0 / ends.step
    zero = floor(0.5 - ends.low * per_step)
    y = floor((inner - ends.low) * per_step - zero + 0.5) * ends.step
    # No range at all stands for zeros, which let gradients pass.
    nothing = (low == 0.0) & (high == 0.0)
    y = where(nothing, zeros_like(y), y)
    # What follows is zero, and has the gradients.
    below, above = x < ends.low, x > ends.high
    ends_moved = where(below, low - stop_gradient(low), high - stop_gradient(high))
    outside = ~nothing & (below | above)
    kept = where(outside, stop_gradient(x), x)
    return stop_gradient(y) + where(outside, ends_moved, kept - stop_gradient(x))


def _parts(
    given: Tensor, x: Tensor, low: Tensor, high: Tensor, first: int, last: int
) -> tuple[Tensor, Tensor, Tensor]:
    """A gradient in three parts: for the numbers within the range, below and above it."""
    ends = _range(low, high, first, last)
    nothing = (low == 0.0) & (high == 0.0)
    below, above = ~nothing & (x < ends.low), ~nothing & (x > ends.high)
    zero = zeros_like(given)
    return (
        where(below | above, zero, given),
        where(below, given, zero),
        where(above, given, zero),
    )
