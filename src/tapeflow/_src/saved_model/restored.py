"""`tf.function`s without Python code: they have the traces that were saved, and there can be no others."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from tapeflow._src.core import nest
from tapeflow._src.core.composites.composite import Composed, is_expandable, spec_of
from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import TracingError
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.sizes.extremes import hint_of
from tapeflow._src.core.sizes.guards import Guard, assume
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.concrete import ConcreteFunction
from tapeflow._src.function.function import Function, InReplica
from tapeflow._src.function.retracing import RetracingWatch
from tapeflow._src.function.signature import (
    TensorKey,
    composed,
    flattened,
    form_of,
    key_of,
    keys_of,
)
from tapeflow._src.function.trace_types import SpecKey
from tapeflow._src.saved_model.damage import Damage, index
from tapeflow._src.saved_model.encoding import decoded_size


class SavedTrace:
    """A trace that was saved.

    Args:
      takes: the arguments, with specs where there are tensors.
      gives: the result, with numbers where there are tensors.
      graph: which one it has.
      order: which of the tensors among the arguments is the first input of the graph, and so on, if not the first.
      guards: what it relies on about sizes.
    """

    def __init__(
        self,
        takes: tuple[Any, Any],
        gives: Any,
        graph: Any,
        order: list[int] | None = None,
        guards: Sequence[Any] = (),
    ) -> None:
        self.takes = takes
        self.gives = gives
        self.graph = graph
        self.order = order
        self._guards = guards
        leaves = flattened(self.takes)
        self.key = (form_of(self.takes), *keys_of(leaves))

    def check(self, arguments: Sequence[TensorSpec], outputs: int) -> None:
        """Whether it takes what its graph takes, and returns what that gives. Damage if not."""
        args, kwargs = self.takes
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise Damage(f"a trace takes {str(self.takes)[:100]}")
        specs = [x for x in flattened(self.takes) if isinstance(x, TensorSpec)]
        if self.order is not None:
            if sorted(self.order) != list(range(len(specs))):
                raise Damage(f"a trace takes its arguments in the order {str(self.order)[:100]}")
            specs = [specs[i] for i in self.order]
        if len(specs) != len(arguments) or not all(map(_is_part, specs, arguments)):
            raise Damage(f"a trace takes {specs}, and its graph {arguments}")
        filled(self.gives, range(outputs))

    def covers(self, key: Any) -> bool:
        """Whether it is for such arguments."""
        return len(key) == len(self.key) and all(
            mine.covers(theirs) if type(mine) in (TensorKey, SpecKey) else mine == theirs
            for mine, theirs in zip(self.key, key, strict=True)
        )

    def ordered(self, leaves: Sequence[Any]) -> list[Tensor]:
        """The tensors among its arguments, in the order of its graph."""
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        return tensors if self.order is None else [tensors[i] for i in self.order]

    def failing(self, tensors: Sequence[Tensor]) -> Guard | None:
        """The first of the answers about sizes it relies on that is another one for these tensors."""
        named = dict(enumerate(tensors))
        for comparison, a, b, answer in self._guards:
            guard = Guard(comparison, decoded_size(a, named), decoded_size(b, named), answer)
            if not assume(guard):
                return guard
        return None


class NoTraceError(ValueError, TypeError):
    """No trace takes such arguments. TensorFlow raises a TypeError if there was an input signature, or a ValueError."""


class RestoredFunction(Function):
    """A `tf.function` without Python code.

    Args:
      name: of the function.
      parameters: of its Python code.
      saved: its traces.
    """

    def __init__(
        self, name: str, parameters: Sequence[inspect.Parameter], saved: Sequence[SavedTrace]
    ) -> None:
        self._saved = saved

        def run(*args: Any, **kwargs: Any) -> Any:
            return self._replayed(args, kwargs)

        run.__name__ = run.__qualname__ = name
        run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
        super().__init__(run, autograph=False, watch=RetracingWatch())

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self  # an attribute, and not a method

    @property
    def saved_signatures(self) -> list[tuple[Any, Any]]:
        """For each trace, the arguments it takes."""
        return [trace.takes for trace in self._saved]

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """All traces."""
        takes = self.saved_signatures
        return [self.get_concrete_function(*args, **kwargs) for args, kwargs in takes]

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for arguments of this kind. Without arguments, for the only kind there is."""
        if not args and not kwargs and len({trace.key for trace in self._saved}) == 1:
            args, kwargs = self._saved[0].takes
        return super().get_concrete_function(*args, **kwargs)

    def _found(
        self, args: Any, kwargs: Any, named: bool = False
    ) -> tuple[ConcreteFunction, list[Any]]:
        args, kwargs = self._as_tensors(*self._signature.bound(args, kwargs))
        return super()._found(args, kwargs)  # names are those that were saved

    def _as_tensors(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Arguments with a tensor where a trace takes one, as for an input signature."""
        for trace in self._saved:
            try:
                return _fitted(trace.takes, (args, kwargs))
            except (ValueError, TypeError):
                continue
        return args, kwargs

    def _traces_for(self, key: Any) -> list[SavedTrace]:
        found = [trace for trace in self._saved if trace.covers(key)]
        if found:
            return found
        if not self._saved:
            raise ValueError(
                f"The function {self.name!r} had no trace when the model was saved, so that nothing is known of what "
                "it does. Call it before saving, or give it an input_signature."
            )
        options = "\n".join(
            f"  {i}. {_signature_text(trace.takes)}" for i, trace in enumerate(self._saved, 1)
        )
        raise NoTraceError(
            f"Could not find matching concrete function to call loaded from the SavedModel: {self.name!r} was saved "
            f"for these arguments:\n{options}\nGot: {key[1:]}. Without its Python code it cannot be traced for "
            "others: call it with such arguments before saving, or use a tf.TensorSpec with None for sizes that vary."
        )

    def _widened(self, key: Any) -> Any:
        form = key[0].form if isinstance(key[0], InReplica) else key[0]
        return (key[0], *self._traces_for((form, *key[1:]))[0].key[1:])

    def _fitting(self, key: Any, leaves: Sequence[Any]) -> SavedTrace:
        """The trace for such arguments whose guards hold for their sizes."""
        failed: list[Guard] = []
        for trace in self._traces_for(key):
            guard = trace.failing(trace.ordered(leaves))
            if guard is None:
                return trace
            failed.append(guard)
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        shapes = [str([hint_of(d) for d in x._array.shape]) for x in tensors]
        raise TracingError(
            None,
            None,
            f"The function {self.name!r} was saved for sizes with {' or '.join(map(str, failed))} (n0_1 is dimension 1 "
            f"of argument 0, and so on), and got {', '.join(shapes)}. Without its Python code it cannot be traced for "
            "others: call it with such sizes before saving, so that there is a trace for them.",
        )

    def _replayed(self, args: Any, kwargs: Any) -> Any:
        """What the function does when it is traced: it calls the primitives of the graph."""
        leaves = flattened((args, kwargs))
        if context.tracer is None:  # functions are run eagerly
            concrete, leaves = self._found(args, kwargs)
            return concrete._call_leaves(leaves)
        trace = self._fitting((form_of((args, kwargs)), *keys_of(leaves)), leaves)
        return filled(trace.gives, self._run(trace, trace.ordered(leaves)))

    def _run(self, trace: SavedTrace, tensors: list[Tensor]) -> Sequence[Tensor]:
        """The outputs of the graph of a trace."""
        raise NotImplementedError


def filled(structure: Any, tensors: Sequence[Any]) -> Any:
    """The structure of a result, with tensors in the place of their numbers."""
    if structure is None:
        return None
    return nest.map_structure(lambda i: None if i is None else _leaf(i, tensors), structure)


def _leaf(place: Any, tensors: Sequence[Any]) -> Any:
    if isinstance(place, Composed):
        parts = [_leaf(i, tensors) for i in place.numbers]
        return composed(place.spec, parts)
    if not isinstance(place, IndexedSlices):
        return tensors[index(place, len(tensors), "an output")]
    parts = (place._values, place._indices, place._dense_shape)
    return IndexedSlices(*[None if i is None else _leaf(i, tensors) for i in parts])


def _is_part(spec: TensorSpec, of: TensorSpec) -> bool:
    """Whether every tensor of a spec is one of another."""
    return spec.dtype is of.dtype and (
        spec.shape.rank is None
        or (
            spec.shape.rank == of.shape.rank
            and all(a == b or b is None for a, b in zip(spec.shape, of.shape, strict=True))
        )
    )


def _fitted(wanted: Any, value: Any) -> Any:
    """Arguments as a trace takes them. ValueError or TypeError if it does not."""
    if is_expandable(wanted):
        if not is_expandable(value) or not spec_of(value).is_subtype_of(wanted):
            raise ValueError
        return value
    if isinstance(wanted, TensorSpec):
        if not isinstance(value, TensorSpec):
            value = convert_to_tensor(value, dtype_hint=wanted.dtype)
        if not wanted.is_compatible_with(value):
            raise ValueError
        return value
    if isinstance(wanted, dict) and isinstance(value, dict) and wanted.keys() == value.keys():
        return {key: _fitted(part, value[key]) for key, part in wanted.items()}
    if isinstance(wanted, (list, tuple)) and isinstance(value, (list, tuple)):
        parts = [_fitted(a, b) for a, b in zip(wanted, value, strict=True)]
        return type(wanted)(*parts) if hasattr(wanted, "_fields") else type(wanted)(parts)
    if nest.is_nested(wanted) or key_of(wanted) != key_of(value):
        raise ValueError
    return value


def _signature_text(takes: tuple[Any, Any]) -> str:
    args, kwargs = takes
    return ", ".join([*map(repr, args), *[f"{k}={v!r}" for k, v in kwargs.items()]]) or "nothing"
