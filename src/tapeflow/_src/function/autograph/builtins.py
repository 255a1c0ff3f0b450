"""Python's built-in functions on symbolic tensors. On everything else they are Python's own."""

from __future__ import annotations

import builtins as python
import sys
from collections.abc import Callable
from typing import Any

from tapeflow._src.core.dtypes import bool_, float32, int32
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.autograph import iterables, symbolic
from tapeflow._src.function.autograph.errors import here
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.control.tensor_array import TensorArray
from tapeflow._src.ops.effects.printing import print_ as tf_print
from tapeflow._src.ops.elementwise import arithmetic
from tapeflow._src.ops.reduction import reducing
from tapeflow._src.ops.reduction.sorting import sort


def overload_of(function: Any, print_is_converted: bool) -> Callable[..., Any]:
    """What converted code calls in the place of a built-in function."""
    if function is python.print and not print_is_converted:
        return function
    try:
        return _OVERLOADS.get(function) or function
    except TypeError:  # not hashable
        return function


def len_(x: Any) -> Any:
    """`len(x)`: the size of the first dimension, as an int if it is known."""
    if isinstance(x, TensorArray):
        return x.size()
    if not symbolic.is_symbolic(x):
        return len(x)
    return iterables.Rows(x).turns


def int_(x: Any = 0, *args: Any, **kwargs: Any) -> Any:
    """`int(x)`."""
    if not symbolic.is_symbolic(x):
        return int(x, *args, **kwargs)
    if args or kwargs:
        raise NotImplementedError(f"int() of a symbolic tensor takes no base{here()}")
    return cast(_scalar("int", x), int32)


def float_(x: Any = 0.0) -> Any:
    """`float(x)`."""
    return cast(_scalar("float", x), float32) if symbolic.is_symbolic(x) else float(x)


def bool__(x: Any = False) -> Any:
    """`bool(x)`."""
    return cast(_scalar("bool", x), bool_) if symbolic.is_symbolic(x) else bool(x)


def round_(x: Any, *args: Any, **kwargs: Any) -> Any:
    """`round(x)`."""
    if not symbolic.is_symbolic(x) or args or kwargs:
        return round(x, *args, **kwargs)
    return arithmetic.round(x)


def print_(*objects: Any, sep: str | None = " ", end: str | None = "\n", **kwargs: Any) -> None:
    """`print(...)`: of a symbolic tensor, each time the function runs."""
    if any(symbolic.is_symbolic(x) for x in objects):
        tf_print(*objects, sep=" " if sep is None else sep, end="\n" if end is None else end)
    else:
        print(*objects, sep=sep, end=end, **kwargs)


def min_(*args: Any, **kwargs: Any) -> Any:
    """`min(x)` and `min(a, b, ...)`."""
    return _extreme(min, arithmetic.minimum, reducing.reduce_min, args, kwargs)


def max_(*args: Any, **kwargs: Any) -> Any:
    """`max(x)` and `max(a, b, ...)`."""
    return _extreme(max, arithmetic.maximum, reducing.reduce_max, args, kwargs)


def _extreme(function: Any, pairwise: Any, reduce: Any, args: Any, kwargs: Any) -> Any:
    if not any(symbolic.is_symbolic(x) for x in args):
        return function(*args, **kwargs)
    name = function.__name__
    if kwargs:
        raise ValueError(f"{name}() of a symbolic tensor takes no {', '.join(kwargs)}{here()}")
    if len(args) == 1:
        return reduce(_vector(name, args[0]), axis=0)
    for x in args:
        if isinstance(x, Tensor):
            _scalar(name, x)
    result = args[0]
    for x in args[1:]:
        result = pairwise(result, x)
    return result


def sum_(x: Any, /, start: Any = 0) -> Any:
    """`sum(x)`: along the first dimension."""
    if not symbolic.is_symbolic(x):
        return sum(x, start)
    if not x.ndim:
        raise TypeError(f"sum() of a scalar tensor: it has nothing to add{here()}")
    total = reducing.reduce_sum(x, axis=0)
    return total if type(start) is int and start == 0 else start + total


def any_(x: Any) -> Any:
    """`any(x)`."""
    if not symbolic.is_symbolic(x):
        return any(x)
    return reducing.reduce_any(cast(_vector("any", x), bool_), axis=0)


def all_(x: Any) -> Any:
    """`all(x)`."""
    if not symbolic.is_symbolic(x):
        return all(x)
    return reducing.reduce_all(cast(_vector("all", x), bool_), axis=0)


def sorted_(x: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    """`sorted(x)`."""
    if not symbolic.is_symbolic(x):
        return sorted(x, key=key, reverse=reverse)
    if key is not None:
        raise ValueError(f"sorted() of a symbolic tensor takes no key; use tf.argsort{here()}")
    return sort(_vector("sorted", x), direction="DESCENDING" if reverse else "ASCENDING")


def range_(*args: Any) -> Any:
    """`range(...)` with a symbolic argument: a range that a loop goes through without making it."""
    if not any(symbolic.is_symbolic(x) for x in args):
        return range(*args)
    start, limit, delta = args if len(args) == 3 else (*((0, *args) if len(args) == 1 else args), 1)
    return iterables.Range(start, limit, delta)


def enumerate_(x: Any, start: Any = 0) -> Any:
    """`enumerate(x)`."""
    if _is_dataset(x):
        return x.enumerate(start)
    rows = iterables.symbolic_iterable(x)
    return enumerate(x, start) if rows is None else iterables.Enumerate(rows, start)


def iter_(x: Any, *args: Any) -> Any:
    """`iter(x)`: of a dataset in a function, an iterator that is made each time the function runs."""
    if not args and symbolic.is_tracing() and hasattr(x, "__tf_iterator__"):
        return x.__tf_iterator__()
    return iter(x, *args)


def reversed_(x: Any, /) -> Any:
    """`reversed(x)`."""
    rows = iterables.symbolic_iterable(x)
    return reversed(x) if rows is None else iterables.Reversed(rows)


def zip_(*columns: Any, strict: bool = False) -> Any:
    """`zip(a, b, ...)`."""
    if columns and all(map(_is_dataset, columns)):
        return columns[0].zip(columns)
    rows = [iterables.symbolic_iterable(x) for x in columns]
    if all(r is None for r in rows):
        return zip(*columns, strict=strict)
    return iterables.Zip(rows, columns)


def _is_dataset(x: Any) -> bool:
    """Whether `x` is a dataset in a function that is traced: it has methods of the same names for these things."""
    return symbolic.is_tracing() and hasattr(x, "__tf_iterate__") and hasattr(x, "enumerate")


def _vector(name: str, x: Tensor) -> Tensor:
    if x.ndim != 1:
        raise ValueError(
            f"{name}() of a symbolic tensor takes one of rank 1, got shape {x.shape}. Use tf.reduce_* with an "
            f"axis.{here()}"
        )
    return x


def _scalar(name: str, x: Tensor) -> Tensor:
    if x.ndim:
        raise ValueError(f"{name}() takes scalar tensors, got one of shape {x.shape}{here()}")
    return x


# Not built-in functions, but as near.


def caught() -> BaseException | None:
    """The exception that an `except` clause is handling: its name there."""
    return sys.exc_info()[1]


def matched(decide: Callable[..., tuple[int, Any]], subject: Any, *names: Any) -> tuple[int, Any]:
    """Which case of a `match` statement it is, and what its pattern has bound."""
    return decide(subject, *names)


_OVERLOADS: dict[Any, Callable[..., Any]] = {
    python.len: len_,
    python.int: int_,
    python.float: float_,
    python.bool: bool__,
    python.round: round_,
    python.print: print_,
    python.min: min_,
    python.max: max_,
    python.sum: sum_,
    python.any: any_,
    python.all: all_,
    python.sorted: sorted_,
    python.range: range_,
    python.enumerate: enumerate_,
    python.iter: iter_,
    python.reversed: reversed_,
    python.zip: zip_,
}
