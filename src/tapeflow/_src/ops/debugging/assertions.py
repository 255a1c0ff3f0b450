"""`tf.debugging`: assertions about values.

An assertion that holds returns None and changes nothing. One that does not raises
`tf.errors.InvalidArgumentError` with the values. Assertions about shapes and dtypes are in
`tapeflow._src.ops.debugging.shape_assertions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import bool_
from tapeflow._src.core.errors import InvalidArgumentError, invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import RemoteTensor
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, number
from tapeflow._src.ops.effects.printing import tensor_text
from tapeflow._src.ops.effects.run_time import at_run_time
from tapeflow._src.ops.elementwise.arithmetic import abs as absolute
from tapeflow._src.primitives.array import checks
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.reduction import reducing


@export("Assert", "debugging.Assert")
def Assert(
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises unless `condition` is true, with the values in `data`.

    >>> x = tf.constant([1.0, 2.0])
    >>> tf.debugging.Assert(tf.reduce_all(x > 0.0), [x])

    Args:
      condition: a scalar, inside `tf.function` of dtype bool.
      data: what to show if it is not true: a list of tensors and texts.
      summarize: how many elements of each to show at both ends; 3 by default, -1 for all.
      name: accepted for compatibility.
    """
    if context.tracer is not None:
        condition = convert_to_tensor(condition, dtype_hint=bool_)
        if not condition.dtype.is_bool:
            raise TypeError(
                f"tf.debugging.Assert: inside tf.function condition must have dtype bool, got {condition.dtype.name}"
            )
        if condition._array.ndim:
            raise invalid(
                "tf.debugging.Assert: inside tf.function condition must be a scalar, got shape "
                f"{condition.shape}. Use tf.reduce_all or tf.reduce_any."
            )
    Assert_(condition, data, summarize)


@at_run_time
def Assert_(condition: Any, data: Any, summarize: int | None) -> None:
    """The same when the value is there."""
    if condition:
        return
    parts = [_shown(convert_to_tensor(x), summarize) for x in data]
    raise invalid("Assertion failed. " + "\n".join(parts))


@export("assert_equal", "debugging.assert_equal")
def assert_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Asserts `x == y` for all elements.

    >>> tf.debugging.assert_equal(tf.constant([1, 2]), [1, 2])

    Args:
      x: a tensor.
      y: a tensor that broadcasts with it.
      message: what to say first if it does not hold.
      summarize: how many values to show; 3 by default, -1 for all.
      name: accepted for compatibility.
    """
    _compare("assert_equal", "==", binary.equal, x, y, message, summarize)


@export("debugging.assert_none_equal")
def assert_none_equal(
    x: Any,
    y: Any,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Asserts `x != y` for all elements.

    >>> tf.debugging.assert_none_equal([1, 2], [2, 1])
    """
    _compare("assert_none_equal", "!=", binary.not_equal, x, y, message, summarize)


@export("assert_less", "debugging.assert_less")
def assert_less(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Asserts `x < y` for all elements.

    >>> tf.debugging.assert_less([1, 2], 3)
    """
    _compare("assert_less", "<", binary.less, x, y, message, summarize)


@export("debugging.assert_less_equal")
def assert_less_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Asserts `x <= y` for all elements.

    >>> tf.debugging.assert_less_equal([1, 2], 2)
    """
    _compare("assert_less_equal", "<=", binary.less_equal, x, y, message, summarize)


@export("assert_greater", "debugging.assert_greater")
def assert_greater(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Asserts `x > y` for all elements.

    >>> tf.debugging.assert_greater([1.0, 2.0], 0.5)
    """
    _compare("assert_greater", ">", binary.greater, x, y, message, summarize)


@export("debugging.assert_greater_equal")
def assert_greater_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Asserts `x >= y` for all elements.

    >>> tf.debugging.assert_greater_equal([1.0, 2.0], 1.0)
    """
    _compare("assert_greater_equal", ">=", binary.greater_equal, x, y, message, summarize)


@export("debugging.assert_negative")
def assert_negative(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Asserts `x < 0` for all elements.

    >>> tf.debugging.assert_negative([-1, -2])
    """
    _compare("assert_negative", "<", binary.less, x, None, message, summarize)


@export("debugging.assert_positive")
def assert_positive(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Asserts `x > 0` for all elements.

    >>> tf.debugging.assert_positive([1, 2])
    """
    _compare("assert_positive", ">", binary.greater, x, None, message, summarize)


@export("debugging.assert_non_negative")
def assert_non_negative(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Asserts `x >= 0` for all elements.

    >>> tf.debugging.assert_non_negative([0, 2])
    """
    _compare("assert_non_negative", ">=", binary.greater_equal, x, None, message, summarize)


@export("debugging.assert_non_positive")
def assert_non_positive(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> None:
    """Asserts `x <= 0` for all elements.

    >>> tf.debugging.assert_non_positive([0, -2])
    """
    _compare("assert_non_positive", "<=", binary.less_equal, x, None, message, summarize)


@export("debugging.assert_near")
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Asserts `|x - y| <= atol + rtol * |y|` for all elements.

    >>> tf.debugging.assert_near(1.0, 1.0 + 1e-7)

    Args:
      x: a tensor of floats or complex numbers.
      y: a tensor that broadcasts with it.
      rtol: the relative tolerance; ten times the precision of the dtype by default.
      atol: the absolute tolerance; the same by default.
      message: what to say first if it does not hold.
      summarize: how many values to show; 3 by default, -1 for all.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(x)
    y = convert_to_tensor(y, x.dtype)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise ValueError(f"assert_near: x must hold floats or complex numbers, got {x.dtype.name}")
    epsilon = 10.0 * float(ml_dtypes.finfo(x.dtype.real_dtype.np_dtype).eps)
    rtol = number("assert_near", "rtol", epsilon if rtol is None else rtol)
    atol = number("assert_near", "atol", epsilon if atol is None else atol)

    def near(a: Tensor, b: Tensor) -> Tensor:
        return binary.less_equal(absolute(a - b), atol + rtol * absolute(b))

    _compare(
        "assert_near", f"near (rtol={rtol:.3g}, atol={atol:.3g})", near, x, y, message, summarize
    )


@export("debugging.assert_all_finite")
def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """Asserts that no element is NaN or infinite, and returns the tensor.

    >>> tf.debugging.assert_all_finite([1.0, 2.0], "weights").numpy()
    array([1., 2.], dtype=float32)
    """
    return checks.check_numerics(x, message=message)


@export("debugging.check_numerics")
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """Returns the tensor if all its elements are finite, and raises otherwise. Gradients are checked too.

    >>> try:
    ...     tf.debugging.check_numerics([1.0, float("nan")], "loss")
    ... except tf.errors.InvalidArgumentError as error:
    ...     print(error.message)
    loss : Tensor had NaN values (1 NaN of 2 elements, shape [2])

    Args:
      tensor: a tensor of floats.
      message: what to say first if it is not finite.
      name: accepted for compatibility.
    """
    return checks.check_numerics(tensor, message=message)


# The pieces.


@at_run_time
def _compare(
    op: str,
    sign: str,
    relation: Callable[[Any, Any], Tensor],
    x: Any,
    y: Any,
    message: str | None,
    summarize: int | None,
) -> None:
    other = "y" if y is not None else "0"
    x = convert_to_tensor(x)
    # Each has a dtype of its own, and the comparison refuses two: an assertion should not convert.
    y = convert_to_tensor(0, x.dtype) if y is None else convert_to_tensor(y)
    held = relation(x, y)
    if type(held) is RemoteTensor:  # one bit is copied, and the rest only if something is wrong
        whole = reducing.all_(held, axis=tuple(range(held._array.ndim)), keepdims=False)
        if bool(whole):
            return
    holds = np.asarray(held._array)
    if holds.all():
        return
    failing = np.argwhere(~holds)
    count = 3 if summarize is None else integer(op, "summarize", summarize)
    count = len(failing) if count < 0 else count
    a, b = (np.broadcast_to(np.asarray(t._array), holds.shape) for t in (x, y))
    lines = [message] if message else []
    lines.append(
        f"{op}: Condition x {sign} {other} did not hold for {len(failing)} of {holds.size} elements"
    )
    for index in failing[:count]:
        where = tuple(index.tolist())
        at = f"at {list(where)}: " if where else ""
        lines.append(f"  {at}x = {_number(a[where])}, y = {_number(b[where])}")
    if len(failing) > count:
        lines.append("  ...")
    lines += [f"{n} ({_kind(t)}) = {tensor_text(t, count)}" for n, t in (("x", x), ("y", y))]
    raise InvalidArgumentError(None, None, "\n".join(lines))


def _number(value: Any) -> str:
    return repr(value) if isinstance(value, (bytes, str)) else str(value)


def _kind(tensor: Tensor) -> str:
    return f"shape={tensor.shape} dtype={tensor.dtype.name}"


def _shown(tensor: Tensor, summarize: int | None) -> str:
    array = tensor._array
    if not array.ndim and tensor.dtype.name == "string":
        value = array[()]
        return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return tensor_text(tensor, 3 if summarize is None else summarize)
