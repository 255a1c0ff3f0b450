"""What a stack is: a list of arrays that is a value of a graph.

Its elements need not have one shape, and putting one in copies a dictionary and no data. Its shape is a `StackShape`,
by which tensors that stand for one are known. What primitives do with stacks is in `stacks`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.errors import InvalidArgumentError
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.table import calls

Element = tuple[Any, ...] | None


class StackShape(tuple[Any, ...]):
    """The shape of a stack: its length. `element` is the shape of its elements, or None where it is not known."""

    element: Element

    def __new__(cls, length: Any, element: Element = None) -> StackShape:
        """A shape."""
        self = super().__new__(cls, (length,))
        self.element = element
        return self

    @staticmethod
    def added(a: Tensor, b: Tensor) -> Tensor:
        """The sum of two gradients that are stacks."""
        return calls.stack_add(a, b)

    @staticmethod
    def ones_like(x: Tensor) -> Tensor:
        """A stack of ones."""
        return calls.stack_ones_like(x)

    @staticmethod
    def zeros_like(x: Tensor) -> Tensor:
        """A stack of zeros."""
        if not x.symbolic:
            return Tensor(x._array.full_like(0))
        shape = x._array.shape
        return calls.stack_empty(length=shape[0], element=shape.element, dtype=x.dtype)

    def with_sizes(self, sizes: tuple[Any, ...]) -> StackShape:
        """The same with another length."""
        return StackShape(sizes[0], self.element)


class Stack:
    """A list of arrays. Those that are not in `entries` are zeros."""

    __slots__ = ("dtype", "element", "entries", "length")

    ndim = 1

    def __init__(
        self, entries: dict[int, Any], length: int, dtype: np.dtype, element: Element = None
    ) -> None:
        self.entries = entries
        self.length = length
        self.dtype = dtype
        self.element = element

    @property
    def shape(self) -> StackShape:
        """Its length, with the shape of its elements."""
        return StackShape(self.length, self.element)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return self.length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        found = self.entries.get(index)
        return self.zeros() if found is None else found

    def zeros(self, element: Element = None) -> Any:
        """An element that is not there."""
        if element is None:
            element = self.element
        if element is None or any(d is None for d in element):
            found = next(iter(self.entries.values()), None)
            if found is None:
                raise InvalidArgumentError(
                    None,
                    None,
                    "TensorArray: an element that was not written is read as zeros, and the shape of the elements is "
                    "not known. Give element_shape, or write first.",
                )
            return found.full_like(0) if isinstance(found, Stack) else np.zeros_like(found)
        if self.dtype.kind == "O":
            return np.full(element, b"", object)
        return np.zeros(element, self.dtype)

    def full_like(self, number: int) -> Stack:
        """A stack of the same form whose elements hold one number."""
        entries = {
            i: x.full_like(number) if isinstance(x, Stack) else np.full_like(x, number)
            for i, x in self.entries.items()
        }
        return Stack(entries, self.length, self.dtype, self.element)

    def with_entry(self, index: int, value: Any) -> Stack:
        """The stack with another element."""
        entries = self.entries.copy()
        entries[index] = value
        return Stack(entries, max(self.length, index + 1), self.dtype, self.element)

    def without(self, index: int) -> Stack:
        """The stack with zeros at a place."""
        if index not in self.entries:
            return self
        entries = self.entries.copy()
        del entries[index]
        return Stack(entries, self.length, self.dtype, self.element)

    def rows(self, element: Element = None) -> np.ndarray:
        """All elements as one array."""
        if not self.length:
            inner = tuple(d or 0 for d in element or self.element or ())
            return np.zeros((0, *inner), self.dtype)
        if len(self.entries) == self.length:
            return np.stack([self.entries[i] for i in range(self.length)])
        zeros = np.asarray(self.zeros(element))
        rows = np.empty((self.length, *zeros.shape), self.dtype)  # no list: it may be very long
        rows[...] = zeros
        for i, row in self.entries.items():
            if np.shape(row) != zeros.shape:
                raise ValueError(f"elements have the shapes {np.shape(row)} and {zeros.shape}")
            rows[i] = row
        return rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.rows(), dtype)

    def __add__(self, other: Any) -> Stack:
        if not isinstance(other, Stack):  # XLA has arrays in the place of stacks
            other = stack_from_rows(np.asarray(other))
        more, fewer = (self, other) if len(self.entries) >= len(other.entries) else (other, self)
        entries = more.entries.copy()
        for index, value in fewer.entries.items():
            there = entries.get(index)
            entries[index] = value if there is None else there + value
        length = max(self.length, other.length)
        return Stack(entries, length, self.dtype, more.element or fewer.element)

    __radd__ = __add__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        # Gradients that meet are added, and nothing else is ever done with a stack.
        if ufunc is not np.add or method != "__call__":
            return NotImplemented
        a, b = inputs[:2]
        return a + b if isinstance(a, Stack) else b + a

    def __repr__(self) -> str:
        return f"<stack of {self.length} {self.dtype} arrays>"


def is_stack(x: Tensor) -> bool:
    """Whether a tensor stands for a stack."""
    return type(x._array.shape) is StackShape


def stack_of(arrays: list[Any], dtype: np.dtype, element: Element = None) -> Stack:
    """A stack of these arrays."""
    return Stack(dict(enumerate(arrays)), len(arrays), dtype, element)


def stack_from_rows(x: Any) -> Stack:
    """A stack of the rows of an array."""
    return Stack(dict(enumerate(x)), len(x), x.dtype, x.shape[1:])
