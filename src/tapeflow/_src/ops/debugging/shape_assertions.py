"""`tf.debugging`: assertions about ranks, shapes and dtypes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import invalid, shown, wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.effects.place import is_symbolic_tensor
from tapeflow._src.ops.effects.run_time import at_run_time


@export("assert_rank", "debugging.assert_rank")
def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Asserts that a tensor has `rank` dimensions.

    >>> tf.debugging.assert_rank([[1, 2]], 2)
    """
    x = convert_to_tensor(x)
    if is_symbolic_tensor(rank):
        return _at_run_time(assert_rank, x, _checked_rank(rank), message)
    wanted = _rank(rank)
    if x.ndim != wanted:
        raise _wrong_rank(message, f"{wanted}", x)


@export("debugging.assert_rank_at_least")
def assert_rank_at_least(
    x: Any, rank: Any, message: str | None = None, name: str | None = None
) -> None:
    """Asserts that a tensor has `rank` dimensions or more.

    >>> tf.debugging.assert_rank_at_least([[1, 2]], 1)
    """
    x = convert_to_tensor(x)
    if is_symbolic_tensor(rank):
        return _at_run_time(assert_rank_at_least, x, _checked_rank(rank), message)
    wanted = _rank(rank)
    if x.ndim < wanted:
        raise _wrong_rank(message, f"at least {wanted}", x)


@export("debugging.assert_rank_in")
def assert_rank_in(
    x: Any, ranks: Iterable[Any], message: str | None = None, name: str | None = None
) -> None:
    """Asserts that the number of dimensions is one of `ranks`.

    >>> tf.debugging.assert_rank_in([[1, 2]], (1, 2))
    """
    x, ranks = convert_to_tensor(x), tuple(ranks)
    if any(map(is_symbolic_tensor, ranks)):
        return _at_run_time(assert_rank_in, x, [*map(_checked_rank, ranks)], message)
    wanted = tuple(_rank(r) for r in ranks)
    if x.ndim not in wanted:
        raise _wrong_rank(message, f"in {wanted}", x)


@export("debugging.assert_scalar")
def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Asserts that a tensor is a scalar.

    >>> tf.debugging.assert_scalar(3.0)
    """
    tensor = convert_to_tensor(tensor)
    if tensor.ndim:
        raise ValueError(_with(message, f"Expected a scalar, got a tensor of shape {tensor.shape}"))


@export("debugging.assert_type")
def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """Asserts that a tensor has a dtype.

    >>> tf.debugging.assert_type(tf.constant(1.0), tf.float32)
    """
    wanted, found = as_dtype(tf_type), convert_to_tensor(tensor).dtype
    if found is not wanted:
        raise TypeError(_with(message, f"Expected a tensor of dtype {wanted!r}, got {found!r}"))


@export("debugging.assert_integer")
def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Asserts that a tensor holds integers.

    >>> tf.debugging.assert_integer([1, 2])
    """
    found = convert_to_tensor(x).dtype
    if not found.is_integer:
        raise TypeError(
            _with(message, f"Expected x to hold integers, got a tensor of dtype {found!r}")
        )


@export("debugging.assert_same_float_dtype")
def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: Any = None) -> DType:
    """Asserts that all tensors have one floating-point dtype, and returns it.

    >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(2.0)])
    tf.float32

    Args:
      tensors: the tensors. Without any, the result is `dtype`, or float32.
      dtype: the dtype they must have, if it is known.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    for tensor in tensors or ():
        if tensor is None:
            continue
        if not hasattr(tensor, "dtype"):
            raise wrong_object("assert_same_float_dtype", "each of tensors", "a tensor", tensor)
        found = as_dtype(tensor.dtype)
        if wanted is None:
            wanted = found
        elif found is not wanted:
            raise ValueError(f"Expected all tensors to have dtype {wanted!r}, got {shown(tensor)}")
    wanted = dtypes.float32 if wanted is None else wanted
    if not wanted.is_floating:
        raise ValueError(f"Expected a floating-point dtype, got {wanted!r}")
    return wanted


@export("debugging.assert_proper_iterable")
def assert_proper_iterable(values: Any) -> None:
    """Asserts that something is a list or the like, and not a tensor, array or text, which can be iterated by chance.

    >>> tf.debugging.assert_proper_iterable([1, 2])
    """
    if isinstance(values, (Tensor, np.ndarray, str, bytes)) or hasattr(values, "__tf_tensor__"):
        raise TypeError(f"Expected a list or the like, got {type(values).__name__}")
    if not hasattr(values, "__iter__"):
        raise TypeError(f"Expected something to iterate over, got {type(values).__name__}")


@export("debugging.is_numeric_tensor")
def is_numeric_tensor(tensor: Any) -> bool:
    """Whether something is a tensor of numbers.

    >>> tf.debugging.is_numeric_tensor(tf.constant(1.0)), tf.debugging.is_numeric_tensor(1.0)
    (True, False)
    """
    return isinstance(tensor, Tensor) and not (
        tensor.dtype.is_bool or tensor.dtype is dtypes.string
    )


@export("debugging.assert_shapes")
def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Asserts the shapes of several tensors, and how their dimensions agree.

    >>> x, y = tf.ones([8, 3]), tf.ones([8, 1])
    >>> tf.debugging.assert_shapes([(x, ("N", "features")), (y, ("N", 1))])

    Args:
      shapes: pairs of a tensor and its shape, or a dict of them by `Tensor.ref()`. A dimension is a number, a name,
        which must stand for one size everywhere, or `None` or `"."` for any size; `...` or `"*"` as the first one
        stands for any number of dimensions.
      data: accepted for compatibility.
      summarize: accepted for compatibility.
      message: what to say first if it does not hold.
      name: accepted for compatibility.
    """
    pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    sizes: dict[Any, tuple[int, str]] = {}
    for number, (value, shape) in enumerate(pairs):
        tensor = convert_to_tensor(value.deref() if hasattr(value, "deref") else value)
        _match(message, number, tensor, _symbols(message, number, tensor, shape), sizes)


def _symbols(message: str | None, number: int, tensor: Tensor, shape: Any) -> list[Any]:
    if isinstance(shape, TensorShape):
        return shape.as_list()
    if not hasattr(shape, "__iter__"):
        raise ValueError(
            _with(
                message,
                f"{_which(number, tensor)}: its shape must be a list of dimensions, got {shown(shape)}",
            )
        )
    symbols = list(shape)
    for i, symbol in enumerate(symbols):
        if i and symbol in (..., "*"):
            raise ValueError(
                _with(
                    message,
                    f"{_which(number, tensor)}: '...' or '*' may only be the first dimension",
                )
            )
    return symbols


def _match(
    message: str | None,
    number: int,
    tensor: Tensor,
    symbols: list[Any],
    sizes: dict[Any, tuple[int, str]],
) -> None:
    shape = tensor._array.shape
    open_front = bool(symbols) and symbols[0] in (..., "*")
    symbols = symbols[1:] if open_front else symbols
    # One named dimension may also be a scalar's, as in TensorFlow.
    fits = (
        len(shape) >= len(symbols)
        if open_front
        else len(shape) == len(symbols) or (len(symbols) == 1 and not shape)
    )
    if not fits:
        wanted = f"at least {len(symbols)}" if open_front else str(len(symbols))
        raise ValueError(
            _with(
                message, f"{_which(number, tensor)} must have rank {wanted}, and has {len(shape)}"
            )
        )
    if not shape:
        shape = (1,) * len(symbols)
    first = len(shape) - len(symbols)
    for axis, symbol in enumerate(symbols, first):
        if symbol is None or symbol == ".":
            continue
        size = shape[axis]
        where = f"dimension {axis} of {_which(number, tensor)}"
        if isinstance(symbol, str) and not symbol.isdigit():
            wanted, origin = sizes.setdefault(symbol, (size, where))
            reason = f" ({shown(symbol)}, from {origin})"
        else:
            wanted, reason = _dimension(symbol), ""
        if size != wanted:
            raise ValueError(_with(message, f"{where} must be {wanted}{reason}, and is {size}"))


# The pieces.


def _dimension(symbol: Any) -> int:
    try:
        return int(symbol)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"assert_shapes: {shown(symbol)} is no dimension") from None


def _rank(rank: Any) -> int:
    return int(_checked_rank(rank))


def _checked_rank(rank: Any) -> Tensor:
    tensor = convert_to_tensor(rank)
    if tensor.ndim:
        raise ValueError(f"A rank must be a scalar, got {shown(rank)}")
    if not tensor.dtype.is_integer:
        raise TypeError(f"A rank must be an integer, got {shown(rank)}")
    return tensor


@at_run_time
def _at_run_time(check: Callable[..., None], x: Any, rank: Any, message: str | None) -> None:
    """An assertion about a rank that is known only when the function runs. A failure is then one of an op."""
    try:
        check(x, rank, message)
    except ValueError as error:
        raise invalid(str(error)) from None


def _wrong_rank(message: str | None, wanted: str, x: Tensor) -> ValueError:
    return ValueError(
        _with(message, f"Tensor must have rank {wanted}. Received rank {x.ndim}, shape {x.shape}")
    )


def _which(number: int, tensor: Tensor) -> str:
    return f"tensor {number} (shape={tensor.shape} dtype={tensor.dtype.name})"


def _with(message: str | None, text: str) -> str:
    return f"{message}. {text}" if message else text
