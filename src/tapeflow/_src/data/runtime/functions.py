"""The user's functions on elements: traced once for the element spec, and run on rows.

A function that takes or returns datasets (as `flat_map`'s does) is traced only to learn what its results are like. It
runs as Python for each element, because the pipelines it makes are Python objects.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import CompositeTensor, is_expandable
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.placement.devices import on_this_computer
from tapeflow._src.core.placement.remote import to_host
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.system.timeline import span, timeline
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.data.runtime.background import debugging
from tapeflow._src.data.runtime.node import Node, Run
from tapeflow._src.data.runtime.rows import Row
from tapeflow._src.data.specs import (
    NOTHING,
    DatasetSpec,
    Described,
    NoneTensorSpec,
    box,
    leaves,
    packer,
)
from tapeflow._src.function.tracing.late_ranks import UnknownRankError
from tapeflow._src.primitives.random.streams import Places, streams
from tapeflow._src.primitives.specs import ArraySpec


class ElementFunction:
    """A function of the user on elements.

    Args:
      function: of the user.
      specs: what its arguments are like.
      op: the method it was given to, for messages.
    """

    def __init__(self, function: Callable[..., Any], specs: Sequence[Any], op: str) -> None:
        if not callable(function):
            raise TypeError(f"Dataset.{op} takes a function, got {shown(function)}")
        self._function = function
        self._op = op
        self._name = getattr(function, "__name__", "function")
        self._specs = tuple(specs)
        self._pack = packer(self._specs)
        self._spec: Any = None
        self._known = False
        flat = leaves(self._specs)
        self._tensors = [
            i for i, leaf in enumerate(flat) if isinstance(leaf, TensorSpec) or is_expandable(leaf)
        ]
        self._composites = {i for i in self._tensors if is_expandable(flat[i])}
        self._eager = len(self._tensors) < len(flat)
        # Of an unknown rank nothing can be traced: that waits for the first element.
        self._waiting = any(_is_unknown(flat[i]) for i in self._tensors)
        # Random numbers: the places of its ops are the same ones in all of its traces, also when it is made again for
        # each element, by another function.
        self._place = next(streams.place())
        self._seed = streams.global_seed
        self._draws = False
        self._traced = self._compiled()
        self.datasets: list[Node] = []  # such as it returns
        self._keeps_ranks = False  # whether the ranks of results are those of the first in all
        self._graph_function: Any = None
        self._short: Any = None  # the same from arrays to arrays
        # What it takes from a function around it that is traced. Only there it is not empty.
        self.captured: list[Tensor] = []
        if self._waiting:
            self._look_ahead()
        else:
            try:
                self._trace()
            except UnknownRankError:  # of something inside, which is known when an element is there
                self._waiting = self._keeps_ranks = True
        if debugging.on and context.tracer is None:
            self._eager = True

    def _compiled(self) -> Any:
        from tapeflow._src.function.function import Function

        # NumPy runs it: elements are small, and a pipeline should not wait for a compiler.
        named = _Named(self._on_leaves, getattr(self._function, "__name__", "function"))
        return Function(named, autograph=False, jit_compile=False, reduce_retracing=True)

    def _on_leaves(self, *given: Any) -> list[Any]:
        """What is traced: the function from the leaves of its arguments to the leaves of its result."""
        from tapeflow._src.data.dataset import Dataset

        flat = leaves(self._specs)
        for i, leaf in enumerate(flat):
            if i not in self._tensors:
                flat[i] = (
                    Dataset(Described(leaf.element_spec)) if isinstance(leaf, DatasetSpec) else None
                )
        for i, x in zip(self._tensors, given, strict=True):
            flat[i] = x
        places = Places(self._place)
        with streams.placed(places):
            result = self._result(
                converted(self._function)(*nest.pack_sequence_as(self._specs, flat))
            )
        self._draws = self._draws or places.given > 0
        if not self._known:
            self._spec, self._known = nest.map_structure(self._spec_of, result), True
        found = [x for x in nest.flatten(result) if isinstance(x, (Tensor, CompositeTensor))]
        self.datasets = [x._node for x in nest.flatten(result) if isinstance(x, Dataset)]
        if self.datasets:
            self._eager = True
        return found

    def _spec_of(self, leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            shape: Any = leaf.shape
            if self._waiting:
                shape = [None] * leaf.ndim if self._keeps_ranks else None
            return TensorSpec(shape, leaf.dtype)
        if isinstance(leaf, CompositeTensor):
            return leaf._type_spec
        return NoneTensorSpec() if leaf is None else DatasetSpec(leaf.element_spec)

    def _trace(self) -> None:
        flat = leaves(self._specs)
        concrete = self._traced._trace_for(tuple(flat[i] for i in self._tensors), {})
        # With guards, the trace may not fit all sizes: then each call looks for one that does.
        plain = all(isinstance(leaf, TensorSpec) for leaf in leaves(self._spec))
        if plain and not concrete._guards and not self._composites:
            self._graph_function = concrete._graph_function
            self.captured = concrete._outer_symbols and concrete._graph_function.captured

    def _look_ahead(self) -> None:
        """Finds out what results are like for arguments of any rank, if that can be said before there is an element."""
        for results_of in (self._of_unknown_ranks, self._of_some_ranks):
            with contextlib.suppress(Exception):  # the first element will raise it, if it has to be
                results = results_of()
                if all(isinstance(leaf, TensorSpec) for leaf in leaves(self._spec)):
                    self._spec = nest.pack_sequence_as(self._spec, results)
                    return
            self._known, self.datasets = False, []

    def _of_unknown_ranks(self) -> list[Any]:
        """What results are like for arguments of which nothing is known, as a function may say it of each."""
        from tapeflow._src.function.function import Function

        def call(*known: Any) -> Any:
            rest = iter(known)
            return self._on_leaves(*[next(rest) if s is None else unknown(s) for s in specs])

        def unknown(spec: ArraySpec) -> Tensor:
            return context.tracer.python("argument", list, [], [spec])[0]

        given = [leaves(self._specs)[i] for i in self._tensors]
        specs = [ArraySpec(None, s.dtype) if _is_unknown(s) else None for s in given]  # pyright: ignore[reportArgumentType]
        known = [s for s in given if not _is_unknown(s)]
        traced = Function(_Named(call, self._name), autograph=False, jit_compile=False)
        return nest.flatten(traced._trace_for(tuple(known), {}).structured_outputs)

    def _of_some_ranks(self) -> list[Any]:
        """The same by tracing for some ranks, which all arguments have that are of unknown rank."""
        from tapeflow._src.function.unknown_ranks import RankFreeFunction

        given = tuple(leaves(self._specs)[i] for i in self._tensors)
        return nest.flatten(RankFreeFunction(self._traced, (given, {})).structured_outputs)

    def _result(self, value: Any) -> Any:
        """What the function returned as a structure of tensors and datasets.

        A list that is returned counts as a tuple, one inside of something else as a tensor.
        """
        nest.flatten(value)  # raises for what has no end
        return self._normalized(tuple(value) if isinstance(value, list) else value)

    def _normalized(self, value: Any) -> Any:
        from tapeflow._src.data.dataset import Dataset

        if isinstance(value, tuple):
            parts = [self._normalized(x) for x in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, Mapping):
            parts = {key: self._normalized(x) for key, x in value.items()}
            return nest.mapping_like(value, parts)
        if value is None or isinstance(value, (Tensor, CompositeTensor, Dataset)):
            return value
        try:
            return convert_to_tensor(value)
        except UnknownRankError:
            raise
        except (TypeError, ValueError):
            raise TypeError(
                f"Unsupported return value from function passed to Dataset.{self._op}(): {value!r}. It must return "
                "tensors, numbers, arrays or datasets, or tuples and dicts of them; a list inside of them is a tensor."
            ) from None

    def spec(self, sample: Callable[[], Row]) -> Any:
        """What the results are like. If it is not known yet, the function is tried on a sample."""
        if not self._known:
            self(sample())
        return self._spec

    def __call__(self, row: Row) -> Row:
        """The result for a row."""
        if timeline.watcher is not None:
            with span("data", f"{self._op} {self._name}"):
                return self._result_for(row)
        if self._short is not None:
            return self._short(row)
        return self._result_for(row)

    def within(self, run: Run) -> Callable[[Row], Row]:
        """The function as one iteration calls it: random numbers are those of the iteration, which begin with it."""
        return _Within(self, run) if self._draws or self._eager or self._waiting else self

    def _result_for(self, row: Row) -> Row:
        graph_function = self._graph_function
        if graph_function is None or self._eager:
            return self._called(row)
        tensors = [Tensor(a) for a in row]
        if self.captured:
            return self._with_captured(tensors)
        with on_this_computer():
            result = tuple([_leaf(x) for x in graph_function.call(tensors)])
        self._short = graph_function.on_arrays()
        return result

    def _with_captured(self, tensors: list[Tensor]) -> Row:
        with on_this_computer():
            found = self._graph_function.call(tensors, captured=self.captured)
        return tuple([_leaf(x) for x in found])

    def substituted(self, values: Mapping[int, Tensor]) -> ElementFunction:
        """The same function with other tensors in the place of what it has captured."""
        new = copy.copy(self)
        new.captured = [values.get(id(x), x) for x in self.captured]
        return new

    def _called(self, row: Row) -> Row:
        with on_this_computer():
            return self._called_here(row)

    def _called_here(self, row: Row) -> Row:
        if not self._eager:
            given = [row[i][()] if i in self._composites else Tensor(row[i]) for i in self._tensors]
            found = iter(self._traced(*given))
            if not self._eager:  # the first call of one that had to wait may have found a dataset
                flat = leaves(self._spec)
                return tuple(
                    [NOTHING if isinstance(s, NoneTensorSpec) else _leaf(next(found)) for s in flat]
                )
        try:
            with streams.as_if_traced(Places(self._place), self._seed):
                result = self._result(self._function(*self._pack(row)))
        except StopIteration as error:  # it would end the iteration without a word
            raise RuntimeError(f"Dataset.{self._op}: the function raised StopIteration") from error
        return tuple([NOTHING if x is None else _leaf(x) for x in nest.flatten(result)])


class _Within:
    """A function with random numbers, in one iteration."""

    def __init__(self, function: ElementFunction, run: Run) -> None:
        self._function, self._used = function, run.drawn

    def __call__(self, row: Row) -> Row:
        with streams.apart(self._used):
            return self._function(row)


class _Named:
    """A callable under the name of another one."""

    # Said once, and not found out for each function.
    __signature__ = inspect.Signature(
        [inspect.Parameter("leaves", inspect.Parameter.VAR_POSITIONAL)]
    )

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._call = function
        self.__name__ = name

    def __call__(self, *leaves: Any) -> Any:
        return self._call(*leaves)


def _is_unknown(spec: Any) -> bool:
    return isinstance(spec, TensorSpec) and spec.shape.rank is None


def _leaf(value: Any) -> Any:
    if isinstance(value, Tensor):
        return to_host(value)._array
    if isinstance(value, CompositeTensor):
        return box(nest.map_structure(to_host, value, expand_composites=True))
    return value._node


def converted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its control flow converted by AutoGraph, if that is installed."""
    try:
        from tapeflow._src.function.autograph import convert
    except ImportError:
        return function
    return convert(function)


def arguments(spec: Any) -> tuple[Any, ...]:
    """The arguments a function gets for an element: a tuple is laid out, and only a tuple."""
    return spec if type(spec) is tuple else (spec,)


def sample(node: Node) -> Callable[[], Row]:
    """A function that gives the first element of a dataset."""

    def first() -> Row:
        outside = contextlib.nullcontext() if context.tracer is None else context.tracer.suspended()
        with outside:
            for row in node.rows(Run(node)):
                return row
        raise ValueError(
            "The element_spec of a dataset made from elements of unknown rank is found by looking at the first one, "
            "and there is none. Say what the elements are like: from_generator(..., output_signature=...)."
        )

    return first
