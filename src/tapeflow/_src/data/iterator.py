"""Iterators: one pass over a dataset, element by element, as tensors or as NumPy arrays."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor, is_expandable
from tapeflow._src.core.context import context, no_recorders
from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.errors import (
    FailedPreconditionError,
    OnlyEagerlyError,
    OutOfRangeError,
    invalid,
)
from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.system.timeline import span, timeline
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data import in_function
from tapeflow._src.data.optional import Optional
from tapeflow._src.data.runtime import placing
from tapeflow._src.data.runtime.node import Node, Run
from tapeflow._src.data.runtime.rows import Row, Rows
from tapeflow._src.data.specs import DatasetSpec, NoneTensorSpec, packer


@export("data.Iterator")
class OwnedIterator(CompositeTensor):
    """What `iter(dataset)` gives: the elements one by one.

    >>> it = iter(tf.data.Dataset.range(2))
    >>> next(it).numpy(), it.get_next().numpy()
    (np.int64(0), np.int64(1))
    >>> it.get_next_as_optional().has_value().numpy()
    np.False_

    Where it stands can be saved with a checkpoint, and gone back to. Threads may share it: each element goes to one.

    As an argument of a `tf.function` it counts by what its elements are like, so that the next one needs no new trace:

    >>> step = tf.function(lambda it: next(it) + 1)
    >>> data = tf.data.Dataset.range(2)
    >>> step(iter(data)).numpy(), step(iter(data)).numpy(), step.experimental_get_tracing_count()
    (np.int64(1), np.int64(1), 1)
    """

    def __init__(self, node: Node, on_host: bool = False) -> None:
        self._lock = threading.RLock()  # held while an element is made
        self._given_number: int | None = None
        _iterators.add(self)
        self._node = node
        self.dataset: Any = None  # the dataset that it reads: it lives at least as long
        self._spec = node.spec
        self._destination = None if on_host else placing.destination_of(node)
        self._pack = packer(self._spec, Tensor if self._destination is None else _tensor)
        self._begin(Run(node))

    def _begin(self, run: Run) -> None:
        self._run = run
        with no_recorders():
            self._rows: Rows = self._node.rows(run)
        if self._destination is not None:
            self._rows = placing.placed(self._rows, self._destination)
        self._position = 0
        # For threads that know of an element and have yet to take it.
        self._peeked: dict[int, Row] = {}

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self._spec)

    @property
    def element_spec(self) -> Any:
        """What the elements are like."""
        return self._spec

    def __iter__(self) -> OwnedIterator:
        return self

    def __next__(self) -> Any:
        if context.tracer is not None:
            return self.get_next()
        return self._pack(self._next_row())

    def _next_row(self) -> Row:
        """The next element as it travels. What computes it is not recorded by the caller's tapes."""
        with self._lock:
            if self._peeked and threading.get_ident() in self._peeked:
                row = self._peeked.pop(threading.get_ident())
            elif context.dispatch[1] or timeline.watcher is not None:
                with no_recorders(), span("data", "next element"):
                    row = next(self._rows)
            else:
                row = next(self._rows)
            self._position += 1
            return row

    def _host_row(self) -> Row:
        """The same in this computer's memory."""
        row = self._next_row()
        return row.host if type(row) is placing.PlacedRow else row

    def _more(self) -> bool:
        """Whether there is a next element. It is read, and kept for the thread that asks."""
        with self._lock:
            thread = threading.get_ident()
            if thread not in self._peeked:
                try:
                    with no_recorders():
                        self._peeked[thread] = next(self._rows)
                except StopIteration:
                    return False
            return True

    def _peek(self) -> Row | None:
        """The next element as it travels, which stays the next one; None at the end."""
        if not self._more():
            return None
        row = self._peeked[threading.get_ident()]
        return row.host if type(row) is placing.PlacedRow else row

    def get_next(self, name: str | None = None) -> Any:
        """The next element.

        Args:
          name: accepted for compatibility.

        Raises:
          tf.errors.OutOfRangeError: at the end.
        """
        if context.tracer is not None:
            return in_function.get_next(*self._found(), self._spec)
        return self._pack(self._row_or_error(self._next_row))

    def next(self) -> Any:
        """The next element, as `next(iterator)` gives it."""
        return self.__next__()

    def _host_row_or_error(self) -> Row:
        return self._row_or_error(self._host_row)

    def _row_or_error(self, read: Callable[[], Row]) -> Row:
        try:
            return read()
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence") from None

    def get_next_as_optional(self) -> Optional:
        """The next element, if there is one."""
        if context.tracer is not None:
            return in_function.get_next_as_optional(*self._found(), self._spec)
        try:
            return Optional(self._spec, self._pack(self._next_row()), True)
        except StopIteration:
            return Optional(self._spec, None, False)

    # Checkpoints.

    def _checkpoint_state(self) -> dict[str, Any]:
        """Where it stands: how many elements were taken, and what is random in this pass. Plain numbers and lists."""
        return {"position": self._position, "randomness": self._run.state()}

    def _restore_state(self, state: dict[str, Any]) -> None:
        """Goes to where another iterator over the same dataset stood."""
        with self._lock:
            self._go_to(state)

    def _go_to(self, state: dict[str, Any]) -> None:
        self._begin(Run(self._node, state["randomness"]))
        position = int(state["position"])
        with no_recorders():
            done = self._rows.skip(position)
        if done < position:
            raise invalid(
                f"The iterator cannot be restored to position {position}: the dataset ends after {done} elements. Is "
                "it the dataset that the checkpoint was saved with?"
            )
        self._position = position

    # Inside `tf.function`.

    def __tf_iterate__(self) -> in_function.Loop:
        """For loops inside `tf.function`."""
        return in_function.Loop(*self._found(), self._spec)

    def _found(self) -> tuple[Callable[..., OwnedIterator], list[Tensor]]:
        """How a graph gets at it: a function, and the tensors that this takes when the graph runs."""
        return lambda: self, []

    def _number(self) -> Tensor:
        """What stands for it among the arguments of a function."""
        with self._lock:
            if self._given_number is None:
                number = next(_numbers)
                _by_number[number] = self
                self._given_number = number
            if context.tracer is not None:
                _kept.add(self)  # the graph has the number, and may outlive what users hold
        return Tensor(np.int64(self._given_number))


class IteratorArgument(OwnedIterator):
    """An argument of a function while it is traced: in the place of iterators whose elements are alike."""

    def __init__(self, spec: Any, number: Tensor) -> None:
        self._spec = spec
        self._symbol = number
        self._pack = packer(spec, Tensor)

    def _found(self) -> tuple[Callable[..., OwnedIterator], list[Tensor]]:
        return numbered, [self._symbol]

    def _number(self) -> Tensor:
        return self._symbol

    def _next_row(self) -> Row:
        raise OnlyEagerlyError(
            "The iterator that a tf.function was traced with has no elements: it stands for those that the function "
            "will be called with. Do not keep it outside of the function."
        )

    def _checkpoint_state(self) -> dict[str, Any]:
        raise OnlyEagerlyError(
            "An iterator is saved outside of the tf.function that it is passed to."
        )

    def _restore_state(self, state: dict[str, Any]) -> None:
        raise OnlyEagerlyError(
            "An iterator is restored outside of the tf.function that it is passed to."
        )


def made_in_function(
    make: Callable[..., OwnedIterator], tensors: list[Tensor], spec: Any
) -> OwnedIterator:
    """In a function that is traced, an iterator that `make` makes of `tensors` whenever the function runs."""
    return IteratorArgument(spec, in_function.made(make, tensors))


_numbers = itertools.count(1)
_by_number: weakref.WeakValueDictionary[int, OwnedIterator] = weakref.WeakValueDictionary()
_kept: set[OwnedIterator] = set()


def numbered(number: Tensor) -> OwnedIterator:
    """The iterator that a number stands for."""
    found = _by_number.get(int(number))
    if found is None:
        raise FailedPreconditionError(
            None, None, "The iterator that was passed to a tf.function is not there any more."
        )
    return found


def _tensor(x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else Tensor(x)


_iterators: weakref.WeakSet[OwnedIterator] = weakref.WeakSet()


def _forked() -> None:
    for iterator in list(_iterators):
        # A thread that is not in this process may have held the other.
        iterator._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@export("data.NumpyIterator")
class NumpyIterator:
    """What `as_numpy_iterator` gives: the elements as NumPy arrays, which belong to the caller.

    >>> list(tf.data.Dataset.range(3).as_numpy_iterator())
    [np.int64(0), np.int64(1), np.int64(2)]
    """

    def __init__(self, node: Node) -> None:
        for leaf in nest.flatten(node.spec):
            if isinstance(leaf, DatasetSpec):
                raise TypeError(
                    "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce datasets. Use "
                    "flat_map() to flatten them."
                )
        self._iterator = OwnedIterator(node, on_host=True)
        self._pack = _numpy_packer(node.spec)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return self._pack(self._iterator._next_row())

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator!r})"


def _numpy_packer(spec: Any) -> Any:
    if isinstance(spec, TensorSpec):
        return lambda row: _own(row[0])
    ways = [
        _composite
        if is_expandable(leaf)
        else _nothing
        if isinstance(leaf, NoneTensorSpec)
        else _own
        for leaf in nest.flatten(spec)
    ]
    return lambda row: nest.pack_sequence_as(
        spec,
        [unpacked(x) for x, unpacked in zip(row, ways, strict=True)],
    )


def _composite(held: Any) -> Any:
    value = held[()]
    if hasattr(value, "numpy"):
        return value.numpy()
    from tapeflow._src.sparse.conversion import to_dense  # there is a sparse tensor, perhaps
    from tapeflow._src.sparse.tensor import SparseTensor

    return to_dense(value).numpy() if isinstance(value, SparseTensor) else value


def _nothing(x: Any) -> None:
    return None


def _own(x: Any) -> Any:
    return x[()] if not x.ndim else x.copy()


@export("data.IteratorSpec")
class IteratorSpec(TypeSpec):
    """What is known of an iterator.

    >>> tf.data.IteratorSpec.from_value(iter(tf.data.Dataset.range(3)))
    IteratorSpec(TensorSpec(shape=(), dtype=tf.int64, name=None),)

    Args:
      element_spec: what its elements are like.
    """

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @classmethod
    def from_value(cls, value: OwnedIterator) -> IteratorSpec:
        """The spec of an iterator."""
        return cls(value.element_spec)

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return OwnedIterator

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @property
    def _component_specs(self) -> Any:
        return TensorSpec([], int64)

    def _to_components(self, value: OwnedIterator) -> Any:
        return value._number()

    def _from_components(self, components: Any) -> OwnedIterator:
        if components.symbolic:
            return IteratorArgument(self._element_spec, components)
        return numbered(components)
