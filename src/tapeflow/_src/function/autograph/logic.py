"""`and`, `or`, `not`, comparisons and `assert`, on symbolic tensors and on everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.autograph import symbolic
from tapeflow._src.function.autograph.branches import condition, decide, notes
from tapeflow._src.function.autograph.errors import here
from tapeflow._src.ops.debugging.assertions import Assert
from tapeflow._src.ops.elementwise.logic import equal, logical_not, not_equal

Thunk = Callable[[], Any]


def and_(a: Thunk, b: Thunk) -> Any:
    """`a and b`: `b` is evaluated only if `a` is true, also when that is known only at run time."""
    left = symbolic.read(a())
    if not symbolic.is_symbolic(left):
        return left and b()
    left = condition(left, "`and`")
    return decide(left, lambda: (_operand(b(), "and"),), lambda: (left,), ("and",))[0]


def or_(a: Thunk, b: Thunk) -> Any:
    """`a or b`: `b` is evaluated only if `a` is false."""
    left = symbolic.read(a())
    if not symbolic.is_symbolic(left):
        return left or b()
    left = condition(left, "`or`")
    return decide(left, lambda: (left,), lambda: (_operand(b(), "or"),), ("or",))[0]


def _operand(value: Any, operator: str) -> Any:
    value = symbolic.read(value)
    if isinstance(value, Tensor):
        return condition(value, f"`{operator}`")
    if not isinstance(value, bool):
        raise TypeError(
            f"`{operator}` of a symbolic tensor takes bools, got {value!r} of type {type(value).__name__}{here()}"
        )
    return value


def not_(a: Any) -> Any:
    """`not a`."""
    value = symbolic.read(a)
    if not symbolic.is_symbolic(value):
        return not value
    result = logical_not(condition(value, "`not`"))
    notes.negation = (result, a)
    return result


def eq(a: Any, b: Any) -> Any:
    """`a == b`."""
    return equal(a, b) if symbolic.is_symbolic(a) or symbolic.is_symbolic(b) else a == b


def not_eq(a: Any, b: Any) -> Any:
    """`a != b`."""
    return not_equal(a, b) if symbolic.is_symbolic(a) or symbolic.is_symbolic(b) else a != b


def chain(left: Any, *links: tuple[Callable[[Any, Any], Any], Thunk]) -> Any:
    """`left < b < c`, with a pair for each comparison: the comparison, and its right side."""
    (compare, right), *rest = links
    value = right()
    result = compare(left, value)
    if not rest:
        return result
    return and_(lambda: result, lambda: chain(value, *rest))


def assert_stmt(test: Any, message: Thunk) -> None:
    """`assert test, message()`; of a symbolic test, when the function runs."""
    test = symbolic.read(test)
    if symbolic.is_symbolic(test):
        if __debug__:
            text = message()
            Assert(condition(test, "assert statement"), [] if text is None else [text])
        return
    text = _NOTHING
    if __debug__ and not test:
        text = message()
        raise AssertionError(text) if text is not None else AssertionError


_NOTHING = None
