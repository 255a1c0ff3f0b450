"""Datasets inside `tf.function`: each read of an element becomes a call of Python in the graph.

A loop over a dataset becomes a `tf.while_loop`. Its condition asks whether there is another element, its body takes it.
The iterator itself is not in the graph: it belongs to the thread that runs the function.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes, nest
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.specs import NoneTensorSpec, expanded_leaves, expander
from tapeflow._src.ops.control import control_flow
from tapeflow._src.primitives.specs import ArraySpec


def _specs(spec: Any) -> list[ArraySpec]:
    """What the tensors of an element are like, those that composite tensors are made of among them."""
    plain = expanded_leaves("__iter__ inside tf.function", spec)
    return [
        ArraySpec(leaf.shape._dims, leaf.dtype)  # pyright: ignore[reportArgumentType]
        for leaf in plain
    ]


def _packed(spec: Any, tensors: Sequence[Tensor]) -> Any:
    rest = iter(tensors)
    flat = nest.flatten(spec, expand_composites=True)
    filled = [None if isinstance(leaf, NoneTensorSpec) else next(rest) for leaf in flat]
    return nest.pack_sequence_as(spec, filled, expand_composites=True)


def _call(
    name: str,
    function: Callable[..., Sequence[Any]],
    inputs: Sequence[Tensor],
    specs: list[ArraySpec],
) -> list[Tensor]:
    def run(*values: Tensor) -> list[Tensor]:
        try:
            return [Tensor(x) for x in function(*values)]
        except Exception as error:
            # A generator's or a map function's own exception is to arrive as it is.
            error.from_users_code = True  # pyright: ignore[reportAttributeAccessIssue]
            raise

    return context.tracer.python(name, run, inputs, specs)


def get_next(find: Callable[..., Any], tensors: Sequence[Tensor], spec: Any) -> Any:
    """The next element of an iterator, whenever the function runs.

    Args:
      find: gives the iterator, from the values of `tensors`.
      tensors: symbolic tensors that say which one it is.
      spec: what the elements are like.
    """
    row = _expanding(spec, lambda *values: find(*values)._host_row_or_error())
    said = _specs(spec)
    specs = _with_ranks(said, _peeking(spec, find), tensors)
    row = row if specs is said else _checking(row, specs)
    return _packed(spec, _call("get_next", row, tensors, specs))


def _with_ranks(
    specs: list[ArraySpec], peek: Callable[..., Any], tensors: Sequence[Any]
) -> list[ArraySpec]:
    """Where nobody has said a rank, that of the next element; it is read for that, if the iterator is known."""
    if all(s.shape is not None for s in specs):
        return specs
    given = [x.interpreter.actual.get(x.value) if x.symbolic else x for x in tensors]
    if any(x is None for x in given):
        return specs
    with context.tracer.suspended():
        row = peek(*given)
    ranks = [0] * len(specs) if row is None else [np.ndim(x) for x in row]  # of none, any will do
    return [
        ArraySpec((None,) * rank, s.dtype) if s.shape is None else s
        for s, rank in zip(specs, ranks, strict=True)
    ]


def _peeking(spec: Any, find: Callable[..., Any]) -> Callable[..., Any]:
    """A function that looks at the next element of an iterator."""
    return _expanding(spec, lambda *values: find(*values)._peek())


def _checking(row: Callable[..., Sequence[Any]], specs: list[ArraySpec]) -> Any:
    """A function that reads a row, and looks whether it has the ranks that the function was traced for."""

    def read(*values: Any) -> Sequence[Any]:
        found = row(*values)
        for x, spec in zip(found, specs, strict=True):
            if np.ndim(x) != len(spec.shape or ()):
                raise invalid(
                    f"An element has shape {list(np.shape(x))}, and the function was traced for elements of rank "
                    f"{len(spec.shape or ())}, as the first one was. Say what they are like where the dataset is made: "
                    "output_signature=tf.TensorSpec(shape, dtype)."
                )
        return found

    return read


def _expanding(spec: Any, row: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
    """A function that reads a row, as one that gives the components of composite tensors."""
    expand = expander(spec)
    if expand is None:
        return row

    def expanded(*values: Any) -> Any:
        found = row(*values)
        return None if found is None else expand(found)

    return expanded


def get_next_as_optional(find: Callable[..., Any], tensors: Sequence[Tensor], spec: Any) -> Any:
    """The same, if there is one; else zeros, which nobody reads."""
    from tapeflow._src.data.iterator import Optional

    specs = _specs(spec)
    row = _expanding(spec, lambda iterator: iterator._host_row())

    def run(*values: Tensor) -> list[Any]:
        iterator = find(*values)
        if iterator._more():
            return [np.True_, *row(iterator)]
        empty = [np.zeros([d or 0 for d in s.shape or ()], s.dtype.np_dtype) for s in specs]
        return [np.False_, *empty]

    found = [ArraySpec((), dtypes.bool_), *specs]
    there, *leaves = _call("get_next_as_optional", run, tensors, found)
    return Optional(spec, _packed(spec, leaves), there)


def get_single_element(make: Callable[..., Any], tensors: Sequence[Tensor], spec: Any) -> Any:
    """The only element of a dataset, which is an error if there are none, or several."""

    def find(*values: Tensor) -> Any:
        iterator = make(*values)
        if not iterator._more():
            raise invalid("Dataset was empty.")
        return iterator

    row = _expanding(spec, lambda *values: _only_row(find(*values)))
    said = _specs(spec)
    specs = _with_ranks(said, _peeking(spec, make), tensors)
    row = row if specs is said else _checking(row, specs)
    return _packed(spec, _call("get_single_element", row, tensors, specs))


def _only_row(iterator: Any) -> Any:
    row = iterator._host_row()
    if iterator._more():
        raise invalid("Dataset had more than one element.")
    return row


def made(make: Callable[..., Any], tensors: Sequence[Tensor]) -> Tensor:
    """The number of an iterator that is made when the function comes to this place."""
    latest = threading.local()  # what holds it, for the thread that runs the function

    def run(*values: Tensor) -> list[Any]:
        latest.iterator = make(*values)
        return [latest.iterator._number()._array]

    (number,) = _call("iterator", run, tensors, [ArraySpec((), dtypes.int64)])
    return number


class Loop:
    """A loop over elements in a traced function.

    Args:
      make: gives the iterator when the loop begins, from the values of `tensors`.
      tensors: symbolic tensors that the dataset is made of.
      spec: what the elements are like.
    """

    def __init__(self, make: Callable[..., Any], tensors: Sequence[Tensor], spec: Any) -> None:
        self._spec = spec
        said = _specs(spec)
        self._specs = _with_ranks(said, _peeking(spec, make), tensors)
        self._ranks_found = self._specs is not said
        # By thread: one may run the function while another one does.
        self._iterators: dict[int, Any] = {}

        def begin(*values: Tensor) -> tuple[()]:
            self._iterators[threading.get_ident()] = make(*values)
            return ()

        _call("iterate", begin, tensors, [])

    def more(self, going_on: Any) -> Tensor:
        """Whether there is another element, unless the loop was left: then none is read."""
        (found,) = _call(
            "has_next", self._has_next, [convert_to_tensor(going_on)], [ArraySpec((), dtypes.bool_)]
        )
        return found

    def _has_next(self, going_on: Tensor) -> tuple[Any]:
        thread = threading.get_ident()
        try:
            found = bool(going_on) and self._iterators[thread]._more()
        except BaseException:
            self._iterators.pop(thread, None)
            raise
        if not found:  # the loop is over, and its iterator is let go, with its threads
            del self._iterators[thread]
        return (np.bool_(found),)

    def item(self) -> Any:
        """The next element."""
        row = _expanding(self._spec, lambda: self._iterators[threading.get_ident()]._host_row())
        row = _checking(row, self._specs) if self._ranks_found else row
        return _packed(self._spec, _call("next", row, [], self._specs))


def reduce(loop: Loop, state: Any, function: Callable[[Any, Any], Any]) -> Any:
    """`Dataset.reduce` in a traced function."""
    from tapeflow._src.data.runtime.functions import converted as convert

    converted = convert(function)
    first = nest.map_structure(convert_to_tensor, state, expand_composites=True)
    (result,) = control_flow.while_loop(
        lambda _: loop.more(True), lambda s: (converted(s, loop.item()),), (first,)
    )
    return result
