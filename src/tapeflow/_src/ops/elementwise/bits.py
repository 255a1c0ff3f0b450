"""`tf.bitwise`: logic and shifts on the bits of integers. None has a gradient.

`name` is accepted for compatibility.
"""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.elementwise.builders import coerce


@export("bitwise.bitwise_and")
def bitwise_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits that are set in both, for each pair of integers.

    >>> tf.bitwise.bitwise_and([6, 5], 3).numpy()
    array([2, 1], dtype=int32)
    """
    return binary.bitwise_and(x, y)


@export("bitwise.bitwise_or")
def bitwise_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits that are set in one or both, for each pair of integers.

    >>> tf.bitwise.bitwise_or([6, 5], 3).numpy()
    array([7, 7], dtype=int32)
    """
    return binary.bitwise_or(x, y)


@export("bitwise.bitwise_xor")
def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits that are set in one and only one, for each pair of integers.

    >>> tf.bitwise.bitwise_xor([6, 5], 3).numpy()
    array([5, 6], dtype=int32)
    """
    return binary.bitwise_xor(x, y)


@export("bitwise.invert")
def invert(x: Any, name: str | None = None) -> Tensor:
    """The opposite of every bit.

    >>> tf.bitwise.invert([0, 5]).numpy()
    array([-1, -6], dtype=int32)
    """
    return unary.invert(x)


@export("bitwise.left_shift")
def left_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits of `x` moved up by `y` places.

    >>> tf.bitwise.left_shift([1, 3], 2).numpy()
    array([ 4, 12], dtype=int32)

    Numbers of places that are negative count as 0, and those beyond the width of the dtype as one less than it.
    """
    return binary.left_shift(*_operands(x, y))


@export("bitwise.right_shift")
def right_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits of `x` moved down by `y` places; the sign stays.

    >>> tf.bitwise.right_shift([-8, 12], 2).numpy()
    array([-2,  3], dtype=int32)

    Numbers of places are limited as in `tf.bitwise.left_shift`.
    """
    return binary.right_shift(*_operands(x, y))


def _operands(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Both as tensors, the second within what a processor can shift by."""
    x, y = coerce(x, y)
    if y.dtype.is_integer:
        y = binary.minimum(binary.maximum(y, 0), 8 * y.dtype.size - 1)
    return x, y
