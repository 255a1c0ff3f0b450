"""What a symbolic loop can go through: anything that has a number of turns and an item for each turn."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, NoReturn

from tapeflow._src.core import dtypes
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import OperatorNotAllowedInGraphError
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.autograph import symbolic
from tapeflow._src.function.autograph.errors import here
from tapeflow._src.ops.array.creation import range as tf_range
from tapeflow._src.ops.array.shaping import cast, shape
from tapeflow._src.ops.elementwise import arithmetic

_WIDENING = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


class Iterable:
    """Something to loop over when the number of turns is known only at run time."""

    turns: Any  # an int, if it is known, or a scalar tensor

    def __iter__(self) -> NoReturn:
        raise OperatorNotAllowedInGraphError(
            "Going through something whose number of turns is known only when the function runs, in a comprehension, "
            f"list() or the like: that has to be a `for` loop. Use tf.map_fn or a tf.TensorArray.{here()}"
        )

    def at(self, i: Tensor) -> Any:
        """The item of turn `i`."""
        raise NotImplementedError


class Rows(Iterable):
    """The rows of a tensor."""

    def __init__(self, tensor: Tensor) -> None:
        if tensor.ndim == 0:
            raise TypeError(f"Cannot iterate over a scalar tensor, or take its len().{here()}")
        self.tensor = tensor
        size = tensor.shape.as_list()[0]
        self.turns = shape(tensor)[0] if size is None else size

    def at(self, i: Tensor) -> Tensor:
        """A row."""
        return self.tensor[i]


class CompositeRows(Iterable):
    """The rows of a composite tensor that has some: a ragged one."""

    def __init__(self, composite: Any) -> None:
        self.composite = composite
        size = composite.shape[0]
        self.turns = cast(composite.nrows(), dtypes.int32) if size is None else size

    def at(self, i: Tensor) -> Any:
        """A row."""
        return self.composite[i]


class Range(Iterable):
    """Numbers at equal distances. They are computed one by one; `tf.convert_to_tensor` gives them all."""

    def __init__(self, start: Any, limit: Any, delta: Any, dtype: Any = None) -> None:
        numbers = [x if _is_number(x) else convert_to_tensor(x) for x in (start, limit, delta)]
        self.dtype = _widest(numbers) if dtype is None else as_dtype(dtype)
        self.arguments = start, limit, delta
        concrete = [_concrete(x) for x in numbers]
        start, limit, delta = [
            cast(x, self.dtype) if c is None else c for x, c in zip(numbers, concrete, strict=True)
        ]
        self.start, self.delta = start, delta
        self.turns = self._count(start, limit, delta)

    def _count(self, start: Any, limit: Any, delta: Any) -> Any:
        if all(not isinstance(x, Tensor) for x in (start, limit, delta)):
            if self.dtype.is_integer:
                return len(builtins.range(int(start), int(limit), int(delta)))
            return max(0, int(-((start - limit) // delta)))
        distance = limit - start if isinstance(start, Tensor) or start else limit
        if self.dtype.is_integer:
            one = delta if isinstance(delta, Tensor) else convert_to_tensor(delta, self.dtype)
            count = distance if _is(delta, 1) else (distance + one - arithmetic.sign(one)) // delta
        else:
            count = arithmetic.ceil(distance / delta)
        return arithmetic.maximum(cast(count, dtypes.int32), 0)

    def at(self, i: Tensor) -> Tensor:
        """A number."""
        number = cast(i, self.dtype)
        if not _is(self.delta, 1):
            number = number * self.delta
        return number if _is(self.start, 0) else number + self.start

    @property
    def first(self) -> Tensor:
        """What a loop variable holds if there are no turns, as in TensorFlow."""
        return cast(convert_to_tensor(self.start), self.dtype)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        return tf_range(*self.arguments, dtype=dtype or self.dtype)


class Enumerate(Iterable):
    """Pairs of a number and an item."""

    def __init__(self, items: Iterable, start: Any) -> None:
        self.items, self.start, self.turns = items, start, items.turns

    def at(self, i: Tensor) -> tuple[Tensor, Any]:
        """A pair."""
        return (i if _is(self.start, 0) else i + self.start), self.items.at(i)


class Reversed(Iterable):
    """Items from the last to the first."""

    def __init__(self, items: Iterable) -> None:
        self.items, self.turns = items, items.turns

    def at(self, i: Tensor) -> Any:
        """An item."""
        return self.items.at(self.turns - 1 - i)


class Zip(Iterable):
    """Tuples of items; there are as many as the shortest has."""

    def __init__(self, columns: Sequence[Iterable | None], given: Sequence[Any]) -> None:
        self.columns: list[Iterable] = []
        for column, what in zip(columns, given, strict=True):
            if column is None and isinstance(what, builtins.range):
                column = Range(what.start, what.stop, what.step)
            if column is None:
                raise TypeError(
                    "zip() of a symbolic tensor and a Python "
                    f"{type(what).__name__}: make it a tensor too (tf.stack, tf.constant).{here()}"
                )
            self.columns.append(column)
        turns: Any = None
        for column in self.columns:
            turns = column.turns if turns is None else _least(turns, column.turns)
        self.turns = turns

    def at(self, i: Tensor) -> tuple[Any, ...]:
        """A tuple."""
        return tuple(column.at(i) for column in self.columns)


def symbolic_iterable(x: Any) -> Iterable | None:
    """`x` as something that a loop of the program goes through, or None if Python does."""
    if isinstance(x, Iterable):
        return x
    x = symbolic.read(x)
    if symbolic.is_symbolic(x) or (isinstance(x, Tensor) and symbolic.is_tracing()):
        return Rows(x)
    if isinstance(x, CompositeTensor) and hasattr(x, "nrows") and symbolic.is_tracing():
        return CompositeRows(x)
    return None


def _is_number(x: Any) -> bool:
    return type(x) in (int, float)


def _concrete(x: Any) -> Any:
    if _is_number(x):
        return x
    return None if symbolic.is_symbolic(x) else x.numpy().item()


def _is(x: Any, number: int) -> bool:
    return type(x) in (int, float) and x == number


def _least(a: Any, b: Any) -> Any:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else arithmetic.minimum(a, b)


def _widest(numbers: Sequence[Any]) -> DType:
    found = [convert_to_tensor(x).dtype if _is_number(x) else x.dtype for x in numbers]
    odd = [d for d in found if d not in _WIDENING]
    return odd[0] if odd else _WIDENING[max(_WIDENING.index(d) for d in found)]
