"""`tf.compat.v1.assert_*`: TensorFlow 1's order of arguments, with what to show of a failure before the message."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.ops.debugging import assertions, shape_assertions


@export("compat.v1.assert_equal", "compat.v1.debugging.assert_equal")
def assert_equal(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x == y` for all elements; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_equal(1, 1)
    """
    return assertions.assert_equal(x, y, message=message, summarize=summarize)


@export("compat.v1.assert_none_equal", "compat.v1.debugging.assert_none_equal")
def assert_none_equal(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x != y` for all elements; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_none_equal(1, 2)
    """
    return assertions.assert_none_equal(x, y, message=message, summarize=summarize)


@export("compat.v1.assert_less", "compat.v1.debugging.assert_less")
def assert_less(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x < y` for all elements; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_less(1, 2)
    """
    return assertions.assert_less(x, y, message=message, summarize=summarize)


@export("compat.v1.assert_less_equal", "compat.v1.debugging.assert_less_equal")
def assert_less_equal(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x <= y` for all elements; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_less_equal(1, 1)
    """
    return assertions.assert_less_equal(x, y, message=message, summarize=summarize)


@export("compat.v1.assert_greater", "compat.v1.debugging.assert_greater")
def assert_greater(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x > y` for all elements; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_greater(2, 1)
    """
    return assertions.assert_greater(x, y, message=message, summarize=summarize)


@export("compat.v1.assert_greater_equal", "compat.v1.debugging.assert_greater_equal")
def assert_greater_equal(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x >= y` for all elements; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_greater_equal(1, 1)
    """
    return assertions.assert_greater_equal(x, y, message=message, summarize=summarize)


@export("compat.v1.assert_negative", "compat.v1.debugging.assert_negative")
def assert_negative(
    x: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x < 0` for all elements; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_negative(-1)
    """
    return assertions.assert_negative(x, message=message, summarize=summarize)


@export("compat.v1.assert_positive", "compat.v1.debugging.assert_positive")
def assert_positive(
    x: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x > 0` for all elements; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_positive(1)
    """
    return assertions.assert_positive(x, message=message, summarize=summarize)


@export("compat.v1.assert_non_negative", "compat.v1.debugging.assert_non_negative")
def assert_non_negative(
    x: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x >= 0` for all elements; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_non_negative(0)
    """
    return assertions.assert_non_negative(x, message=message, summarize=summarize)


@export("compat.v1.assert_non_positive", "compat.v1.debugging.assert_non_positive")
def assert_non_positive(
    x: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x <= 0` for all elements; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_non_positive(0)
    """
    return assertions.assert_non_positive(x, message=message, summarize=summarize)


@export("compat.v1.assert_rank", "compat.v1.debugging.assert_rank")
def assert_rank(
    x: Any,
    rank: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x` has so many dimensions; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_rank([1, 2], 1)
    """
    return shape_assertions.assert_rank(x, rank, message=message)


@export("compat.v1.assert_rank_at_least", "compat.v1.debugging.assert_rank_at_least")
def assert_rank_at_least(
    x: Any,
    rank: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Raises unless `x` has so many dimensions, or more; `data` is accepted for compatibility.

    >>> tf.compat.v1.assert_rank_at_least([[1, 2]], 1)
    """
    return shape_assertions.assert_rank_at_least(x, rank, message=message)
